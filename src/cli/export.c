/*
 * export: a timeline as one page that needs nothing else: its messages as threads, its
 * picture and events, a search, and a check against a seal.
 *
 * It can be read without its script (page.js).  What agents wrote is text between tags,
 * exactly as it was; what steers or reorders the rest of a line is shut into an element of its own.
 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/sign.h"
#include "base/unicode.h"
#include "cli/diagram.h"
#include "cli/input.h"
#include "cli/screen.h"
#include "cli/term.h"
#include "data/json.h"
#include "data/record.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "page.h"
#include "verbs.h"

enum { EVENTS = 2000, SEAL_BYTES_MAX = 64 << 20, KEY_BYTES_MAX = 4096, DEPTH_MAX = 6 };

struct page {
	struct cli_run *run;
	const struct roger_timeline_reply *timeline;
	struct cli_story story;
	struct roger_seal_reply seal; /* version 0: none */
	struct roger_verify_reply verified;
	const struct roger_message **messages; /* oldest first */
	bool *printed;
	size_t count;
	struct rg_buf out;
};

/* ------------------------------------------------------------------ text -- */

/* Exactly as it is; only what HTML cannot hold is replaced. */
static void add_exact(struct rg_buf *out, struct roger_str text)
{
	struct roger_str one;
	size_t at = 0, step;
	uint32_t c;

	for (; at < text.length; at += step ? step : 1) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		one = (struct roger_str){ text.data + at, step };
		if (!step)
			rg_buf_add_text(out, "\xef\xbf\xbd");
		else if (c == '\n' || c == '\t' || !rg_char_is_harmful(c))
			strchr("&<>\"", (int)(c < 0x80 ? c : ' ')) ? cli_diagram_add_xml(out, one)
								   : rg_buf_add_str(out, one);
		else if (c == '\r')
			rg_buf_add_text(out, "<span class=\"x\" title=\"CR\">&#13;</span>");
		else
			rg_buf_printf(out, "<span class=\"x\" title=\"U+%04X\">%.*s</span>",
				      (unsigned)c, RG_STR_ARGS(one));
	}
}

static void add_element(struct rg_buf *out, const char *element, const char *class,
			struct roger_str text)
{
	rg_buf_printf(out, "<%s class=\"%s\">", element, class);
	add_exact(out, text);
	rg_buf_printf(out, "</%s>", element);
}

/* The SHA-256 of a script or a style as a policy names it. */
static void add_source(struct rg_buf *out, struct roger_str text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char hex[RG_DIGEST_DIGITS + 1], pair[3] = "";
	unsigned bits = 0, count = 0;
	size_t i;

	rg_sha256_hex(text, hex);
	rg_buf_add_text(out, "'sha256-");
	for (i = 0; i < RG_DIGEST_DIGITS; i += 2) {
		memcpy(pair, hex + i, 2);
		bits = bits << 8 | (unsigned)strtoul(pair, NULL, 16);
		for (count += 8; count >= 6; count -= 6)
			rg_buf_add_char(out, digits[bits >> (count - 6) & 63]);
	}
	/* 256 bits leave four, and room for one more digit. */
	rg_buf_add_char(out, digits[bits << 2 & 63]);
	rg_buf_add_text(out, "='");
}

/* JSON within <script>: no tag can begin in it. */
static void add_data_string(struct rg_buf *out, struct roger_str text)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };
	size_t i;

	rg_json_add_string(&json, text);
	for (i = 0; i < json.length; i++)
		if (strchr("<>&", json.data[i]))
			rg_buf_printf(out, "\\u%04x", (unsigned)json.data[i]);
		else
			rg_buf_add_char(out, json.data[i]);
	out->failed |= json.failed;
}

static void add_time(struct rg_buf *out, int64_t ms)
{
	char utc[32], local[CLI_TIME_BYTES];

	rg_clock_print_utc(ms, utc);
	rg_buf_printf(out, "<time datetime=\"%s\">%s</time>", utc, cli_time(ms, local));
}

/* -------------------------------------------------------------- messages -- */

