/* The operations of a store, on what the handles of one process share. */
#include "store/process/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/id.h"
#include "store/chain.h"

struct agent {
	uint64_t hash;
	struct rg_named_figure named;
};

struct count {
	uint64_t hash, count;
};

struct rg_held {
	struct rg_held *next;
	enum rg_store_lock which;
	char agent[RG_NAME_CHARS_MAX + 1];
	const void *owner;
};

/* An append waits while more bytes than this are in the queue. */
enum { QUEUE_BYTES_MAX = 32 << 20 };

static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rg_common *all;

static struct rg_handle *handle_of(struct rg_store *store)
{
	return (struct rg_handle *)store;
}

struct rg_common *rg_common_lock(struct rg_common *common)
{
	pthread_mutex_lock(&common->mutex);
	common->holder = pthread_self();
	common->entered++;
	return common;
}

void rg_common_unlock(struct rg_common *common)
{
	rg_assert(rg_common_has(common));
	common->entered--;
	pthread_mutex_unlock(&common->mutex);
}

static struct rg_common *enter_common(struct rg_store *store)
{
	return rg_common_lock(handle_of(store)->common);
}

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &clock);
}

bool rg_common_wait(struct rg_common *common, pthread_cond_t *condition, int64_t until_ns)
{
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
	const unsigned entered = common->entered;
	bool called;

	rg_assert(rg_common_has(common));
	common->entered = 0;
	called = pthread_cond_timedwait(condition, &common->mutex, &until) == 0;
	common->holder = pthread_self();
	common->entered = entered;
	return called;
}

static int64_t after_ms(int64_t ms)
{
	return rg_clock_monotonic_ns() + ms * 1000000;
}

/* ----------------------------------------------------------------- queue -- */

void rg_change_free(struct rg_change *change)
{
	rg_buf_deinit(&change->bytes);
	rg_buf_deinit(&change->answer);
	free(change);
}

/* If the answer is to be kept with it, let the change stay in the queue until the answer is
 * there. */
static void hold_change(struct rg_handle *handle, struct rg_change *change)
{
	rg_assert(change->kind != RG_CHANGE_ANSWER);
	if (!handle->base.request[0])
		return;
	if (!handle->group)
		handle->group = ++handle->common->groups;
	change->holder = handle;
	change->group = handle->group;
}

/* Queue a change for the keeper; without a keeper it is covered at once. */
static int queue_change(struct rg_handle *handle, const struct rg_change *what,
			struct roger_str bytes, bool durable, struct roger_err *err)
{
	struct rg_common *common = handle->common;
	struct rg_change *change;

	rg_assert(rg_common_has(handle->common));
	handle->last = ++common->changes;
	if (!common->keeping) {
		common->covered = common->changes;
		return ROGER_OK;
	}
	change = malloc(sizeof *change);
	if (!change)
		return rg_fail_memory(err);
	*change = *what;
	change->next = NULL;
	rg_buf_init(&change->bytes, SIZE_MAX);
	rg_buf_add_str(&change->bytes, bytes);
	rg_buf_init(&change->answer, SIZE_MAX);
	change->count = common->changes;
	if (change->bytes.failed) {
		rg_change_free(change);
		return rg_fail_memory(err);
	}
	if (durable)
		hold_change(handle, change);
	*common->end = change;
	common->end = &change->next;
	common->waiting_bytes += bytes.length;
	pthread_cond_signal(&common->queued);
	return ROGER_OK;
}

static int queue_lines(struct rg_handle *handle, struct rg_kept_journal *journal, uint64_t start,
		       struct roger_str lines, bool durable, struct roger_err *err)
{
	struct rg_change change = { .kind = RG_CHANGE_LINES,
				    .log = journal->log,
				    .number = journal->number,
				    .start = start,
				    .chain = journal->chain };
	int r;

	rg_assert(journal->number && start + lines.length == rg_kept_end(journal));
	memcpy(change.name, journal->name, sizeof change.name);
	r = queue_change(handle, &change, lines, durable, err);
	journal->change = handle->common->changes;
	return r;
}

/* Needs the mutex.  Note once for each job whether this process leads.  If another one led
 * meanwhile, what the job found out may be outdated, even if this one leads again. */
static void begin_job(struct rg_handle *handle)
{
	rg_assert(rg_common_has(handle->common));
	if (handle->base.begun)
		return;
	handle->leads = !handle->common->trails;
	handle->led = handle->base.turn = handle->common->life;
	handle->base.begun = handle->leads && !handle->inner;
}

/* Needs the mutex.  Has this process lost the lead since its job began? */
static bool is_over(const struct rg_handle *handle)
{
	rg_assert(rg_common_has(handle->common));
	return handle->base.begun && handle->led != handle->common->life;
}

/* Needs the mutex.  Wait until that many changes are kept, and messages up to that byte.  After a
 * loss, nobody knows what became of them. */
static int wait_covered(struct rg_handle *handle, uint64_t change, uint64_t messages,
			struct roger_err *err)
{
	const int64_t until_ns = after_ms(rg_store_wait_ms(&handle->base, RG_LOCK_WAIT_MS));
	struct rg_common *common = handle->common;

	rg_assert(rg_common_has(handle->common));
	/* put_answer() waits for all changes of the request. */
	if (handle->group && !is_over(handle))
		return ROGER_OK;
	while (common->covered < change || common->durable < messages || is_over(handle)) {
		if (is_over(handle))
			return rg_fail(err, ROGER_ETIMEOUT, 0,
				       "it is not known what was stored: another server took over "
				       "meanwhile");
		if (rg_common_wait(common, &common->covered_more, until_ns))
			continue;
		handle->base.works = false;
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "PostgreSQL, or the standby that it waits for, has not confirmed "
			       "it in time; try again");
	}
	return ROGER_OK;
}

/* Needs the mutex.  Wait until a change may be shown. */
static int wait_shown(struct rg_handle *handle, uint64_t change, struct roger_err *err)
{
	rg_assert(rg_common_has(handle->common));
	return handle->common->covered >= change ? ROGER_OK : wait_covered(handle, change, 0, err);
}

static bool names_any(const struct roger_strs *names, struct roger_str lines)
{
	size_t i = 0;

	while (i < names->count && !rg_str_find_part(lines, names->items[i]))
		i++;
	return i < names->count;
}

