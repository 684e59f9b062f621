/*
 * The memory store: the twin of the file store, for tests.
 *
 * All handles of one workspace in this process share the data, which goes with the
 * last of them.  Nobody else appends and nothing is synced: this is the meaning of
 * a store without its machinery.
 */
#include "store/memory/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/table.h"
#include "host/workspace.h"
#include "store/lines.h"

struct journal {
	struct journal *next;
	enum rg_log log;
	char name[RG_FILE_NAME_BYTES];
	uint64_t number; /* changes when it is rewritten */
	struct rg_buf text;
	uint64_t chain;
};

struct document {
	struct document *next;
	enum rg_document which;
	char name[RG_FILE_NAME_BYTES];
	struct rg_buf text;
};

struct agent {
	struct agent *next;
	struct rg_named_figure named;
};

struct count {
	uint64_t hash, count;
};

struct held {
	struct held *next;
	enum rg_store_lock which;
	char agent[RG_NAME_CHARS_MAX + 1];
	const void *owner;
};

/* Shared by the handles of one workspace. */
struct memory {
	struct memory *next;
	char path[4096];
	char era[40];
	size_t handles;
	pthread_mutex_t mutex; /* recursive; guards everything below */
	pthread_cond_t changed;
	struct rg_shared shared;
	bool stale; /* figures must be recomputed */
	struct journal *messages, *journals;
	uint64_t last; /* start of the last message line, and the chain before it */
	uint64_t before_last;
	uint64_t numbers;
	struct document *documents;
	struct agent *agents;
	struct rg_table counts; /* of struct count */
	struct held *held;
	int64_t epoch;
	struct rg_figure witness;
	uint32_t wake;
	enum rg_standing standing;
	char place[RG_PLACE_BYTES];
	bool brought; /* by a move, which closes its handle: stays for the next one */
};

struct memory_store {
	struct rg_store base;
	struct memory *memory;
	const struct rg_workspace *workspace;
	const struct rg_store_above *above;
};

static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct memory *all;

static struct memory *enter(struct rg_store *store)
{
	struct memory *memory = ((struct memory_store *)store)->memory;

	pthread_mutex_lock(&memory->mutex);
	return memory;
}

static void leave(struct memory *memory)
{
	pthread_mutex_unlock(&memory->mutex);
}

/* Needs the mutex; false: timed out. */
static bool wait_for_change(struct memory *memory, int64_t until_ns)
{
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

	return pthread_cond_timedwait(&memory->changed, &memory->mutex, &until) == 0;
}

/* -------------------------------------------------------------- journals -- */

static void name_of(enum rg_log log, struct roger_str owner, char to[RG_FILE_NAME_BYTES])
{
	if (rg_kinds[log].file)
		snprintf(to, RG_FILE_NAME_BYTES, "%s", rg_kinds[log].file);
	else
		rg_workspace_file_name(owner, ".jsonl", to);
}

static struct journal *find_journal(struct memory *memory, enum rg_log log, const char *name)
{
	struct journal *journal = memory->journals;

	if (log == RG_LOG_MESSAGES)
		return memory->messages;
	while (journal && (journal->log != log || strcmp(journal->name, name) != 0))
		journal = journal->next;
	return journal;
}

static struct journal *make_journal(struct memory *memory, enum rg_log log, const char *name)
{
	struct journal *journal = calloc(1, sizeof *journal);

	if (!journal)
		return NULL;
	journal->log = log;
	journal->number = ++memory->numbers;
	journal->next = memory->journals;
	snprintf(journal->name, sizeof journal->name, "%s", name);
	rg_buf_init(&journal->text, SIZE_MAX);
	memory->journals = journal;
	return journal;
}