static int compare_messages(const void *a, const void *b)
{
	const struct roger_message *x = *(const struct roger_message *const *)a,
				   *y = *(const struct roger_message *const *)b;

	if (x->created_at_ms != y->created_at_ms)
		return x->created_at_ms < y->created_at_ms ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

static int list_messages(struct page *page, struct roger_err *err)
{
	size_t i;

	page->messages =
		rg_arena_get(page->run->arena, page->story.told_count * sizeof *page->messages + 1);
	page->printed = rg_arena_get(page->run->arena, page->story.told_count + 1);
	if (!page->messages || !page->printed)
		return rg_fail_memory(err);
	for (i = 0; i < page->story.told_count; i++)
		if (page->story.told[i].message)
			page->messages[page->count++] = page->story.told[i].message;
	if (page->count)
		qsort(page->messages, page->count, sizeof(void *), compare_messages);
	return ROGER_OK;
}

static void add_state(struct page *page, const struct roger_message *message)
{
	const struct cli_told *told = cli_story_told(&page->story, message->id),
			      *answered = cli_story_told(&page->story, message->reply_to);
	struct rg_buf *out = &page->out;
	char span[32];

	rg_buf_add_text(out, "<p class=\"state\">");
	if (told && told->read) {
		rg_clock_print_span(told->read->at_ms - message->created_at_ms, span);
		rg_buf_printf(out, "read after %s", span);
	} else {
		rg_buf_add_text(out, message->read ? "read" : "unread");
	}
	if (message->ack_outcome)
		rg_buf_printf(out, ", acknowledged: %s",
			      cli_value_name(cli_item_record("list"), "ack_outcome",
					     message->ack_outcome));
	if (message->ack_note.length)
		add_element(out, "q", "note", message->ack_note);
	if (message->archived_at_ms)
		add_element(out, "span", "reason", message->archive_reason);
	if (answered && answered->message) {
		rg_buf_add_text(out, ", answers <a href=\"#m-");
		cli_diagram_add_xml(out, message->reply_to);
		rg_buf_add_text(out, "\">");
		add_exact(out, answered->message->from);
		rg_buf_printf(out, "#%lld</a>", (long long)answered->message->seq);
	}
	rg_buf_add_text(out, ", <code>");
	add_exact(out, message->id);
	rg_buf_add_text(out, "</code></p>");
}

static void add_message(struct page *page, const struct roger_message *message, size_t depth)
{
	struct rg_buf *out = &page->out;

	rg_buf_printf(out, "<article class=\"d%zu\" id=\"m-",
		      depth < DEPTH_MAX ? depth : (size_t)DEPTH_MAX);
	cli_diagram_add_xml(out, message->id);
	rg_buf_add_text(out, "\"><h3>");
	add_element(out, "b", "from", message->from);
	if (message->seq)
		rg_buf_printf(out, "#%lld", (long long)message->seq);
	rg_buf_add_text(out, " → ");
	add_element(out, "b", "to", message->to);
	rg_buf_printf(out, " <span class=\"dim\">%s</span> ",
		      cli_value_name(cli_item_record("list"), "type", message->type));
	add_time(out, message->created_at_ms);
	rg_buf_add_text(out, "</h3>");
	add_element(out, "div", "body", message->content);
	add_state(page, message);
	rg_buf_add_text(out, "</article>\n");
}

/* A message, and what answers it. */
static void add_thread(struct page *page, size_t at, size_t depth)
{
	const struct roger_message *message = page->messages[at];
	size_t i;

	page->printed[at] = true;
	add_message(page, message, depth);
	for (i = 0; i < page->count; i++)
		if (!page->printed[i] && page->messages[i]->reply_to.length &&
		    rg_str_equal(page->messages[i]->reply_to, message->id))
			add_thread(page, i, depth + 1);
}

static void add_messages(struct page *page)
{
	const struct cli_told *answered;
	size_t i;

	rg_buf_printf(&page->out, "<h2 id=\"messages\">Messages (%zu)</h2>\n", page->count);
	for (i = 0; i < page->count; i++) {
		answered = cli_story_told(&page->story, page->messages[i]->reply_to);
		if (!page->printed[i] && !(answered && answered->message))
			add_thread(page, i, 0);
	}
	/* Those that answer each other in a ring. */
	for (i = 0; i < page->count; i++)
		if (!page->printed[i])
			add_thread(page, i, 0);
}

/* -------------------------------------------------------------- timeline -- */

static void add_event(struct rg_buf *out, const struct roger_event *event)
{
	rg_buf_add_text(out, "<tr><td>");
	add_time(out, event->at_ms);
	rg_buf_printf(out, ".%03d</td><td>%s</td><td>", (int)(event->at_ms % 1000),
		      cli_value_name(cli_op_named("timeline")->reply->fields[0].record, "kind",
				     event->kind));
	add_exact(out, event->actor);
	rg_buf_add_text(out, "</td><td>");
	add_exact(out, event->peer);
	rg_buf_add_text(out, "</td><td>");
	if (event->seq)
		rg_buf_printf(out, "#%lld ", (long long)event->seq);
	if (event->run.length) {
		add_exact(out, event->run);
		rg_buf_add_text(out, ": ");
	}
	add_exact(out, event->words);
	rg_buf_add_text(out, "</td><td>");
	add_exact(out, event->file);
	if (event->line)
		rg_buf_printf(out, ":%lld", (long long)event->line);
	rg_buf_add_text(out, "</td></tr>\n");
}

static void add_timeline(struct page *page)
{
	const struct roger_event_list *events = &page->timeline->events;
	size_t i;

	rg_buf_add_text(&page->out, "<h2 id=\"timeline\">Timeline</h2>\n"
				    "<div class=\"wide\" tabindex=\"0\" role=\"group\""
				    " aria-label=\"picture\">\n");
	cli_diagram_svg(&page->story, true, &page->out);
	rg_buf_printf(&page->out,
		      "</div>\n<h2 id=\"events\">Events (%zu)</h2>\n<div class=\"wide\""
		      " tabindex=\"0\" role=\"group\" aria-label=\"events\"><table><thead><tr>"
		      "<th>when<th>what<th>who<th>whom<th><th>evidence</tr></thead><tbody>\n",
		      events->count);
	for (i = 0; i < events->count; i++)
		add_event(&page->out, &events->items[i]);
	rg_buf_add_text(&page->out, "</tbody></table></div>\n");
}

/* ------------------------------------------------------------------ seal -- */

static int read_seal(struct page *page, struct roger_err *err)
{
	const struct roger_record *record = cli_op_named("seal")->reply;
	struct roger_str text = cli_value(page->run, "seal"), key = cli_value(page->run, "key");
	struct roger_verify_request request = { .seal = { "", 0 } };
	struct rg_arena *arena = page->run->arena;
	const struct rg_json *json;
	struct roger_str citation;
	size_t i;
	int r;

	if (!text.length && key.length)
		return rg_fail_member(err, ROGER_EUSAGE, "key", "--key needs --seal");
	if (!text.length)
		return ROGER_OK;
	r = cli_read_text(text.data, "seal", SEAL_BYTES_MAX, arena, &request.seal, err);
	if (r == ROGER_OK && key.length)
		r = cli_read_text(key.data, "key", KEY_BYTES_MAX, arena, &request.key, err);
	for (i = 0; r == ROGER_OK && i < page->timeline->events.count; i++) {
		const struct roger_event *event = &page->timeline->events.items[i];

		if (!event->line)
			continue;
		if (!rg_arena_print(arena, &citation, "%.*s:%lld", RG_STR_ARGS(event->file),
				    (long long)event->line) ||
		    !rg_arena_add(arena, &request.cite, citation))
			r = rg_fail_memory(err);
	}
	if (r == ROGER_OK)
		r = roger_verify(page->run->roger, &request, &page->verified, err);
	cli_progress_end();
	/* It was read before, so it can be read. */
	if (r == ROGER_OK)
		r = rg_json_read_within(request.seal, arena, &json, err);
	return r < 0 ? r : rg_record_decode(record, rg_json_root(json), &page->seal, arena, err);
}

static void add_findings(struct page *page)
{
	size_t i;

	if (!page->verified.damaged) {
		rg_buf_add_text(&page->out,
				"<p>When this page was made, roger compared all journals with the "
				"seal, whole, and found no damage.</p>\n");
		return;
	}
	rg_buf_printf(&page->out,
		      "<p><strong>When this page was made, roger found damage in %lld places:"
		      "</strong></p><ul>\n",
		      (long long)page->verified.damaged);
	for (i = 0; i < page->verified.findings.count && i < 20; i++) {
		const struct roger_finding *finding = &page->verified.findings.items[i];

		rg_buf_add_text(&page->out, "<li>");
		add_exact(&page->out, finding->file);
		rg_buf_printf(&page->out, ":%lld: ", (long long)finding->line);
		add_exact(&page->out, finding->what);
		rg_buf_add_text(&page->out, "</li>\n");
	}
	rg_buf_add_text(&page->out, "</ul>\n");
}

static const char not_proved[] =
	"<details><summary>What is proved, and what is not</summary>\n"
	"<p>Proved, where the check above says so: the seal was signed with this key; the journal "
	"lines in this page are, byte for byte and each at its place, lines of the journals that "
	"were sealed; sender, recipient and text of the messages are those of their lines.</p>\n"
	"<p>Not proved:</p><ul>\n"
	"<li>whose key it is. Compare it with one that you have from elsewhere.</li>\n"
	"<li>that nothing is left out. Lines that are not in this page are only known by their "
	"digests.</li>\n"
	"<li>states, delays, events and the picture: that is what roger read in the journals. "
	"Documents of runs, and what is later than the seal, are not covered.</li>\n"
	"<li>that what was written is true, or when the seal was made: both are the writer's "
	"word.</li>\n"
	"<li>this page itself. Whoever can change it can change its check. Who wants to be "
	"certain takes the journals and the seal: <code>roger verify --seal FILE</code>.</li>\n"
	"</ul></details>\n";

static void add_seal(struct page *page)
{
	struct rg_buf *out = &page->out;

	rg_buf_add_text(out, "<section id=\"seal\" data-result=\"unknown\"><h2>Seal</h2>\n");
	if (!page->seal.version) {
		rg_buf_add_text(out,
				"<p id=\"verdict\">There is no seal: nothing here can be checked."
				"</p>\n<p class=\"dim\">With one, made by <code>roger seal --out "
				"FILE</code>, <code>roger export --seal FILE</code> puts into the "
				"page what proves its lines.</p></section>\n");
		return;
	}
	rg_buf_add_text(out, "<p id=\"verdict\" role=\"status\">Nothing was checked: the script of "
			     "this page did not run.</p>\n<ul id=\"results\"></ul>\n<p>Sealed ");
	add_time(out, page->seal.made_at_ms);
	rg_buf_add_text(out, ", with the key <code>");
	add_exact(out, page->seal.public_key);
	rg_buf_add_text(out, "</code></p>\n");
	add_findings(page);
	rg_buf_add_text(out, not_proved);
	rg_buf_add_text(out, "</section>\n");
}

static void add_cited(struct rg_buf *out, const struct roger_cited *cited)
{
	size_t i;

	rg_buf_add_text(out, "{\"file\":");
	add_data_string(out, cited->file);
	rg_buf_add_text(out, ",\"numbers\":[");
	for (i = 0; i < cited->numbers.length; i++)
		rg_buf_add_char(out, cited->numbers.data[i] == ' ' ? ',' : cited->numbers.data[i]);
	rg_buf_add_text(out, "],\"lines\":[");
	for (i = 0; i < cited->lines.count; i++) {
		rg_buf_add_text(out, i ? ",\n" : "\n");
		add_data_string(out, cited->lines.items[i]);
	}
	rg_buf_add_text(out, "],\n\"proof\":");
	add_data_string(out, cited->proof);
	rg_buf_add_char(out, '}');
}

/* What the script checks: the text that was signed, and lines with their proof. */
static void add_data(struct page *page)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_seal_reply unsigned_one = page->seal;
	struct rg_buf *out = &page->out;
	size_t i;

	rg_buf_add_text(out, "<script type=\"application/json\" id=\"data\">{");
	if (page->seal.version) {
		unsigned_one.signature = (struct roger_str){ "", 0 };
		rg_record_encode(cli_op_named("seal")->reply, &unsigned_one, &text);
		rg_buf_add_text(out, "\"seal\":");
		add_data_string(out, rg_buf_str(&text));
		rg_buf_add_text(out, ",\n\"signature\":");
		add_data_string(out, page->seal.signature);
		rg_buf_add_text(out, ",\n\"cited\":[");
		for (i = 0; i < page->verified.cited.count; i++) {
			rg_buf_add_text(out, i ? ",\n" : "\n");
			add_cited(out, &page->verified.cited.items[i]);
		}
		rg_buf_add_char(out, ']');
	}
	rg_buf_add_text(out, "}</script>\n");
	out->failed |= text.failed;
}