/* Needs the mutex.  Wake whom these lines name; NULL data: everybody. */
static void wake_sleepers(struct rg_common *common, struct roger_str lines)
{
	struct rg_sleeper *sleeper;

	rg_assert(rg_common_has(common));
	common->wake++;
	for (sleeper = common->sleepers; sleeper; sleeper = sleeper->next)
		if (!sleeper->awake && (!lines.data || names_any(sleeper->names, lines))) {
			sleeper->awake = true;
			pthread_cond_signal(&sleeper->called);
		}
}

void rg_common_cover(struct rg_common *common, uint64_t changes, uint64_t messages)
{
	const struct rg_kept_journal *journal = common->messages;
	struct roger_str lines = { 0 };

	rg_assert(rg_common_has(common));
	rg_assert(changes >= common->covered && changes <= common->changes);
	common->covered = changes;
	if (messages > common->durable) {
		if (common->durable >= journal->from && messages <= rg_kept_end(journal))
			lines = (struct roger_str){ journal->text.data +
							    (common->durable - journal->from),
						    messages - common->durable };
		common->durable = messages;
		wake_sleepers(common, lines);
	}
	pthread_cond_broadcast(&common->covered_more);
}

/* ---------------------------------------------------------------- answers -- */

static bool has_group(const struct rg_change *change, const struct rg_change *end, uint64_t group)
{
	for (; change != end; change = change->next)
		if (change->group == group)
			return true;
	return false;
}

/* The first change that must not go out yet: the first one that is held; but changes with one
 * answer stay together. */
static struct rg_change *find_cut(const struct rg_common *common)
{
	struct rg_change *cut = common->first, *change;

	rg_assert(rg_common_has(common));
	while (cut && !cut->holder)
		cut = cut->next;
	for (change = common->first; cut && change != cut; change = change->next)
		if (change->group && has_group(cut, NULL, change->group)) {
			cut = change;
			break;
		}
	return cut;
}

struct rg_change *rg_common_take(struct rg_common *common, size_t most)
{
	struct rg_change *cut = find_cut(common), *taken = common->first, *last = NULL, *change;
	size_t bytes = 0;

	rg_assert(rg_common_has(common) && common->keeping);
	for (change = taken; change != cut && (!bytes || bytes < most || change->group);
	     change = change->next) {
		bytes += change->bytes.length;
		common->taken++;
		last = change;
	}
	if (!last)
		return NULL;
	common->first = last->next;
	last->next = NULL;
	if (!common->first)
		common->end = &common->first;
	common->waiting_bytes -= bytes;
	pthread_cond_broadcast(&common->freed);
	return taken;
}

/* Needs the mutex.  Hold the changes for its request no longer. */
static void let_go(struct rg_handle *handle)
{
	struct rg_change *change;

	rg_assert(rg_common_has(handle->common));
	for (change = handle->common->first; handle->group && change; change = change->next)
		if (change->holder == handle)
			change->holder = NULL;
	pthread_cond_signal(&handle->common->queued);
}

/* Needs the mutex.  Let the changes that were held for the request go out with its answer (NULL
 * data: there is none), and wait for them. */
static int put_answer(struct rg_handle *handle, struct roger_str text, struct roger_err *err)
{
	struct rg_change *change = handle->common->first;
	const struct rg_change alone = { .kind = RG_CHANGE_ANSWER };
	const uint64_t group = handle->group;
	int r = ROGER_OK;

	rg_assert(rg_common_has(handle->common));
	if (!group)
		return ROGER_OK;
	let_go(handle);
	while (change && change->group != group)
		change = change->next;
	handle->group = 0;
	/* The changes went out already, since others waited for them: queue the answer alone. */
	if (text.data && !change && !is_over(handle)) {
		r = queue_change(handle, &alone, RG_STR(""), false, err);
		change = handle->common->first;
		while (r == ROGER_OK && change && change->count != handle->last)
			change = change->next;
	}
	if (text.data && change) {
		memcpy(change->key, handle->base.request, sizeof change->key);
		rg_buf_add_str(&change->answer, text);
	}
	return r == ROGER_OK ? wait_covered(handle, handle->last, 0, err) : r;
}

static int fail_led(const struct rg_handle *handle, struct roger_err *err)
{
	/* The client may ask the leader instead, unless the request changed something here. */
	return rg_fail_member(err, ROGER_ETIMEOUT, handle->group ? NULL : "leader",
			      "another server leads this workspace");
}

/* Enter, if this process may answer. */
static int enter_ready(struct rg_store *base, struct rg_common **ret_common, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	struct rg_handle *handle = handle_of(base);
	const struct rg_keeping *keeping = handle->common->keeping;
	int r = keeping && !handle->inner ? keeping->ready(handle, err) : ROGER_OK;

	if (r < 0)
		return r;
	common = enter_common(base);
	begin_job(handle);
	if (is_over(handle) || (base->asked && !handle->leads))
		return fail_led(handle, err);
	*ret_common = common;
	common = NULL;
	return ROGER_OK;
}

/* -------------------------------------------------------------- journals -- */

static void name_of(enum rg_log log, struct roger_str owner, char to[RG_FILE_NAME_BYTES])
{
	if (rg_log_kinds[log].file)
		snprintf(to, RG_FILE_NAME_BYTES, "%s", rg_log_kinds[log].file);
	else
		rg_workspace_file_name(owner, ".jsonl", to);
}

static uint64_t new_number(struct rg_common *common)
{
	uint64_t number = 0;

	/* Numbers must be unique among all processes that make some. */
	if (!common->keeping || rg_random(&number, sizeof number, NULL) < 0)
		return ++common->numbers;
	return number >> 2 | 1;
}

struct rg_kept_journal *rg_common_journal(struct rg_common *common, enum rg_log log,
					  const char *name, bool make)
{
	const uint64_t hash = rg_hash((uint64_t)log + 1, name, name ? strlen(name) : 0);
	struct rg_kept_journal *journal = common->journals;

	rg_assert(rg_common_has(common));
	if (log == RG_LOG_MESSAGES && common->messages)
		return common->messages;
	while (journal &&
	       (journal->hash != hash || journal->log != log || strcmp(journal->name, name) != 0))
		journal = journal->next;
	if (journal || !make)
		return journal;
	journal = calloc(1, sizeof *journal);
	if (!journal)
		return NULL;
	journal->log = log;
	journal->hash = hash;
	journal->number = new_number(common);
	journal->next = common->journals;
	snprintf(journal->name, sizeof journal->name, "%s", name);
	rg_buf_init(&journal->text, SIZE_MAX);
	common->journals = journal;
	return journal;
}

