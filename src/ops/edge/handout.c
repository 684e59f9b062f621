/*
 * handout: mail of agents that only know files is written to their files.
 *
 * What is about to be written is noted in .handing/ first, durably; then the
 * text is appended and synced, and the messages are marked as handed over.  After
 * a kill the note tells what to look for: text that is there already is not written
 * again, and one that is cut off is completed.
 *
 * A message that was written is not read yet: it counts as read when its agent then says something
 * with a number of its own, or when somebody acks it.
 */

#include "ops/edge/bridge.h"
#include "facts/message.h"
#include "host/file.h"

/* Messages written at once, and tries to append them. */
enum { MESSAGES_MAX = 100, TRIES_MAX = 3 };

struct handout {
	struct roger *roger;
	struct rg_bridge *bridge;
	struct roger_bridge_reply *reply;
	struct rg_arena *arena;
	struct roger_str agent;
	char file_name[RG_FILE_NAME_BYTES];
	char note_name[RG_FILE_NAME_BYTES];
};

/* ---------------------------------------------------------------- text -- */

/* Turn a name into a role, which has letters, digits, '-' and '_' only. */
static struct roger_str role_of(struct roger_str name, struct rg_arena *arena)
{
	struct roger_str role = rg_arena_str(arena, name);
	char *at = (char *)(uintptr_t)role.data;

	while ((at = strpbrk(at, ".:@/")))
		*at = '_';
	return role;
}

static int print_messages(const struct handout *handout, const struct roger_message_list *messages,
			  struct rg_buf *out, struct roger_err *err)
{
	struct rg_roleline line;
	size_t i;

	for (i = 0; i < messages->count; i++) {
		line.number = messages->items[i].seq;
		line.text = messages->items[i].content;
		line.role = role_of(messages->items[i].from, handout->arena);
		rg_roleline_print(&line, out);
	}
	return rg_kept(!out->failed && !rg_arena_failed(handout->arena), err);
}

/* -------------------------------------------------------------- file -- */

static int open_file(const struct handout *handout, int *ret_file, struct rg_file_facts *ret_facts,
		     struct roger_err *err)
{
	int r = rg_file_open(handout->bridge->triggers.folder, handout->file_name,
			     RG_FILE_CREATE_APPEND, ret_file, err);

	r = rg_triggers_refused(r, err);
	return r < 0 ? r : rg_file_facts(*ret_file, handout->file_name, ret_facts, err);
}

/* Does the file end without a newline?  That text must not run into ours. */
static int ends_open(int file, const struct rg_file_facts *facts, bool *ret_open,
		     struct roger_err *err)
{
	size_t got = 0;
	char last = '\n';
	int r = ROGER_OK;

	if (facts->size > 0)
		r = rg_file_read_at(file, &last, 1, facts->size - 1, &got, err);
	*ret_open = got == 1 && last != '\n';
	return r;
}

/*
 * Append in one write and sync.  *ret_there false: in that very moment the
 * reader emptied the file or took it away, and may have missed the text.
 */
static int append_once(const struct handout *handout, int file, struct roger_str text,
		       bool *ret_there, struct roger_err *err)
{
	struct rg_file_facts facts, named = { 0 };
	uint64_t end = 0;
	int r;

	r = rg_file_write(file, text.data, text.length, handout->file_name, err);
	if (r == ROGER_OK)
		r = rg_file_tell(file, handout->file_name, &end, err);
	/* Look before the sync, which would give the reader time. */
	if (r == ROGER_OK)
		r = rg_file_facts(file, handout->file_name, &facts, err);
	if (r == ROGER_OK)
		r = rg_file_look(handout->bridge->triggers.folder, handout->file_name, &named, err);
	if (r < 0)
		return r;
	*ret_there = facts.size >= (int64_t)end && named.inode == facts.inode &&
		     named.device == facts.device;
	r = rg_file_sync(file, handout->file_name, err);
	if (r == ROGER_OK && end == text.length)
		r = rg_file_sync_folder(handout->bridge->triggers.folder, handout->file_name, err);
	return r;
}

static int append_text(const struct handout *handout, struct roger_str text, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf whole = { .maximum = SIZE_MAX };
	struct rg_file_facts facts;
	bool there = false, open = false;
	int file, tries, r = ROGER_OK;

	for (tries = 0; tries < TRIES_MAX && !there && r == ROGER_OK; tries++) {
		r = open_file(handout, &file, &facts, err);
		if (r < 0)
			return r;
		rg_buf_clear(&whole);
		r = ends_open(file, &facts, &open, err);
		if (open)
			rg_buf_add_char(&whole, '\n');
		rg_buf_add_str(&whole, text);
		if (r == ROGER_OK && whole.failed)
			r = rg_fail_memory(err);
		if (r == ROGER_OK)
			r = append_once(handout, file, rg_buf_str(&whole), &there, err);
		rg_file_close(file);
	}
	return r;
}

