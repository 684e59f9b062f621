/*
 * bridge: trigger files go into mailboxes, and mail of agents that only know files goes into their
 * files.
 *
 * A file is taken by a rename, which is made durable; then each of its messages
 * is stored under a key of the file's new name and the message's place in it,
 * so the next bridge finds after a kill what is there already. Only then is the file removed.
 */
#include "ops/edge/bridge.h"

#include <stdio.h>
#include <strings.h>

#include "host/chore.h"
#include "host/file.h"
#include "ops/mail/agents.h"

/* How often to look: by itself; at a file being written; at messages that wait for room. */
enum { LOOK_MS = 200, BUSY_MS = 20, WAITING_MS = 2000 };

/* How long a file that is being written may hold up later ones for the same agents. */
enum { OVERTAKE_MS = 2000 };

/* --------------------------------------------------------- taken files -- */

/* One look at all files. */
struct look {
	struct roger *roger;
	struct rg_bridge *bridge;
	struct roger_bridge_reply *reply;
	struct roger_str issue;
	struct rg_names known;
	struct rg_crossing_full full;
	struct {
		const struct rg_taken **items;
		size_t count;
	} unread;     /* files that somebody is still writing to: others may not overtake them */
	bool is_full; /* look also at what waits for something to change */
	int64_t now_taken; /* nothing is stored yet of files that were taken from this time on */
};

int rg_bridge_set_aside(struct rg_bridge *bridge, struct roger_bridge_reply *reply, int code,
			const struct roger_err *why, struct roger_str file, struct roger_str to,
			struct roger_err *err)
{
	struct roger_crossing item = { .kind = ROGER_CROSSING_TROUBLE, .file = file, .to = to };

	if (code < 0 && code != ROGER_EREFUSED && err)
		*err = *why;
	if (code != ROGER_EREFUSED)
		return code;
	if (!rg_bridge_tell_once(bridge, "trouble", file, to, 0))
		return ROGER_OK;
	item.why = rg_str(why->message);
	rg_crossing_put(reply, &item);
	return ROGER_OK;
}

/* Report a file that is refused, and go on: it holds up no other. */
static int set_aside(struct look *look, int code, const struct roger_err *why,
		     struct roger_str file, struct roger_err *err)
{
	return rg_bridge_set_aside(look->bridge, look->reply, code, why, file, RG_STR(""), err);
}

/* Make the name under which the skipped text of a taken file is kept, for people. */
static struct roger_str kept_name(const struct look *look, const struct rg_taken *taken,
				  struct rg_arena *arena)
{
	return rg_arena_text(arena, "%.*s/.skipped/%s",
			     RG_STR_ARGS(look->roger->workspace->config->trigger_dir), taken->name);
}

/* Refuse text that came to a message after it was stored, while its file still grew. */
static void check_known(struct rg_crossing *crossing)
{
	struct rg_arrival *arrival = crossing->items;
	size_t i;

	for (i = 0; i < crossing->count; i++, arrival++) {
		if (arrival->kind != ROGER_CROSSING_KNOWN ||
		    rg_str_equal(arrival->message.content, arrival->piece->line.text))
			continue;
		arrival->kind = ROGER_CROSSING_REFUSED;
		arrival->why = RG_STR("it was stored before, when its text was not complete");
	}
}

/* Keep the text of all pieces that were skipped so, each once, as it came. */
static int keep_skipped(struct look *look, struct rg_crossing *crossing,
			const struct rg_taken *taken, struct roger_str mark, int kind,
			struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_arrival *arrival = crossing->items;
	const struct rg_rolepiece *last = NULL;
	struct rg_taken named = *taken;
	struct roger_str name;
	size_t i;

	/* What is let in by hand is then let in whole, and once. */
	if (kind == ROGER_CROSSING_REFUSED)
		snprintf(named.name, sizeof named.name, RG_TRIGGER_REFUSED "%.*s",
			 (int)(sizeof named.name - sizeof RG_TRIGGER_REFUSED), taken->name);
	name = kept_name(look, &named, crossing->arena);
	for (i = 0; i < crossing->count; i++, arrival++) {
		if (arrival->kind != kind)
			continue;
		arrival->kept = name;
		if (arrival->piece == last)
			continue;
		last = arrival->piece;
		if (!text.length)
			rg_buf_add_str(&text, mark);
		rg_buf_add_str(&text, last->raw);
	}
	if (text.failed)
		return rg_fail_memory(err);
	return text.length || crossing->again
		       ? rg_triggers_keep(&look->bridge->triggers, &named, rg_buf_str(&text), err)
		       : ROGER_OK;
}

