#include "engine/local/local_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/file.h"

static const char control_suffix[] = ".control";

enum { LOOK_MS = 200 };

/* Whatever damages the index may go on for a while; what is in memory it does not reach. */
enum { MEND_TRIES = 2 };

/* ------------------------------------------------------------- reading -- */

/* An exclusive transaction sees what is appended: it will sync that before it answers. */
static int readable_end(struct rg_local *local, uint64_t *ret_end, struct roger_err *err)
{
	int r;

	if (!local->exclusive)
		return rg_journal_settle(local->journal, ret_end, err);
	r = rg_journal_lock(local->journal, 0, 0, err);
	if (r < 0)
		return r;
	*ret_end = rg_journal_end(local->journal);
	if (!local->has_looked)
		local->adoptions = rg_journal_adoptions(local->journal);
	local->has_looked = true;
	rg_journal_unlock(local->journal);
	return ROGER_OK;
}

int rg_local_refresh(struct rg_local *local, struct roger_err *err)
{
	uint64_t known = rg_index_end(local->index), end;
	int r;

	r = rg_local_prepare_epoch(local, err);
	if (r == ROGER_OK)
		r = readable_end(local, &end, err);
	/* What is about to be read, and what other processes have read. */
	if (r == ROGER_OK && (known < end || !local->checked))
		r = rg_local_check_end(local, err);
	if (r == ROGER_OK)
		rg_local_look_at_damage(local);
	return r < 0 ? r : rg_index_refresh(local->index, end, err);
}

bool rg_local_mended(struct rg_local *local, int *tries, int *r, struct roger_err *err)
{
	if (*r >= 0 || (*tries)++ > MEND_TRIES || !rg_index_damaged(local->index))
		return false;
	*r = rg_index_mend(local->index, *tries > MEND_TRIES, err);
	return *r == ROGER_OK;
}

/* May there be a line?  Others may have taken in more than our rg_index_end(). */
static bool stands(const struct rg_local *local, const struct rg_entry *entry)
{
	uint64_t size;

	return rg_file_size(rg_journal_file(local->journal), "messages.jsonl", &size, NULL) < 0 ||
	       (entry->length <= RG_LINE_BYTES_MAX && entry->offset <= size &&
		entry->length <= size - entry->offset);
}

static int read_message(struct rg_local *local, const struct rg_entry *entry,
			struct rg_arena *arena, struct roger_message *ret_message,
			struct roger_err *err)
{
	struct rg_buf line;
	struct rg_json *json;
	int r;

	rg_buf_init(&line, RG_LINE_BYTES_MAX + 1);
	r = rg_journal_read(local->journal, entry->offset, entry->length, &line, err);
	if (r == ROGER_OK)
		r = rg_message_read(rg_buf_str(&line), &json, arena, ret_message, err);
	if (r == ROGER_EDATA || (r < 0 && !stands(local, entry)))
		rg_index_doubt(local->index);
	if (r == ROGER_OK) {
		if (!rg_record_keep(&rg_message_record, ret_message, arena))
			r = rg_fail_memory(err);
		ret_message->position = entry->position;
		rg_json_free(json);
	}
	rg_buf_deinit(&line);
	return r;
}

static bool is_or_any(struct roger_str wanted, struct roger_str is)
{
	return !wanted.length || rg_str_equal(wanted, is);
}

/*
 * Does the line say what was asked for?  SQLite does not notice all damage, and
 * nobody gets mail by an index that is wrong.
 */
static bool answers(const struct rg_query *query, const struct roger_message *message)
{
	/* Of many ids each line would be compared with all. */
	return (query->id_count != 1 || rg_str_equal(query->ids[0], message->id)) &&
	       is_or_any(query->to, message->to_phase) &&
	       is_or_any(query->from, message->from_phase) &&
	       is_or_any(query->issue, message->issue_id) && !(query->unread && message->read) &&
	       !(query->read && !message->read);
}

