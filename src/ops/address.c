#include "ops/address.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "facts/message.h"
#include "facts/watchdog.h"
#include "ops/caller.h"
#include "ops/records.h"

enum {
	PIECE_CHARS_LEAST = 4,
	CANDIDATES_MAX = 10,
	CANDIDATES_BYTES = 340, /* room for candidates in an error's message */
	NEAR = 64,		/* messages of a sender that may be out of order */
	PAGE = 256,
	NEWEST = 1000,
	WORDS_MAX = 100, /* a longer list was made by a program, and must have whole ids */
};

/* A word of a request for which ids are sought. */
struct seeking {
	struct roger *roger;
	const struct roger_op *op;
	const struct roger_field *field;
	struct roger_str caller, word;
	struct rg_arena *scratch, *keep;
	struct roger_strs found; /* the ids, in the arena keep */
};

static int take_id(struct seeking *seeking, struct roger_str id, struct roger_err *err)
{
	return rg_kept(rg_arena_add(seeking->keep, &seeking->found, id), err);
}

/* Fail since several ids fit, and name as many as there is room for. */
static int refuse_several(const struct seeking *seeking, const struct roger_strs *candidates,
			  struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = 8192 };
	size_t i, length = 0;

	for (i = 0; i < candidates->count && i < CANDIDATES_MAX; i++) {
		rg_buf_printf(&out, "%s%.*s", i ? ", " : "", RG_STR_ARGS(candidates->items[i]));
		if (out.length > CANDIDATES_BYTES)
			break;
		length = out.length;
	}
	return rg_fail_member(err, ROGER_EUSAGE, seeking->field->name,
			      "%s: '%.*s' fits several: %.*s%s", seeking->field->name,
			      RG_STR_CUT(seeking->word), (int)length, rg_buf_str(&out).data,
			      i < candidates->count ? ", and more" : "");
}

/* -------------------------------------------------------------- messages -- */

static int find_messages(struct seeking *seeking, struct rg_query query,
			 struct roger_message_list *ret, struct roger_err *err)
{
	query.anywhere = true;
	return rg_engine_find(seeking->roger->engine, &query, seeking->scratch, ret, err);
}

static bool is_one_send(const struct roger_message_list *messages)
{
	size_t i;

	for (i = 1; i < messages->count; i++)
		if (!rg_message_same_send(&messages->items[0], &messages->items[i]))
			return false;
	return true;
}

static int refuse_messages(const struct seeking *seeking, const struct roger_message_list *messages,
			   struct roger_err *err)
{
	struct roger_strs candidates = { 0 };
	const struct roger_message *message;
	char number[24];
	size_t i;

	for (i = messages->count; i-- > 0;) {
		message = &messages->items[i];
		snprintf(number, sizeof number, "#%lld", (long long)message->seq);
		if (!rg_arena_note(seeking->scratch, &candidates, "%.*s%s to %.*s: %.*s",
				   RG_STR_ARGS(message->from), message->seq ? number : "",
				   RG_STR_ARGS(message->to), RG_STR_ARGS(message->id)))
			return rg_fail_memory(err);
	}
	return refuse_several(seeking, &candidates, err);
}

/* Take the messages that are meant of those that fit.  all: no others fit.  to_caller: if just one
 * is for the caller, take that. */
static int choose_among(struct seeking *seeking, struct roger_message_list *fit, bool all,
			bool to_caller, struct roger_err *err)
{
	const struct roger_message *mine = NULL;
	size_t i, mine_count = 0;
	bool copies;
	int r = rg_caller_leave_own(seeking->roger, seeking->field->name, fit, seeking->scratch,
				    err);

	if (r < 0)
		return r;
	copies = seeking->field->kind == ROGER_TEXTS && all &&
		 !(seeking->op->flags & ROGER_WRITES) && is_one_send(fit);
	if (fit->count > 1)
		qsort((void *)(uintptr_t)fit->items, fit->count, sizeof *fit->items,
		      rg_message_place_order);
	for (i = 0; i < fit->count && to_caller && seeking->caller.length; i++)
		if (rg_str_equal(fit->items[i].to, seeking->caller)) {
			mine = &fit->items[i];
			mine_count++;
		}
	if (mine_count == 1)
		return take_id(seeking, mine->id, err);
	if (fit->count > 1 && !copies)
		return refuse_messages(seeking, fit, err);
	for (i = 0; r == ROGER_OK && i < fit->count; i++)
		r = take_id(seeking, fit->items[i].id, err);
	return r;
}

/* Find a position after which the sender's messages from the wanted number on are, by halving. */
static int find_place(struct seeking *seeking, const struct roger_message *wanted, int64_t *ret,
		      struct roger_err *err)
{
	struct rg_query query = { .from = wanted->from, .limit = 1, .newest = true };
	struct roger_message_list found;
	const struct roger_message *message;
	int64_t low = 0, high = 0;
	int r = find_messages(seeking, query, &found, err);

