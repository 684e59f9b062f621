/*
 * table - every verb as a page without script: its reply as tables by its fields, its
 * request as a form.
 *
 * What agents wrote is text wherever it stands, and never a tag or an attribute; what would
 * steer or reorder the rest of a line is shown as its number.
 */
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/unicode.h"
#include "serve/serve.h"

enum { CUT_BYTES = 300, FIELDS_MAX = 64 };

const char serve_html[] = "text/html; charset=utf-8";

const char serve_style[] =
	":root{color-scheme:light dark;background:Canvas;color:CanvasText;"
	"font:15px/1.4 system-ui,sans-serif}"
	"body{max-width:90rem;margin:0 auto;padding:0 1rem 2rem}nav a{margin-right:1rem}"
	"table{border-collapse:collapse;margin:.5rem 0}caption{text-align:left;font-weight:600}"
	"th,td{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0;"
	"border-bottom:1px solid #8884;overflow-wrap:anywhere}"
	"td{min-width:3rem}pre{font:inherit;white-space:pre-wrap;margin:0}"
	"b{font:.8em monospace;border:1px solid;padding:0 .2em}"
	"label{display:inline-block;margin:.2rem 1rem .2rem 0}input,select,button{font:inherit}"
	"code{white-space:pre-wrap}";

/* -------------------------------------------------------------------- text -- */

static const char *entity_of(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* No parser gives these back as they were, or they act on what is around them. */
static bool is_shown_as_number(uint32_t c)
{
	return (c != '\n' && c != '\t' && rg_char_is_harmful(c)) || rg_char_ends_line(c);
}

static void add_text(struct rg_buf *out, struct roger_str text, bool attribute)
{
	size_t at, step;
	uint32_t c;

	for (at = 0; at < text.length; at += step ? step : 1) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (!step)
			rg_buf_add_text(out, "\xef\xbf\xbd");
		else if (entity_of(c))
			rg_buf_add_text(out, entity_of(c));
		else if (is_shown_as_number(c))
			rg_buf_printf(out, attribute ? "U+%04X" : "<b>U+%04X</b>", (unsigned)c);
		else
			rg_buf_add(out, text.data + at, step);
	}
}

static void add_escaped(struct rg_buf *out, const char *text)
{
	add_text(out, rg_str(text), false);
}

/* As a part of an address. */
static void add_encoded(struct rg_buf *out, struct roger_str text)
{
	char *encoded = evhttp_uriencode(text.data, (ev_ssize_t)text.length, false);

	if (encoded)
		rg_buf_add_text(out, encoded);
	else
		out->failed = true;
	free(encoded);
}

/* ------------------------------------------------------------------- links -- */

/* Where a name leads: by the member that it is the value of. */
static const struct {
	const char *word, *path;
} places[] = {
	{ "agent", "/v1/inbox?agent=" }, { "from", "/v1/inbox?agent=" },
	{ "to", "/v1/inbox?agent=" },	 { "owner", "/v1/inbox?agent=" },
	{ "name", "/v1/inbox?agent=" },	 { "actor", "/v1/inbox?agent=" },
	{ "peer", "/v1/inbox?agent=" },	 { "issue", "/v1/list?issue=" },
	{ "run", "/v1/runs/" },
};

/* NULL: nowhere. */
static const char *place_of(const struct roger_field *field, struct roger_str value)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf word = { .maximum = 256 };
	size_t i;

	if (field->kind != ROGER_OBJECT && value.length > 4 && memcmp(value.data, "msg-", 4) == 0 &&
	    rg_name_valid(value))
		return "/v1/messages/";
	if (!rg_name_valid(value) || (field->kind != ROGER_NAME && field->kind != ROGER_TEXT))
		return NULL;
	rg_word_print(rg_str(field->name), &word);
	for (i = 0; i < sizeof places / sizeof *places && !word.failed; i++)
		if (rg_str_is(rg_buf_str(&word), places[i].word))
			return places[i].path;
	return NULL;
}