static int add_file(const struct rg_handle *handle, enum rg_log log, const char *name,
		    struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	struct rg_log_file file = { .log = log };
	const struct roger_str shown =
		log == RG_LOG_MESSAGES ? handle->workspace->config->jsonl_file : rg_str(name);

	return rg_kept(
		rg_arena_print(arena, &file.shown, "%s%.*s", rg_log_kinds[log].folder,
			       RG_STR_ARGS(shown)) &&
			rg_arena_copy(arena, rg_str(name), &file.name) &&
			rg_arena_append(arena, &files->items, &files->count, &file, sizeof file),
		err);
}

static int process_list(struct rg_store *base, enum rg_log log, struct roger_str owner,
			struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	const struct rg_kept_journal *journal;
	char name[RG_FILE_NAME_BYTES];
	int r = ROGER_OK;

	name_of(log, owner, name);
	if (rg_log_kinds[log].file || owner.length)
		return add_file(handle_of(base), log, name, arena, files, err);
	for (journal = common->journals; journal && r == ROGER_OK; journal = journal->next)
		if (journal->log == log)
			r = add_file(handle_of(base), log, journal->name, arena, files, err);
	return r;
}

static int stat_journal(struct rg_store *base, struct rg_log_file *file, bool *ret_there,
			struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	struct rg_kept_journal *journal;
	int r = enter_ready(base, &common, err);

	if (r < 0)
		return r;
	journal = rg_common_journal(common, file->log, file->name.data, false);
	*ret_there = journal != NULL;
	file->inode = journal ? journal->number : 0;
	file->size = journal ? rg_kept_end(journal) : 0;
	return journal && file->log != RG_LOG_MESSAGES
		       ? wait_shown(handle_of(base), journal->change, err)
		       : ROGER_OK;
}

/* Where bytes may be read from memory.  Whoever reads from byte 0 verifies what is kept, so it
 * gets from memory only what is not kept elsewhere yet. */
static uint64_t remembered_from(const struct rg_common *common,
				const struct rg_kept_journal *journal, uint64_t from)
{
	rg_assert(rg_common_has(common));
	if (from || !common->keeping)
		return journal->from;
	if (journal == common->messages)
		return common->durable;
	return journal->change > common->covered ? journal->from : rg_kept_end(journal);
}

/* Needs the mutex.  Read what the keeper does not have: from memory, or, if somebody took it
 * away there, as zeros and a newline, a line that nobody can read. */
static size_t read_rest(const struct rg_kept_journal *journal, uint64_t from, char *room,
			size_t want)
{
	rg_assert(from + want <= rg_kept_end(journal));
	if (from >= journal->from) {
		memcpy(room, journal->text.data + (from - journal->from), want);
		return want;
	}
	if (want > journal->from - from)
		want = journal->from - from;
	memset(room, 0, want);
	if (from + want == journal->from)
		room[want - 1] = '\n';
	return want;
}

/* Needs the mutex, and releases it while the keeper reads. */
static int read_kept(struct rg_handle *handle, const struct rg_kept_journal *journal, uint64_t from,
		     char *room, size_t want, size_t *ret_got, struct roger_err *err)
{
	struct rg_common *common = handle->common;
	const uint64_t end = rg_kept_end(journal), number = journal->number;
	size_t got;
	int r;

	rg_assert(rg_common_has(handle->common));
	*ret_got = 0;
	if (from >= end)
		return ROGER_OK;
	if (end - from < want)
		want = end - from;
	if (from >= remembered_from(common, journal, from)) {
		memcpy(room, journal->text.data + (from - journal->from), want);
		*ret_got = want;
		return ROGER_OK;
	}
	rg_common_unlock(common);
	for (r = ROGER_OK, got = 1; r == ROGER_OK && got && want; *ret_got += got) {
		r = common->keeping->read(handle, number, from + *ret_got, room + *ret_got, want,
					  &got, err);
		want -= r == ROGER_OK ? got : 0;
		rg_common_lock(common);
		if (r == ROGER_OK && !got && want && journal->number == number) {
			got = read_rest(journal, from + *ret_got, room + *ret_got, want);
			want -= got;
		}
		rg_common_unlock(common);
	}
	rg_common_lock(common);
	return r;
}

static int read_bytes(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		      char *room, size_t want, size_t *ret_got, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	const struct rg_kept_journal *journal =
		rg_common_journal(common, file->log, file->name.data, false);

	*ret_got = 0;
	if (!journal || (file->inode && file->inode != journal->number))
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "'%.*s' was replaced while it was read; try again",
			       RG_STR_ARGS(file->shown));
	return read_kept(handle_of(base), journal, from, room, want, ret_got, err);
}

/* Needs the mutex. */
static int check_changes(struct rg_store *base, struct roger_err *err)
{
	rg_assert(rg_common_has(handle_of(base)->common));
	return handle_of(base)->common->trails || is_over(handle_of(base))
		       ? fail_led(handle_of(base), err)
		       : ROGER_OK;
}

static int process_add(struct rg_store *base, enum rg_log log, struct roger_str owner,
		       struct roger_str entries, bool durable, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	struct rg_kept_journal *journal;
	char name[RG_FILE_NAME_BYTES];
	uint64_t start;
	int r = enter_ready(base, &common, err);

	rg_assert(log != RG_LOG_MESSAGES);
	if (r == ROGER_OK)
		r = check_changes(base, err);
	if (r < 0)
		return r;
	name_of(log, owner, name);
	journal = rg_common_journal(common, log, name, true);
	if (!journal || !entries.length)
		return rg_kept(journal, err);
	start = rg_kept_end(journal);
	if (rg_log_kinds[log].chained)
		rg_chain_add_entries(entries, &journal->chain, &journal->text);
	else
		rg_buf_add_str(&journal->text, entries);
	if (journal->text.failed)
		return rg_fail_memory(err);
	r = queue_lines(handle_of(base), journal, start,
			(struct roger_str){ journal->text.data + (start - journal->from),
					    rg_kept_end(journal) - start },
			durable, err);
	return r == ROGER_OK && durable ? wait_covered(handle_of(base), journal->change, 0, err)
					: r;
}

/* Needs the mutex.  Read a whole journal. */
static int read_all(struct rg_handle *handle, const struct rg_kept_journal *journal,
		    struct rg_buf *to, struct roger_err *err)
{
	const size_t size = rg_kept_end(journal);
	char *room = rg_buf_room(to, size + 1);
	size_t got = 0;
	int r = room ? read_kept(handle, journal, 0, room, size, &got, err) : rg_fail_memory(err);

	rg_assert(rg_common_has(handle->common));
	to->length = got;
	return r;
}

