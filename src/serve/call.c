/* From a request over HTTP to a verb's request, and from the reply to an answer. */
#include "serve/serve.h"

#include <errno.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/nearest.h"
#include "data/json.h"
#include "data/record.h"

enum { STEP_MS = 500 };

/* ------------------------------------------------------------------ verbs -- */

/*
 * The server has one workspace, so verbs that need none, such as one to make it, are no routes;
 * nor are verbs that run a program which the request names.
 */
const struct roger_op *serve_next_verb(size_t *i)
{
	const struct roger_op *verb = roger_ops()[*i];

	while (verb && (verb->flags & (ROGER_EXECUTES | ROGER_NO_WORKSPACE)))
		verb = roger_ops()[++*i];
	*i += verb != NULL;
	return verb;
}

const struct roger_op *serve_find_verb(struct roger_str name)
{
	const struct roger_op *verb;
	size_t i = 0;

	while ((verb = serve_next_verb(&i)))
		if (rg_str_is(name, verb->name))
			return verb;
	return NULL;
}

/* ------------------------------------------------------------ the request -- */

static const struct roger_field *find_member(const struct roger_record *record, const char *name,
					     struct roger_err *err)
{
	const struct roger_field *field;
	struct roger_str nearest = { "", 0 };

	for (field = record->fields; field->name; field++) {
		if (strcmp(field->name, name) == 0)
			return field;
		rg_nearest_look(&nearest, rg_str(name), rg_str(field->name));
	}
	rg_fail_member(err, ROGER_EDATA, name, "'%.64s' is no member roger knows here" RG_MEANT,
		       name, RG_MEANT_ARGS(nearest));
	return NULL;
}

static int set_member(struct serve_job *job, const struct roger_field *field, struct roger_str text,
		      struct roger_err *err)
{
	bool yes;

	if (field->kind != ROGER_BOOL)
		return rg_record_set(field, text, rg_clock_ms(), job->request, job->arena, err);
	yes = rg_str_is(text, "true") || rg_str_is(text, "1");
	if (!yes && !rg_str_is(text, "false") && !rg_str_is(text, "0"))
		return rg_fail_member(err, ROGER_EDATA, field->name, "%s: expected true or false",
				      field->name);
	*(bool *)rg_field_at(field, job->request) = yes == !(field->flags & ROGER_NEGATED);
	return ROGER_OK;
}

/* In a query, as in JSON, a member has one value, unless it is a list. */
static int check_once(const struct evkeyvalq *pairs, const struct evkeyval *pair,
		      struct roger_err *err)
{
	const struct evkeyval *before = TAILQ_FIRST(pairs);

	while (before != pair && strcmp(before->key, pair->key) != 0)
		before = TAILQ_NEXT(before, next);
	return before == pair ? ROGER_OK
			      : rg_fail_member(err, ROGER_EUSAGE, pair->key,
					       "member '%.64s' comes twice", pair->key);
}

/* The caller need not name itself in an object: the token does. */
static void name_caller(struct serve_job *job)
{
	const struct roger_field *field = rg_find_flag(job->verb->request, ROGER_SELF);

	if (field && job->caller.right != RG_LOOK &&
	    (job->caller.right == RG_ACT || job->caller.how == RG_BY_LOGIN ||
	     (field->flags & ROGER_REQUIRED)) &&
	    !rg_name_is_pattern(rg_str(job->caller.name)))
		*(struct roger_str *)rg_field_at(field, job->request) = rg_str(job->caller.name);
}

static int read_object(struct serve_job *job, struct roger_str text, struct roger_err *err)
{
	const struct rg_json *json;
	int r;

	name_caller(job);
	if (!rg_arena_copy(job->arena, text, &text))
		return rg_fail_memory(err);
	r = rg_json_read_within(text, job->arena, &json, err);
	if (r < 0)
		return r;
	if (rg_json_kind(rg_json_root(json)) != RG_JSON_OBJECT)
		return rg_fail(err, ROGER_EDATA, 0, "expected the request as a JSON object");
	(void)rg_old_member();
	r = rg_request_decode(job->verb->request, rg_json_root(json), job->request, job->arena,
			      err);
	job->answer.old = rg_old_member();
	return r;
}