static int add_file(const struct memory_store *store, enum rg_log log, const char *name,
		    struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	struct rg_log_file *file = rg_arena_push(arena, &files->items, &files->count, sizeof *file);
	const struct roger_str shown =
		log == RG_LOG_MESSAGES ? store->workspace->config->jsonl_file : rg_str(name);

	if (!file)
		return rg_fail_memory(err);
	*file = (struct rg_log_file){ .log = log };
	return rg_arena_print(arena, &file->shown, "%s%.*s", rg_kinds[log].folder,
			      RG_STR_ARGS(shown)) &&
			       rg_arena_copy(arena, rg_str(name), &file->name)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static int list(struct rg_store *base, enum rg_log log, struct roger_str owner,
		struct rg_arena *arena, struct rg_log_files *files, struct roger_err *err)
{
	struct memory *memory = enter(base);
	char name[RG_FILE_NAME_BYTES];
	const struct journal *journal;
	int r = ROGER_OK;

	name_of(log, owner, name);
	if (rg_kinds[log].file || owner.length)
		r = add_file((struct memory_store *)base, log, name, arena, files, err);
	else
		for (journal = memory->journals; journal && r == ROGER_OK; journal = journal->next)
			if (journal->log == log)
				r = add_file((struct memory_store *)base, log, journal->name, arena,
					     files, err);
	leave(memory);
	return r;
}

static int stat_journal(struct rg_store *base, struct rg_log_file *file, bool *ret_there,
			struct roger_err *err)
{
	struct memory *memory = enter(base);
	const struct journal *journal = find_journal(memory, file->log, file->name.data);

	(void)err;
	*ret_there = journal != NULL;
	file->inode = journal ? journal->number : 0;
	file->size = journal ? journal->text.length : 0;
	leave(memory);
	return ROGER_OK;
}

static int read_bytes(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		      char *room, size_t want, size_t *ret_got, struct roger_err *err)
{
	struct memory *memory = enter(base);
	const struct journal *journal = find_journal(memory, file->log, file->name.data);
	int r = ROGER_OK;

	*ret_got = 0;
	if (!journal || (file->inode && file->inode != journal->number)) {
		r = rg_fail(err, ROGER_EIO, 0, "'%.*s' was replaced while it was read",
			    RG_STR_ARGS(file->shown));
	} else if (from < journal->text.length) {
		*ret_got = journal->text.length - from < want ? journal->text.length - from : want;
		memcpy(room, journal->text.data + from, *ret_got);
	}
	leave(memory);
	return r;
}

static int add(struct rg_store *base, enum rg_log log, struct roger_str owner,
	       struct roger_str entries, bool durable, struct roger_err *err)
{
	struct memory *memory = enter(base);
	char name[RG_FILE_NAME_BYTES];
	struct journal *journal;

	(void)durable;
	name_of(log, owner, name);
	journal = find_journal(memory, log, name);
	if (!journal)
		journal = make_journal(memory, log, name);
	if (journal && rg_kinds[log].chained)
		rg_chain_add_entries(entries, &journal->chain, &journal->text);
	else if (journal)
		rg_buf_add_str(&journal->text, entries);
	leave(memory);
	return journal && !journal->text.failed ? ROGER_OK : rg_fail_memory(err);
}

static int rewrite(struct rg_store *base, enum rg_log log, struct roger_str owner,
		   rg_drop_line *drop, void *context, int64_t *ret_dropped, struct roger_err *err)
{
	struct rg_buf kept = { .maximum = SIZE_MAX };
	struct memory *memory = enter(base);
	char name[RG_FILE_NAME_BYTES];
	struct journal *journal;
	struct roger_str rest, line;
	uint64_t chain = 0;

	*ret_dropped = 0;
	name_of(log, owner, name);
	journal = find_journal(memory, log, name);
	rest = journal ? rg_buf_str(&journal->text) : RG_STR("");
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
	if (*ret_dropped && !kept.failed) {
		rg_buf_deinit(&journal->text);
		journal->text = kept;
		journal->chain = chain;
		journal->number = ++memory->numbers;
	} else {
		rg_buf_deinit(&kept);
	}
	leave(memory);
	return kept.failed ? rg_fail_memory(err) : ROGER_OK;
}

/* --------------------------------------------------------------- figures -- */

static struct agent *find_agent(struct memory *memory, struct roger_str name)
{
	struct agent *agent = memory->agents;

	while (agent &&
	       !rg_str_equal((struct roger_str){ agent->named.name, agent->named.length }, name))
		agent = agent->next;
	return agent;
}

static void put_agent(struct memory *memory, struct roger_str name, const struct rg_figure *figure)
{
	struct agent *agent = find_agent(memory, name), **end = &memory->agents;

	if (!agent) {
		agent = calloc(1, sizeof *agent);
		rg_assert(agent && name.length <= sizeof agent->named.name);
		memcpy(agent->named.name, name.data, name.length);
		agent->named.length = name.length;
		/* Append at the end, so that an iteration misses none. */
		while (*end)
			end = &(*end)->next;
		*end = agent;
	}
	agent->named.figure = *figure;
}

static void forget_figures(struct memory *memory)
{
	struct agent *agent;

	while ((agent = memory->agents)) {
		memory->agents = agent->next;
		free(agent);
	}
	rg_table_deinit(&memory->counts);
	rg_table_init(&memory->counts, sizeof(struct count));
	memset(&memory->shared, 0, sizeof memory->shared);
	memory->witness = (struct rg_figure){ 0 };
	memory->epoch = 1;
}

/* At the witness's end there must be a line end, with the witness's chain. */
static void compare(struct memory *memory, uint64_t end, uint64_t chain)
{
	const struct rg_figure *witness = &memory->witness;

	if (witness->count == end && witness->chained && witness->chain != chain &&
	    memory->shared.broken == RG_BROKEN_NOT)
		memory->shared.broken = RG_BROKEN_DIFFERS;
}

static void compute_figures(struct memory_store *store)
{
	struct memory *memory = store->memory;
	struct rg_bytes bytes = rg_bytes_of(&store->base, &rg_store_messages);
	struct rg_chain chain = { 0 };
	struct rg_lines lines;
	struct rg_line line;
	bool found, own;

	memory->stale = false;
	forget_figures(memory);
	store->above->recall(&store->base, &memory->witness);
	rg_lines_init(&lines, &bytes, 0, memory->messages->text.length);
	while (rg_lines_next(&lines, &line, &found, NULL) == ROGER_OK && found) {
		memory->last = line.offset;
		memory->before_last = chain.value;
		if (rg_chain_step(&bytes, &line, &chain, &own, NULL) < 0 ||
		    !store->above->adopt(&store->base, line.text, own))
			memory->stale = true;
		compare(memory, lines.at, chain.value);
	}
	rg_lines_deinit(&lines);
	memory->messages->chain = chain.value;
}

/* Enter, with figures up to date. */
static struct memory *enter_sound(struct rg_store *base)
{
	struct memory *memory = enter(base);

	if (memory->stale)
		compute_figures((struct memory_store *)base);
	return memory;
}

static struct rg_figure on_disk(const struct memory *memory)
{
	return (struct rg_figure){ .count = memory->messages->text.length,
				   .chain = memory->messages->chain,
				   .chained = true };
}

static uint64_t state_bytes(const struct memory *memory)
{
	const struct document *document = memory->documents;

	while (document && document->which != RG_DOCUMENT_STATE)
		document = document->next;
	return document ? document->text.length : 0;
}

static bool figure(struct rg_store *base, const struct rg_figure_key *key,
		   struct rg_figure *ret_figure)
{
	struct memory *memory = enter_sound(base);
	const struct agent *agent;
	const struct count *count;

	*ret_figure = (struct rg_figure){ 0 };
	switch (key->kind) {
	case RG_FIGURE_AGENT:
	case RG_FIGURE_NAME:
		agent = find_agent(memory, key->name);
		leave(memory);
		if (agent)
			*ret_figure = agent->named.figure;
		return agent != NULL;
	case RG_FIGURE_COUNT:
		count = rg_table_find(&memory->counts, key->hash);
		ret_figure->count = count ? count->count : 0;
		break;
	case RG_FIGURE_SESSION:
		ret_figure->epoch = memory->epoch;
		ret_figure->count = 1;
		break;
	case RG_FIGURE_WITNESS:
		*ret_figure = memory->witness;
		break;
	case RG_FIGURE_ON_DISK:
		*ret_figure = on_disk(memory);
		break;
	case RG_FIGURE_STATE:
		ret_figure->count = state_bytes(memory);
		break;
	case RG_FIGURE_DAMAGED:
		break;
	}
	leave(memory);
	return ret_figure->count > 0;
}

static void put_figure(struct rg_store *base, const struct rg_figure_key *key,
		       const struct rg_figure *figure)
{
	struct memory *memory = enter(base);
	struct count *count;
	bool fresh;

	if (key->kind == RG_FIGURE_AGENT) {
		put_agent(memory, key->name, figure);
	} else if (key->kind == RG_FIGURE_COUNT) {
		count = rg_table_put(&memory->counts, key->hash, &fresh);
		rg_assert(count);
		count->count = figure->count;
	} else if (key->kind == RG_FIGURE_SESSION) {
		memory->epoch = figure->epoch;
	} else {
		memory->witness = *figure;
	}
	leave(memory);
}

static bool next_figure(struct rg_store *base, size_t *i, struct rg_named_figure *ret_named)
{
	struct memory *memory = enter_sound(base);
	const struct agent *agent = memory->agents;
	size_t skip;

	for (skip = *i; agent && skip; skip--)
		agent = agent->next;
	++*i;
	if (agent)
		*ret_named = agent->named;
	leave(memory);
	return agent != NULL;
}

/* Nothing outlives the process. */
static bool keep(struct rg_store *base, enum rg_keep what)
{
	struct memory *memory = enter(base);

	memory->stale |= what == RG_KEEP_NOTHING;
	leave(memory);
	return false;
}

/* -------------------------------------------------------------- messages -- */

static bool holds(struct rg_store *base, enum rg_store_lock which)
{
	struct memory *memory = enter_sound(base);
	const struct held *held = memory->held;

	while (held && (held->owner != base || held->which != which))
		held = held->next;
	leave(memory);
	return held != NULL;
}

static void head(struct rg_store *base, struct rg_head *ret_head)
{
	struct memory *memory = enter_sound(base);

	*ret_head = (struct rg_head){ .shared = &memory->shared,
				      .end = memory->messages->text.length,
				      .synced = memory->messages->text.length,
				      .logged = atomic_load(&memory->shared.logged),
				      .wake = memory->wake };
	leave(memory);
}

/* Is the last line unchanged? */
static bool is_last_line_whole(const struct memory *memory)
{
	const struct rg_buf *text = &memory->messages->text;
	const struct roger_str line = { text->data + memory->last,
					text->length - memory->last - 1 };
	struct roger_str body;
	uint64_t stated;

	return rg_chain_split(line, &stated, &body) && stated == memory->messages->chain &&
	       rg_chain_fits(memory->before_last, body, stated);
}

static void check_end(struct memory *memory)
{
	if (!memory->messages->text.length || memory->shared.broken != RG_BROKEN_NOT ||
	    is_last_line_whole(memory))
		return;
	memory->witness = on_disk(memory);
	memory->shared.broken = RG_BROKEN_DIFFERS;
}

static int check_standing(struct rg_store *base, struct roger_err *err)
{
	const struct memory_store *store = (struct memory_store *)base;

	if (store->memory->standing == RG_LIVE || store->workspace->moving)
		return ROGER_OK;
	base->standing = store->memory->standing;
	snprintf(base->place, sizeof base->place, "%s", store->memory->place);
	return rg_store_fail_moved(base, err);
}

static int settle(struct rg_store *base, uint64_t *ret_end, struct roger_err *err)
{
	struct memory *memory = enter_sound(base);
	int r = check_standing(base, err);

	check_end(memory);
	*ret_end = memory->messages->text.length;
	leave(memory);
	return r;
}

/* RG_LOCK_APPEND is held, so figures are up to date. */
static int append(struct rg_store *base, rg_compose *compose, void *context, uint64_t *ret_end,
		  struct roger_err *err)
{
	struct memory *memory = enter(base);
	struct journal *messages = memory->messages;
	struct rg_buf out = { .maximum = SIZE_MAX };
	uint64_t chain = messages->chain, before = 0;
	size_t line, start;
	int r = ROGER_OK;

	for (line = 0, start = 0; compose(context, line, &out); line++) {
		memory->last = messages->text.length + start;
		before = chain;
		chain = rg_chain_over(chain,
				      (struct roger_str){ out.data + start, out.length - start });
		rg_chain_print(chain, &out);
		rg_buf_add_char(&out, '\n');
		start = out.length;
	}
	if (!out.failed)
		rg_buf_add_str(&messages->text, rg_buf_str(&out));
	if (out.failed || messages->text.failed)
		r = rg_fail_memory(err);
	memory->before_last = before;
	messages->chain = chain;
	*ret_end = messages->text.length;
	rg_buf_deinit(&out);
	leave(memory);
	return r;
}

static int sync_journal(struct rg_store *base, const struct rg_log_file *file, uint64_t end,
			struct roger_err *err)
{
	struct memory *memory = enter(base);

	(void)file, (void)end, (void)err;
	memory->wake++;
	pthread_cond_broadcast(&memory->changed);
	leave(memory);
	return ROGER_OK;
}

static void wait_for_sync(struct rg_store *base, uint32_t wake, int64_t wait_ms)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + wait_ms * 1000000;
	struct memory *memory = enter(base);

	while (memory->wake == wake && wait_for_change(memory, until_ns))
		continue;
	leave(memory);
}