static int tell_arrivals(struct look *look, struct rg_crossing *crossing,
			 const struct rg_taken *taken, bool stays, struct roger_err *err)
{
	static const char *const kinds[] = { "",	"stored",  "stored",  "skipped",
					     "skipped", "waiting", "written", "trouble" };
	const struct rg_arrival *arrival = crossing->items;
	size_t i;

	for (i = 0; i < crossing->count; i++, arrival++)
		/* Of a file that stays, remember what was told; others are not seen again. */
		if ((!stays && !look->bridge->told.count) ||
		    rg_bridge_tell_once(look->bridge, kinds[arrival->kind], taken->id, arrival->to,
					arrival->place))
			rg_crossing_tell(crossing, arrival);
	return rg_kept(!rg_arena_failed(crossing->arena) && !rg_arena_failed(look->reply->memory),
		       err);
}

static bool any_waits(const struct rg_crossing *crossing)
{
	size_t i;

	for (i = 0; i < crossing->count; i++)
		if (crossing->items[i].kind == ROGER_CROSSING_WAITING)
			return true;
	return false;
}

/* All is stored that can be: keep the skipped text, then remove the file or go on in it. */
static int finish_file(struct look *look, struct rg_crossing *crossing, struct rg_taken *taken,
		       struct roger_str mark, int64_t offset, bool final, struct roger_err *err)
{
	const struct rg_triggers *triggers = &look->bridge->triggers;
	bool waits = any_waits(crossing);
	int r;

	check_known(crossing);
	r = keep_skipped(look, crossing, taken, mark, ROGER_CROSSING_STALE, err);
	if (r == ROGER_OK)
		r = keep_skipped(look, crossing, taken, mark, ROGER_CROSSING_REFUSED, err);
	if (r == ROGER_OK)
		r = tell_arrivals(look, crossing, taken, waits, err);
	if (r < 0)
		return r;
	if (waits)
		look->bridge->waits = true;
	else if (final)
		return rg_triggers_drop(triggers, taken, err);
	else if (offset > taken->offset)
		return rg_triggers_advance(triggers, taken, offset, err);
	return ROGER_OK;
}

/* Refuse the rest of a message that was taken in before its writer went on. */
static void add_rest(struct rg_crossing *crossing, const struct rg_crossing_target *target,
		     const struct rg_rolepiece *piece, int64_t start, int64_t offset)
{
	struct rg_rolepiece *rest = rg_arena_get(crossing->arena, sizeof *rest);
	size_t before = (size_t)(offset - start), i;

	if (!rest)
		return;
	*rest = *piece;
	rest->raw.data += before;
	rest->raw.length -= before;
	for (i = 0; i < before; i++)
		rest->line_number += piece->raw.data[i] == '\n';
	if (!rg_str_blank(rest->raw))
		rg_crossing_refuse(crossing, target, rest, offset,
				   "more of a message that was taken in before");
}

/*
 * Add the messages of a text from the offset on, but not those that are unfinished, or beyond a
 * batch: for the latter *final becomes false.  Returns the end of those that were added.
 */
