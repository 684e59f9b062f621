/* call - print a verb's request as one of HTTP, and read the answer as the verb's reply. */
#include <stdio.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "data/json.h"
#include "data/record.h"
#include "remote/remote.h"

enum {
	URL_BYTES_MAX = 60 << 10, /* the server takes 64 KiB of head */
	TURN_MS = 2 * 1000,
	WAIT_MS = 60 * 1000, /* the longest wait in one request */
	STEP_MS = 50 * 1000,
};

/* What only this side needs to know of a verb; most verbs have no row here. */
static const struct row {
	const char *name;
	bool local;    /* works on files of the server's machine, so only through its socket */
	bool here;     /* works on this machine, by steps that are asked of the server */
	bool outbox;   /* its reply also describes the outbox */
	bool instants; /* its reply has entries of the activity log */
	enum { NO_KEY, ONE_KEY, MANY_KEYS } keys; /* how many messages need a key */
} rows[] = {
	{ .name = "send", .keys = ONE_KEY },	    { .name = "reply", .keys = ONE_KEY },
	{ .name = "send_many", .keys = MANY_KEYS }, { .name = "status", .outbox = true },
	{ .name = "activity", .instants = true },   { .name = "log", .instants = true },
	{ .name = "bridge", .local = true },	    { .name = "run", .here = true },
	{ .name = "wake", .here = true },
};
static const struct row usual;

static const struct row *row_of(const struct roger_op *op)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].name, op->name) == 0)
			return &rows[i];
	return &usual;
}

/* -------------------------------------------------------------- the request -- */

static void print_list(const struct roger_field *field, const void *request, struct rg_buf *out)
{
	const struct rg_list *list = rg_field_at(field, request);
	size_t i;

	rg_json_add_key(out, rg_str(field->name));
	for (i = 0; i < list->count; i++) {
		rg_buf_add_char(out, i ? ',' : '[');
		remote_print_request(field->record, list->items + i * field->record->size, out);
	}
	rg_buf_add_char(out, ']');
}

void remote_print_request(const struct roger_record *record, const void *request,
			  struct rg_buf *out)
{
	const struct roger_field *field;

	rg_buf_add_char(out, '{');
	for (field = record->fields; field->name; field++)
		if (rg_field_unset(field, request))
			continue;
		else if (field->kind == ROGER_RECORDS)
			print_list(field, request, out);
		else
			rg_field_encode(field, request, out);
	rg_buf_add_char(out, '}');
}

/* ----------------------------------------------------------------- keys -- */

/* A call that waits for its answer. */
struct call {
	struct remote *remote;
	const struct roger_op *op;
	const struct row *row;
	struct rg_arena *arena; /* of the reply; looked at for failures before it is asked */
	const void *request;
	void *reply;
	char key[REMOTE_KEY_BYTES]; /* for all its tries */
};

static bool has_key(const struct roger_send_request *send)
{
	return send->key.length || send->task.length || send->verb.length;
}

/* Who waits until it is read must know the key, so that is refused without one. */
static bool needs_key(const struct roger_send_request *send)
{
	return !has_key(send) && !send->dry_run && send->confirm != ROGER_CONFIRM_READ;
}

/*
 * Give a send without a key one, before the first try: then it is stored once, even if the server
 * is started again between two tries, or the send waits on disk.
 */
static void add_key(struct call *call)
{
	const struct roger_send_request *given = call->request;
	struct roger_send_request *send = rg_arena_get(call->arena, sizeof *send);

	if (!send)
		return;
	*send = *given;
	if (needs_key(given))
		send->key = rg_str(call->key);
	else if (!has_key(given))
		*call->key = '\0';
	snprintf(call->remote->key, sizeof call->remote->key, "%.*s",
		 send->key.length < sizeof call->remote->key ? (int)send->key.length : 0,
		 send->key.data ? send->key.data : "");
	call->request = send;
}

static void add_keys(struct call *call)
{
	const struct roger_send_many_request *given = call->request;
	struct roger_send_many_request *many = rg_arena_get(call->arena, sizeof *many);
	struct roger_send_request *items =
		rg_arena_get(call->arena, given->items.count * sizeof *items + 1);
	size_t i;

	if (!many || !items)
		return;
	for (i = 0; i < given->items.count; i++) {
		items[i] = given->items.items[i];
		if (needs_key(&items[i]))
			items[i].key = rg_arena_text(call->arena, "%s-%zu", call->key, i + 1);
	}
	*many = *given;
	many->items.items = items;
	call->request = many;
}