/* ----------------------------------------------------------------- locks -- */

static struct held **find_held(struct memory *memory, enum rg_store_lock which,
			       struct roger_str agent)
{
	struct held **held = &memory->held;

	while (*held && ((*held)->which != which || !rg_str_is(agent, (*held)->agent)))
		held = &(*held)->next;
	return held;
}

/* No appends to changed messages until a person has checked them. */
static int check_open(const struct memory *memory, struct roger_err *err)
{
	const uint32_t broken = memory->shared.broken;

	if (broken == RG_BROKEN_NOT || broken == RG_BROKEN_LINE)
		return ROGER_OK;
	return rg_fail(err, ROGER_EDATA, 0, "messages are not what was written");
}

static int take(struct memory *memory, const struct rg_lock_wish *wish, const void *owner,
		struct roger_err *err)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + wish->wait_ms * 1000000;
	struct held *held;

	while (*find_held(memory, wish->which, wish->agent))
		if (!wait_for_change(memory, until_ns))
			return rg_fail(err, ROGER_ETIMEOUT, 0, "another handle holds the lock");
	held = calloc(1, sizeof *held);
	if (!held)
		return rg_fail_memory(err);
	held->which = wish->which;
	held->owner = owner;
	held->next = memory->held;
	snprintf(held->agent, sizeof held->agent, "%.*s", RG_STR_ARGS(wish->agent));
	memory->held = held;
	return ROGER_OK;
}

