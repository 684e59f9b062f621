/*
 * pages - every verb as a page without script: its request as a form, its reply as tables.
 * Errors, the list of verbs and the way in are pages, too.
 */
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "serve/serve.h"

static void add_escaped(struct rg_buf *out, const char *text)
{
	serve_add_text(out, rg_str(text), false);
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
		serve_add_text(out, *(const struct roger_str *)at, true);
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
		serve_add_text(out, *text, true);
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
		serve_add_text(out, rg_str(field->help), true);
		rg_buf_add_text(out, "\">");
		serve_add_words_of(out, field);
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
	const struct roger_op *op = job->verb;
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
			serve_add_encoded(out, rg_str(pair->key));
			rg_buf_add_char(out, '=');
			serve_add_encoded(out, rg_str(pair->value));
			rg_buf_add_text(out, "&amp;");
		}
		evhttp_clear_headers(&pairs);
	}
	rg_buf_add_text(out, "after=");
	if (next->kind == ROGER_INT)
		rg_buf_add_int(out, *(const int64_t *)rg_field_at(next, reply));
	else
		serve_add_encoded(out, *(const struct roger_str *)rg_field_at(next, reply));
	rg_buf_add_text(out, "\">next</a></p>\n");
}

/* A link may lead to it, since it leaves no trace. */
static bool has_form(const struct serve_job *job)
{
	return rg_right_of(job->verb) == RG_LOOK && !job->tagged && !job->work;
}

void serve_print_table(struct serve_job *job, const void *reply)
{
	const struct roger_op *op = job->verb;
	struct rg_buf *out = &job->answer.body;

	begin(out, op->name);
	add_paragraph(out, "p", op->summary);
	if (has_form(job))
		add_form(out, op, job->request);
	add_next(out, job, reply);
	serve_add_reply(out, op->reply, reply);
	add_next(out, job, reply);
	end(out);
}

void serve_print_record(const struct roger_record *record, const void *item, struct rg_buf *out)
{
	begin(out, record->name);
	serve_add_reply(out, record, item);
	end(out);
}

static void add_verb(struct rg_buf *out, const struct roger_op *verb)
{
	rg_buf_printf(out, "<tr><td><a href=\"/v1/%s\">%s</a></td><td>%s</td><td>", verb->name,
		      verb->name, rg_right_names[rg_right_of(verb)]);
	add_escaped(out, verb->summary);
	rg_buf_add_text(out, "</td></tr>\n");
}

void serve_print_index(struct rg_buf *out)
{
	const struct roger_op *verb;
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
void serve_print_verb(const struct roger_op *op, struct rg_buf *out)
{
	const struct roger_field *field;

	begin(out, op->name);
	add_paragraph(out, "p", op->summary);
	if (op->examples)
		add_paragraph(out, "pre", op->examples);
	rg_buf_printf(out, "<p>POST /v1/%s takes these, as JSON, from who may %s.</p>\n<table>\n",
		      op->name, rg_right_names[rg_right_of(op)]);
	for (field = op->request->fields; field->name; field++) {
		if (field->flags & ROGER_DERIVED)
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
		add_form(out, job->verb, job->request);
	if (answer->status == 401 || answer->status == 403)
		add_key_form(out);
	end(out);
}