/* Of a cycle, where one is given. */
static int read_messages(struct rg_local *local, const struct rg_entries *entries,
			 const struct rg_query *query, struct rg_arena *arena,
			 struct roger_messages *ret_messages, struct roger_err *err)
{
	struct roger_message *items = rg_arena_get(arena, entries->count * sizeof *items);
	size_t i, count = 0;
	int r;

	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < entries->count; i++) {
		r = read_message(local, &entries->items[i], arena, &items[count], err);
		if (r < 0)
			return r;
		if (!answers(query, &items[count]))
			return rg_index_wrong(local->index, items[count].id, err);
		if (is_or_any(query->cycle, items[count].cycle_id))
			count++;
	}
	*ret_messages = (struct roger_messages){ items, count };
	return ROGER_OK;
}

int rg_local_find_known(struct rg_local *local, const struct rg_query *query,
			struct rg_arena *arena, struct roger_messages *ret_messages,
			struct roger_err *err)
{
	struct rg_entries entries;
	int tries = 0, r;

	do {
		r = rg_index_find(local->index, query, arena, &entries, err);
		if (r == ROGER_OK)
			r = read_messages(local, &entries, query, arena, ret_messages, err);
	} while (rg_local_mended(local, &tries, &r, err));
	return r;
}

static int find(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		struct roger_messages *ret_messages, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	r = rg_local_refresh(local, err);
	return r < 0 ? r : rg_local_find_known(local, query, arena, ret_messages, err);
}

/* The tally may have counted too high; nothing came since the index was asked, so it can be set
 * right. */
static void correct_unread(struct rg_local *local, struct roger_str agent, int64_t unread)
{
	struct rg_control *control = rg_journal_control(local->journal);
	struct rg_agent there;

	if (!control || !rg_control_find_agent(control, agent, &there) ||
	    (int64_t)there.unread == unread || !rg_journal_lock_soon(local->journal, 0))
		return;
	control = rg_journal_control(local->journal);
	if (rg_control_find_agent(control, agent, &there) &&
	    rg_journal_end(local->journal) == rg_index_end(local->index)) {
		there.unread = (uint32_t)unread;
		rg_control_put_agent(control, agent, &there);
	}
	rg_journal_unlock(local->journal);
}

static int find_page(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		     struct roger_messages *ret_messages, int64_t *ret_total, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	const struct rg_query all = rg_query_held_too(query);
	struct rg_entries entries;
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do {
		r = rg_index_find_page(local->index, query, arena, &entries, ret_total, err);
		if (r == ROGER_OK)
			r = read_messages(local, &entries, query, arena, ret_messages, err);
	} while (rg_local_mended(local, &tries, &r, err));
	if (r == ROGER_OK && rg_query_is_unread_only(&all))
		correct_unread(local, query->to, *ret_total);
	return r;
}

static int count(struct rg_engine *engine, const struct rg_query *query, int64_t *ret_count,
		 struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do
		r = rg_index_count(local->index, query, ret_count, err);
	while (rg_local_mended(local, &tries, &r, err));
	if (r == ROGER_OK && rg_query_is_unread_only(query))
		correct_unread(local, query->to, *ret_count);
	return r;
}

static int may_have_mail(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			 struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_control *control;
	struct rg_agent there;
	uint64_t end;
	int r;

	r = rg_journal_settle(local->journal, &end, err);
	if (r == ROGER_OK && !local->checked)
		r = rg_local_check_end(local, err);
	if (r < 0)
		return r;
	control = rg_journal_control(local->journal);
	*ret_may = !control || (rg_control_find_agent(control, agent, &there) && there.unread > 0);
	/* Where nobody could yet count what stands there, the index has to tell. */
	if (control && !rg_journal_knows(local->journal, end))
		*ret_may = true;
	return ROGER_OK;
}

