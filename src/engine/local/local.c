#include "engine/local/local_engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/file.h"

static const char control_suffix[] = ".control";

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
	rg_journal_unlock(local->journal);
	return ROGER_OK;
}

int rg_local_refresh(struct rg_local *local, struct roger_err *err)
{
	uint64_t end;
	int r;

	r = readable_end(local, &end, err);
	return r < 0 ? r : rg_index_refresh(local->index, end, err);
}

/* A damaged index is made anew, once. */
static int mend_index(struct rg_local *local, int r, struct roger_err *err)
{
	if (!rg_index_damaged(local->index))
		return r;
	return rg_index_rebuild(local->index, rg_index_end(local->index), err);
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
	if (r == ROGER_OK) {
		if (!rg_record_keep(&rg_message_record, ret_message, arena))
			r = rg_fail_memory(err);
		ret_message->position = entry->position;
		rg_json_free(json);
	}
	rg_buf_deinit(&line);
	return r;
}

static int read_messages(struct rg_local *local, const struct rg_entries *entries,
			 struct rg_arena *arena, struct roger_messages *ret_messages,
			 struct roger_err *err)
{
	struct roger_message *items = rg_arena_get(arena, entries->count * sizeof *items);
	size_t i;
	int r;

	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < entries->count; i++) {
		r = read_message(local, &entries->items[i], arena, &items[i], err);
		if (r < 0)
			return r;
	}
	*ret_messages = (struct roger_messages){ items, entries->count };
	return ROGER_OK;
}

static int find(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		struct roger_messages *ret_messages, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_entries entries;
	int r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	r = rg_index_find(local->index, query, arena, &entries, err);
	if (r < 0) {
		r = mend_index(local, r, err);
		if (r == ROGER_OK)
			r = rg_index_find(local->index, query, arena, &entries, err);
	}
	return r < 0 ? r : read_messages(local, &entries, arena, ret_messages, err);
}

/* The tally may have counted too high; nothing came since the index was asked, so it can be set
 * right. */
static void correct_unread(struct rg_local *local, struct roger_str agent, int64_t unread)
{
	struct rg_agent_slot *slot;

	if (!rg_journal_writable(local->journal))
		return;
	slot = rg_control_find_agent(rg_journal_control(local->journal), agent);
	if (!slot || (int64_t)slot->unread == unread || !rg_journal_lock_soon(local->journal))
		return;
	slot = rg_control_find_agent(rg_journal_control(local->journal), agent);
	if (slot && rg_journal_end(local->journal) == rg_index_end(local->index))
		slot->unread = (uint32_t)unread;
	rg_journal_unlock(local->journal);
}

static int count(struct rg_engine *engine, const struct rg_query *query, int64_t *ret_count,
		 struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	r = rg_local_refresh(local, err);
	if (r < 0)
		return r;
	r = rg_index_count(local->index, query, ret_count, err);
	if (r < 0) {
		r = mend_index(local, r, err);
		if (r == ROGER_OK)
			r = rg_index_count(local->index, query, ret_count, err);
	}
	if (r == ROGER_OK && rg_query_is_unread_only(query))
		correct_unread(local, query->to, *ret_count);
	return r;
}

static int may_have_mail(struct rg_engine *engine, struct roger_str agent, bool *ret_may,
			 struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_agent_slot *slot;
	uint64_t end;
	int r;

	r = rg_journal_settle(local->journal, &end, err);
	if (r < 0)
		return r;
	*ret_may = true;
	if (!rg_journal_writable(local->journal))
		return ROGER_OK;
	slot = rg_control_find_agent(rg_journal_control(local->journal), agent);
	*ret_may = slot && atomic_load_explicit(&slot->unread, memory_order_acquire) > 0;
	return ROGER_OK;
}

static int64_t epoch_of(struct rg_local *local)
{
	struct rg_control *control = rg_journal_control(local->journal);

	return control ? atomic_load(&rg_control_page(control)->epoch) : 0;
}

static int agents(struct rg_engine *engine, struct rg_arena *arena,
		  struct roger_agent_list *ret_agents, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	r = rg_local_refresh(local, err);
	return r < 0 ? r : rg_index_agents(local->index, epoch_of(local), arena, ret_agents, err);
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
	struct rg_agent_slot *slot;
	struct roger_str *name;
	size_t i = 0;

	while (control && (slot = rg_control_next_agent(control, &i))) {
		name = rg_arena_push(arena, &list.items, &list.count, sizeof *name);
		if (!name ||
		    !rg_arena_copy(arena, (struct roger_str){ slot->name, slot->length }, name))
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

	return control && rg_control_find_agent(control, name);
}

static int issues(struct rg_engine *engine, struct rg_arena *arena, struct roger_strs *ret_issues,
		  struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	r = rg_local_refresh(local, err);
	return r < 0 ? r : rg_index_issues(local->index, arena, ret_issues, err);
}

static int figures(struct rg_engine *engine, struct rg_figures *ret_figures, struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	int r;

	r = rg_local_refresh(local, err);
	if (r == ROGER_OK)
		r = rg_index_figures(local->index, ret_figures, err);
	if (r < 0)
		return r;
	ret_figures->journal_bytes = (int64_t)rg_index_end(local->index);
	ret_figures->epoch = epoch_of(local);
	return ROGER_OK;
}

/* --------------------------------------------------------- maintenance -- */

static int rebuild(struct rg_engine *engine, struct roger_rebuild_reply *ret_reply,
		   struct roger_err *err)
{
	struct rg_local *local = rg_local_of(engine);
	struct rg_figures after;
	uint64_t end;
	int r;

	r = rg_journal_settle(local->journal, &end, err);
	if (r == ROGER_OK)
		r = rg_index_rebuild(local->index, end, err);
	if (r == ROGER_OK)
		r = rg_index_figures(local->index, &after, err);
	if (r < 0)
		return r;
	ret_reply->lines = after.journal_lines;
	ret_reply->messages = after.messages;
	ret_reply->strays = after.strays;
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
	return rg_index_trouble(rg_local_of(engine)->index);
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
	.count = count,
	.may_have_mail = may_have_mail,
	.agents = agents,
	.names = names,
	.knows = knows,
	.issues = issues,
	.figures = figures,
	.wait = rg_local_wait,
	.begin = rg_local_begin,
	.add = rg_local_add,
	.change = rg_local_change,
	.archive = rg_local_archive,
	.commit = rg_local_commit,
	.rollback = rg_local_rollback,
	.session = rg_local_session,
	.note_cleanup = rg_local_note_cleanup,
	.rebuild = rebuild,
	.verify = rg_local_verify,
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

	r = rg_journal_open(local->workspace->data, journal_name, control_name, false,
			    rg_tally_adopt, NULL, &local->journal, err);
	if (r == ROGER_OK)
		r = rg_index_new(local->journal, local->workspace->data,
				 local->workspace->data_path, index_name, &local->index, err);
	return r == ROGER_OK ? rg_local_prepare_epoch(local, err) : r;
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
	rg_buf_init(&local->text, SIZE_MAX);
	r = open_parts(local, err);
	if (r < 0) {
		close_engine(&local->engine);
		return r;
	}
	*ret_engine = &local->engine;
	return ROGER_OK;
}