/* ------------------------------------------------------------------ page -- */

static void add_head(struct page *page, struct roger_str style)
{
	struct rg_buf *out = &page->out;
	const char *subject = cli_story_subject(page->timeline);

	rg_buf_add_text(out, "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
			     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			     "'none'; script-src ");
	add_source(out, rg_str(page_script));
	rg_buf_add_text(out, "; style-src ");
	add_source(out, style);
	rg_buf_add_text(out, "; base-uri 'none'; form-action 'none'\">\n"
			     "<meta name=\"viewport\" content=\"width=device-width\">\n"
			     "<meta name=\"referrer\" content=\"no-referrer\">\n"
			     "<meta name=\"generator\" content=\"roger " ROGER_VERSION "\">\n");
	rg_buf_printf(out, "<title>%s ", subject);
	cli_diagram_add_xml(out, page->timeline->what);
	rg_buf_printf(out, "</title>\n<style>%.*s</style></head>\n<body>\n<h1>%s ",
		      RG_STR_ARGS(style), subject);
	add_exact(out, page->timeline->what);
	rg_buf_add_text(out, "</h1>\n");
}

static void add_intro(struct page *page)
{
	const struct roger_event_list *events = &page->timeline->events;
	struct rg_buf *out = &page->out;
	time_t now = (time_t)(rg_clock_ms() / 1000);
	struct tm tm = { 0 };
	char zone[16] = "";

	if (localtime_r(&now, &tm))
		strftime(zone, sizeof zone, "UTC%z", &tm);
	rg_buf_printf(out, "<p>%zu messages and %zu events", page->count, events->count);
	if (events->count) {
		rg_buf_add_text(out, ", ");
		add_time(out, events->items[0].at_ms);
		rg_buf_add_text(out, " to ");
		add_time(out, events->items[events->count - 1].at_ms);
	}
	rg_buf_printf(out, "; times are %s; exported ", zone);
	add_time(out, rg_clock_ms());
	rg_buf_add_text(out, " by roger " ROGER_VERSION ".</p>\n");
	if (page->timeline->more)
		rg_buf_add_text(out, "<p><strong>Earlier events, and messages that only they "
				     "are about, are left out: see <code>roger export --limit N"
				     "</code>, or --since and --until.</strong></p>\n");
	rg_buf_add_text(out, "<nav><a href=\"#messages\">Messages</a><a href=\"#timeline\">"
			     "Timeline</a><a href=\"#events\">Events</a></nav>\n");
}

