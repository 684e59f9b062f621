/*
 * outbox - sends that could not reach their server, on this machine's disk.
 *
 * A folder for each server has its address, and a file for each send, named by a number.  It holds
 * the body of the request, with the key that it was first tried with.  The next command that
 * reaches the server sends the files in order, and removes each once the server has said that its
 * message is stored.  If a command is killed in between, the send is repeated with its key,
 * which stores nothing twice.
 *
 *     NUMBER.json ---- stored ----> (removed)
 *          \---- refused by a rule ----> NUMBER.refused, which a person looks at
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/limits.h"
#include "data/json.h"
#include "data/record.h"
#include "host/file.h"
#include "host/session.h"
#include "remote/remote.h"

enum {
	ITEM_BYTES_MAX = 16 << 20,
	NUMBER_DIGITS = 16,
};
static const char waiting_end[] = ".json", refused_end[] = ".refused", lock_name[] = "lock",
		  server_name[] = "server";

/* ------------------------------------------------------------------- folders -- */

void remote_print_own(const struct remote *remote, const char *what, char to[40])
{
	const char *name = remote->places->name;

	snprintf(to, 40, "%s-%016llx", what, (unsigned long long)rg_hash(1, name, strlen(name)));
}

int remote_own_folder(bool make, int *ret_folder, struct roger_err *err)
{
	char path[4096];
	int r = make ? rg_session_make_folder(false, path, err)
		     : rg_session_folder(false, path, err);

	*ret_folder = RG_NO_FILE;
	return r < 0 ? r : rg_file_open_folder(AT_FDCWD, path, ret_folder, err);
}

static int open_outbox(const struct remote *remote, bool make, int *ret_folder,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int above = RG_NO_FILE;
	char name[40];
	int r = remote_own_folder(make, &above, err);

	*ret_folder = RG_NO_FILE;
	remote_print_own(remote, "outbox", name);
	return r < 0 || above == RG_NO_FILE
		       ? r
		       : rg_file_open_below(above, name, make, ret_folder, err);
}

/* ------------------------------------------------------------------- the files -- */

static bool has_end(struct roger_str name, const char *end)
{
	return name.length == NUMBER_DIGITS + strlen(end) &&
	       strspn(name.data, "0123456789") == NUMBER_DIGITS &&
	       strcmp(name.data + NUMBER_DIGITS, end) == 0;
}

/* List the files that wait, and those that were refused, in their order. */
static int list_files(int folder, struct rg_arena *arena, struct roger_strs *ret_waiting,
		      struct roger_strs *ret_refused, struct roger_err *err)
{
	struct roger_strs names = { 0 };
	size_t i;
	int r = rg_file_list_folder(folder, "outbox", arena, &names, err);

	*ret_waiting = *ret_refused = (struct roger_strs){ 0 };
	if (names.count)
		qsort((void *)(uintptr_t)names.items, names.count, sizeof *names.items,
		      rg_str_compare);
	for (i = 0; i < names.count; i++)
		if (has_end(names.items[i], waiting_end))
			rg_arena_note(arena, ret_waiting, "%s", names.items[i].data);
		else if (has_end(names.items[i], refused_end))
			rg_arena_note(arena, ret_refused, "%s", names.items[i].data);
	return r < 0 ? r : rg_kept(!rg_arena_failed(arena), err);
}

static int lock_outbox(int folder, int64_t wait_ms, int *ret_lock, struct roger_err *err)
{
	int r = rg_file_open(folder, lock_name, RG_FILE_CREATE_APPEND, ret_lock, err);

	return r == ROGER_OK ? rg_file_lock(*ret_lock, "outbox", wait_ms, err) : r;
}

/* ------------------------------------------------------------------ sending -- */

/* A send that waits, as far as it is looked at here. */
struct item {
	struct roger_str name;
	struct rg_buf body;
	struct rg_waiting said;
	char tries[REMOTE_KEY_BYTES]; /* the key for its tries, if the server makes its own */
};

static int read_item(int folder, struct item *item, struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_json *json;
	bool found;
	int r = rg_file_read_all(folder, item->name.data, ITEM_BYTES_MAX, &item->body, &found, err);

	if (r == ROGER_OK && !found)
		r = rg_fail(err, ROGER_ENOENT, 0, "'%s' went away", item->name.data);
	if (r == ROGER_OK)
		r = rg_json_read_within(rg_buf_str(&item->body), arena, &json, err);
	if (r == ROGER_OK)
		r = remote_new_key(item->tries, err);
	return r < 0 ? r
		     : rg_answer_decode(&rg_waiting_record, rg_json_root(json), &item->said, arena,
					err);
}