int serve_read_query(struct serve_job *job, const char *query, struct roger_err *err)
{
	const struct roger_field *field;
	struct evkeyval *pair;
	struct evkeyvalq pairs;
	int r = ROGER_OK;

	if (!query || !*query)
		return ROGER_OK;
	/* A NUL would end the value. */
	if (strstr(query, "%00") || evhttp_parse_query_str(query, &pairs) < 0)
		return rg_fail(err, ROGER_EUSAGE, 0, "expected a query of the form name=value&...");
	TAILQ_FOREACH(pair, &pairs, next)
	{
		/* Alone: the whole request, as roger itself asks. */
		if (strcmp(pair->key, "json") == 0) {
			r = pair == TAILQ_FIRST(&pairs) && !TAILQ_NEXT(pair, next)
				    ? read_object(job, rg_str(pair->value), err)
				    : rg_fail_member(err, ROGER_EUSAGE, "json",
						     "json: expected alone, as the whole request");
			break;
		}
		field = find_member(job->verb->request, pair->key, err);
		r = field ? set_member(job, field, rg_str(pair->value), err) : ROGER_EDATA;
		if (r == ROGER_OK && field->kind != ROGER_TEXTS)
			r = check_once(&pairs, pair, err);
		if (r < 0)
			break;
	}
	evhttp_clear_headers(&pairs);
	return r;
}

int serve_read_body(struct serve_job *job, struct roger_str body, struct roger_err *err)
{
	return read_object(job, body.length ? body : RG_STR("{}"), err);
}

/* Has the request its own key, or parts of one?  Then the header's key is for its tries. */
static bool has_own_key(const struct serve_job *job, const struct roger_str *place)
{
	const struct roger_send_request *request = job->request;

	return place->length || (job->verb == serve_find_verb(RG_STR("send")) &&
				 (request->task.length || request->verb.length));
}

/* Set the key of the header, a string of structured fields ("..."), or without quotes. */
static int set_key(struct serve_job *job, const struct roger_field *field, const char *key,
		   struct roger_err *err)
{
	struct roger_str *place = rg_field_at(field, job->request), text = rg_str(key);

	if (has_own_key(job, place))
		return ROGER_OK;

	if (text.length > 1 && text.data[0] == '"' && text.data[text.length - 1] == '"')
		text = (struct roger_str){ text.data + 1, text.length - 2 };
	return rg_record_set(field, text, 0, job->request, job->arena, err);
}

/* A verb that waits gets a thread of its own, and waits for a while only. */
static void bound_waits(struct serve_job *job)
{
	const struct roger_field *field;
	int64_t *span;

	for (field = job->verb->request->fields; field->name; field++) {
		if (!(field->flags & ROGER_WAITS))
			continue;
		span = rg_field_at(field, job->request);
		if (*span > SERVE_WAIT_MS_MAX || (*span == 0 && (field->flags & ROGER_ENDLESS)))
			*span = SERVE_WAIT_MS_MAX;
		if (*span)
			job->pool = SERVE_WAITS;
		job->waits_ms = *span;
	}
}

/* A send that waits to be read gets a thread of its own; sweeps make the retries.  Any other
 * send may share a sync with others. */
static void bound_send(struct serve_job *job)
{
	struct roger_send_request *request = job->request;

	if (job->verb != serve_find_verb(RG_STR("send")))
		return;
	job->gathers = request->confirm != ROGER_CONFIRM_READ && !job->serve->keeps_answers;
	if (request->confirm != ROGER_CONFIRM_READ)
		return;
	job->pool = SERVE_WAITS;
	if (!request->within_ms)
		request->within_ms = SERVE_WAIT_MS_MAX;
	job->waits_ms = request->within_ms;
}

int serve_finish_request(struct serve_job *job, const char *key, struct roger_err *err)
{
	const struct roger_field *field = rg_find_flag(job->verb->request, ROGER_KEY);
	int r = ROGER_OK;

	if (field && key && (job->verb->flags & ROGER_WRITES))
		r = set_key(job, field, key, err);
	bound_waits(job);
	bound_send(job);
	return r;
}

/* ------------------------------------------------------------- the answer -- */

static int status_of(int code, const struct roger_err *err)
{
	switch (code) {
	case ROGER_EUSAGE:
		return 400;
	case ROGER_EDATA:
		return 422;
	case ROGER_ENOENT:
		return 404;
	case ROGER_EREFUSED:
		return 403;
	case ROGER_ECREATE:
		return 507;
	case ROGER_EIO:
		return rg_is_full(err->system_errno) ? 507
		       : err->system_errno == EMFILE ? 503
						     : 500;
	case ROGER_EENGINE:
	case ROGER_ETIMEOUT:
		return 503;
	default:
		return 500;
	}
}