static void add_linked(struct rg_buf *out, const struct roger_field *field, struct roger_str text)
{
	const char *place = place_of(field, text);

	if (!place) {
		add_text(out, text, false);
		return;
	}
	rg_buf_printf(out, "<a href=\"%s", place);
	add_encoded(out, text);
	rg_buf_add_text(out, "\">");
	add_text(out, text, false);
	rg_buf_add_text(out, "</a>");
}

/* ------------------------------------------------------------------ values -- */

static void add_words_of(struct rg_buf *out, const struct roger_field *field)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf word = { .maximum = 256 };
	size_t i;

	rg_word_print(rg_str(field->name), &word);
	for (i = 0; i < word.length; i++)
		if (strchr("_.", word.data[i]))
			word.data[i] = ' ';
	rg_buf_add_str(out, rg_buf_str(&word));
}

/* As much as a row shows, of whole characters. */
static struct roger_str cut(struct roger_str text)
{
	size_t at = CUT_BYTES;

	while (at && ((unsigned char)text.data[at] & 0xc0) == 0x80)
		at--;
	return (struct roger_str){ text.data, at };
}

static void add_long(struct rg_buf *out, const struct roger_field *field, struct roger_str text,
		     bool whole)
{
	if (!whole && text.length > CUT_BYTES) {
		add_text(out, cut(text), false);
		rg_buf_add_text(out, "\xe2\x80\xa6");
	} else if (whole && rg_str_newline(text)) {
		/* A parser drops the first line end. */
		rg_buf_add_text(out, "<pre>\n");
		add_text(out, text, false);
		rg_buf_add_text(out, "</pre>");
	} else {
		add_linked(out, field, text);
	}
}

static void add_texts(struct rg_buf *out, const struct roger_field *field,
		      const struct roger_strs *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++) {
		rg_buf_add_text(out, i ? ", " : "");
		add_linked(out, field, texts->items[i]);
	}
}

static void add_time(struct rg_buf *out, int64_t ms)
{
	char text[32];

	if (!ms)
		return;
	rg_clock_print_utc(ms, text);
	rg_buf_printf(out, "<time datetime=\"%s\">%s</time>", text, text);
}

static void add_list(struct rg_buf *out, const struct roger_field *field, const void *record);

static void add_value(struct rg_buf *out, const struct roger_field *field, const void *record,
		      bool whole)
{
	const void *at = rg_field_at(field, record);
	char text[32];

	switch (field->kind) {
	case ROGER_INT:
		if (*(const int64_t *)at == ROGER_UNKNOWN)
			rg_buf_add_text(out, "unknown");
		else
			rg_buf_add_int(out, *(const int64_t *)at);
		return;
	case ROGER_BOOL:
		rg_buf_add_text(out, *(const bool *)at ? "yes" : "no");
		return;
	case ROGER_ENUM:
		add_escaped(out, field->names[*(const int *)at]);
		return;
	case ROGER_TIME:
	case ROGER_INSTANT:
		add_time(out, *(const int64_t *)at);
		return;
	case ROGER_SPAN:
		rg_clock_print_span(*(const int64_t *)at, text);
		rg_buf_add_text(out, text);
		return;
	case ROGER_TEXTS:
		add_texts(out, field, at);
		return;
	case ROGER_RECORDS:
		add_list(out, field, record);
		return;
	default:
		add_long(out, field, *(const struct roger_str *)at, whole);
	}
}

/* ------------------------------------------------------------------ tables -- */

static bool is_shown(const struct roger_field *field, const void *record)
{
	if (field->flags & (ROGER_HIDDEN | ROGER_DERIVED))
		return false;
	return field->kind == ROGER_BOOL || field->kind == ROGER_INT || field->kind == ROGER_ENUM ||
	       !rg_field_unset(field, record);
}

struct list {
	const char *items;
	size_t count;
};

static void add_row(struct rg_buf *out, const struct roger_record *record, const char *item,
		    const bool *shown)
{
	const struct roger_field *field;

	rg_buf_add_text(out, "<tr>");
	for (field = record->fields; field->name; field++)
		if (shown[field - record->fields]) {
			rg_buf_add_text(out, "<td>");
			if (is_shown(field, item))
				add_value(out, field, item, false);
			rg_buf_add_text(out, "</td>");
		}
	rg_buf_add_text(out, "</tr>\n");
}

