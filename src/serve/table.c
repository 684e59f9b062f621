/*
 * table - a reply as tables of HTML, by its fields.
 *
 * What agents wrote is text wherever it stands, and never a tag or an attribute; what would
 * steer or reorder the rest of a line is shown as its number.
 */
#include <event2/http.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/unicode.h"
#include "serve/serve.h"

enum { CUT_BYTES = 300, FIELDS_MAX = 64, ROWS_MAX = 1000 };

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

void serve_add_text(struct rg_buf *out, struct roger_str text, bool attribute)
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

/* As a part of an address. */
void serve_add_encoded(struct rg_buf *out, struct roger_str text)
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
	rg_buf_add_text(&word, field->name);
	for (i = 0; i < sizeof places / sizeof *places && !word.failed; i++)
		if (rg_str_is(rg_buf_str(&word), places[i].word))
			return places[i].path;
	return NULL;
}

static void add_linked(struct rg_buf *out, const struct roger_field *field, struct roger_str text)
{
	const char *place = place_of(field, text);

	if (!place) {
		serve_add_text(out, text, false);
		return;
	}
	rg_buf_printf(out, "<a href=\"%s", place);
	serve_add_encoded(out, text);
	rg_buf_add_text(out, "\">");
	serve_add_text(out, text, false);
	rg_buf_add_text(out, "</a>");
}

/* ------------------------------------------------------------------ values -- */

void serve_add_words_of(struct rg_buf *out, const struct roger_field *field)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf word = { .maximum = 256 };
	size_t i;

	rg_buf_add_text(&word, field->name);
	for (i = 0; i < word.length; i++)
		if (strchr("_.", word.data[i]))
			word.data[i] = ' ';
	rg_buf_add_str(out, word.length ? rg_buf_str(&word) : RG_STR("other members"));
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
		serve_add_text(out, cut(text), false);
		rg_buf_add_text(out, "\xe2\x80\xa6");
	} else if (whole && rg_str_newline(text)) {
		/* A parser drops the first line end. */
		rg_buf_add_text(out, "<pre>\n");
		serve_add_text(out, text, false);
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
		serve_add_text(out, rg_str(field->names[*(const int *)at]), false);
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
	if (field->flags & ROGER_DERIVED)
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
		serve_add_words_of(out, field);
		rg_buf_add_text(out, "</th>");
	}
	rg_buf_add_text(out, "</tr>\n");
	for (row = 0; row < list->count && row < ROWS_MAX; row++)
		add_row(out, record, list->items + row * record->size, shown);
	if (row < list->count)
		rg_buf_printf(out, "<tr><td>and %zu more</td></tr>\n", list->count - row);
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
		serve_add_words_of(out, field);
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
	serve_add_words_of(out, field);
	rg_buf_printf(out, " (%zu)</caption>\n", list->count);
	if (list->count == 1)
		add_members(out, field->record, list->items, true);
	else
		add_table(out, field->record, list);
	rg_buf_add_text(out, "</table>\n");
}

void serve_add_reply(struct rg_buf *out, const struct roger_record *record, const void *reply)
{
	const struct roger_field *field;

	rg_buf_add_text(out, "<table>\n");
	add_members(out, record, reply, false);
	rg_buf_add_text(out, "</table>\n");
	for (field = record->fields; field->name; field++)
		if (field->kind == ROGER_RECORDS)
			add_list(out, field, reply);
}