/* ---------------------------------------------------------- messages -- */

static int find_messages(const struct handout *handout, const struct rg_query *query,
			 struct roger_message_list *ret_messages, struct roger_err *err)
{
	return rg_engine_find(handout->roger->engine, query, handout->arena, ret_messages, err);
}

static void tell_written(const struct handout *handout, const struct roger_message *message)
{
	const struct roger_crossing item = { .kind = ROGER_CROSSING_WRITTEN,
					     .file = rg_str(handout->file_name),
					     .from = message->from,
					     .to = message->to,
					     .seq = message->seq,
					     .id = message->id };

	rg_crossing_put(handout->reply, &item);
}

/* Is it still to be written to the file? */
static bool is_fresh(const struct roger_message *message)
{
	return !message->read && !message->archived_at_ms && !message->handed_at_ms;
}

/* Find when the agent last said something with its own number after after_ms; 0: it has not. */
static int last_word(const struct handout *handout, int64_t after_ms, int64_t *ret_at_ms,
		     struct roger_err *err)
{
	/* Messages that were archived since count, too. */
	struct rg_query query = { .from = handout->agent,
				  .since_ms = after_ms + 1,
				  .anywhere = true,
				  .newest = true,
				  .limit = 1 };
	struct roger_message_list found;
	int r;

	*ret_at_ms = 0;
	do {
		r = find_messages(handout, &query, &found, err);
		if (r < 0 || !found.count)
			return r;
		query.after = found.items[0].position;
	} while (!found.items[0].seq);
	*ret_at_ms = found.items[0].created_at_ms;
	return ROGER_OK;
}

/* Mark fresh messages as handed over; this ends the transaction. */
static int mark_handed(const struct handout *handout, const struct roger_message_list *messages,
		       struct roger_err *err)
{
	struct roger_message after;
	struct rg_outcome outcome;
	int64_t now_ms = rg_clock_ms(), said_ms;
	size_t i;
	/* If the clock was set back, the agent's last word has a later time: use that. */
	int r;

	while ((r = last_word(handout, now_ms, &said_ms, err)) == ROGER_OK && said_ms)
		now_ms = said_ms;
	for (i = 0; i < messages->count && r == ROGER_OK; i++) {
		if (!is_fresh(&messages->items[i]))
			continue;
		after = messages->items[i];
		after.handed_at_ms = now_ms;
		after.claimed_by = RG_STR("");
		after.claimed_until_ms = after.claimed_at_ms = 0;
		r = rg_engine_change(handout->roger->engine, &messages->items[i], &after, err);
	}
	if (r == ROGER_OK)
		r = rg_engine_commit(handout->roger->engine, &outcome, err);
	for (i = 0; i < messages->count && r == ROGER_OK; i++)
		if (is_fresh(&messages->items[i]))
			tell_written(handout, &messages->items[i]);
	return r;
}

/* Mark messages as read if the agent has said something since; the transaction stays open. */
static int hear_agent(const struct handout *handout, const struct roger_message_list *handed,
		      struct roger_err *err)
{
	int64_t said_at_ms = 0, first_ms = INT64_MAX;
	struct roger_message after;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < handed->count; i++)
		if (handed->items[i].handed_at_ms < first_ms)
			first_ms = handed->items[i].handed_at_ms;
	if (handed->count)
		r = last_word(handout, first_ms, &said_at_ms, err);
	for (i = 0; i < handed->count && r == ROGER_OK; i++) {
		if (handed->items[i].handed_at_ms >= said_at_ms)
			continue;
		after = handed->items[i];
		after.read = true;
		after.read_at_ms = said_at_ms;
		after.read_by = rg_message_reader(&after, handout->agent);
		/* The worker whose lease expired stays named, as by receive. */
		after.claimed_until_ms = 0;
		r = rg_engine_change(handout->roger->engine, &handed->items[i], &after, err);
	}
	return r;
}

/* -------------------------------------------------------------- notes -- */