/* A column with nothing in it is left out. */
static bool is_column(const struct roger_field *field, const struct list *list, size_t size)
{
	size_t row;

	for (row = 0; row < list->count; row++)
		if (is_shown(field, list->items + row * size))
			return true;
	return false;
}

static void add_table(struct rg_buf *out, const struct roger_record *record,
		      const struct list *list)
{
	const struct roger_field *field;
	bool shown[FIELDS_MAX];
	size_t row;

	rg_buf_add_text(out, "<tr>");
	for (field = record->fields; field->name; field++) {
		rg_assert(field - record->fields < FIELDS_MAX);
		shown[field - record->fields] = is_column(field, list, record->size);
		if (!shown[field - record->fields])
			continue;
		rg_buf_add_text(out, "<th scope=\"col\">");
		add_words_of(out, field);
		rg_buf_add_text(out, "</th>");
	}
	rg_buf_add_text(out, "</tr>\n");
	for (row = 0; row < list->count; row++)
		add_row(out, record, list->items + row * record->size, shown);
}

/* Member by member; lists come below. */
static void add_members(struct rg_buf *out, const struct roger_record *record, const void *item,
			bool lists)
{
	const struct roger_field *field;

	for (field = record->fields; field->name; field++) {
		if (!is_shown(field, item) || (!lists && field->kind == ROGER_RECORDS))
			continue;
		rg_buf_add_text(out, "<tr><th scope=\"row\">");
		add_words_of(out, field);
		rg_buf_add_text(out, "</th><td>");
		add_value(out, field, item, true);
		rg_buf_add_text(out, "</td></tr>\n");
	}
}

/* One is shown whole, several as rows. */
static void add_list(struct rg_buf *out, const struct roger_field *field, const void *record)
{
	const struct list *list = rg_field_at(field, record);

	rg_buf_add_text(out, "<table><caption>");
	add_words_of(out, field);
	rg_buf_printf(out, " (%zu)</caption>\n", list->count);
	if (list->count == 1)
		add_members(out, field->record, list->items, true);
	else
		add_table(out, field->record, list);
	rg_buf_add_text(out, "</table>\n");
}

static void add_reply(struct rg_buf *out, const struct roger_record *record, const void *reply)
{
	const struct roger_field *field;

	rg_buf_add_text(out, "<table>\n");
	add_members(out, record, reply, false);
	rg_buf_add_text(out, "</table>\n");
	for (field = record->fields; field->name; field++)
		if (field->kind == ROGER_RECORDS && !(field->flags & ROGER_HIDDEN))
			add_list(out, field, reply);
}

/* ------------------------------------------------------------------- forms -- */

/* As rg_record_set() takes it. */
static void add_setting(struct rg_buf *out, const struct roger_field *field, const void *request)
{
	const void *at = rg_field_at(field, request);
	char text[32];

	if (rg_field_unset(field, request))
		return;
	switch (field->kind) {
	case ROGER_INT:
		rg_buf_add_int(out, *(const int64_t *)at < 0 ? 0 : *(const int64_t *)at);
		return;
	case ROGER_TIME:
	case ROGER_INSTANT:
		rg_clock_print_utc(*(const int64_t *)at, text);
		rg_buf_add_text(out, text);
		return;
	case ROGER_SPAN:
		rg_buf_printf(out, "%lldms", (long long)*(const int64_t *)at);
		return;
	default:
		add_text(out, *(const struct roger_str *)at, true);
	}
}

static void add_option(struct rg_buf *out, const char *value, bool chosen)
{
	rg_buf_printf(out, "<option value=\"%s\"%s>%s</option>", value, chosen ? " selected" : "",
		      value);
}

static void add_choice(struct rg_buf *out, const struct roger_field *field, const void *request)
{
	const void *at = rg_field_at(field, request);
	bool unset = rg_field_unset(field, request);
	int i;

	rg_buf_printf(out, "<select name=\"%s\"><option></option>", field->name);
	if (field->kind == ROGER_BOOL) {
		bool yes = *(const bool *)at == !(field->flags & ROGER_NEGATED);

		add_option(out, "true", !unset && yes);
		add_option(out, "false", !unset && !yes);
	} else {
		for (i = 0; field->names[i]; i++)
			if (*field->names[i])
				add_option(out, field->names[i], !unset && *(const int *)at == i);
	}
	rg_buf_add_text(out, "</select>");
}