static int write_page(struct page *page, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf style = { .maximum = SIZE_MAX };
	struct rg_buf *out = &page->out;
	struct roger_str file = cli_value(page->run, "out");

	rg_buf_add_text(&style, page_style);
	rg_buf_add_text(&style, cli_diagram_style);
	add_head(page, rg_buf_str(&style));
	add_intro(page);
	add_seal(page);
	rg_buf_add_text(out, "<div id=\"search\" role=\"search\" hidden><p><label>Search "
			     "<input id=\"q\" type=\"search\" autocomplete=\"off\"></label> "
			     "<output id=\"found\" for=\"q\"></output></p></div>\n<main>\n");
	add_messages(page);
	add_timeline(page);
	rg_buf_add_text(out, "</main>\n");
	add_data(page);
	rg_buf_printf(out, "<script>%s</script>\n</body></html>\n", page_script);
	if (out->failed || style.failed)
		return rg_fail_memory(err);
	if (file.length)
		return cli_write_output(file.data, rg_buf_str(out), err);
	cli_screen_raw();
	fwrite(out->data, 1, out->length, cli_out);
	return ROGER_OK;
}

static int make_page(struct page *page, struct roger_err *err)
{
	int r;

	cli_print_notes(&page->timeline->notes);
	r = cli_story_load(page->run->roger, page->timeline, RG_EVENTS_MAX, &page->story, err);
	if (r == ROGER_OK)
		r = list_messages(page, err);
	if (r == ROGER_OK)
		r = read_seal(page, err);
	return r < 0 ? r : write_page(page, err);
}

static int run_export(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_timeline_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_timeline_reply timeline = { 0 };
	struct page page = { .run = run, .timeline = &timeline };
	int r;

	if (!cli_given(run, "html") || run->form != CLI_HUMAN)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "--html is required: export writes pages only; for data use `roger "
			       "timeline --json`");
	if (!request->limit)
		request->limit = EVENTS;
	rg_buf_init(&page.out, SIZE_MAX);
	r = roger_timeline(run->roger, request, &timeline, err);
	if (r == ROGER_OK)
		r = make_page(&page, err);
	*ret_exit = CLI_DONE;
	rg_buf_deinit(&page.out);
	cli_story_free(&page.story);
	roger_reply_free(&page.verified);
	return r;
}

static const struct cli_option options[] = {
	{ "html", NULL, "as one page, to attach to a pull request" },
	{ "seal", "FILE", "with the proof of its lines by this seal" },
	{ "key", "FILE", "public key that must have signed it (default seal.pub)" },
	{ "out", "FILE", "write it there, into a file that is not there yet" },
	{ 0 },
};

const struct cli_command cli_export = {
	.name = "export", .own = &rg_op_export, .options = options, .run = run_export
};