	if (r == ROGER_OK && found.count)
		high = found.items[0].position;
	query.newest = false;
	while (r == ROGER_OK && high - low > NEAR) {
		query.after = low + (high - low) / 2;
		r = find_messages(seeking, query, &found, err);
		message = found.items;
		if (r == ROGER_OK && found.count && message->position <= high &&
		    (message->epoch < wanted->epoch ||
		     (message->epoch == wanted->epoch && message->seq < wanted->seq)))
			low = message->position;
		else
			high = query.after;
	}
	*ret = low;
	return r;
}

/* Add the messages with the wanted number to fit, each once. */
static int keep_numbered(struct seeking *seeking, const struct roger_message *wanted,
			 const struct roger_message_list *among, struct roger_message_list *fit,
			 struct roger_err *err)
{
	size_t i;

	for (i = 0; i < among->count; i++) {
		if (!rg_message_same_send(wanted, &among->items[i]) ||
		    rg_messages_find(fit, among->items[i].id))
			continue;
		if (!rg_arena_append(seeking->scratch, &fit->items, &fit->count, &among->items[i],
				     sizeof among->items[i]))
			return rg_fail_memory(err);
	}
	return ROGER_OK;
}

/*
 * Find messages by number.  Messages of a sender are in the order of their numbers, so halving
 * finds them.  Messages that came over an edge may be out of order: they are found near their
 * place, and among the newest.
 */
static int find_numbered(struct seeking *seeking, const struct roger_message *wanted,
			 struct roger_message_list *fit, struct roger_err *err)
{
	struct rg_query query = { .from = wanted->from, .limit = NEAR, .newest = true };
	const struct roger_message *last;
	struct roger_message_list page;
	int64_t place;
	int r = find_place(seeking, wanted, &place, err);

	query.after = place + 1;
	if (r == ROGER_OK)
		r = find_messages(seeking, query, &page, err);
	query = (struct rg_query){ .from = wanted->from, .limit = PAGE };
	query.after = r == ROGER_OK && page.count ? page.items[page.count - 1].position - 1 : 0;
	do {
		if (r == ROGER_OK)
			r = find_messages(seeking, query, &page, err);
		if (r == ROGER_OK)
			r = keep_numbered(seeking, wanted, &page, fit, err);
		if (r < 0 || page.count < PAGE)
			break;
		last = &page.items[page.count - 1];
		query.after = last->position;
	} while (last->epoch <= wanted->epoch && last->seq <= wanted->seq);
	query = (struct rg_query){ .from = wanted->from, .limit = NEWEST, .newest = true };
	if (r == ROGER_OK)
		r = find_messages(seeking, query, &page, err);
	return r < 0 ? r : keep_numbered(seeking, wanted, &page, fit, err);
}

/* Read NAME#N or NAME#N@E.  Without E the epoch is left as it is. */
static bool read_number(struct roger_str word, struct roger_message *ret_wanted)
{
	const char *hash = word.length ? memchr(word.data, '#', word.length) : NULL;
	const char *end, *at;
	bool read;

	if (!hash)
		return false;
	end = word.data + word.length;
	at = memchr(hash, '@', (size_t)(end - hash));
	ret_wanted->from = (struct roger_str){ word.data, (size_t)(hash - word.data) };
	read = rg_str_number((struct roger_str){ hash + 1, (size_t)((at ? at : end) - hash - 1) },
			     &ret_wanted->seq);
	if (read && at)
		read = rg_str_number((struct roger_str){ at + 1, (size_t)(end - at - 1) },
				     &ret_wanted->epoch);
	return read && ret_wanted->from.length && ret_wanted->seq && (!at || ret_wanted->epoch);
}

static int seek_number(struct seeking *seeking, struct roger_message *wanted, struct roger_err *err)
{
	struct roger_message_list fit = { 0 };
	int r = ROGER_OK;

	if (!wanted->epoch)
		r = rg_engine_session(seeking->roger->engine, false, &wanted->epoch, err);
	if (r == ROGER_OK)
		r = find_numbered(seeking, wanted, &fit, err);
	return r < 0 ? r : choose_among(seeking, &fit, true, true, err);
}

static int seek_last(struct seeking *seeking, struct roger_err *err)
{
	struct rg_query query = { .from = seeking->caller, .newest = true, .limit = 1 };
	const struct roger_message *last = NULL;
	struct roger_message_list found;
	int side, r = ROGER_OK;

	for (side = 0; side < 2 && r == ROGER_OK; side++) {
		r = find_messages(seeking, query, &found, err);
		if (r == ROGER_OK && found.count &&
		    (!last || found.items[0].position > last->position))
			last = found.items;
		query.from = RG_STR("");
		query.to = seeking->caller;
	}
	return r < 0 || !last ? r : take_id(seeking, last->id, err);
}