static void add_input(struct rg_buf *out, const struct roger_field *field,
		      const struct roger_str *text, const void *request)
{
	rg_buf_printf(out, "<input name=\"%s\" value=\"", field->name);
	if (text)
		add_text(out, *text, true);
	else if (request)
		add_setting(out, field, request);
	rg_buf_add_text(out, "\">");
}

static void add_inputs(struct rg_buf *out, const struct roger_field *field, const void *request)
{
	const struct roger_strs *texts = rg_field_at(field, request);
	size_t i;

	if (field->kind == ROGER_BOOL || field->kind == ROGER_ENUM) {
		add_choice(out, field, request);
	} else if (field->kind != ROGER_TEXTS) {
		add_input(out, field, NULL, request);
	} else {
		for (i = 0; i < texts->count; i++)
			add_input(out, field, &texts->items[i], NULL);
		add_input(out, field, NULL, NULL);
	}
}

static void add_form(struct rg_buf *out, const struct roger_op *op, const void *request)
{
	const struct roger_field *field;

	rg_buf_printf(out,
		      "<details><summary>Options</summary><form method=\"get\" "
		      "action=\"/v1/%s\">\n",
		      op->name);
	for (field = op->request->fields; field->name; field++) {
		if (!serve_is_parameter(field))
			continue;
		rg_buf_add_text(out, "<label title=\"");
		add_text(out, rg_str(field->help), true);
		rg_buf_add_text(out, "\">");
		add_words_of(out, field);
		rg_buf_add_char(out, ' ');
		add_inputs(out, field, request);
		rg_buf_add_text(out, "</label>\n");
	}
	rg_buf_add_text(out, "<button>Show</button></form></details>\n");
}

/* ------------------------------------------------------------------- pages -- */

static void begin(struct rg_buf *out, const char *title)
{
	rg_buf_printf(
		out,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\">"
		"<title>%s - roger</title><link rel=\"stylesheet\" href=\"/table.css\"></head>"
		"<body><nav><a href=\"/v1/\">all</a><a href=\"/v1/status\">status</a>"
		"<a href=\"/v1/agents\">agents</a><a href=\"/v1/list?newest=true\">messages</a>"
		"<a href=\"/v1/runs\">runs</a><a href=\"/v1/dead_letters\">dead letters</a>"
		"<a href=\"/v1/activity?newest=true\">activity</a></nav>\n"
		"<main><h1>%s</h1>\n",
		title, title);
}

static void end(struct rg_buf *out)
{
	rg_buf_add_text(out, "</main></body></html>\n");
}

static void add_paragraph(struct rg_buf *out, const char *element, const char *text)
{
	rg_buf_printf(out, "<%s>", element);
	add_escaped(out, text);
	rg_buf_printf(out, "</%s>\n", element);
}

/* What follows: the same question, after the last of these. */
static void add_next(struct rg_buf *out, const struct serve_job *job, const void *reply)
{
	const struct roger_op *op = job->verb->op;
	const struct roger_field *next = cli_find_field(op->reply, RG_STR("next"));
	struct evkeyvalq pairs;
	struct evkeyval *pair;

	if (!next || !cli_find_field(op->request, RG_STR("after")) || rg_field_unset(next, reply))
		return;
	rg_buf_printf(out, "<p><a rel=\"next\" href=\"/v1/%s?", op->name);
	if (job->query.length && evhttp_parse_query_str(job->query.data, &pairs) == 0) {
		TAILQ_FOREACH(pair, &pairs, next)
		{
			if (strcmp(pair->key, "after") == 0 || !*pair->value)
				continue;
			add_encoded(out, rg_str(pair->key));
			rg_buf_add_char(out, '=');
			add_encoded(out, rg_str(pair->value));
			rg_buf_add_text(out, "&amp;");
		}
		evhttp_clear_headers(&pairs);
	}
	rg_buf_add_text(out, "after=");
	if (next->kind == ROGER_INT)
		rg_buf_add_int(out, *(const int64_t *)rg_field_at(next, reply));
	else
		add_encoded(out, *(const struct roger_str *)rg_field_at(next, reply));
	rg_buf_add_text(out, "\">next</a></p>\n");
}

