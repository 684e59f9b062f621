/*
 * export: a timeline and its messages as one page that needs nothing else: the modules of the
 * live page (src/page, joined by script/join), with what they draw as data, and what proves its
 * lines.
 */
#include "base/clock.h"
#include "base/escape.h"
#include "cli/input.h"
#include "cli/screen.h"
#include "cli/told.h"
#include "data/json.h"
#include "data/record.h"

enum { EVENTS = 2000 };

/* The page, up to its data and from there on; script/join made them. */
extern const char cli_page_before[], cli_page_after[];

struct page {
	struct cli_run *run;
	const struct rg_export_options *options;
	const struct roger_timeline_reply *timeline;
	struct cli_told_list told;
	struct roger_seal_reply seal; /* version 0: none */
	struct roger_verify_reply verified;
};

/* ------------------------------------------------------------------ seal -- */

static int read_seal(struct page *page, struct roger_err *err)
{
	struct roger_verify_request request = { .seal = page->options->seal,
						.key = page->options->key };
	struct rg_arena *arena = page->run->arena;
	struct roger_str citation;
	size_t i;
	int r;

	if (!request.seal.data && request.key.data)
		return rg_fail_member(err, ROGER_EUSAGE, "key", "--key needs --seal");
	if (!request.seal.data)
		return ROGER_OK;
	r = cli_read_seal(page->run, &request, err);
	if (r < 0)
		return r;
	for (i = 0; i < page->timeline->events.count; i++) {
		const struct roger_event *event = &page->timeline->events.items[i];

		if (!event->line)
			continue;
		if (!rg_arena_print(arena, &citation, "%.*s:%lld", RG_STR_ARGS(event->file),
				    (long long)event->line) ||
		    !rg_arena_add(arena, &request.cite, citation))
			return rg_fail_memory(err);
	}
	r = roger_verify(page->run->roger, &request, &page->verified, err);
	cli_progress_end();
	if (r < 0)
		return r;
	/* roger_verify() has read this seal, so it is valid JSON. */
	return rg_record_read(cli_op_named("seal")->reply, request.seal, &page->seal, arena, err);
}

/* ------------------------------------------------------------------ page -- */

static void add_reply(struct rg_buf *out, const char *before, const char *verb, const void *reply)
{
	rg_buf_add_text(out, before);
	rg_words_encode(cli_op_named(verb)->reply, reply, out);
}

/* Add the seal; its signed text is a string, so that no byte of it changes. */
static void add_seal(struct page *page, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_seal_reply unsigned_one = page->seal;

	unsigned_one.signature = (struct roger_str){ "", 0 };
	rg_record_encode(cli_op_named("seal")->reply, &unsigned_one, &text);
	rg_buf_add_text(out, ",\n\"seal\":");
	rg_json_add_string(out, rg_buf_str(&text));
	rg_buf_add_text(out, ",\n\"signature\":");
	rg_json_add_string(out, page->seal.signature);
	add_reply(out, ",\n\"verified\":", "verify", &page->verified);
	out->failed |= text.failed;
}

static void add_data(struct page *page, struct rg_buf *out)
{
	size_t i;

	add_reply(out, "{\"timeline\":", "timeline", page->timeline);
	rg_buf_add_text(out, ",\n\"messages\":[");
	for (i = 0; i < page->told.page_count; i++)
		add_reply(out, i ? ",\n" : "\n", "show", &page->told.pages[i]);
	rg_buf_add_char(out, ']');
	if (page->seal.version)
		add_seal(page, out);
	rg_buf_add_char(out, '}');
}

/* Add the page around its data, which is escaped so that no tag begins in the <script>. */
static void add_page(struct rg_buf *out, struct roger_str json)
{
	char now[32];

	rg_clock_print_utc(rg_clock_ms(), now);
	rg_buf_add_text(out, cli_page_before);
	rg_buf_printf(out,
		      "<meta name=\"generator\" content=\"roger " ROGER_VERSION
		      "\">\n<meta name=\"date\" content=\"%s\">\n"
		      "<script type=\"application/json\" id=\"data\">",
		      now);
	rg_buf_add_escaped(out, RG_IN_SCRIPT, json);
	rg_buf_add_text(out, "</script>\n");
	rg_buf_add_text(out, cli_page_after);
}

static int write_page(struct page *page, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	struct roger_str file = page->options->out;

	add_data(page, &json);
	add_page(&out, rg_buf_str(&json));
	if (json.failed || out.failed)
		return rg_fail_memory(err);
	if (file.data)
		return cli_write_output(file.data, rg_buf_str(&out), err);
	cli_screen_raw();
	fwrite(out.data, 1, out.length, cli_out);
	return ROGER_OK;
}

static int run_export(struct cli_run *run, struct roger_err *err)
{
	struct roger_timeline_request *request = run->request;
	RG_CLEANUP(roger_reply_free) struct roger_timeline_reply timeline = { 0 };
	struct page page = { .run = run, .options = run->options, .timeline = &timeline };
	int r;

	if (!page.options->html || run->form != CLI_HUMAN)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "--html is required: export writes pages only; for data use `roger "
			       "timeline --json`");
	if (!request->limit)
		request->limit = EVENTS;
	r = roger_timeline(run->roger, request, &timeline, err);
	if (r < 0)
		return r;
	cli_print_notes(&timeline.notes);
	r = cli_told_load(run->roger, timeline.events.items, timeline.events.count, run->arena,
			  &page.told, err);
	if (r == ROGER_OK)
		r = read_seal(&page, err);
	if (r == ROGER_OK)
		r = write_page(&page, err);
	cli_told_free(&page.told);
	roger_reply_free(&page.verified);
	return r;
}

CLI_COMMAND(export, "export", .own = &rg_op_export, .run = run_export);