static int put_note(const struct handout *handout, const struct roger_message_list *messages,
		    struct roger_err *err)
{
	struct roger_str *ids = rg_arena_get(handout->arena, messages->count * sizeof *ids);
	struct rg_handing handing = { .agent = handout->agent };
	struct rg_file_facts facts;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX };
	int file = RG_NO_FILE, r;
	size_t i;

	if (!ids)
		return rg_fail_memory(err);
	for (i = 0; i < messages->count; i++)
		ids[i] = messages->items[i].id;
	handing.ids = (struct roger_strs){ ids, messages->count };
	r = open_file(handout, &file, &facts, err);
	rg_file_close(file);
	if (r < 0)
		return r;
	handing.inode = (int64_t)facts.inode;
	handing.size = facts.size;
	rg_record_encode(&rg_handing_record, &handing, &text);
	rg_buf_add_char(&text, '\n');
	return text.failed ? rg_fail_memory(err)
			   : rg_file_replace(handout->bridge->triggers.handing, handout->note_name,
					     rg_buf_str(&text), true, err);
}

static int drop_note(const struct handout *handout, struct roger_err *err)
{
	return rg_file_remove(handout->bridge->triggers.handing, handout->note_name, err);
}

/* Read the note; *ret_found false: there is none, or it was not valid, and was removed. */
static int read_note(const struct handout *handout, struct rg_handing *handing, bool *ret_found,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX + 8192 };
	int r = rg_file_read_all(handout->bridge->triggers.handing, handout->note_name,
				 RG_LINE_BYTES_MAX, &text, ret_found, err);

	if (r < 0 || !*ret_found)
		return r;
	r = rg_record_read(&rg_handing_record, rg_buf_str(&text), handing, handout->arena, err);
	if (r == ROGER_EDATA) {
		*ret_found = false;
		return drop_note(handout, err);
	}
	return r;
}

/* Read the file from where it ended when the note was made; all of it, if it was replaced. */
static int read_behind(const struct handout *handout, const struct rg_handing *handing,
		       struct roger_str *ret_text, bool *ret_same, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct rg_file_facts facts;
	size_t length = 0;
	int64_t start;
	char *text;
	int r;

	*ret_text = RG_STR("");
	*ret_same = false;
	r = rg_file_open(handout->bridge->triggers.folder, handout->file_name, RG_FILE_READ, &file,
			 err);
	r = rg_triggers_refused(r, err);
	if (r < 0 || file == RG_NO_FILE)
		return r;
	r = rg_file_facts(file, handout->file_name, &facts, err);
	if (r < 0)
		return r;
	*ret_same = facts.inode == (uint64_t)handing->inode && facts.size >= handing->size;
	start = *ret_same ? handing->size : 0;
	if (facts.size - start > RG_TRIGGER_BYTES_MAX + RG_LINE_BYTES_MAX)
		facts.size = start + RG_TRIGGER_BYTES_MAX + RG_LINE_BYTES_MAX;
	text = rg_arena_room(handout->arena, (size_t)(facts.size - start) + 1);
	if (!text)
		return rg_fail_memory(err);
	r = rg_file_read_at(file, text, (size_t)(facts.size - start), start, &length, err);
	*ret_text = (struct roger_str){ text, length };
	return r;
}

/* Return how many bytes of text the file has, if its end was cut off; 0: none, or all. */
static size_t cut_at(struct roger_str behind, struct roger_str text)
{
	if (behind.length && behind.data[0] == '\n') {
		behind.data++;
		behind.length--;
	}
	return behind.length < text.length && !memcmp(behind.data, text.data, behind.length)
		       ? behind.length
		       : 0;
}

/* Finish what a killed bridge began.  Needs a transaction; ends it if it marks messages. */
static int recover_handing(const struct handout *handout, const struct rg_handing *handing,
			   struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str behind = { "", 0 };
	struct roger_message_list messages;
	size_t cut;
	bool same = false, fresh = false, stands;
	size_t i;
	int r;

	rg_assert(rg_engine_is_exclusive(handout->roger->engine));
	r = rg_engine_find_ids(handout->roger->engine, handing->ids.items, handing->ids.count,
			       handout->arena, &messages, err);
	for (i = 0; r == ROGER_OK && i < messages.count; i++)
		fresh |= is_fresh(&messages.items[i]);
	if (r < 0 || !fresh)
		return r;
	r = print_messages(handout, &messages, &text, err);
	if (r == ROGER_OK)
		r = read_behind(handout, handing, &behind, &same, err);
	if (r < 0)
		return r;
	stands = text.length && rg_str_find_part(behind, rg_buf_str(&text));
	cut = stands || !same ? 0 : cut_at(behind, rg_buf_str(&text));
	if (cut) {
		RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
		struct rg_file_facts facts;

		r = open_file(handout, &file, &facts, err);
		if (r == ROGER_OK)
			r = append_once(handout, file,
					(struct roger_str){ text.data + cut, text.length - cut },
					&stands, err);
	}
	return r == ROGER_OK && stands ? mark_handed(handout, &messages, err) : r;
}