static int seek_piece(struct seeking *seeking, struct roger_err *err)
{
	struct rg_query query = { .piece = seeking->word,
				  .newest = true,
				  .limit = CANDIDATES_MAX + 1 };
	struct roger_message_list fit;
	int r;

	if (seeking->word.length < PIECE_CHARS_LEAST)
		return ROGER_OK;
	r = find_messages(seeking, query, &fit, err);
	/* A piece that many ids share must not mean the only one that is for the caller. */
	return r < 0 ? r : choose_among(seeking, &fit, fit.count <= CANDIDATES_MAX, false, err);
}

static int seek_message(struct seeking *seeking, struct roger_err *err)
{
	const struct rg_query by_id = { .ids = &seeking->word, .id_count = 1 };
	const struct rg_query by_key = { .key = seeking->word, .limit = 1 };
	struct roger_message wanted = { .epoch = 0 };
	struct roger_message_list found = { 0 };
	int r;

	r = find_messages(seeking, by_id, &found, err);
	if (r == ROGER_OK && !found.count && seeking->field->flags & ROGER_KEY)
		r = find_messages(seeking, by_key, &found, err);
	/* Of what is to be shown, others' messages are left out later. */
	if (r == ROGER_OK && found.count && seeking->op != &rg_op_show)
		r = rg_caller_leave_own(seeking->roger, seeking->field->name, &found,
					seeking->scratch, err);
	if (r < 0 || found.count)
		return r;
	if (rg_str_is(seeking->word, "@last"))
		return seek_last(seeking, err);
	if (read_number(seeking->word, &wanted))
		return seek_number(seeking, &wanted, err);
	return seek_piece(seeking, err);
}

/* ---------------------------------------------------- runs, dead letters -- */

/* Take the only name that contains the word; none if a name is equal to it. */
static int seek_name(struct seeking *seeking, const struct roger_strs *names, struct roger_err *err)
{
	struct roger_strs fit = { 0 };
	size_t i;

	if (rg_str_among(*names, seeking->word))
		return ROGER_OK;
	for (i = 0; i < names->count; i++)
		if (seeking->word.length >= PIECE_CHARS_LEAST &&
		    rg_str_find_part(names->items[i], seeking->word) &&
		    !rg_arena_add(seeking->scratch, &fit, names->items[i]))
			return rg_fail_memory(err);
	if (fit.count > 1)
		return refuse_several(seeking, &fit, err);
	return fit.count ? take_id(seeking, fit.items[0], err) : ROGER_OK;
}

static int seek_run(struct seeking *seeking, struct roger_err *err)
{
	struct roger_strs names = { 0 };
	struct rg_receipts receipts;
	struct rg_run_texts runs;
	struct rg_json *json;
	struct roger_run run;
	struct roger_str text;
	size_t i;
	int r;

	r = rg_engine_run_find(seeking->roger->engine, seeking->word, seeking->scratch, &text, err);
	if (r < 0 || text.data)
		return r;
	r = rg_engine_runs(seeking->roger->engine, NULL, NULL, seeking->scratch, &runs, err);
	for (i = 0; r == ROGER_OK && i < runs.count; i++) {
		if (runs.items[i].trouble.length ||
		    rg_run_read(runs.items[i].text, &json, seeking->scratch, &run, &receipts,
				NULL) < 0)
			continue;
		if (!seeking->roger->caller.own || rg_caller_is(seeking->roger, run.owner) ||
		    rg_caller_is(seeking->roger, run.child))
			r = rg_kept(rg_arena_add(seeking->scratch, &names, run.run), err);
		rg_json_free(json);
	}
	return r < 0 ? r : seek_name(seeking, &names, err);
}

static int seek_letter(struct seeking *seeking, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS, .states = true };
	struct roger_strs names = { 0 };
	struct rg_records found;
	size_t i;
	int r;

	r = rg_records_read(seeking->roger, &query, seeking->scratch, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		if (rg_str_equal(found.letters[i].filed_as, seeking->word))
			return ROGER_OK;
		if (!rg_arena_add(seeking->scratch, &names, found.letters[i].id))
			r = rg_fail_memory(err);
	}
	return r < 0 ? r : seek_name(seeking, &names, err);
}

/* --------------------------------------------------------------- request -- */

static int seek_word(struct seeking *seeking, struct roger_str word, struct roger_err *err)
{
	const size_t before = seeking->found.count;
	const unsigned flags = seeking->field->flags;
	int r = ROGER_OK;

	seeking->word = word;
	if (flags & ROGER_RUN)
		r = seek_run(seeking, err);
	else if (flags & ROGER_LETTER)
		r = seek_letter(seeking, err);
	else if (!rg_id_is_own(word))
		r = seek_message(seeking, err);
	if (r < 0 || seeking->found.count > before)
		return r;
	return take_id(seeking, word, err);
}