/* Answer as if no key had been added. */
static void forget_key(const struct roger_send_request *given, struct roger_send_reply *reply)
{
	if (!needs_key(given))
		return;
	reply->key = reply->cycle = (struct roger_str){ 0 };
	reply->attempt = 0;
	reply->duplicate = false;
}

static void forget_keys(const struct call *call, const void *request)
{
	const struct roger_send_many_request *given = request;
	const struct roger_send_many_reply *many = call->reply;
	size_t i;

	if (call->row->keys == ONE_KEY)
		forget_key(request, call->reply);
	for (i = 0; call->row->keys == MANY_KEYS && i < given->items.count && i < many->items.count;
	     i++)
		forget_key(&given->items.items[i],
			   (struct roger_send_reply *)(uintptr_t)&many->items.items[i]);
}

/* --------------------------------------------------------------- the answer -- */

static void read_damage(struct remote *remote, const struct rg_value *object)
{
	const struct rg_value *damage = rg_json_member(object, "damage");

	remote->damage[0] = '\0';
	if (rg_json_kind(damage) == RG_JSON_STRING)
		snprintf(remote->damage, sizeof remote->damage, "%.*s",
			 RG_STR_ARGS(rg_json_str(damage)));
}

/* An entry's instant is not among its members, so read it from its text. */
static void read_instants(const struct roger_activity_reply *reply)
{
	struct roger_activity *entry = (struct roger_activity *)(uintptr_t)reply->activities.items;
	size_t i;

	for (i = 0; i < reply->activities.count; i++, entry++)
		if (!rg_clock_read_rfc3339(entry->timestamp, &entry->at_ms))
			entry->at_ms = 0;
}

int remote_read_reply(const struct remote *remote, const struct roger_op *op,
		      const struct remote_answer *answer, struct rg_arena *arena, void *reply,
		      const struct rg_json **ret_json, struct roger_err *err)
{
	struct roger_str text;
	struct roger_err why;
	int r;

	if (!rg_arena_copy(arena, rg_buf_str(&answer->body), &text))
		return rg_fail_memory(err);
	r = rg_json_read_within(text, arena, ret_json, &why);
	if (r == ROGER_OK)
		r = rg_answer_decode(op->reply, rg_json_root(*ret_json), reply, arena, &why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r == ROGER_OK &&
	    rg_json_kind(rg_json_member(rg_json_root(*ret_json), "format")) != RG_JSON_NUMBER)
		r = rg_fail(&why, ROGER_EDATA, 0, "format: missing");
	if (r == ROGER_OK)
		return ROGER_OK;
	return rg_fail(err, op->flags & ROGER_WRITES ? ROGER_ETIMEOUT : ROGER_EENGINE, 0,
		       "%.200s: its answer is not one of roger's: %.150s%s", remote->place->name,
		       why.message,
		       op->flags & ROGER_WRITES ? "; it is not known what was done" : "");
}

static int read_reply(const struct call *call, const struct remote_answer *answer,
		      struct roger_err *err)
{
	const struct rg_json *json;
	int r = remote_read_reply(call->remote, call->op, answer, call->arena, call->reply, &json,
				  err);

	if (r < 0)
		return r;
	read_damage(call->remote, rg_json_root(json));
	if (call->row->instants)
		read_instants(call->reply);
	return ROGER_OK;
}