/* Needs the mutex.  Empty a journal, as another one of its name. */
static int begin_anew(struct rg_handle *handle, struct rg_kept_journal *journal,
		      struct roger_err *err)
{
	struct rg_change change = { .kind = RG_CHANGE_REWRITE,
				    .log = journal->log,
				    .old = journal->number,
				    .number = new_number(handle->common) };

	rg_assert(rg_common_has(handle->common));
	memcpy(change.name, journal->name, sizeof change.name);
	rg_buf_clear(&journal->text);
	journal->from = journal->marked = journal->chain = 0;
	journal->number = change.number;
	return queue_change(handle, &change, RG_STR(""), true, err);
}

static int keep_lines(struct rg_handle *handle, struct rg_kept_journal *journal,
		      struct roger_str kept, uint64_t chain, struct roger_err *err)
{
	int r = begin_anew(handle, journal, err);

	rg_buf_add_str(&journal->text, kept);
	journal->chain = chain;
	if (r == ROGER_OK && journal->text.failed)
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = queue_lines(handle, journal, 0, rg_buf_str(&journal->text), true, err);
	return r == ROGER_OK ? wait_covered(handle, journal->change, 0, err) : r;
}

static int process_rewrite(struct rg_store *base, enum rg_log log, struct roger_str owner,
			   rg_drop_line *drop, void *context, int64_t *ret_dropped,
			   struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf kept = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	struct rg_kept_journal *journal;
	char name[RG_FILE_NAME_BYTES];
	struct roger_str rest, line;
	uint64_t chain = 0;
	int r = enter_ready(base, &common, err);

	rg_assert(log != RG_LOG_MESSAGES);
	*ret_dropped = 0;
	if (r == ROGER_OK)
		r = check_changes(base, err);
	if (r < 0)
		return r;
	name_of(log, owner, name);
	journal = rg_common_journal(common, log, name, false);
	r = journal ? read_all(handle_of(base), journal, &text, err) : ROGER_OK;
	if (r < 0)
		return r;
	rest = rg_buf_str(&text);
	while (rest.length) {
		line = (struct roger_str){ rest.data,
					   (size_t)((char *)memchr(rest.data, '\n', rest.length) -
						    rest.data) };
		if (drop(context, line))
			++*ret_dropped;
		else
			rg_chain_keep_line(line, &chain, &kept);
		rest.data += line.length + 1;
		rest.length -= line.length + 1;
	}
	if (kept.failed)
		return rg_fail_memory(err);
	return *ret_dropped ? keep_lines(handle_of(base), journal, rg_buf_str(&kept), chain, err)
			    : ROGER_OK;
}

/* --------------------------------------------------------------- figures -- */

static uint64_t hash_name(struct roger_str name)
{
	return rg_hash(1, name.data, name.length);
}

static void put_agent(struct rg_common *common, struct roger_str name,
		      const struct rg_figure *figure)
{
	bool fresh;
	struct agent *agent = rg_table_put(&common->agents, hash_name(name), &fresh);

	rg_assert(agent && name.length > 0 && name.length <= sizeof agent->named.name);
	memcpy(agent->named.name, name.data, name.length);
	agent->named.length = name.length;
	agent->named.figure = *figure;
}

static void forget_figures(struct rg_common *common)
{
	rg_assert(rg_common_has(common));
	rg_table_deinit(&common->agents);
	rg_table_init(&common->agents, sizeof(struct agent));
	rg_table_deinit(&common->counts);
	rg_table_init(&common->counts, sizeof(struct count));
	memset(&common->shared, 0, sizeof common->shared);
	common->witness = (struct rg_figure){ 0 };
	common->epoch = 1;
	common->last = common->before_last = 0;
	common->doubt = false;
}

/* Compare with the witness: at its end there must be a line end, with its chain. */
static void compare_witness(struct rg_common *common, uint64_t end, uint64_t chain)
{
	const struct rg_figure *witness = &common->witness;

	if (witness->count == end && witness->chained && witness->chain != chain &&
	    common->shared.broken == RG_BROKEN_NOT)
		common->shared.broken = RG_BROKEN_DIFFERS;
}

/* Needs the mutex.  Add the lines of messages from this byte on to the figures. */
static int adopt_lines(struct rg_handle *handle, uint64_t from, struct roger_err *err)
{
	struct rg_common *common = handle->common;
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines =
		rg_lines_of(&handle->base, &rg_store_messages, from, rg_kept_end(common->messages));
	struct rg_chain chain = { from ? common->messages->chain : 0, from && common->doubt,
				  common->other, common->before };
	struct rg_line line;
	bool found, own;
	int r;

	rg_assert(rg_common_has(handle->common));
	common->lines = from ? common->lines : 0;
	atomic_store(&common->shared.own_from, rg_kept_end(common->messages));
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found) {
		common->last = line.offset;
		common->before_last = chain.value;
		common->lines++;
		r = rg_chain_step(&lines.bytes, &line, &chain, &own, err);
		if (r == ROGER_OK && !handle->above->adopt(&handle->base, line.text, own))
			r = rg_fail_memory(err);
		if (r < 0)
			break;
		compare_witness(common, lines.at, chain.value);
	}
	common->messages->chain = chain.value;
	common->doubt = chain.doubt;
	common->other = chain.other;
	common->before = chain.before;
	return r;
}

void rg_common_begin(struct rg_handle *handle)
{
	struct rg_common *common = handle->common;
	struct rg_figure witness = { 0 };

	rg_assert(rg_common_has(handle->common));
	common->stale = false;
	forget_figures(common);
	handle->above->recall(&handle->base, &witness);
	common->witness = witness;
}

static void compute_figures(struct rg_handle *handle)
{
	rg_common_begin(handle);
	if (adopt_lines(handle, 0, NULL) < 0)
		handle->common->stale = true;
}

int rg_common_follow(struct rg_handle *handle, struct roger_str lines, struct roger_err *err)
{
	struct rg_kept_journal *messages = handle->common->messages;
	const uint64_t from = rg_kept_end(messages);

	rg_assert(rg_common_has(handle->common));
	rg_buf_add_str(&messages->text, lines);
	if (messages->text.failed)
		return rg_fail_memory(err);
	return adopt_lines(handle, from, err);
}

/* Needs the mutex. */
static void make_sound(struct rg_store *base)
{
	rg_assert(rg_common_has(handle_of(base)->common));
	if (handle_of(base)->common->stale)
		compute_figures(handle_of(base));
}

/* Enter, with figures up to date. */
static struct rg_common *enter_sound(struct rg_store *base)
{
	struct rg_common *common = enter_common(base);

	make_sound(base);
	return common;
}