static struct roger_strs words_of(const struct roger_field *field, const void *request)
{
	const struct roger_str *one = rg_field_at(field, request);

	return field->kind == ROGER_TEXTS ? *(const struct roger_strs *)rg_field_at(field, request)
					  : (struct roger_strs){ one, one->length ? 1 : 0 };
}

/* True if a field of the request has more than whole ids of messages. */
static bool is_sought(const struct roger *roger, const struct roger_field *field,
		      const void *request)
{
	struct roger_strs words;
	size_t i;

	if (!(field->flags & ROGER_SOUGHT))
		return false;
	words = words_of(field, request);
	for (i = 0; i < words.count; i++)
		if (roger->caller.own || field->flags & (ROGER_RUN | ROGER_LETTER) ||
		    !rg_id_is_own(words.items[i]))
			return true;
	return false;
}

/* Take a word of a long list as it is.  What is no id even of another program is refused, not
 * missed: to seek each word would take seconds. */
static int take_whole_id(struct seeking *seeking, struct roger_str word, struct roger_err *err)
{
	struct roger_message wanted = { .epoch = 0 };

	if (rg_str_is(word, "@last") || read_number(word, &wanted))
		return rg_fail_member(err, ROGER_EDATA, seeking->field->name,
				      "%s: '%.*s': of more than %d each must be a whole id",
				      seeking->field->name, RG_STR_ARGS(word), WORDS_MAX);
	return take_id(seeking, word, err);
}

/* With the right `own`, refuse ids of others in the words that are for ids of nobody.  Of what is
 * to be shown, others' messages are left out later. */
static int check_own_ids(struct seeking *seeking, struct roger_err *err)
{
	const char *member = seeking->field->name;
	struct roger_message_list there, none = { 0 };
	struct roger_strs ids = { 0 };
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < seeking->found.count; i++)
		if (rg_id_is_own(seeking->found.items[i]) &&
		    !rg_arena_add(seeking->scratch, &ids, seeking->found.items[i]))
			return rg_fail_memory(err);
	if (ids.count)
		r = find_messages(seeking,
				  (struct rg_query){ .ids = ids.items, .id_count = ids.count },
				  &there, err);
	if (r == ROGER_OK && ids.count && seeking->op != &rg_op_show)
		r = rg_caller_leave_own(seeking->roger, member, &there, seeking->scratch, err);
	for (i = 0; r == ROGER_OK && i < ids.count && there.count < ids.count; i++)
		if (!rg_messages_find(&there, ids.items[i]))
			r = rg_caller_leave_own(seeking->roger, member, &none, seeking->scratch,
						err);
	return r;
}

static int resolve_field(struct seeking *seeking, char *request, struct roger_err *err)
{
	const struct roger_field *field = seeking->field;
	const struct roger_strs words = words_of(field, request);
	size_t i;
	int r = ROGER_OK;

	seeking->found = (struct roger_strs){ 0 };
	for (i = 0; i < words.count && r == ROGER_OK; i++)
		r = words.count <= WORDS_MAX ? seek_word(seeking, words.items[i], err)
					     : take_whole_id(seeking, words.items[i], err);
	if (r == ROGER_OK && seeking->roger->caller.own &&
	    !(field->flags & (ROGER_RUN | ROGER_LETTER)))
		r = check_own_ids(seeking, err);
	if (r < 0)
		return r;
	if (field->kind == ROGER_TEXTS)
		memcpy(request + field->offset, &seeking->found, sizeof seeking->found);
	else
		memcpy(request + field->offset, seeking->found.items, sizeof *words.items);
	return ROGER_OK;
}

int rg_address_resolve(struct roger *roger, const struct roger_op *op, const void *request,
		       struct rg_arena *arena, const void **ret_request, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = NULL;
	struct seeking seeking = { .roger = roger, .op = op, .keep = arena };
	const struct roger_field *field = rg_find_flag(op->request, ROGER_SELF);
	char *copy = NULL;
	int r = ROGER_OK;

	*ret_request = request;
	if (field)
		seeking.caller = *(const struct roger_str *)rg_field_at(field, request);
	for (field = op->request->fields; roger && field->name && r == ROGER_OK; field++) {
		if (!is_sought(roger, field, request))
			continue;
		if (!copy) {
			seeking.scratch = scratch = rg_arena_new();
			copy = rg_arena_get(arena, op->request->size);
			if (!copy || !scratch)
				return rg_fail_memory(err);
			*ret_request = memcpy(copy, request, op->request->size);
		}
		seeking.field = field;
		r = resolve_field(&seeking, copy, err);
	}
	return r;
}