/* Must it wait for another token?  Then so do later ones of its sender, to keep their order. */
static bool is_of_another(int code, const struct roger_err *err)
{
	return code == ROGER_EREFUSED &&
	       (strcmp(err->member, "token") == 0 || strcmp(err->member, "from") == 0);
}

/* Errors that no further try can change. */
static bool is_final(int code)
{
	return code == ROGER_EUSAGE || code == ROGER_EDATA || code == ROGER_ENOENT ||
	       code == ROGER_EREFUSED;
}

static int send_item(struct remote *remote, const struct item *item, struct rg_arena *arena,
		     struct roger_err *err)
{
	struct remote_answer answer = { 0 };
	struct roger_send_reply reply = { 0 };
	const struct rg_json *json;
	struct remote_request request = { .path = "/v1/send",
					  .body = rg_buf_str(&item->body),
					  .key = item->said.key.length ? item->said.key.data
								       : item->tries,
					  .within_ms = RG_ANSWER_WAIT_MS,
					  .queued = true };
	int r = remote_ask(remote, &request, &answer, err);

	if (r == ROGER_OK)
		r = remote_read_reply(remote, &rg_op_send, &answer, arena, &reply, &json, err);
	rg_buf_deinit(&answer.body);
	return r;
}

/* Keep the file for a person, and tell of it now. */
static int put_aside(struct remote *remote, int folder, const struct item *item,
		     const struct roger_err *why, struct roger_err *err)
{
	char name[40];

	snprintf(name, sizeof name, "%.16s%s", item->name.data, refused_end);
	remote->refused++;
	snprintf(remote->notice, sizeof remote->notice,
		 "%lld message%s that waited in the outbox %s refused (%sfrom '%.*s'): %.250s",
		 (long long)remote->refused, rg_plural(remote->refused),
		 remote->refused == 1 ? "was" : "were", remote->refused == 1 ? "" : "the last is ",
		 RG_STR_CUT(item->said.from), why->message);
	return rg_file_rename(folder, item->name.data, name, true, err);
}

static int send_waiting(struct remote *remote, int folder, struct item *item,
			struct roger_strs *passed, struct rg_arena *arena, struct roger_err *err)
{
	struct roger_err why = { 0 };
	int r = read_item(folder, item, arena, &why);

	if (r == ROGER_OK && rg_str_among(*passed, item->said.from))
		return ROGER_OK;
	if (r == ROGER_OK)
		r = send_item(remote, item, arena, &why);
	if (r == ROGER_OK)
		return rg_file_remove(folder, item->name.data, err);
	if (is_of_another(r, &why))
		return rg_kept(rg_arena_add(arena, passed, item->said.from), err);
	if (is_final(r))
		return put_aside(remote, folder, item, &why, err);
	*err = why;
	return r;
}

static int send_all(struct remote *remote, int folder, struct rg_arena *arena,
		    struct roger_err *err)
{
	struct roger_strs names, refused, passed = { 0 };
	size_t i;
	int r = list_files(folder, arena, &names, &refused, err);

	for (i = 0; i < names.count && r == ROGER_OK; i++) {
		struct item item = { .name = names.items[i] };

		rg_buf_init(&item.body, ITEM_BYTES_MAX);
		r = send_waiting(remote, folder, &item, &passed, arena, err);
		rg_buf_deinit(&item.body);
	}
	return r;
}

/* Print how many wait; false: none. */
static bool print_waiting(const struct remote *remote, char to[120])
{
	struct remote_outbox outbox;

	remote_outbox_look(remote, false, &outbox);
	snprintf(to, 120, "%lld message%s in the outbox of this machine still wait%s to be sent",
		 (long long)outbox.waiting, rg_plural(outbox.waiting),
		 outbox.waiting == 1 ? "s" : "");
	return outbox.waiting > 0;
}

void remote_outbox_tell(const struct remote *remote, struct roger_err *err)
{
	struct roger_err before = *err;
	char words[120];

	if (print_waiting(remote, words))
		rg_fail_member(err, before.code, before.member, "%.320s; %s", before.message,
			       words);
}

/*
 * A call that does not send need not wait for another process that sends, nor fail with it.  A
 * send must not overtake those that wait.
 */
int remote_outbox_flush(struct remote *remote, bool wait, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int lock = RG_NO_FILE;
	struct roger_strs names, refused;
	char words[120];
	int r;

	if (remote->flushed && !wait)
		return ROGER_OK;
	remote->flushed = true;
	if (!arena)
		return rg_fail_memory(err);
	if (open_outbox(remote, false, &folder, err) < 0 || folder == RG_NO_FILE)
		return ROGER_OK;
	if (list_files(folder, arena, &names, &refused, err) < 0 || !names.count)
		return ROGER_OK;
	r = lock_outbox(folder, wait ? RG_LOCK_WAIT_MS : 0, &lock, err);
	if (r == ROGER_OK)
		r = send_all(remote, folder, arena, err);
	/* The command that comes next does not wait for that server again. */
	remote->lost |= !wait && r == ROGER_ETIMEOUT && remote->unreached;
	/* Tell this after every command, until none waits. */
	if (print_waiting(remote, words) && !*remote->notice)
		snprintf(remote->notice, sizeof remote->notice, "%s", words);
	return wait ? r : ROGER_OK;
}