static struct rg_figure on_disk(const struct rg_common *common)
{
	rg_assert(rg_common_has(common));
	return (struct rg_figure){ .count = rg_kept_end(common->messages),
				   .chain = common->messages->chain,
				   .chained = true };
}

static bool process_figure(struct rg_store *base, const struct rg_figure_key *key,
			   struct rg_figure *ret_figure)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_sound(base);
	const struct rg_kept_document *document;
	const struct agent *agent;
	const struct count *count;
	bool found = false;

	*ret_figure = (struct rg_figure){ 0 };
	switch (key->kind) {
	case RG_FIGURE_AGENT:
	case RG_FIGURE_NAME:
		agent = rg_table_find(&common->agents, hash_name(key->name));
		found = agent != NULL;
		if (found)
			*ret_figure = agent->named.figure;
		break;
	case RG_FIGURE_COUNT:
		count = rg_table_find(&common->counts, key->hash);
		ret_figure->count = count ? count->count : 0;
		break;
	case RG_FIGURE_SESSION:
		ret_figure->epoch = common->epoch;
		ret_figure->count = 1;
		break;
	case RG_FIGURE_WITNESS:
		*ret_figure = common->witness;
		break;
	case RG_FIGURE_ON_DISK:
		*ret_figure = on_disk(common);
		break;
	case RG_FIGURE_STATE:
		document = rg_common_document(common, RG_DOCUMENT_STATE, "", false);
		ret_figure->count = document ? document->text.length : 0;
		break;
	case RG_FIGURE_DAMAGED:
		break;
	}
	return found || ret_figure->count > 0;
}

static void put_figure(struct rg_store *base, const struct rg_figure_key *key,
		       const struct rg_figure *figure)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	struct count *count;
	bool fresh;

	if (key->kind == RG_FIGURE_AGENT) {
		put_agent(common, key->name, figure);
	} else if (key->kind == RG_FIGURE_COUNT) {
		count = rg_table_put(&common->counts, key->hash, &fresh);
		rg_assert(count);
		count->count = figure->count;
	} else if (key->kind == RG_FIGURE_SESSION) {
		common->epoch = figure->epoch;
	} else {
		common->witness = *figure;
	}
}

static bool next_figure(struct rg_store *base, size_t *i, struct rg_named_figure *ret_named)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_sound(base);
	const struct agent *agent = rg_table_next(&common->agents, i);

	if (agent)
		*ret_named = agent->named;
	return agent != NULL;
}

/* Figures do not outlive the process.  What the caller derives from lines that are kept may:
 * true. */
static bool process_keep(struct rg_store *base, enum rg_keep what)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);

	common->stale |= what == RG_KEEP_NOTHING;
	return common->keeping && what == RG_KEEP_NOW;
}

/* -------------------------------------------------------------- messages -- */

static struct rg_shared *process_head(struct rg_store *base, struct rg_head *ret_head)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_sound(base);
	struct rg_shared *shared;
	const struct rg_held *held;

	begin_job(handle_of(base));
	shared = handle_of(base)->leads ? &common->shared : NULL;
	if (ret_head)
		*ret_head = (struct rg_head){ .wake = common->wake };
	if (ret_head && shared)
		*ret_head = (struct rg_head){ .shared = shared,
					      .end = rg_kept_end(common->messages),
					      .lines = common->lines,
					      .synced = common->durable,
					      .logged = atomic_load(&shared->logged),
					      .wake = common->wake };
	for (held = common->held; ret_head && held; held = held->next)
		if (held->owner == base)
			ret_head->held |= 1U << held->which;
	return shared;
}

/* Is the last line unchanged, as far as it is in memory? */
static bool is_last_line_whole(const struct rg_common *common)
{
	const struct rg_kept_journal *messages = common->messages;
	struct roger_str line, body;
	uint64_t stated;

	rg_assert(rg_common_has(common));
	if (common->last < messages->from || !messages->text.length)
		return true;
	line = (struct roger_str){ messages->text.data + (common->last - messages->from),
				   rg_kept_end(messages) - common->last - 1 };
	if (rg_chain_split(line, &stated, &body) && stated == messages->chain &&
	    rg_chain_fits(common->before_last, body, stated))
		return true;
	line.length++;
	return rg_chain_over(common->before_last, line) == messages->chain;
}

static void check_end(struct rg_common *common)
{
	if (common->shared.broken != RG_BROKEN_NOT || is_last_line_whole(common))
		return;
	common->witness = on_disk(common);
	common->shared.broken = RG_BROKEN_DIFFERS;
}

/* Needs the mutex. */
static int check_standing(struct rg_store *base, struct roger_err *err)
{
	const struct rg_handle *handle = handle_of(base);

	rg_assert(rg_common_has(handle_of(base)->common));
	if (handle->common->standing == RG_LIVE || handle->workspace->moving)
		return ROGER_OK;
	rg_common_note_standing(handle_of(base));
	return rg_store_fail_moved(base, err);
}

static int process_settle(struct rg_store *base, uint64_t *ret_end, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	int r = enter_ready(base, &common, err);

	if (r < 0)
		return r;
	make_sound(base);
	r = check_standing(base, err);
	check_end(common);
	*ret_end = common->durable;
	return r;
}

static struct rg_held **find_held(struct rg_common *common, enum rg_store_lock which,
				  struct roger_str agent)
{
	struct rg_held **held = &common->held;

	rg_assert(rg_common_has(common));
	while (*held && ((*held)->which != which || !rg_str_is(agent, (*held)->agent)))
		held = &(*held)->next;
	return held;
}

/* Needs the mutex.  Append whole lines to messages. */
static int append_lines(struct rg_handle *handle, const struct rg_buf *lines, size_t count,
			size_t last, uint64_t before, uint64_t chain, struct roger_err *err)
{
	struct rg_common *common = handle->common;
	struct rg_kept_journal *messages = common->messages;
	const uint64_t start = rg_kept_end(messages);

	rg_assert(rg_common_has(handle->common) && lines->length && count);
	rg_buf_add_str(&messages->text, rg_buf_str(lines));
	if (messages->text.failed)
		return rg_fail_memory(err);
	common->last = start + last;
	common->before_last = before;
	common->lines += count;
	common->doubt = false;
	messages->chain = chain;
	if (!common->keeping)
		common->durable = rg_kept_end(messages);
	return queue_lines(handle, messages, start, rg_buf_str(lines), true, err);
}