void serve_problem(struct serve_answer *answer, int status, int code, const char *kind,
		   const struct roger_err *err)
{
	struct rg_buf *body = &answer->body;
	int exit_status = code == ROGER_ENOMEM ? -ROGER_EIO : -code;

	answer->status = status;
	rg_buf_clear(body);
	answer->type = "application/problem+json";
	rg_buf_printf(body, "{\"type\":\"urn:roger:error:%s\",\"status\":%d", kind, status);
	rg_json_add_member(body, "detail", rg_str(err->message));
	if (*err->member)
		rg_json_add_member(body, "member", rg_str(err->member));
	if (err->item)
		rg_buf_printf(body, ",\"item\":%d", err->item);
	if (code)
		rg_buf_printf(body, ",\"exit\":%d", exit_status);
	rg_buf_printf(body, ",\"retry\":\"%s\"}\n",
		      status == 503 || status == 409 || rg_is_full(err->system_errno) ? "same-key"
										      : "never");
}

void serve_fail(struct serve_answer *answer, int code, const struct roger_err *err)
{
	serve_problem(answer, status_of(code, err), code, rg_code_name(code), err);
	answer->elsewhere = strcmp(err->member, "leader") == 0;
}

/* Print a reply as --json does. */
static void print_json(const struct roger *roger, const struct roger_record *record,
		       const void *reply, struct rg_buf *out)
{
	cli_encode_reply(roger, record, reply, out);
	rg_buf_add_char(out, '\n');
}

static void print_reply(struct serve_job *job, const struct roger *roger, const void *reply)
{
	const struct roger_record *record = job->verb->reply;
	const struct roger_field *duplicate = rg_find_flag(record, ROGER_DUPLICATE);

	print_json(roger, record, reply, &job->answer.body);
	job->answer.status = 200;
	job->answer.type = "application/json";
	job->answer.replayed = duplicate && !rg_field_unset(duplicate, reply);
}

static void print_tag(const struct rg_buf *body, char to[SERVE_TAG_BYTES])
{
	snprintf(to, SERVE_TAG_BYTES, "\"%016llx\"",
		 (unsigned long long)rg_hash(1, body->data, body->length));
}

/* Is the tag in the list, or is that "*"?  A weak tag, W/"...", does not promise equal bytes. */
static bool has_tag(const char *list, const char *tag, bool weak)
{
	const char *at = strstr(list, tag);

	return strcmp(list, "*") == 0 || (at && (weak || at < list + 2 || at[-1] != '/'));
}

/* Set the tag; a client that has the same answer already gets 304 without it. */
static void tag_answer(struct serve_job *job)
{
	struct serve_answer *answer = &job->answer;

	print_tag(&answer->body, answer->etag);
	if (!has_tag(job->if_none_match, answer->etag, true))
		return;
	rg_buf_clear(&answer->body);
	answer->status = 304;
}

/* Call the verb; one that waits, again and again within its time, until there is something. */
static int call_verb(struct serve_job *job, struct roger *roger, void *reply, struct roger_err *err)
{
	const struct roger_op *verb = job->verb;
	const struct roger_field *field = rg_find_flag(verb->request, ROGER_IN_PARTS);
	int64_t *span = field ? rg_field_at(field, job->request) : NULL;
	int64_t left = span && *span ? *span : 0;
	int r;

	for (;; left -= STEP_MS) {
		if (span && left > 0)
			*span = left < STEP_MS ? left : STEP_MS;
		r = roger_call(roger, verb, job->request, reply, err);
		if (r < 0 || left <= STEP_MS || !rg_field_unset(verb->reply->fields, reply) ||
		    serve_job_is_over(job))
			return r;
		roger_reply_free(reply);
	}
}

/* Is the error about a key that was used for something else?  That is no question of rights. */
static bool is_of_key(const struct roger_op *verb, const struct roger_err *err)
{
	const struct roger_field *field = rg_find_flag(verb->request, ROGER_KEY);

	return field && strcmp(field->name, err->member) == 0;
}

/* ---------------------------------------------------------------- If-Match -- */

/* Find the one message that the request is about. */
static int find_id(const struct serve_job *job, struct roger_strs *ret, struct roger_err *err)
{
	const struct roger_field *field = rg_find_flag(job->verb->request, ROGER_ID);

	*ret = (struct roger_strs){ 0 };
	if (field && field->kind == ROGER_TEXTS && !(field->flags & ROGER_LETTER) &&
	    (job->verb->flags & ROGER_WRITES))
		*ret = *(struct roger_strs *)rg_field_at(field, job->request);
	return ret->count == 1 ? ROGER_OK
			       : rg_fail(err, ROGER_EUSAGE, 0,
					 "expected the header 'If-Match' only with ack, nack or "
					 "archive, of one message");
}