/* Add the messages that wait on this machine to the status: the server does not know them. */
static void add_outbox(const struct call *call, bool elsewhere)
{
	struct roger_status_reply *reply = call->reply;
	struct roger_concern concern = { .urgency = ROGER_SOON, .kind = RG_STR("outbox") };
	struct remote_outbox outbox;

	remote_outbox_look(call->remote, elsewhere, &outbox);
	if (!outbox.waiting && (elsewhere || !outbox.refused))
		return;
	concern.count = outbox.waiting + outbox.refused;
	concern.since_ms = outbox.since_ms;
	if (elsewhere)
		concern.words = rg_arena_text(
			call->arena, "%lld message%s of this machine wait%s for another server, %s",
			(long long)outbox.waiting, rg_plural(outbox.waiting),
			outbox.waiting == 1 ? "s" : "",
			*outbox.server ? outbox.server : "whose address is not known");
	else
		concern.words = rg_arena_text(
			call->arena,
			"messages of this machine: %lld wait for a command with their sender's "
			"token; %lld refused, which can be removed",
			(long long)outbox.waiting, (long long)outbox.refused);
	if (*outbox.server && elsewhere && !strchr(outbox.server, '\''))
		concern.next =
			rg_arena_text(call->arena, "ROGER_SERVER='%s' roger status", outbox.server);
	else
		concern.next = rg_arena_text(
			call->arena, "ls \"${XDG_STATE_HOME:-$HOME/.local/state}/roger/%s\"",
			outbox.path);
	(void)!rg_arena_append(call->arena, &reply->concerns.items, &reply->concerns.count,
			       &concern, sizeof concern);
	reply->quiet = false;
}

/* ------------------------------------------------------------------ calling -- */

static bool is_slow(const struct roger_op *op)
{
	return op->flags & (ROGER_ADMINISTERS | ROGER_SLOW);
}

static int ask_server(const struct call *call, int64_t wait_ms, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf path = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf body = { .maximum = SIZE_MAX };
	const bool writes = call->op->flags & ROGER_WRITES;
	const bool slow = is_slow(call->op);
	struct remote_request request = { .key = *call->key ? call->key : NULL,
					  .within_ms = RG_ANSWER_WAIT_MS + wait_ms,
					  .slow = slow,
					  .turn_ms = slow ? 0 : TURN_MS + wait_ms };
	struct remote_answer answer = { 0 };
	int r;

	rg_buf_printf(&path, "/v1/%s", call->op->name);
	remote_print_request(call->op->request, call->request, &body);
	if (!writes && body.length > strlen("{}")) {
		rg_buf_add_text(&path, "?json=");
		rg_buf_add_escaped(&path, RG_IN_ADDRESS, rg_buf_str(&body));
	}
	rg_buf_add_char(&path, '\0');
	if (path.failed || body.failed)
		return rg_fail_memory(err);
	if (path.length > URL_BYTES_MAX)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "%s: too long to be asked of a server; ask for less at once",
			       call->op->name);
	request.path = path.data;
	request.body = writes ? rg_buf_str(&body) : (struct roger_str){ 0 };
	r = remote_ask(call->remote, &request, &answer, err);
	if (r == ROGER_OK)
		r = read_reply(call, &answer, err);
	rg_buf_deinit(&answer.body);
	return r;
}

/* A call that changes nothing needs no key for its tries. */
static bool is_dry_run(const struct call *call)
{
	const struct roger_field *field = rg_find_flag(call->op->request, ROGER_DRY_RUN);

	return field && !rg_field_unset(field, call->request);
}

/* How long a call waits in one request, such as a send until it is read: a minute at most. */
static int64_t wait_of(const struct call *call)
{
	const struct roger_send_request *send = call->request;
	const struct roger_field *field = rg_find_flag(call->op->request, ROGER_WAITS);
	const int64_t span_ms = field ? *(const int64_t *)rg_field_at(field, call->request) : 0;

	if (call->row->keys == ONE_KEY && send->confirm != ROGER_CONFIRM_READ)
		return 0;
	return (call->row->keys == ONE_KEY && !span_ms) || span_ms > WAIT_MS ? WAIT_MS : span_ms;
}

static int call_once(struct call *call, int64_t wait_ms, struct roger_err *err)
{
	const void *given = call->request;
	int r = ROGER_OK;

	call->remote->key[0] = '\0';
	if (is_slow(call->op) || ((call->op->flags & ROGER_WRITES) && !is_dry_run(call)))
		r = remote_new_key(call->key, err);
	if (call->row->keys == ONE_KEY)
		add_key(call);
	else if (call->row->keys == MANY_KEYS)
		add_keys(call);
	if (r == ROGER_OK)
		r = rg_kept(!rg_arena_failed(call->arena), err);
	if (r == ROGER_OK)
		r = ask_server(call, wait_ms, err);
	if (r < 0)
		return r;
	forget_keys(call, given);
	if (call->row->outbox) {
		add_outbox(call, false);
		add_outbox(call, true);
	}
	return rg_kept(!rg_arena_failed(call->arena), err);
}