/* While RG_LOCK_APPEND is held, figures are up to date; if it was lost, nothing is written. */
static int process_append(struct rg_store *base, rg_compose *compose, void *context,
			  uint64_t *ret_end, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	uint64_t chain = common->messages->chain, before = 0;
	const struct rg_held *held = *find_held(common, RG_LOCK_APPEND, RG_STR(""));
	size_t line, start = 0, last = 0;
	int r = ROGER_OK;

	rg_assert(rg_store_took(base, RG_LOCK_APPEND));
	*ret_end = 0;
	if (!held || held->owner != base)
		return ROGER_OK;
	for (line = 0; compose(context, line, &out); line++) {
		last = start;
		before = chain;
		chain = rg_chain_over(chain,
				      (struct roger_str){ out.data + start, out.length - start });
		rg_chain_print(chain, &out);
		rg_buf_add_char(&out, '\n');
		start = out.length;
	}
	if (out.failed)
		return rg_fail_memory(err);
	if (out.length)
		r = append_lines(handle_of(base), &out, line, last, before, chain, err);
	if (r == ROGER_OK)
		*ret_end = rg_kept_end(common->messages);
	return r;
}

static int sync_journal(struct rg_store *base, const struct rg_log_file *file, uint64_t end,
			struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	const struct rg_kept_journal *journal;

	if (!common->keeping) {
		wake_sleepers(common, (struct roger_str){ 0 });
		pthread_cond_broadcast(&common->covered_more);
		return ROGER_OK;
	}
	if (!file || file->log == RG_LOG_MESSAGES)
		return wait_covered(handle_of(base), 0, end, err);
	journal = rg_common_journal(common, file->log, file->name.data, false);
	return journal ? wait_shown(handle_of(base), journal->change, err) : ROGER_OK;
}

static void wait_for_sync(struct rg_store *base, uint32_t wake, int64_t wait_ms)
{
	const int64_t until_ns = after_ms(wait_ms);
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	struct rg_sleeper self = { .next = common->sleepers, .names = base->names };
	struct rg_sleeper **place = &common->sleepers;

	if (!base->names) {
		while (common->wake == wake &&
		       rg_common_wait(common, &common->covered_more, until_ns))
			continue;
	} else if (common->wake == wake) {
		init_condition(&self.called);
		common->sleepers = &self;
		while (!self.awake && rg_common_wait(common, &self.called, until_ns))
			continue;
		while (*place != &self)
			place = &(*place)->next;
		*place = self.next;
		pthread_cond_destroy(&self.called);
	}
}

/* ----------------------------------------------------------------- locks -- */

/* Refuse to append to changed messages until a person has checked them. */
static int check_open(const struct rg_common *common, struct roger_err *err)
{
	const uint32_t broken = common->shared.broken;

	if (broken == RG_BROKEN_NOT || broken == RG_BROKEN_LINE)
		return ROGER_OK;
	return rg_fail(err, ROGER_EDATA, 0, "messages are not what was written");
}

static int take_lock(struct rg_common *common, const struct rg_lock_wish *wish,
		     struct rg_handle *owner, struct roger_err *err)
{
	const int64_t until_ns = after_ms(rg_store_wait_ms(&owner->base, wish->wait_ms));
	struct rg_held *held;

	rg_assert(rg_common_has(common));
	while (*find_held(common, wish->which, wish->agent) ||
	       (wish->which == RG_LOCK_APPEND && common->waiting_bytes > QUEUE_BYTES_MAX)) {
		/* The lock's holder may wait for changes that we hold. */
		let_go(owner);
		if (rg_common_wait(common, &common->freed, until_ns))
			continue;
		owner->base.works &= wish->wait_ms < RG_LOCK_WAIT_MS;
		return rg_fail(err, ROGER_ETIMEOUT, 0, "another handle holds the lock");
	}
	held = calloc(1, sizeof *held);
	if (!held)
		return rg_fail_memory(err);
	held->which = wish->which;
	held->owner = owner;
	held->next = common->held;
	snprintf(held->agent, sizeof held->agent, "%.*s", RG_STR_ARGS(wish->agent));
	common->held = held;
	return ROGER_OK;
}

static void process_unlock(struct rg_store *base, enum rg_store_lock which, struct roger_str agent)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	struct rg_held **place = find_held(common, which, agent), *held = *place;

	base->taken &= ~(1U << which);
	if (held && held->owner == base) {
		*place = held->next;
		free(held);
	}
	pthread_cond_broadcast(&common->freed);
}

static int process_lock(struct rg_store *base, const struct rg_lock_wish *wish,
			struct roger_err *err)
{
	struct rg_lock_wish wanted = *wish;
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	int r = enter_ready(base, &common, err);

	if (r < 0)
		return r;
	if (!wanted.agent.data)
		wanted.agent = RG_STR("");
	r = check_standing(base, err);
	/* A process that does not lead may still change what belongs to this machine: its index,
	 * a checkpoint, and whose turn it is. */
	if (r == ROGER_OK && wish->which != RG_LOCK_INDEX && wish->which != RG_LOCK_CHECKPOINT &&
	    wish->which != RG_LOCK_WAKE)
		r = check_changes(base, err);
	if (r == ROGER_OK)
		r = take_lock(common, &wanted, handle_of(base), err);
	if (r < 0)
		return r;
	base->taken |= 1U << wish->which;
	if (wish->which != RG_LOCK_APPEND)
		return ROGER_OK;
	make_sound(base);
	check_end(common);
	r = check_open(common, err);
	if (r < 0)
		process_unlock(base, RG_LOCK_APPEND, wanted.agent);
	return r;
}

/* ------------------------------------------------------------- documents -- */

/* The kind and the name under which a document is kept. */
static enum rg_document kept_as(enum rg_document which, struct roger_str name,
				char to[RG_FILE_NAME_BYTES])
{
	snprintf(to, RG_FILE_NAME_BYTES, "%.*s", RG_STR_ARGS(name));
	if (which == RG_DOCUMENT_RUN)
		rg_workspace_file_name(name, ".json", to);
	return which == RG_DOCUMENT_RUN_FILE ? RG_DOCUMENT_RUN : which;
}

struct rg_kept_document *rg_common_document(struct rg_common *common, enum rg_document which,
					    const char *name, bool make)
{
	const uint64_t hash = rg_hash(common->key + which, name, strlen(name));
	struct rg_kept_document *document;
	bool fresh = false;

	rg_assert(rg_common_has(common));
	document = make ? rg_table_put(&common->documents, hash, &fresh)
			: rg_table_find(&common->documents, hash);
	if (document && fresh) {
		document->which = which;
		snprintf(document->name, sizeof document->name, "%s", name);
		rg_buf_init(&document->text, SIZE_MAX);
	}
	return document;
}