/* Does the message still have the tag that /v1/messages/ID gave? */
static int match_tag(const struct serve_job *job, struct roger *roger, bool *ret,
		     struct roger_err *err)
{
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply reply = { 0 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf body = { .maximum = SIZE_MAX };
	const struct roger_op *show = cli_op_named("show");
	struct roger_show_request request = { 0 };
	char now[SERVE_TAG_BYTES];
	int r = find_id(job, &request.ids, err);

	if (r == ROGER_OK)
		r = roger_call(roger, show, &request, &reply, err);
	if (r < 0)
		return r;
	print_json(roger, show->reply, &reply, &body);
	print_tag(&body, now);
	*ret = !body.failed && has_tag(job->if_match, now, false);
	return ROGER_OK;
}

/* If several clients have seen the same message, only the first one changes it. */
static int call_if_match(struct serve_job *job, struct roger *roger, void *reply, bool *ret_changed,
			 struct roger_err *err)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	bool matches = true;
	int r = ROGER_OK;

	if (!*job->if_match)
		return call_verb(job, roger, reply, err);
	pthread_mutex_lock(&one);
	r = match_tag(job, roger, &matches, err);
	if (r == ROGER_OK && matches)
		r = call_verb(job, roger, reply, err);
	pthread_mutex_unlock(&one);
	*ret_changed = !matches;
	return r == ROGER_OK && !matches ? rg_fail(err, ROGER_EREFUSED, 0,
						   "it has changed since it had the tag of "
						   "'If-Match'; look at it again")
					 : r;
}

/* ---------------------------------------------------------------- the call -- */

/* Did an earlier leader answer this request?  Then *ret_done, and the answer is filled. */
static int find_answer(struct serve_job *job, struct roger *roger, bool *ret_done,
		       struct roger_err *err)
{
	struct roger_str text = { 0 };
	int r = rg_find_answer(roger, job->key, job->arena, &text, err);

	*ret_done = r == ROGER_OK && text.length >= SERVE_DIGEST_BYTES - 1;
	if (!*ret_done)
		return r;
	if (strncmp(text.data, job->body, SERVE_DIGEST_BYTES - 1) != 0)
		return rg_fail_member(err, ROGER_EREFUSED, "key",
				      "key: it was used for another request a while ago");
	rg_buf_add(&job->answer.body, text.data + SERVE_DIGEST_BYTES - 1,
		   text.length - (SERVE_DIGEST_BYTES - 1));
	job->answer.status = 200;
	job->answer.type = "application/json";
	job->answer.replayed = true;
	return ROGER_OK;
}

/* Store the answer together with the changes, or neither. */
static int put_answer(struct serve_job *job, struct roger *roger, int r, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	int put;

	rg_buf_add_text(&text, job->body);
	rg_buf_add_str(&text, rg_buf_str(&job->answer.body));
	put = rg_put_answer(roger, r == ROGER_OK ? rg_buf_str(&text) : (struct roger_str){ 0 },
			    r == ROGER_OK ? err : NULL);
	return r == ROGER_OK ? put : r;
}

void serve_call(struct serve_job *job, struct roger *roger)
{
	void *reply = rg_arena_get(job->arena, job->verb->reply->size);
	struct roger_err err = { 0 };
	bool changed = false, done = false;
	int r = rg_kept(reply, &err);

	if (r == ROGER_OK && *job->key)
		r = find_answer(job, roger, &done, &err);
	if (r == ROGER_OK && !done)
		r = call_if_match(job, roger, reply, &changed, &err);
	if (r == ROGER_OK && !done) {
		print_reply(job, roger, reply);
		roger_reply_free(reply);
		if (job->answer.body.failed)
			r = rg_fail_memory(&err);
	}
	if (*job->key)
		r = put_answer(job, roger, r, &err);
	if (changed)
		serve_problem(&job->answer, 412, 0, "changed", &err);
	else if (r == ROGER_EREFUSED && is_of_key(job->verb, &err))
		serve_problem(&job->answer, 422, r, rg_code_name(r), &err);
	else if (r < 0)
		serve_fail(&job->answer, r, &err);
	else if (job->tagged && job->answer.status == 200)
		tag_answer(job);
}