static bool may_know_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key)
{
	struct rg_control *control = rg_journal_control(rg_local_of(engine)->journal);

	struct rg_tail tail;

	/* Since the machine started nobody has looked which keys the logs know. */
	return !control || !rg_control_tail(control, &tail) ||
	       (rg_control_logged(control) == 0 && tail.appended > 0) ||
	       atomic_load(&rg_control_page(control)->damaged) ||
	       rg_control_find_count(control, rg_count_hash(RG_COUNT_KEY, sender, key)) > 0;
}

static int note_key(struct rg_engine *engine, struct roger_str sender, struct roger_str key,
		    struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	uint64_t hash = rg_count_hash(RG_COUNT_KEY, sender, key);
	struct rg_control *control;
	int r;

	r = rg_journal_lock(local->journal, 0, 1, err);
	if (r < 0)
		return r;
	control = rg_journal_control(local->journal);
	rg_control_put_count(control, hash, rg_control_find_count(control, hash) + 1);
	rg_journal_unlock(local->journal);
	return ROGER_OK;
}

static int64_t epoch_of(struct rg_local *local)
{
	struct rg_control *control = rg_journal_control(local->journal);

	return control ? rg_control_epoch(control) : 0;
}

/* Within a transaction, so the epoch is the one its messages get. */
static int mark_of(struct rg_engine *engine, struct roger_str reader, struct roger_str sender,
		   int64_t *ret_number, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do
		r = rg_index_mark(local->index, reader, sender, epoch_of(local), ret_number, err);
	while (rg_local_mended(local, &tries, &r, err));
	return r;
}

static int bridge_begin(struct rg_engine *engine, int64_t wait_ms, struct roger_err *err)
{
	struct rg_journal *journal = rg_local_of(engine)->journal;

	/* Asked again and again: a control file that was made anew knows nothing of it. */
	if (rg_journal_control(journal) && rg_journal_holds(journal, RG_LOCK_BRIDGE))
		return ROGER_OK;
	return rg_journal_take(journal, RG_LOCK_BRIDGE, wait_ms, err);
}

static void bridge_end(struct rg_engine *engine)
{
	rg_journal_release(rg_local_of(engine)->journal, RG_LOCK_BRIDGE);
}

static uint32_t mark(struct rg_engine *engine)
{
	return rg_journal_wake_count(rg_local_of(engine)->journal);
}

static void sleep_until_stored(struct rg_engine *engine, uint32_t seen, int64_t wait_ms)
{
	struct rg_journal *journal = rg_local_of(engine)->journal;

	/* Other programs append without waking anybody. */
	if (rg_journal_writable(journal))
		rg_journal_sleep(journal, seen, wait_ms < LOOK_MS ? wait_ms : LOOK_MS);
	else
		rg_clock_sleep(wait_ms < LOOK_MS ? wait_ms : LOOK_MS);
}

static int agents(struct rg_engine *engine, struct rg_arena *arena,
		  struct roger_agent_list *ret_agents, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do
		r = rg_index_agents(local->index, epoch_of(local), arena, ret_agents, err);
	while (rg_local_mended(local, &tries, &r, err));
	return r;
}

static int compare_strs(const void *a, const void *b)
{
	const struct roger_str *x = a, *y = b;
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->data, y->data, shorter);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* From the tally, without the index. */
static int names(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_names,
		 struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_control *control = rg_journal_control(local->journal);
	struct {
		struct roger_str *items;
		size_t count;
	} list = { 0 };
	struct rg_named_agent agent;
	struct roger_str *name;
	size_t i = 0;

	while (control && rg_control_next_agent(control, &i, &agent)) {
		name = rg_arena_push(arena, &list.items, &list.count, sizeof *name);
		if (!name ||
		    !rg_arena_copy(arena, (struct roger_str){ agent.name, agent.length }, name))
			return rg_fail_memory(err);
	}
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_strs);
	*ret_names = (struct roger_strs){ list.items, list.count };
	return ROGER_OK;
}