/* ------------------------------------------------------------ handing -- */

static int recover_agent(const struct handout *handout, struct roger_err *err)
{
	struct rg_handing handing = { 0 };
	bool found;
	int r;

	r = read_note(handout, &handing, &found, err);
	if (r < 0 || !found)
		return r;
	r = rg_engine_begin(handout->roger->engine, true, err);
	if (r == ROGER_OK)
		r = recover_handing(handout, &handing, err);
	rg_engine_rollback(handout->roger->engine);
	return r == ROGER_OK ? drop_note(handout, err) : r;
}

/* Find unread mail: what is not in the file yet, the oldest first, and what is. */
static int find_mail(const struct handout *handout, struct roger_message_list *ret_fresh,
		     struct roger_message_list *ret_handed, struct roger_err *err)
{
	struct rg_query query = { .unread = true,
				  .to = handout->agent,
				  .gets = true,
				  .free_at_ms = rg_clock_ms(),
				  .limit = MESSAGES_MAX };
	struct roger_message_list page, *list;
	size_t i;
	int r;

	*ret_fresh = *ret_handed = (struct roger_message_list){ 0 };
	do {
		r = find_messages(handout, &query, &page, err);
		for (i = 0; r == ROGER_OK && i < page.count; i++) {
			list = page.items[i].handed_at_ms > 0 ? ret_handed : ret_fresh;
			if (!rg_arena_append(handout->arena, &list->items, &list->count,
					     &page.items[i], sizeof page.items[i]))
				return rg_fail_memory(err);
			query.after = page.items[i].position;
		}
	} while (r == ROGER_OK && page.count == MESSAGES_MAX && ret_fresh->count < MESSAGES_MAX);
	return r;
}

/* Write mail to the file, and then store all marks with one commit. */
static int write_mail(const struct handout *handout, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_message_list messages = { 0 }, handed = { 0 };
	int r;

	r = find_mail(handout, &messages, &handed, err);
	if (r == ROGER_OK)
		r = hear_agent(handout, &handed, err);
	if (r < 0 || messages.count == 0)
		return r < 0 ? r : mark_handed(handout, &messages, err);
	r = print_messages(handout, &messages, &text, err);
	if (r == ROGER_OK)
		r = put_note(handout, &messages, err);
	if (r == ROGER_OK)
		r = append_text(handout, rg_buf_str(&text), err);
	if (r == ROGER_OK)
		r = mark_handed(handout, &messages, err);
	return r == ROGER_OK ? drop_note(handout, err) : r;
}

/* Hand mail over until nothing is left. */
static int hand_to(const struct handout *handout, struct roger_err *err)
{
	const struct rg_query all = { .unread = true, .to = handout->agent, .gets = true };
	int64_t before, unread = 0;
	bool may;
	int r;

	r = handout->bridge->recovered ? ROGER_OK : recover_agent(handout, err);
	for (;;) {
		before = handout->reply->written;
		if (r == ROGER_OK)
			r = rg_engine_may_have_mail(handout->roger->engine, handout->agent, &may,
						    err);
		if (r < 0 || !may)
			return r;
		r = rg_engine_begin(handout->roger->engine, true, err);
		if (r == ROGER_OK)
			r = write_mail(handout, err);
		rg_engine_rollback(handout->roger->engine);
		/* Counting also corrects the figure that rg_engine_may_have_mail() uses. */
		if (r == ROGER_OK)
			r = rg_engine_count(handout->roger->engine, &all, &unread, err);
		if (r < 0 || unread == 0 || handout->reply->written == before)
			return r;
	}
}

int rg_handout(struct roger *roger, struct rg_bridge *bridge, struct roger_bridge_reply *reply,
	       struct roger_err *err)
{
	const struct roger_strs *agents = &roger->workspace->config->file_only;
	struct handout handout = { .roger = roger, .bridge = bridge, .reply = reply };
	struct roger_err why;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < agents->count && r == ROGER_OK; i++) {
		handout.agent = agents->items[i];
		rg_workspace_file_name(handout.agent, ".txt", handout.file_name);
		rg_workspace_file_name(handout.agent, "", handout.note_name);
		handout.arena = rg_arena_new();
		r = handout.arena ? hand_to(&handout, &why) : rg_fail_memory(&why);
		rg_arena_free(handout.arena);
		/* If the agent's file is not a regular one, its mail stays unread. */
		r = rg_bridge_set_aside(bridge, reply, r, &why, rg_str(handout.file_name),
					handout.agent, err);
	}
	bridge->recovered = r == ROGER_OK;
	return r;
}