static void unlock(struct rg_store *base, enum rg_store_lock which, struct roger_str agent)
{
	struct memory *memory = enter(base);
	struct held **place = find_held(memory, which, agent), *held = *place;

	if (held && held->owner == base) {
		*place = held->next;
		free(held);
	}
	pthread_cond_broadcast(&memory->changed);
	leave(memory);
}

static int lock(struct rg_store *base, const struct rg_lock_wish *wish, struct roger_err *err)
{
	struct memory *memory = enter(base);
	struct rg_lock_wish wanted = *wish;
	int r;

	if (!wanted.agent.data)
		wanted.agent = RG_STR("");
	r = check_standing(base, err);
	if (r == ROGER_OK)
		r = take(memory, &wanted, base, err);
	if (r == ROGER_OK && wish->which == RG_LOCK_APPEND) {
		if (memory->stale)
			compute_figures((struct memory_store *)base);
		check_end(memory);
		r = check_open(memory, err);
		if (r < 0)
			unlock(base, RG_LOCK_APPEND, wanted.agent);
	}
	leave(memory);
	return r;
}

/* ------------------------------------------------------------- documents -- */

static void document_name(enum rg_document which, struct roger_str name,
			  char to[RG_FILE_NAME_BYTES])
{
	*to = '\0';
	if (which == RG_DOCUMENT_RUN)
		rg_workspace_file_name(name, ".json", to);
}