/* One request waits for a minute at most, so a longer wait takes several. */
static int call_waiting(struct call *call, const struct roger_field *field, struct roger_err *err)
{
	const int64_t start_ns = rg_clock_monotonic_ns();
	void *request = rg_arena_get(call->arena, call->op->request->size);
	int64_t *span, all_ms, left_ms;
	int r;

	if (!request)
		return rg_fail_memory(err);
	memcpy(request, call->request, call->op->request->size);
	call->request = request;
	span = rg_field_at(field, request);
	all_ms = *span ? *span : field->flags & ROGER_ENDLESS ? INT64_MAX : 0;
	for (;;) {
		left_ms = all_ms - (rg_clock_monotonic_ns() - start_ns) / 1000000;
		*span = left_ms < STEP_MS ? left_ms : STEP_MS;
		if (*span < 1)
			*span = all_ms ? 1 : 0;
		r = call_once(call, *span, err);
		if (r < 0 || left_ms <= STEP_MS ||
		    !rg_field_unset(call->op->reply->fields, call->reply))
			return r;
		if (remote_is_interrupted())
			return rg_fail(err, ROGER_ETIMEOUT, 0, "interrupted");
		memset((char *)call->reply + sizeof call->arena, 0,
		       call->op->reply->size - sizeof call->arena);
	}
}

bool remote_is_here(const struct remote *remote, const struct roger_op *op)
{
	/* If the server is one for this workspace, it runs the administration itself. */
	return row_of(op)->here && !(remote->here && op->flags & ROGER_ADMINISTERS);
}

static int check_call(const struct remote *remote, const struct call *call, struct roger_err *err)
{
	const struct roger_field *self = rg_find_flag(call->op->request, ROGER_SELF);
	const void *request = call->request;
	void *copy;

	if ((call->op->flags & (ROGER_EXECUTES | ROGER_NO_WORKSPACE)) ||
	    (call->row->local && !*remote->places->socket))
		return rg_fail(
			err, ROGER_EUSAGE, 0,
			remote->here ? "%s is of files, and this workspace is in PostgreSQL: dump "
				       "its database"
				     : "%s is for the machine that has the workspace: run it "
				       "there, or here without ROGER_SERVER",
			call->op->name);
	/* The agent may be known by the token alone: any name will do for it here. */
	if (self && rg_field_unset(self, request) && !*remote->places->socket) {
		copy = rg_arena_get(call->arena, call->op->request->size);
		if (!copy)
			return rg_fail_memory(err);
		request = memcpy(copy, request, call->op->request->size);
		*(struct roger_str *)rg_field_at(self, copy) = RG_STR("token");
	}
	return rg_request_check(call->op->request, request, err);
}

int remote_call_within(struct remote *remote, const struct roger_op *op, const void *request,
		       void *reply, struct roger_err *err)
{
	struct call call = { remote, op, row_of(op), NULL, request, reply, "" };
	const struct roger_field *field;
	struct roger_err local;
	int r;

	err = err ? err : &local;
	memcpy(&call.arena, reply, sizeof call.arena);
	r = check_call(remote, &call, err);
	if (r < 0)
		return r;
	remote->unreached = false;
	remote->key[0] = '\0';
	r = remote_outbox_flush(remote, call.row->keys != NO_KEY, err);
	if (r < 0 && remote->unreached)
		remote_outbox_tell(remote, err);
	if (r < 0)
		return r;
	field = rg_find_flag(op->request, ROGER_IN_PARTS);
	r = field ? call_waiting(&call, field, err) : call_once(&call, wait_of(&call), err);
	if (r < 0 && remote->unreached)
		remote_outbox_tell(remote, err);
	return r;
}

int remote_call(struct remote *remote, const struct roger_op *op, const void *request,
		void *ret_reply, struct roger_err *err)
{
	struct rg_arena *memory = rg_arena_new();
	int r = rg_kept(memory, err);

	memset(ret_reply, 0, op->reply->size);
	memcpy(ret_reply, &memory, sizeof memory);
	if (r == ROGER_OK)
		r = remote_call_within(remote, op, request, ret_reply, err);
	if (r < 0) {
		rg_arena_free(memory);
		memset(ret_reply, 0, op->reply->size);
	}
	return r;
}