static int64_t add_pieces(struct rg_crossing *crossing, const struct rg_crossing_target *target,
			  const struct rg_rolepieces *pieces, struct roger_str text, int64_t offset,
			  bool *final)
{
	int64_t most = *final ? (int64_t)text.length : (int64_t)pieces->whole;
	const struct rg_rolepiece *piece = pieces->items;
	int64_t start, end, added = offset;
	size_t i;

	for (i = 0; i < pieces->count; i++, piece++) {
		start = piece->raw.data - text.data;
		end = start + (int64_t)piece->raw.length;
		if (end <= offset || end > most)
			continue;
		if (crossing->count >= RG_BATCH_MAX) {
			*final = false;
			break;
		}
		if (start < offset)
			add_rest(crossing, target, piece, start, offset);
		else
			rg_crossing_add(crossing, target, piece, start);
		added = end;
	}
	return added;
}

/* Read the file.  The limit is on new text; a larger file that is still open is not moved away. */
static int read_text(const struct rg_taken *taken, int file, int64_t size, bool final,
		     struct rg_arena *arena, bool *ret_too_long, struct roger_str *ret_text,
		     struct roger_err *err)
{
	const bool much = size - taken->offset > RG_TRIGGER_BYTES_MAX;
	size_t length = 0, most;
	char *text;
	int r;

	*ret_too_long = final && (much || size > RG_TRIGGER_HELD_BYTES_MAX + RG_TRIGGER_BYTES_MAX);
	if (*ret_too_long)
		return ROGER_OK;
	if (!final && size > RG_TRIGGER_HELD_BYTES_MAX)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "larger than %d bytes and still open; it is read no further until "
			       "its writer closes it",
			       RG_TRIGGER_HELD_BYTES_MAX);
	most = (size_t)(much ? taken->offset + RG_TRIGGER_BYTES_MAX : size);
	text = rg_arena_room(arena, most + 1);
	if (!text)
		return rg_fail_memory(err);
	r = rg_file_read_at(file, text, most, 0, &length, err);
	*ret_text = (struct roger_str){ text, length };
	return r;
}

static int put_aside(struct look *look, const struct rg_taken *taken, struct roger_err *err)
{
	struct rg_arena *memory = look->reply->memory;
	const struct roger_crossing item = {
		.kind = ROGER_CROSSING_REFUSED,
		.file = taken->file,
		.why = rg_arena_text(memory, "larger than %d bytes", RG_TRIGGER_BYTES_MAX),
		.kept = kept_name(look, taken, memory),
	};
	int r = rg_triggers_put_aside(&look->bridge->triggers, taken, err);

	if (r == ROGER_OK)
		rg_crossing_put(look->reply, &item);
	return r;
}

/* Find the target.  A name never seen is reported once for a file, not at every look. */
static int find_target(struct look *look, struct rg_crossing *crossing,
		       const struct rg_taken *taken, struct rg_crossing_target *ret_target,
		       struct roger_err *err)
{
	size_t notes = look->reply->notes.count;
	int r = rg_crossing_target(crossing, rg_trigger_stem(taken->file), ret_target, err);

	if (r == ROGER_OK && look->reply->notes.count > notes &&
	    !rg_bridge_tell_once(look->bridge, "note", taken->id, RG_STR(""), 0))
		look->reply->notes.count = notes;
	return r;
}

static int take_text(struct look *look, struct rg_taken *taken, int file, int64_t size,
		     struct rg_arena *arena, bool *final, struct roger_err *err)
{
	struct rg_crossing crossing = { .roger = look->roger,
					.arena = arena,
					.reply = look->reply,
					.known = look->known,
					.full = &look->full,
					.via = "bridge",
					.issue = look->issue,
					.file = taken->file };
	struct rg_crossing_target target;
	struct rg_rolepieces pieces;
	struct roger_str text = { "", 0 };
	int64_t before, offset;
	bool too_long;
	int r;