static struct document *find_document(struct memory *memory, enum rg_document which,
				      struct roger_str name)
{
	struct document *document = memory->documents;
	char wanted[RG_FILE_NAME_BYTES];

	document_name(which, name, wanted);
	while (document && (document->which != which || strcmp(document->name, wanted) != 0))
		document = document->next;
	return document;
}

static int get(struct rg_store *base, enum rg_document which, struct roger_str name,
	       struct rg_arena *arena, struct roger_str *ret_text, struct roger_err *err)
{
	struct memory *memory = enter(base);
	const struct document *document = find_document(memory, which, name);
	bool copied = true;

	*ret_text = (struct roger_str){ NULL, 0 };
	if (document)
		copied = rg_arena_copy(arena, rg_buf_str(&document->text), ret_text);
	leave(memory);
	return copied ? ROGER_OK : rg_fail_memory(err);
}

static int put(struct rg_store *base, enum rg_document which, struct roger_str name,
	       const struct roger_str *before, struct roger_str after, bool durable,
	       struct roger_err *err)
{
	struct memory *memory = enter(base);
	struct document *document = find_document(memory, which, name);
	int r = ROGER_OK;

	(void)durable;
	if (before && (!document != !before->data ||
		       (document && !rg_str_equal(rg_buf_str(&document->text), *before)))) {
		leave(memory);
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "the document of run '%.*s' was changed by somebody else; try again",
			       RG_STR_ARGS(name));
	}
	if (!document && (document = calloc(1, sizeof *document))) {
		document->which = which;
		document_name(which, name, document->name);
		rg_buf_init(&document->text, SIZE_MAX);
		document->next = memory->documents;
		memory->documents = document;
	}
	if (document) {
		rg_buf_clear(&document->text);
		rg_buf_add_str(&document->text, after);
	}
	if (!document || document->text.failed)
		r = rg_fail_memory(err);
	leave(memory);
	return r;
}