static bool knows(struct rg_engine *engine, struct roger_str name)
{
	struct rg_control *control = rg_journal_control(rg_local_of(engine)->journal);

	struct rg_agent agent;

	return control && rg_control_find_agent(control, name, &agent);
}

static int issues(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_issues,
		  struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do
		r = rg_index_issues(local->index, arena, ret_issues, err);
	while (rg_local_mended(local, &tries, &r, err));
	return r;
}

static int figures(struct rg_engine *engine, struct rg_figures *ret_figures, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do
		r = rg_index_figures(local->index, ret_figures, err);
	while (rg_local_mended(local, &tries, &r, err));
	if (r < 0)
		return r;
	ret_figures->journal_bytes = (int64_t)rg_index_end(local->index);
	ret_figures->epoch = epoch_of(local);
	return ROGER_OK;
}

static int survey(struct rg_engine *engine, int64_t since_ms, int64_t until_ms, rg_survey_see *see,
		  void *context, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	while (r == ROGER_OK) {
		r = rg_index_survey(local->index, since_ms, until_ms, see, context, err);
		if (!rg_local_mended(local, &tries, &r, err))
			break;
		r = see(context, NULL, err);
	}
	return r;
}

static int overdue(struct rg_engine *engine, int64_t now_ms, int64_t limit, struct rg_arena *arena,
		   struct roger_strs *ret_ids, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int tries = 0, r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	do
		r = rg_index_overdue(local->index, now_ms, limit, arena, ret_ids, err);
	while (rg_local_mended(local, &tries, &r, err));
	return r;
}

static int strays(struct rg_engine *engine, int64_t *ret_strays, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	r = rg_local_refresh(local, err);
	if (r == ROGER_OK)
		*ret_strays = rg_index_stray_count(local->index);
	return r;
}

/* --------------------------------------------------------- maintenance -- */

static int rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		   struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	const struct rg_query all = { 0 };
	int64_t messages;
	uint64_t end;
	int r;

	r = rg_journal_settle(local->journal, &end, err);
	if (r == ROGER_OK)
		r = rg_index_rebuild(local->index, end, false, err);
	if (r == ROGER_OK)
		r = rg_index_count(local->index, &all, &messages, err);
	if (r < 0)
		return r;
	ret_reply->lines = rg_index_line_count(local->index);
	ret_reply->messages = messages;
	ret_reply->strays = rg_index_stray_count(local->index);
	if (rg_journal_writable(local->journal))
		rg_local_want_state(local, true);
	return ROGER_OK;
}

static void on_progress(struct rg_engine *engine, roger_progress *tell, void *context)
{
	rg_index_on_progress(rg_local_of(engine)->index, tell, context);
}

static const char *trouble(struct rg_engine *engine)
{
	struct rg_local *local = rg_local_of(engine);

	return local->trouble[0] ? local->trouble : rg_index_trouble(local->index);
}

static const char *damage(struct rg_engine *engine)
{
	struct rg_local *local = rg_local_of(engine);

	rg_local_tell_damage(local, local->damage, sizeof local->damage);
	return local->damage;
}

static struct rg_engine *close_engine(struct rg_engine *engine)
{
	struct rg_local *local = rg_local_of(engine);

	if (!local)
		return NULL;
	if (local->journal) {
		rg_local_rollback(engine);
		rg_local_save_state(local, true);
	}
	rg_file_close(local->send_logs);
	rg_file_close(local->activity_logs);
	rg_file_close(local->turns);
	rg_index_free(local->index);
	rg_journal_close(local->journal);
	rg_buf_deinit(&local->text);
	free(local->staged);
	free(local);
	return NULL;
}