static int process_get(struct rg_store *base, enum rg_document which, struct roger_str name,
		       struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	const struct rg_kept_document *document;
	char file[RG_FILE_NAME_BYTES];
	int r = enter_ready(base, &common, err);

	*ret_text = (struct roger_str){ NULL, 0 };
	if (r < 0)
		return r;
	which = kept_as(which, name, file);
	document = rg_common_document(common, which, file, false);
	if (!document)
		return ROGER_OK;
	/* Do not wait for message-state.json: it is read when a handle is opened, and says
	 * nothing that lines do not. */
	if (which != RG_DOCUMENT_STATE)
		r = wait_shown(handle_of(base), document->change, err);
	return r < 0 ? r
		     : rg_kept(rg_arena_copy(arena, rg_buf_str(&document->text), ret_text), err);
}

/* Needs the mutex. */
static int put_document(struct rg_handle *handle, enum rg_document which, const char *name,
			struct roger_str text, bool durable, struct roger_err *err)
{
	struct rg_kept_document *document = rg_common_document(handle->common, which, name, true);
	struct rg_change change = { .kind = RG_CHANGE_DOCUMENT, .which = which };
	int r;

	rg_assert(rg_common_has(handle->common));
	if (!document)
		return rg_fail_memory(err);
	rg_buf_clear(&document->text);
	rg_buf_add_str(&document->text, text);
	if (document->text.failed)
		return rg_fail_memory(err);
	memcpy(change.name, document->name, sizeof change.name);
	r = queue_change(handle, &change, text, durable, err);
	document->change = handle->common->changes;
	return r;
}

/* Needs the mutex. */
static int put_move(struct rg_handle *handle, struct roger_str text, struct roger_err *err)
{
	struct rg_change change = { .kind = RG_CHANGE_STANDING };
	struct rg_common *common = handle->common;
	struct roger_str place;
	int r;

	rg_assert(rg_common_has(handle->common));
	change.standing = rg_store_read_standing(text, &place);
	r = queue_change(handle, &change, place, true, err);
	if (r < 0)
		return r;
	common->standing = handle->base.standing = change.standing;
	snprintf(common->place, sizeof common->place, "%.*s", RG_STR_ARGS(place));
	memcpy(handle->base.place, common->place, sizeof handle->base.place);
	return ROGER_OK;
}

static int process_put(struct rg_store *base, enum rg_document which, struct roger_str name,
		       const struct roger_str *before, struct roger_str after, bool durable,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	const struct rg_kept_document *document;
	char file[RG_FILE_NAME_BYTES];
	int r;

	if (which == RG_DOCUMENT_ANSWER) {
		common = enter_common(base);
		return put_answer(handle_of(base), after, err);
	}
	r = enter_ready(base, &common, err);
	if (r < 0)
		return r;
	which = kept_as(which, name, file);
	document = rg_common_document(common, which, file, false);
	r = check_changes(base, err);
	if (r < 0)
		return r;
	if (before && (!document != !before->data ||
		       (document && !rg_str_equal(rg_buf_str(&document->text), *before))))
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "the document of run '%.*s' was changed by somebody else; try again",
			       RG_STR_ARGS(name));
	r = which == RG_DOCUMENT_MOVE
		    ? put_move(handle_of(base), after, err)
		    : put_document(handle_of(base), which, file, after, durable, err);
	return r == ROGER_OK && durable ? wait_covered(handle_of(base), common->changes, 0, err)
					: r;
}

static int process_runs(struct rg_store *base, rg_run_wanted *wanted, void *context,
			struct rg_arena *arena, struct rg_run_texts *ret_runs,
			struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;
	const struct rg_kept_document *document;
	struct {
		struct rg_run_text *items;
		size_t count;
	} found = { 0 };
	struct rg_run_text *run;
	bool copied = true;
	size_t i = 0;
	int r = enter_ready(base, &common, err);

	if (r < 0)
		return r;
	while (copied && r == ROGER_OK && (document = rg_table_next(&common->documents, &i))) {
		if (document->which != RG_DOCUMENT_RUN)
			continue;
		r = wait_shown(handle_of(base), document->change, err);
		run = rg_arena_push(arena, &found.items, &found.count, sizeof *run);
		copied = run && rg_arena_copy(arena, rg_str(document->name), &run->file);
		if (!copied)
			break;
		run->stamp = rg_hash(0, document->text.data, document->text.length);
		if (!wanted || wanted(context, run->file, run->stamp))
			copied = rg_arena_copy(arena, rg_buf_str(&document->text), &run->text);
	}
	*ret_runs = (struct rg_run_texts){ found.items, found.count };
	return r == ROGER_OK && !copied ? rg_fail_memory(err) : r;
}

/* ---------------------------------------------------------------- moving -- */

static int process_bring(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
			 struct roger_str lines, struct roger_err *err)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(base);
	struct rg_kept_journal *journal;
	int r = check_changes(base, err);

	common->brought = true;
	if (r < 0)
		return r;
	journal = rg_common_journal(common, file->log, file->name.data, true);
	if (!journal)
		return rg_fail_memory(err);
	if (!from && rg_kept_end(journal))
		r = begin_anew(handle_of(base), journal, err);
	if (r < 0)
		return r;
	rg_buf_add_str(&journal->text, lines);
	rg_chain_follow(lines, &journal->chain);
	if (journal->text.failed)
		return rg_fail_memory(err);
	r = queue_lines(handle_of(base), journal, from, lines, true, err);
	if (r == ROGER_OK && !common->keeping)
		common->durable = rg_kept_end(common->messages);
	if (r == ROGER_OK)
		r = wait_covered(handle_of(base), journal->change, 0, err);
	if (r == ROGER_OK && common->keeping)
		rg_common_trim(common);
	return r;
}

/* --------------------------------------------------------- losing, trimming -- */

static void drop_locks(struct rg_common *common, const void *owner)
{
	struct rg_held **place = &common->held, *held;

	rg_assert(rg_common_has(common));
	while ((held = *place)) {
		if (owner && held->owner != owner) {
			place = &held->next;
			continue;
		}
		*place = held->next;
		free(held);
	}
	pthread_cond_broadcast(&common->freed);
}