static int runs(struct rg_store *base, struct rg_arena *arena, struct rg_run_texts *ret_runs,
		struct roger_err *err)
{
	struct memory *memory = enter(base);
	const struct document *document;
	struct {
		struct rg_run_text *items;
		size_t count;
	} found = { 0 };
	struct rg_run_text *run;
	bool copied = true;

	for (document = memory->documents; document && copied; document = document->next) {
		if (document->which != RG_DOCUMENT_RUN)
			continue;
		run = rg_arena_push(arena, &found.items, &found.count, sizeof *run);
		copied = run && rg_arena_copy(arena, rg_str(document->name), &run->file) &&
			 rg_arena_copy(arena, rg_buf_str(&document->text), &run->text);
	}
	*ret_runs = (struct rg_run_texts){ found.items, found.count };
	leave(memory);
	return copied ? ROGER_OK : rg_fail_memory(err);
}

/* ---------------------------------------------------------------- moving -- */

static int stand(struct rg_store *base, enum rg_standing standing, struct roger_str place,
		 struct roger_err *err)
{
	struct memory *memory = enter(base);

	(void)err;
	memory->standing = base->standing = standing;
	snprintf(memory->place, sizeof memory->place, "%.*s", RG_STR_ARGS(place));
	snprintf(base->place, sizeof base->place, "%s", memory->place);
	leave(memory);
	return ROGER_OK;
}

static int bring(struct rg_store *base, const struct rg_log_file *file, uint64_t from,
		 struct roger_str lines, struct roger_err *err)
{
	struct memory *memory = enter(base);
	struct journal *journal = find_journal(memory, file->log, file->name.data);

	memory->brought = true;
	if (!journal)
		journal = make_journal(memory, file->log, file->name.data);
	if (journal && !from) {
		rg_buf_clear(&journal->text);
		journal->chain = 0;
	}
	if (journal) {
		rg_buf_add_str(&journal->text, lines);
		rg_chain_follow(lines, &journal->chain);
	}
	leave(memory);
	return journal && !journal->text.failed ? ROGER_OK : rg_fail_memory(err);
}

static int bring_run(struct rg_store *base, const struct rg_run_text *run, struct roger_err *err)
{
	struct memory *memory = enter(base);
	struct document *document = memory->documents;

	while (document &&
	       (document->which != RG_DOCUMENT_RUN || !rg_str_is(run->file, document->name)))
		document = document->next;
	if (!document && (document = calloc(1, sizeof *document))) {
		document->which = RG_DOCUMENT_RUN;
		snprintf(document->name, sizeof document->name, "%s", run->file.data);
		document->next = memory->documents;
		memory->documents = document;
	}
	if (document) {
		rg_buf_deinit(&document->text);
		rg_buf_init(&document->text, SIZE_MAX);
		rg_buf_add_str(&document->text, run->text);
	}
	leave(memory);
	return document && !document->text.failed ? ROGER_OK : rg_fail_memory(err);
}