	r = read_text(taken, file, size, *final, arena, &too_long, &text, err);
	if (r == ROGER_OK && too_long)
		return put_aside(look, taken, err);
	if (r == ROGER_OK && rg_bridge_is_rewritten(look->bridge, taken, text)) {
		rg_bridge_forget_text(look->bridge, taken);
		r = rg_triggers_restart(&look->bridge->triggers, taken, &look->roger->ids, err);
	}
	crossing.file = taken->file;
	crossing.id = taken->id;
	crossing.again = taken->ms < look->now_taken;
	before = taken->offset;
	if (r == ROGER_OK)
		r = rg_roleline_split(text, crossing.arena, &pieces, err);
	if (r == ROGER_OK)
		r = find_target(look, &crossing, taken, &target, err);
	if (r < 0)
		return r;
	offset = add_pieces(&crossing, &target, &pieces, text, before, final);
	r = rg_crossing_store(&crossing, err);
	if (r == ROGER_OK)
		r = finish_file(look, &crossing, taken, pieces.mark, offset, *final, err);
	if (r == ROGER_OK && *final)
		rg_bridge_forget_text(look->bridge, taken);
	else if (r == ROGER_OK && taken->offset > before)
		rg_bridge_remember_text(look->bridge, taken, text);
	return r;
}

/* Note that the file is still written to, but not for ever: it must not keep others out. */
static int note_unread(struct look *look, const struct rg_taken *taken, struct roger_err *err)
{
	look->bridge->busy = true;
	if (rg_clock_ms() - taken->ms > OVERTAKE_MS)
		return ROGER_OK;
	return rg_kept(rg_arena_append(look->bridge->scratch, &look->unread.items,
				       &look->unread.count, &taken, sizeof taken),
		       err);
}

static bool is_for_many(const struct look *look, const struct rg_taken *taken)
{
	return rg_crossing_group_of(look->roger->workspace->config, rg_trigger_stem(taken->file))
		.length;
}

/*
 * Must this file wait for an earlier one, which is not read yet, and which may have an earlier
 * number of the same sender for the same recipient?  Read later, that number would be stale.
 */
static bool must_wait(const struct look *look, const struct rg_taken *taken)
{
	const struct rg_taken *unread;
	size_t i;

	for (i = 0; i < look->unread.count; i++) {
		unread = look->unread.items[i];
		if (is_for_many(look, taken) || is_for_many(look, unread) ||
		    (taken->file.length == unread->file.length &&
		     !strncasecmp(taken->file.data, unread->file.data, taken->file.length)))
			return true;
	}
	return false;
}

/* Take in one batch of a file; *more: there is more after it. */
static int take_batch(struct look *look, struct rg_taken *taken, bool *more, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	const int64_t offset = taken->offset;
	struct rg_file_facts facts;
	bool final = false;
	int r;

	*more = false;
	r = rg_triggers_open_taken(&look->bridge->triggers, taken, &file, &final, err);
	if (r < 0)
		return rg_triggers_refused(r, err);
	if (file == RG_NO_FILE)
		return note_unread(look, taken, err);
	r = rg_file_facts(file, taken->name, &facts, err);
	if (r < 0)
		return r;
	look->bridge->busy |= !final;
	/* A file that was read as it is now is only read again in a full look, for messages that
	 * wait. */
	if (!final && rg_bridge_is_still(look->bridge, taken, &facts) && !look->is_full)
		return ROGER_OK;
	arena = rg_arena_new();
	if (!arena)
		return rg_fail_memory(err);
	r = take_text(look, taken, file, facts.size, arena, &final, err);
	*more = r == ROGER_OK && !final && taken->offset > offset;
	return r;
}

static int take_file(struct look *look, struct rg_taken *taken, struct roger_err *err)
{
	bool more = true;
	int r = ROGER_OK;

	while (more && r == ROGER_OK)
		r = take_batch(look, taken, &more, err);
	return r;
}

/* ---------------------------------------------------------- whole looks -- */

static int fail_untrusted(const struct rg_workspace *workspace, struct roger_err *err)
{
	return rg_fail(err, ROGER_EREFUSED, 0, "no file is taken in or written: %s",
		       workspace->distrust);
}

/*
 * Check that the workspace is trusted: files may have come with a pull, and mail may go out with
 * the next push. *ret_may false without an error: git is at work, which is reported once.
 */