static void forget_lines(struct rg_common *common)
{
	struct rg_kept_journal *journal;
	struct rg_kept_document *document;
	size_t i = 0;

	while ((journal = common->journals)) {
		common->journals = journal->next;
		rg_buf_deinit(&journal->text);
		if (journal != common->messages)
			free(journal);
	}
	journal = common->messages;
	journal->from = journal->chain = journal->change = journal->marked = 0;
	rg_buf_init(&journal->text, SIZE_MAX);
	journal->next = NULL;
	common->journals = journal;
	while ((document = rg_table_next(&common->documents, &i)))
		rg_buf_deinit(&document->text);
	rg_table_deinit(&common->documents);
	rg_table_init(&common->documents, sizeof *document);
	forget_figures(common);
	common->durable = 0;
}

void rg_common_lose(struct rg_common *common, bool everything)
{
	struct rg_change *change;

	rg_assert(rg_common_has(common));
	common->life++;
	while ((change = common->first)) {
		common->first = change->next;
		rg_change_free(change);
	}
	common->end = &common->first;
	common->waiting_bytes = 0;
	common->covered = common->taken = common->changes;
	drop_locks(common, NULL);
	if (everything)
		forget_lines(common);
	wake_sleepers(common, (struct roger_str){ 0 });
	pthread_cond_broadcast(&common->covered_more);
}

void rg_common_trim(struct rg_common *common)
{
	struct rg_kept_journal *journal;
	uint64_t cut, covered;

	rg_assert(rg_common_has(common) && common->keeping);
	for (journal = common->journals; journal; journal = journal->next) {
		covered =
			journal->change > common->covered ? journal->marked : rg_kept_end(journal);
		if (journal == common->messages)
			covered = common->durable;
		cut = journal->marked > journal->from ? journal->marked - journal->from : 0;
		if (cut > journal->text.length)
			cut = journal->text.length;
		if (cut)
			memmove(journal->text.data, journal->text.data + cut,
				journal->text.length - cut);
		journal->text.length -= cut;
		journal->from += cut;
		if (!journal->text.length) {
			rg_buf_deinit(&journal->text);
			rg_buf_init(&journal->text, SIZE_MAX);
		}
		journal->marked = covered;
	}
}

/* --------------------------------------------------------------- opening -- */

static struct rg_common *make_common(const char *name, const struct rg_keeping *keeping)
{
	struct rg_common *common = calloc(1, sizeof *common);
	static unsigned count;
	pthread_mutexattr_t again;

	if (!common || rg_random(&common->key, sizeof common->key, NULL) < 0) {
		free(common);
		return NULL;
	}
	snprintf(common->name, sizeof common->name, "%s", name);
	snprintf(common->era, sizeof common->era, "memory-%u", ++count);
	common->keeping = keeping;
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&common->mutex, &again);
	init_condition(&common->freed);
	init_condition(&common->covered_more);
	init_condition(&common->queued);
	common->end = &common->first;
	rg_table_init(&common->documents, sizeof(struct rg_kept_document));
	rg_common_lock(common);
	forget_figures(common);
	common->stale = !keeping;
	common->messages = rg_common_journal(common, RG_LOG_MESSAGES, "messages.jsonl", true);
	rg_common_unlock(common);
	if (!common->messages) {
		free(common);
		return NULL;
	}
	common->next = all;
	all = common;
	return common;
}

static void free_common(struct rg_common *common)
{
	struct rg_common **place = &all;

	while (*place != common)
		place = &(*place)->next;
	*place = common->next;
	if (common->keeping)
		common->keeping->end(common);
	rg_common_lock(common);
	rg_common_lose(common, true);
	rg_common_unlock(common);
	free(common->messages);
	rg_table_deinit(&common->agents);
	rg_table_deinit(&common->documents);
	rg_table_deinit(&common->counts);
	pthread_cond_destroy(&common->freed);
	pthread_cond_destroy(&common->covered_more);
	pthread_cond_destroy(&common->queued);
	pthread_mutex_destroy(&common->mutex);
	free(common);
}

/* Close the handle, and release its locks. */
static struct rg_store *close_store(struct rg_store *base)
{
	struct rg_common *common = enter_common(base);

	drop_locks(common, base);
	rg_common_unlock(common);
	pthread_mutex_lock(&all_mutex);
	if (--common->handles == 0 && (common->keeping || !common->brought))
		free_common(common);
	pthread_mutex_unlock(&all_mutex);
	free(base);
	return NULL;
}

static const struct rg_store_ops operations = {
	.close = close_store,
	.head = process_head,
	.settle = process_settle,
	.lock = process_lock,
	.unlock = process_unlock,
	.append = process_append,
	.sync = sync_journal,
	.wait = wait_for_sync,
	.list = process_list,
	.stat = stat_journal,
	.read = read_bytes,
	.add = process_add,
	.rewrite = process_rewrite,
	.figure = process_figure,
	.put_figure = put_figure,
	.next_figure = next_figure,
	.get = process_get,
	.put = process_put,
	.runs = process_runs,
	.keep = process_keep,
	.bring = process_bring,
};

/* Needs all_mutex. */
static struct rg_common *find_common(const char *name)
{
	struct rg_common *common = all;

	while (common && strcmp(common->name, name) != 0)
		common = common->next;
	return common;
}

struct rg_common *rg_common_find(const char *name)
{
	struct rg_common *common;

	pthread_mutex_lock(&all_mutex);
	common = find_common(name);
	pthread_mutex_unlock(&all_mutex);
	return common;
}

void rg_common_note_standing(struct rg_handle *handle)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = enter_common(&handle->base);

	handle->base.standing = common->standing;
	memcpy(handle->base.place, common->place, sizeof handle->base.place);
	memcpy(handle->base.era, common->era, sizeof handle->base.era);
}

int rg_common_open(const char *name, const struct rg_keeping *keeping, size_t size,
		   struct rg_workspace *workspace, const struct rg_store_above *above,
		   struct rg_handle **ret_handle, bool *ret_fresh, struct roger_err *err)
{
	struct rg_handle *handle = calloc(1, size);

	*ret_handle = NULL;
	if (!handle)
		return rg_fail_memory(err);
	pthread_mutex_lock(&all_mutex);
	handle->common = find_common(name);
	*ret_fresh = !handle->common;
	if (!handle->common)
		handle->common = make_common(name, keeping);
	if (handle->common)
		handle->common->handles++;
	pthread_mutex_unlock(&all_mutex);
	if (!handle->common) {
		free(handle);
		return rg_fail_memory(err);
	}
	handle->base.ops = &operations;
	handle->base.state = "message-state.json";
	snprintf(handle->base.figures, sizeof handle->base.figures, "figures");
	handle->workspace = workspace;
	handle->above = above;
	rg_common_note_standing(handle);
	*ret_handle = handle;
	return ROGER_OK;
}