/* --------------------------------------------------------------- opening -- */

static struct memory *make_memory(const char *path)
{
	struct memory *memory = calloc(1, sizeof *memory);
	static unsigned count;
	pthread_mutexattr_t again;
	pthread_condattr_t clock;

	if (!memory)
		return NULL;
	snprintf(memory->path, sizeof memory->path, "%s", path);
	snprintf(memory->era, sizeof memory->era, "memory-%u", ++count);
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&memory->mutex, &again);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&memory->changed, &clock);
	rg_table_init(&memory->counts, sizeof(struct count));
	memory->stale = true;
	memory->messages = make_journal(memory, RG_LOG_MESSAGES, "messages.jsonl");
	memory->next = all;
	all = memory;
	return memory;
}

static void free_memory(struct memory *memory)
{
	struct document *document;
	struct memory **place = &all;
	struct journal *journal;

	while (*place != memory)
		place = &(*place)->next;
	*place = memory->next;
	while ((journal = memory->journals)) {
		memory->journals = journal->next;
		rg_buf_deinit(&journal->text);
		free(journal);
	}
	while ((document = memory->documents)) {
		memory->documents = document->next;
		rg_buf_deinit(&document->text);
		free(document);
	}
	forget_figures(memory);
	rg_table_deinit(&memory->counts);
	pthread_cond_destroy(&memory->changed);
	pthread_mutex_destroy(&memory->mutex);
	free(memory);
}

/* Releases the handle's locks. */
static struct rg_store *close_store(struct rg_store *base)
{
	struct memory *memory = enter(base);
	struct held **place = &memory->held, *held;

	while ((held = *place)) {
		if (held->owner != base) {
			place = &held->next;
			continue;
		}
		*place = held->next;
		free(held);
	}
	pthread_cond_broadcast(&memory->changed);
	leave(memory);
	pthread_mutex_lock(&all_mutex);
	if (--memory->handles == 0 && !memory->brought)
		free_memory(memory);
	pthread_mutex_unlock(&all_mutex);
	free(base);
	return NULL;
}

static const struct rg_store_ops operations = {
	.close = close_store,
	.head = head,
	.settle = settle,
	.lock = lock,
	.unlock = unlock,
	.holds = holds,
	.append = append,
	.sync = sync_journal,
	.wait = wait_for_sync,
	.list = list,
	.stat = stat_journal,
	.read = read_bytes,
	.add = add,
	.rewrite = rewrite,
	.figure = figure,
	.put_figure = put_figure,
	.next_figure = next_figure,
	.get = get,
	.put = put,
	.runs = runs,
	.keep = keep,
	.stand = stand,
	.bring = bring,
	.bring_run = bring_run,
};

static struct memory *find_memory(const char *path)
{
	struct memory *memory = all;

	while (memory && strcmp(memory->path, path) != 0)
		memory = memory->next;
	return memory;
}

int rg_memory_store_open(struct rg_workspace *workspace, const struct rg_store_above *above,
			 struct rg_store **ret_store, struct roger_err *err)
{
	struct memory_store *store = calloc(1, sizeof *store);

	if (!store)
		return rg_fail_memory(err);
	pthread_mutex_lock(&all_mutex);
	store->memory = find_memory(workspace->data_path);
	if (!store->memory)
		store->memory = make_memory(workspace->data_path);
	if (store->memory)
		store->memory->handles++;
	pthread_mutex_unlock(&all_mutex);
	if (!store->memory) {
		free(store);
		return rg_fail_memory(err);
	}
	store->base.ops = &operations;
	store->base.state = "message-state.json";
	snprintf(store->base.figures, sizeof store->base.figures, "figures");
	snprintf(store->base.era, sizeof store->base.era, "%s", store->memory->era);
	store->workspace = workspace;
	store->above = above;
	store->base.standing = store->memory->standing;
	snprintf(store->base.place, sizeof store->base.place, "%s", store->memory->place);
	*ret_store = &store->base;
	return ROGER_OK;
}

char *rg_memory_store_text(const char *data_path)
{
	struct memory *memory = find_memory(data_path);

	return memory ? memory->messages->text.data : NULL;
}