static int check_trust(struct look *look, bool *ret_may, struct roger_err *err)
{
	struct rg_workspace *workspace = look->roger->workspace;
	const char *why = rg_workspace_distrust(workspace);
	struct roger_err busy;

	*ret_may = !*why;
	if (!*why)
		return ROGER_OK;
	if (!workspace->git_busy)
		return fail_untrusted(workspace, err);
	look->bridge->busy = true;
	return set_aside(look, rg_fail(&busy, ROGER_EREFUSED, 0, "%s", why), &busy, RG_STR(".git"),
			 err);
}

/* Take the trigger files that are there; report what is not a regular file. */
static int take_standing(struct look *look, bool *ret_any, struct roger_err *err)
{
	struct rg_triggers *triggers = &look->bridge->triggers;
	struct roger_strs names;
	struct roger_err why;
	bool taken, may = true;
	size_t i;
	int r;

	*ret_any = false;
	r = rg_triggers_list(triggers, look->bridge->scratch, &names, err);
	if (r == ROGER_OK && names.count)
		r = check_trust(look, &may, err);
	for (i = 0; may && i < names.count && r == ROGER_OK; i++) {
		if (rg_crossing_is_handed(look->roger->workspace->config, names.items[i]))
			continue;
		r = rg_triggers_take(triggers, names.items[i], &look->roger->ids, &taken, &why);
		r = set_aside(look, rg_triggers_refused(r, &why), &why, names.items[i], err);
		*ret_any |= r == ROGER_OK && taken;
	}
	return r == ROGER_OK && *ret_any ? rg_triggers_settle(triggers, err) : r;
}

/* A pull came between listing and taking: put aside what was taken since, for people. */
static int put_new_aside(struct look *look)
{
	struct rg_triggers *triggers = &look->bridge->triggers;
	struct rg_taken_list list;
	size_t i;
	int r = rg_triggers_taken(triggers, look->bridge->scratch, &list, NULL);

	for (i = 0; r == ROGER_OK && i < list.count; i++)
		if (list.items[i].ms >= look->now_taken)
			r = rg_triggers_put_aside(triggers, &list.items[i], NULL);
	return r;
}

static int take_taken(struct look *look, struct roger_err *err)
{
	struct rg_bridge *bridge = look->bridge;
	struct rg_taken_list list;
	struct roger_err why;
	size_t i;
	int r;

	bridge->busy = bridge->waits = false;
	r = rg_triggers_taken(&bridge->triggers, bridge->scratch, &list, err);
	look->known = (struct rg_names){ .arena = bridge->scratch };
	if (r == ROGER_OK && list.count)
		r = rg_agents_names(look->roger, &look->known, err);
	for (i = 0; i < list.count && r == ROGER_OK; i++) {
		if (must_wait(look, &list.items[i])) {
			bridge->busy = true;
			continue;
		}
		r = set_aside(look, take_file(look, &list.items[i], &why), &why, list.items[i].file,
			      err);
	}
	return r;
}

/* Look at all files; full: also at what waits for something to change. */
static int look_around(struct look *look, bool full, struct roger_err *err)
{
	struct rg_bridge *bridge = look->bridge;
	struct rg_taken_list leftover = { 0 };
	bool any = false, may = true;
	int r = ROGER_OK;

	rg_arena_reset(bridge->scratch);
	look->full = (struct rg_crossing_full){ .arena = bridge->scratch };
	look->unread.items = NULL;
	look->unread.count = 0;
	look->is_full = full;
	if (full) {
		rg_chore_done(look->roger->workspace, "bridge");
		rg_table_deinit(&bridge->still);
		r = rg_bridge_reopen_lost(look->roger, bridge, err);
	}
	/* Listing the taken files makes new names come behind theirs. */
	if (full && r == ROGER_OK)
		r = rg_triggers_taken(&bridge->triggers, bridge->scratch, &leftover, err);
	look->now_taken = bridge->triggers.last_ms + 1;
	if (r == ROGER_OK)
		r = take_standing(look, &any, err);
	if (r == ROGER_OK && full && !any)
		r = check_trust(look, &may, err);
	if (r == ROGER_OK && may && any) {
		r = check_trust(look, &may, err);
		if (!may && put_new_aside(look) < 0)
			r = rg_fail(err, ROGER_EIO, 0, "what was taken cannot be put aside");
	}
	if (r == ROGER_OK && may && (full || any || bridge->busy))
		r = take_taken(look, err);
	if (r == ROGER_OK && may && full)
		r = rg_handout(look->roger, bridge, look->reply, err);
	if (full)
		rg_bridge_swap_told(bridge);
	return r;
}