/* ------------------------------------------------------------------- storing -- */

static long long last_number(const struct roger_strs *names)
{
	return names->count ? strtoll(names->items[names->count - 1].data, NULL, 10) : 0;
}

static int store_request(int folder, struct roger_str text, struct rg_arena *arena,
			 struct roger_err *err)
{
	struct roger_strs waiting, refused;
	long long number, other;
	char name[40];
	int r = list_files(folder, arena, &waiting, &refused, err);

	if (r < 0)
		return r;
	/* Numbers begin again only when no file is left: then there is no order to keep. */
	number = last_number(&waiting);
	other = last_number(&refused);
	number = number > other ? number : other;
	snprintf(name, sizeof name, "%016lld%s", number + 1, waiting_end);
	return rg_file_replace(folder, name, text, true, err);
}

int remote_queue(struct remote *remote, const struct roger_op *op,
		 const struct roger_send_request *request, struct roger_str *ret_key,
		 struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = ITEM_BYTES_MAX };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int lock = RG_NO_FILE;
	struct roger_send_request kept = *request;
	int r = ROGER_OK;

	/* The server makes the key of a task; any other key was made before the first try. */
	if (!kept.key.length && !kept.task.length && !*remote->key)
		r = remote_new_key(remote->key, err);
	if (!kept.key.length && !kept.task.length)
		kept.key = rg_str(remote->key);
	remote_print_request(op->request, &kept, &text);
	if (r == ROGER_OK)
		r = rg_kept(arena && !text.failed, err);
	if (r == ROGER_OK)
		r = open_outbox(remote, true, &folder, err);
	if (r == ROGER_OK)
		r = lock_outbox(folder, RG_LOCK_WAIT_MS, &lock, err);
	if (r == ROGER_OK)
		r = rg_file_replace(folder, server_name, rg_str(remote->places->name), false, err);
	if (r == ROGER_OK)
		r = store_request(folder, rg_buf_str(&text), arena, err);
	*ret_key = kept.key;
	return r;
}

/* ---------------------------------------------------------------------- looking -- */

/* Look into the outbox with the name that is in `ret`. */
static void look_into(int above, struct rg_arena *arena, struct remote_outbox *ret)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf server = { .maximum = sizeof ret->server - 1 };
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct roger_strs waiting, refused;
	struct rg_file_facts facts;

	if (rg_file_open_below(above, ret->path, false, &folder, NULL) < 0 ||
	    folder == RG_NO_FILE || list_files(folder, arena, &waiting, &refused, NULL) < 0)
		return;
	ret->waiting = (int64_t)waiting.count;
	ret->refused = (int64_t)refused.count;
	if (waiting.count &&
	    rg_file_look(folder, waiting.items[0].data, &facts, NULL) == ROGER_OK && facts.kind)
		ret->since_ms = facts.changed_ms;
	if (rg_file_read_all(folder, server_name, server.maximum, &server, NULL, NULL) == ROGER_OK)
		snprintf(ret->server, sizeof ret->server, "%.*s", RG_STR_ARGS(rg_buf_str(&server)));
}

void remote_outbox_look(const struct remote *remote, bool elsewhere, struct remote_outbox *ret)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	RG_CLEANUP(rg_file_closep) int above = RG_NO_FILE;
	struct roger_strs names = { 0 };
	char own[40];
	size_t i;

	*ret = (struct remote_outbox){ 0 };
	remote_print_own(remote, "outbox", own);
	if (!arena || remote_own_folder(false, &above, NULL) < 0 || above == RG_NO_FILE)
		return;
	if (!elsewhere) {
		memcpy(ret->path, own, sizeof own);
		look_into(above, arena, ret);
	} else if (rg_file_list_folder(above, "roger", arena, &names, NULL) < 0) {
		return;
	}
	for (i = 0; i < names.count && !ret->waiting; i++) {
		if (!rg_str_begins(names.items[i], "outbox-") || rg_str_is(names.items[i], own) ||
		    names.items[i].length >= sizeof ret->path)
			continue;
		*ret = (struct remote_outbox){ 0 };
		memcpy(ret->path, names.items[i].data, names.items[i].length);
		look_into(above, arena, ret);
	}
}