bool serve_only_looks(const struct serve_verb *verb)
{
	return !(verb->op->flags & ROGER_WRITES) && verb->right != SERVE_ACT;
}

static bool has_form(const struct serve_job *job)
{
	return serve_only_looks(job->verb) && !job->tagged && !job->work;
}

void serve_print_table(struct serve_job *job, const void *reply)
{
	const struct roger_op *op = job->verb->op;
	struct rg_buf *out = &job->answer.body;

	begin(out, op->name);
	add_paragraph(out, "p", op->summary);
	if (has_form(job))
		add_form(out, op, job->request);
	add_next(out, job, reply);
	add_reply(out, op->reply, reply);
	add_next(out, job, reply);
	end(out);
}

void serve_print_record(const struct roger_record *record, const void *item, struct rg_buf *out)
{
	begin(out, record->name);
	add_reply(out, record, item);
	end(out);
}

static void add_verb(struct rg_buf *out, const struct serve_verb *verb)
{
	rg_buf_printf(out, "<tr><td><a href=\"/v1/%s\">%s</a></td><td>%s</td><td>", verb->op->name,
		      verb->op->name, serve_rights[verb->right]);
	add_escaped(out, verb->op->summary);
	rg_buf_add_text(out, "</td></tr>\n");
}

void serve_print_index(struct rg_buf *out)
{
	const struct serve_verb *verb;
	size_t i = 0;

	begin(out, "All verbs");
	rg_buf_add_text(out, "<table><tr><th scope=\"col\">verb</th><th scope=\"col\">needs</th>"
			     "<th scope=\"col\">what it does</th></tr>\n");
	while ((verb = serve_next_verb(&i)))
		add_verb(out, verb);
	rg_buf_add_text(out, "</table>\n<form method=\"post\" action=\"/logout\"><button>Log out"
			     "</button></form>\n");
	end(out);
}

/* One that writes: what it takes, and how it is typed. */
void serve_print_verb(const struct serve_verb *verb, struct rg_buf *out)
{
	const struct roger_op *op = verb->op;
	const struct roger_field *field;

	begin(out, op->name);
	add_paragraph(out, "p", op->summary);
	if (op->examples)
		add_paragraph(out, "pre", op->examples);
	rg_buf_printf(out, "<p>POST /v1/%s takes these, as JSON, from who may %s.</p>\n<table>\n",
		      op->name, serve_rights[verb->right]);
	for (field = op->request->fields; field->name; field++) {
		if (field->flags & (ROGER_HIDDEN | ROGER_DERIVED))
			continue;
		rg_buf_printf(out, "<tr><th scope=\"row\">%s</th><td>", field->name);
		add_escaped(out, field->help);
		rg_buf_add_text(out, "</td></tr>\n");
	}
	rg_buf_add_text(out, "</table>\n");
	end(out);
}

static void add_key_form(struct rg_buf *out)
{
	rg_buf_add_text(
		out, "<form method=\"post\" action=\"/login\"><p><label>The key after #k= in the "
		     "address that <code>roger ui</code> prints, within a minute: "
		     "<input name=\"key\" autocomplete=\"off\" required></label> "
		     "<button>Log in</button></p></form>\n");
}

void serve_print_login(struct rg_buf *out)
{
	begin(out, "Log in");
	add_key_form(out);
	end(out);
}

/* With what was asked, to be asked better. */
void serve_print_fault(struct serve_answer *answer, const struct roger_err *err)
{
	struct rg_buf *out = &answer->body;
	const struct serve_job *job = answer->job;
	char title[32];

	snprintf(title, sizeof title, "Error %d", answer->status);
	begin(out, title);
	add_paragraph(out, "p", err->message);
	if (job && has_form(job))
		add_form(out, job->verb->op, job->request);
	if (answer->status == 401 || answer->status == 403)
		add_key_form(out);
	end(out);
}