/* If the reply has something, add the failure to it, so that what came in is not lost; else return
 * the failure. */
static int tell_failure(struct look *look, int code, const struct roger_err *why,
			struct roger_err *err)
{
	const struct roger_crossing item = { .kind = ROGER_CROSSING_TROUBLE,
					     .why = rg_str(why->message) };

	if (look->reply->crossings.count) {
		look->reply->failure = -code;
		rg_crossing_put(look->reply, &item);
		return ROGER_OK;
	}
	if (err)
		*err = *why;
	return code;
}

/* Does the caller want us to stop?  A signal during a look interrupts no sleep. */
static bool is_stopped(const struct roger *roger)
{
	return roger->tell && !roger->tell(roger->tell_context, "bridge", 0, 0);
}

static int look_until(struct look *look, int64_t wait_ms, struct roger_err *err)
{
	struct roger_err why;
	int64_t start_ns = rg_clock_monotonic_ns(), full_ns = start_ns, now_ns, left_ms, pause_ms;
	enum rg_watch_end end;
	bool full = true;
	int r;

	for (;;) {
		r = rg_engine_bridge_begin(look->roger->engine, &why);
		if (r == ROGER_OK)
			r = look_around(look, full, &why);
		if (r < 0)
			return tell_failure(look, r, &why, err);
		rg_bridge_watch_journal(look->roger, look->bridge);
		now_ns = rg_clock_monotonic_ns();
		left_ms = wait_ms - (now_ns - start_ns) / 1000000;
		if (look->reply->crossings.count || left_ms <= 0)
			return r;
		pause_ms = look->bridge->busy ? BUSY_MS : LOOK_MS;
		end = rg_watch_wait(look->bridge->watch, left_ms < pause_ms ? left_ms : pause_ms);
		if (end == RG_WATCH_SIGNAL || is_stopped(look->roger))
			return r;
		now_ns = rg_clock_monotonic_ns();
		full = end == RG_WATCH_CHANGE || now_ns - full_ns > WAITING_MS * INT64_C(1000000);
		if (full)
			full_ns = now_ns;
	}
}

int rg_verb_bridge(struct roger *roger, const struct roger_bridge_request *request,
		   struct roger_bridge_reply *reply, struct roger_err *err)
{
	struct look look = { .roger = roger, .reply = reply, .issue = request->issue };
	int r;

	if (request->timeout_ms < 0)
		return rg_fail_member(err, ROGER_EDATA, "timeout", "timeout: expected a span");
	if (!roger->bridge && *rg_workspace_distrust(roger->workspace) &&
	    !roger->workspace->git_busy)
		return fail_untrusted(roger->workspace, err);
	r = rg_bridge_open(roger, err);
	if (r < 0)
		return r;
	look.bridge = roger->bridge;
	if (!look.bridge->is_bridge) {
		r = rg_engine_bridge_begin(roger->engine, err);
		if (r < 0)
			return r;
		look.bridge->is_bridge = true;
		look.bridge->recovered = false;
	}
	if (!request->timeout_ms)
		rg_table_deinit(&look.bridge->told);
	r = look_until(&look, request->timeout_ms, err);
	if (!request->timeout_ms) {
		rg_engine_bridge_end(roger->engine);
		look.bridge->is_bridge = false;
	}
	if (r == ROGER_OK)
		rg_crossing_note(roger, &rg_op_bridge, look.reply);
	return r;
}