static const struct rg_engine_class local_class = {
	.name = "local",
	.close = close_engine,
	.find = find,
	.find_page = find_page,
	.count = count,
	.may_have_mail = may_have_mail,
	.agents = agents,
	.names = names,
	.knows = knows,
	.issues = issues,
	.figures = figures,
	.survey = survey,
	.overdue = overdue,
	.strays = strays,
	.wait = rg_local_wait,
	.states = rg_local_states,
	.shown = rg_local_shown,
	.note_shown = rg_local_note_shown,
	.turn_take = rg_local_turn_take,
	.turn_end = rg_local_turn_end,
	.may_know_key = may_know_key,
	.note_key = note_key,
	.mark = mark,
	.sleep = sleep_until_stored,
	.begin = rg_local_begin,
	.add = rg_local_add,
	.bring = rg_local_bring,
	.mark_of = mark_of,
	.bridge_begin = bridge_begin,
	.bridge_end = bridge_end,
	.change = rg_local_change,
	.archive = rg_local_archive,
	.commit = rg_local_commit,
	.rollback = rg_local_rollback,
	.records_begin = rg_local_records_begin,
	.records_soon = rg_local_records_soon,
	.records_end = rg_local_records_end,
	.log_append = rg_local_log_append,
	.log_find = rg_local_log_find,
	.log_purge = rg_local_log_purge,
	.log_last = rg_local_log_last,
	.run_find = rg_local_run_find,
	.runs = rg_local_runs,
	.run_put = rg_local_run_put,
	.session = rg_local_session,
	.note_cleanup = rg_local_note_cleanup,
	.rebuild = rebuild,
	.verify = rg_local_verify,
	.doctor = rg_local_doctor,
	.damage = damage,
	.damages = rg_local_list_damages,
	.accept = rg_local_accept,
	.digests = rg_local_digests,
	.seal_key = rg_local_seal_key,
	.trouble = trouble,
	.on_progress = on_progress,
};

static int open_parts(struct rg_local *local, struct roger_err *err)
{
	const struct rg_config *config = local->workspace->config;
	char journal_name[RG_FILE_NAME_BYTES], control_name[RG_FILE_NAME_BYTES + 16],
		index_name[RG_FILE_NAME_BYTES];
	struct roger_str stem = config->jsonl_file;
	int r;

	if (stem.length > 200 || config->database_file.length > 200)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "storage: expected file names of at most 200 bytes");
	snprintf(journal_name, sizeof journal_name, "%.*s", RG_STR_ARGS(stem));
	snprintf(index_name, sizeof index_name, "%.*s", RG_STR_ARGS(config->database_file));
	if (stem.length > 6 && memcmp(stem.data + stem.length - 6, ".jsonl", 6) == 0)
		stem.length -= 6;
	snprintf(control_name, sizeof control_name, "%.*s%s", RG_STR_ARGS(stem), control_suffix);

	r = rg_journal_open(local->workspace->data, journal_name, control_name, rg_tally_adopt,
			    rg_local_recall, local, &local->journal, err);
	if (r == ROGER_OK)
		r = rg_index_new(local->journal, local->workspace->data,
				 local->workspace->data_path, index_name, config->places_configured,
				 &local->index, err);
	if (r < 0)
		return r;
	rg_index_bound_leases(local->index, config->lease_ms_max);
	return rg_local_prepare_epoch(local, err);
}

int rg_local_open(struct rg_workspace *workspace, struct rg_engine **ret_engine,
		  struct roger_err *err)
{
	struct rg_local *local = calloc(1, sizeof *local);
	int r;

	if (!local)
		return rg_fail_memory(err);
	local->engine.class = &local_class;
	local->workspace = workspace;
	local->send_logs = local->activity_logs = local->turns = RG_NO_FILE;
	rg_buf_init(&local->text, SIZE_MAX);
	r = open_parts(local, err);
	if (r < 0) {
		close_engine(&local->engine);
		return r;
	}
	*ret_engine = &local->engine;
	return ROGER_OK;
}
