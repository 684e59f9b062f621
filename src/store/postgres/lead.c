/*
 * lead - who leads a workspace: the keeper's thread.
 *
 *     follow --the leader's last heartbeat is old--> take over --> lead
 *        ^                                                          |
 *        '------------ another one leads: rg_pg_depose() -----------'
 *
 * A follower reads all lines as they come, so that taking over takes a moment.  The leader says
 * each half second that it is alive, by the database's clock, and answers only for a second after
 * that was confirmed.  A follower takes over after a second and a half, so the two never answer
 * at once.  The generation in the row keeps an old leader from writing; this, from answering.
 */
#include "store/postgres/inside.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/process.h"
#include "store/chain.h"

enum {
	BEAT_MS = 500,
	FOLLOW_MS = 250,
	LEASE_MS = 1000,
	DEAD_MS = 1500,
	AGAIN_MS = 50,
	SHORT_MS = 1000, /* for a statement that waits for nobody */
	LINES_AT_ONCE = 500,
	FORGET_EACH = 120, /* beats */
	NAME_EACH = 4,
};

/* A clock that runs while the machine sleeps. */
static int64_t now_ms(void)
{
	return (int64_t)rg_clock_boot_ticks() * 10;
}

/* ----------------------------------------------------------------- the row -- */

struct row {
	int64_t generation, step, age_ms;
	uint64_t messages, bytes, chain;
	char leader[RG_PG_LEADER_BYTES], place[RG_PLACE_BYTES];
	enum rg_standing standing;
};

static int look_at_row(struct rg_postgres *postgres, struct row *row, struct roger_err *err)
{
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	int i, r;

	r = rg_pg_ask(&postgres->keep, SHORT_MS,
		      "SELECT generation, writes, messages, bytes, chain, CASE WHEN beat = "
		      "'-infinity' THEN 1000000000 ELSE (extract(epoch FROM clock_timestamp() - "
		      "beat) * 1000)::bigint END, (extract(epoch FROM clock_timestamp()) * "
		      "1000)::bigint, leader, state, place FROM roger.workspace WHERE ws = $1",
		      RG_ARGS(RG_INT(postgres->ws)), &result, err);
	if (r < 0)
		return r;
	if (!PQntuples(result))
		return rg_fail(err, ROGER_ECONFIG, 0, "the database has the workspace no more");
	*row = (struct row){ .generation = rg_column_int(result, 0, 0),
			     .step = rg_column_int(result, 0, 1),
			     .messages = (uint64_t)rg_column_int(result, 0, 2),
			     .bytes = (uint64_t)rg_column_int(result, 0, 3),
			     .chain = (uint64_t)rg_column_int(result, 0, 4),
			     .age_ms = rg_column_int(result, 0, 5) };
	rg_clock_follow(rg_column_int(result, 0, 6));
	snprintf(row->leader, sizeof row->leader, "%s", rg_column_bytes(result, 0, 7).data);
	for (i = RG_LIVE; i <= RG_MOVED; i++)
		if (rg_str_is(rg_column_bytes(result, 0, 8), rg_standings[i]))
			row->standing = (enum rg_standing)i;
	snprintf(row->place, sizeof row->place, "%s", rg_column_bytes(result, 0, 9).data);
	return ROGER_OK;
}

/* ------------------------------------------------------------------ reading -- */

static int pass_barrier(struct rg_postgres *postgres, struct roger_err *err)
{
	rg_pg_put_barrier(&postgres->keep);
	return rg_pg_take_barrier(&postgres->keep, err);
}

/* Forget what was read ahead: it may be on no standby, and others may write other lines there. */
static void forget_read(struct rg_postgres *postgres)
{
	size_t i;

	pthread_mutex_lock(&postgres->read_mutex);
	for (i = 0; i < RG_PG_CACHES; i++)
		postgres->caches[i].journal = 0;
	pthread_mutex_unlock(&postgres->read_mutex);
}

/* Needs the mutex. */
static int add_journals(struct rg_common *common, const PGresult *result, struct roger_err *err)
{
	struct rg_kept_journal *journal;
	int row;

	rg_assert(rg_common_has(common));
	for (row = 0; row < PQntuples(result); row++) {
		journal = rg_common_journal(common, (enum rg_log)rg_column_int(result, row, 0),
					    rg_column_bytes(result, row, 1).data, true);
		if (!journal)
			return rg_fail_memory(err);
		rg_buf_deinit(&journal->text);
		rg_buf_init(&journal->text, SIZE_MAX);
		journal->number = (uint64_t)rg_column_int(result, row, 2);
		journal->from = journal->marked = (uint64_t)rg_column_int(result, row, 3);
		journal->chain = (uint64_t)rg_column_int(result, row, 4);
	}
	return ROGER_OK;
}

/* Needs the mutex. */
static int add_documents(struct rg_common *common, const PGresult *result, struct roger_err *err)
{
	struct rg_kept_document *document;
	int row;

	rg_assert(rg_common_has(common));
	for (row = 0; row < PQntuples(result); row++) {
		document =
			rg_common_document(common, (enum rg_document)rg_column_int(result, row, 0),
					   rg_column_bytes(result, row, 1).data, true);
		if (!document)
			return rg_fail_memory(err);
		rg_buf_clear(&document->text);
		rg_buf_add_str(&document->text, rg_column_bytes(result, row, 2));
		if (document->text.failed)
			return rg_fail_memory(err);
	}
	return ROGER_OK;
}

/* Load everything but messages. */
static int load_others(struct rg_postgres *postgres, struct roger_err *err)
{
	const struct rg_arg *args = RG_ARGS(RG_INT(postgres->ws), RG_INT(RG_DOCUMENT_ANSWER));
	struct rg_common *common = postgres->common;
	RG_CLEANUP(rg_result_clearp) PGresult *journals = NULL;
	RG_CLEANUP(rg_result_clearp) PGresult *documents = NULL;
	int r;

	r = rg_pg_ask(&postgres->keep, RG_ANSWER_MS,
		      "SELECT log, name, journal, bytes, chain FROM roger.journal WHERE ws = $1",
		      RG_ARGS(RG_INT(postgres->ws)), &journals, err);
	if (r == ROGER_OK)
		r = rg_pg_ask(&postgres->keep, RG_ANSWER_MS,
			      "SELECT kind, name, text FROM roger.document WHERE ws = $1 UNION ALL "
			      "SELECT $2, key, text FROM roger.answer WHERE ws = $1 AND at > "
			      "clock_timestamp() - interval '10 min'",
			      args, &documents, err);
	rg_common_lock(common);
	if (r == ROGER_OK)
		r = add_journals(common, journals, err);
	if (r == ROGER_OK)
		r = add_documents(common, documents, err);
	rg_common_unlock(common);
	return r;
}

/* Read the next lines of messages that are not here yet; *ret_all: there were none. */
static int follow_some(struct rg_postgres *postgres, const struct row *row, bool *ret_all,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf lines = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	struct rg_common *common = postgres->common;
	uint64_t end;
	int r;

	rg_common_lock(common);
	end = rg_kept_end(common->messages);
	rg_common_unlock(common);
	*ret_all = end >= row->bytes;
	if (*ret_all)
		return ROGER_OK;
	r = rg_pg_ask(&postgres->keep, RG_ANSWER_MS,
		      "SELECT start, text FROM roger.line WHERE journal = $1 AND start >= $2 AND "
		      "start < $3 ORDER BY start LIMIT $4",
		      RG_ARGS(RG_INT(row->messages), RG_INT(end), RG_INT(row->bytes),
			      RG_INT(LINES_AT_ONCE)),
		      &result, err);
	if (r < 0)
		return r;
	rg_pg_join_lines(result, end, &lines);
	/* Fill up for lines that are missing at the end. */
	if (PQntuples(result) < LINES_AT_ONCE)
		while (end + lines.length < row->bytes && !lines.failed)
			rg_buf_add_char(&lines, end + lines.length + 1 < row->bytes ? 0 : '\n');
	if (lines.failed)
		return rg_fail_memory(err);
	rg_common_lock(common);
	r = rg_common_follow(&postgres->self, rg_buf_str(&lines), err);
	common->durable = rg_kept_end(common->messages);
	rg_common_trim(common);
	rg_common_unlock(common);
	return r;
}

/* Lines were changed in the database: treat it like any damage. */
static void note_damage(struct rg_common *common, uint64_t end, uint64_t chain)
{
	rg_assert(rg_common_has(common));
	if (common->shared.broken != RG_BROKEN_NOT)
		return;
	common->witness = (struct rg_figure){ .count = end, .chain = chain, .chained = true };
	common->shared.broken = RG_BROKEN_DIFFERS;
}

/* Is the last line in the database still what was written?  Not judged while its chain is in
 * doubt. A missing line reads as zeros, and counts as such once its loss is accepted. */
static void check_last(struct rg_common *common, uint64_t start, struct roger_str line)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf zeros = { .maximum = SIZE_MAX };
	struct roger_str body;
	uint64_t stated;

	rg_common_lock(common);
	while (!line.length && common->last == start && start + zeros.length < common->durable &&
	       !zeros.failed)
		rg_buf_add_char(&zeros, start + zeros.length + 1 < common->durable ? 0 : '\n');
	line = line.length ? line : rg_buf_str(&zeros);
	if (common->last == start && !common->trails && !common->doubt &&
	    !(line.length &&
	      rg_chain_split((struct roger_str){ line.data, line.length - 1 }, &stated, &body) &&
	      stated == common->messages->chain &&
	      rg_chain_fits(common->before_last, body, stated)) &&
	    rg_chain_over(common->before_last, line) != common->messages->chain)
		note_damage(common, common->durable, common->messages->chain);
	rg_common_unlock(common);
}

/* Say that the leader is alive, and check its last line; *ret_still false: another server leads. */
static int say_alive(struct rg_postgres *postgres, bool ends, bool *ret_still,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	struct rg_common *common = postgres->common;
	const int64_t before_ms = now_ms();
	uint64_t last;
	bool there;
	int r;

	rg_common_lock(common);
	last = common->last;
	there = postgres->leading && common->durable &&
		common->durable == rg_kept_end(common->messages);
	rg_common_unlock(common);
	*ret_still = true;
	r = rg_pg_ask(&postgres->keep, SHORT_MS,
		      "SELECT beat_3, (SELECT text FROM roger.line WHERE journal = $4 AND start = "
		      "$5) FROM roger.beat_3($1, $2, $3)",
		      RG_ARGS(RG_INT(postgres->ws), RG_INT(postgres->generation),
			      RG_TEXT(ends ? "t" : "f"), RG_INT(common->messages->number),
			      RG_INT(last)),
		      &result, err);
	if (r < 0)
		return r;
	*ret_still = PQntuples(result) == 1;
	if (*ret_still && there)
		check_last(common, last, rg_column_bytes(result, 0, 1));
	if (*ret_still && !ends) {
		rg_clock_follow(rg_column_int(result, 0, 0));
		atomic_store(&postgres->lease_ns, before_ms + LEASE_MS);
	}
	return ROGER_OK;
}

static bool is_ending(struct rg_postgres *postgres)
{
	bool ending;

	rg_common_lock(postgres->common);
	ending = postgres->ending;
	rg_common_unlock(postgres->common);
	return ending;
}

/* Read all lines that the row counts.  A leader keeps saying that it is alive meanwhile. */
static int follow_row(struct rg_postgres *postgres, const struct row *row, bool leads,
		      struct roger_err *err)
{
	int64_t beaten_ms = now_ms();
	bool all = false, still = true;
	int r = ROGER_OK;

	while (r == ROGER_OK && !all && still && !is_ending(postgres)) {
		r = follow_some(postgres, row, &all, err);
		if (r == ROGER_OK && leads && now_ms() - beaten_ms > BEAT_MS / 2) {
			r = say_alive(postgres, false, &still, err);
			beaten_ms = now_ms();
		}
	}
	return r == ROGER_OK && !still ? rg_fail(err, ROGER_ETIMEOUT, 0, "another server leads")
				       : r;
}

/* Load everything, from the first line on. */
static int load_all(struct rg_postgres *postgres, const struct row *row, struct roger_err *err)
{
	struct rg_common *common = postgres->common;
	int r;

	rg_common_lock(common);
	rg_common_lose(common, true);
	common->messages->number = row->messages;
	rg_common_unlock(common);
	forget_read(postgres);
	r = load_others(postgres, err);
	if (r < 0)
		return r;
	rg_common_lock(common);
	rg_common_begin(&postgres->self);
	rg_common_unlock(common);
	return follow_row(postgres, row, postgres->generation == row->generation, err);
}

/* Are the lines in memory those of the row? */
static bool fits_row(struct rg_postgres *postgres, const struct row *row)
{
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = rg_common_lock(postgres->common);
	const struct rg_kept_journal *messages = common->messages;

	return messages->number == row->messages && rg_kept_end(messages) == row->bytes &&
	       (messages->chain == row->chain || (common->doubt && common->other == row->chain));
}

/* ----------------------------------------------------------------- leading -- */

void rg_pg_depose(struct rg_postgres *postgres)
{
	rg_assert(rg_common_has(postgres->common));
	postgres->leading = false;
	postgres->generation = -1;
	atomic_store(&postgres->lease_ns, 0);
	postgres->common->trails = true;
	rg_common_lose(postgres->common, false);
}

/* Read the rest of the lines that the leader before us wrote. */
static int read_rest(struct rg_postgres *postgres, struct row *row, struct roger_err *err)
{
	int r = look_at_row(postgres, row, err);

	/* What was read may not be on a standby yet. */
	if (r == ROGER_OK)
		r = pass_barrier(postgres, err);
	if (r == ROGER_OK)
		r = follow_row(postgres, row, true, err);
	if (r == ROGER_OK && !fits_row(postgres, row)) {
		r = load_all(postgres, row, err);
		rg_common_lock(postgres->common);
		if (r == ROGER_OK && !fits_row(postgres, row))
			note_damage(postgres->common, row->bytes, row->chain);
		rg_common_unlock(postgres->common);
		return r;
	}
	return r == ROGER_OK ? load_others(postgres, err) : r;
}

static int take_over(struct rg_postgres *postgres, struct row *row, struct roger_err *err)
{
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	struct rg_common *common = postgres->common;
	int64_t before_ms = now_ms();
	int r;

	r = rg_pg_ask(
		&postgres->keep, RG_LOOK_MS, "SELECT roger.lead_3($1, $2, $3)",
		RG_ARGS(RG_INT(postgres->ws), RG_INT(row->generation), RG_TEXT(postgres->who)),
		&result, err);
	if (r < 0)
		return r;
	rg_common_lock(common);
	postgres->generation = rg_column_int(result, 0, 0);
	rg_common_unlock(common);
	if (!postgres->generation)
		return rg_fail(err, ROGER_ETIMEOUT, 0, "another server leads");
	forget_read(postgres);
	r = read_rest(postgres, row, err);
	if (r < 0)
		return r;
	rg_common_lock(common);
	common->standing = row->standing;
	memcpy(common->place, row->place, sizeof common->place);
	common->durable = common->written_end = row->bytes;
	common->written_chain = common->messages->chain;
	/* Entries of send logs may have been lost with the queue. */
	common->shared.logged = common->shared.listed = common->shared.carried = 0;
	common->trails = false;
	postgres->step = row->step;
	postgres->leading = true;
	if (atomic_load(&postgres->lease_ns) < before_ms + LEASE_MS)
		atomic_store(&postgres->lease_ns, before_ms + LEASE_MS);
	pthread_cond_broadcast(&common->covered_more);
	rg_common_unlock(common);
	return ROGER_OK;
}

/* ------------------------------------------------------------------ the thread -- */

/* Note the database's standbys by name, as far as this role may see them. */
static int name_standby(struct rg_postgres *postgres, struct roger_err *err)
{
	static const char sql[] =
		"SELECT CASE WHEN here IS NULL THEN CASE WHEN wanted = '' THEN 'none' ELSE "
		"'none is connected, of ' || wanted END WHEN wanted = '' THEN here || ', which "
		"nothing waits for' ELSE here || ', waited for as ' || wanted END FROM (SELECT "
		"current_setting('synchronous_standby_names') AS wanted, (SELECT "
		"string_agg(application_name, ', ' ORDER BY application_name) FROM "
		"pg_stat_replication) AS here) AS found";
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	int r = rg_pg_ask(&postgres->keep, SHORT_MS, sql, NULL, &result, err);

	if (r < 0)
		return r;
	rg_common_lock(postgres->common);
	snprintf(postgres->standby, sizeof postgres->standby, "%s",
		 rg_column_bytes(result, 0, 0).data);
	rg_common_unlock(postgres->common);
	return ROGER_OK;
}

static int go_on_leading(struct rg_postgres *postgres, struct roger_err *err)
{
	struct rg_common *common = postgres->common;
	bool still;
	int r = say_alive(postgres, false, &still, err);

	if (r == ROGER_OK && postgres->beats % NAME_EACH == 0)
		r = name_standby(postgres, err);
	if (r == ROGER_OK && postgres->beats++ % FORGET_EACH == 0)
		r = rg_pg_ask(&postgres->keep, RG_ANSWER_MS,
			      "DELETE FROM roger.answer WHERE ws = $1 AND at < clock_timestamp() - "
			      "interval '10 min'",
			      RG_ARGS(RG_INT(postgres->ws)), NULL, err);
	rg_common_lock(common);
	if (r == ROGER_OK && !still && postgres->leading)
		rg_pg_depose(postgres);
	else if (r == ROGER_OK)
		rg_common_trim(common);
	pthread_cond_broadcast(&common->covered_more);
	rg_common_unlock(common);
	return r;
}

/* Was the leader a process of this machine that is gone?  Then nobody need wait for its
 * heartbeat. */
static bool is_gone(const char *leader)
{
	struct rg_process process, self;
	long long id, start, space;
	char boot[RG_BOOT_ID_BYTES];

	rg_process_find(getpid(), &self);
	if (sscanf(leader, "process %lld on %*s (%lld %lld %39[^)])", &id, &start, &space, boot) !=
		    4 ||
	    strcmp(boot, self.boot_id) != 0 || space != self.space)
		return false;
	process = (struct rg_process){ .id = id, .start = start, .space = space };
	memcpy(process.boot_id, boot, sizeof process.boot_id);
	return rg_process_fate(&process) == RG_PROCESS_GONE;
}

static int go_on_following(struct rg_postgres *postgres, bool *loaded, struct roger_err *err)
{
	struct rg_common *common = postgres->common;
	struct row row;
	bool goes_on;
	int r = look_at_row(postgres, &row, err);

	if (r < 0)
		return r;
	if (row.age_ms <= DEAD_MS && is_gone(row.leader))
		row.age_ms = DEAD_MS + 1;
	rg_common_lock(common);
	postgres->generation = -1;
	if (row.age_ms <= DEAD_MS)
		memcpy(postgres->leader, row.leader, sizeof postgres->leader);
	goes_on = *loaded && common->messages->number == row.messages &&
		  rg_kept_end(common->messages) <= row.bytes;
	rg_common_unlock(common);
	/* Lines that are on no standby yet may vanish, and others come in their place. */
	if (rg_kept_end(common->messages) != row.bytes)
		r = pass_barrier(postgres, err);
	if (r == ROGER_OK)
		r = goes_on ? follow_row(postgres, &row, false, err)
			    : load_all(postgres, &row, err);
	/* When the connection is lost, what was read before stays right. */
	*loaded = r == ROGER_OK || (goes_on && r == ROGER_ETIMEOUT);
	if (r == ROGER_OK && row.age_ms > DEAD_MS)
		r = take_over(postgres, &row, err);
	rg_common_lock(common);
	postgres->decided |= r == ROGER_OK || row.age_ms <= DEAD_MS;
	pthread_cond_broadcast(&common->covered_more);
	rg_common_unlock(common);
	return r;
}

/* Needs the mutex.  Sleep until the next step is due, or this process starts or stops leading. */
static void rest_until_due(struct rg_postgres *postgres, int r)
{
	const int64_t ms = r < 0 ? AGAIN_MS : postgres->leading ? BEAT_MS : FOLLOW_MS;
	const int64_t until_ns = rg_clock_monotonic_ns() + ms * 1000000;
	const bool leading = postgres->leading;

	rg_assert(rg_common_has(postgres->common));
	while (!postgres->ending && postgres->leading == leading &&
	       rg_common_wait(postgres->common, &postgres->common->covered_more, until_ns))
		continue;
}

void *rg_pg_keep(void *postgres_)
{
	struct rg_postgres *postgres = postgres_;
	struct rg_common *common = postgres->common;
	bool loaded = false, leading = false, still;
	struct roger_err err;
	int r;

	rg_common_lock(common);
	while (!postgres->ending) {
		/* A deposed leader has lines that may never have been stored: load all again. */
		loaded &= !leading || postgres->leading;
		leading = postgres->leading;
		rg_common_unlock(common);
		err = (struct roger_err){ 0 };
		r = leading ? go_on_leading(postgres, &err)
			    : go_on_following(postgres, &loaded, &err);
		rg_common_lock(common);
		leading |= postgres->leading;
		postgres->trouble = err;
		pthread_cond_broadcast(&common->covered_more);
		rest_until_due(postgres, r);
	}
	leading = postgres->leading;
	rg_common_unlock(common);
	if (postgres->writes)
		pthread_join(postgres->writer, NULL);
	if (leading)
		(void)!say_alive(postgres, true, &still, NULL);
	rg_link_close(&postgres->keep);
	return NULL;
}

/* -------------------------------------------------------------------- answering -- */

/* These need the mutex. */
static bool may_answer(struct rg_postgres *postgres)
{
	rg_assert(rg_common_has(postgres->common));
	return postgres->leading && now_ms() < atomic_load(&postgres->lease_ns);
}

static bool is_led(const struct rg_postgres *postgres)
{
	rg_assert(rg_common_has(postgres->common));
	return !postgres->leading && *postgres->leader;
}

int rg_pg_wait_until_ready(struct rg_postgres *postgres, int64_t wait_ms, struct roger_err *err)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + wait_ms * 1000000;
	RG_CLEANUP(rg_common_leavep) struct rg_common *common = NULL;

	if (now_ms() < atomic_load(&postgres->lease_ns))
		return ROGER_OK;
	common = rg_common_lock(postgres->common);
	while (!may_answer(postgres) &&
	       !(postgres->decided && is_led(postgres) && !postgres->trouble.code) &&
	       rg_common_wait(common, &common->covered_more, until_ns))
		continue;
	if (is_led(postgres))
		return rg_fail_member(err, ROGER_ETIMEOUT, "leader",
				      "another server leads this workspace: %.*s",
				      (int)strcspn(postgres->leader, "("), postgres->leader);
	if (!may_answer(postgres))
		return rg_fail(
			err, ROGER_ETIMEOUT, 0,
			"PostgreSQL does not confirm that this server leads the workspace%s%.300s",
			*postgres->trouble.message ? ": " : "; try again",
			postgres->trouble.message);
	return ROGER_OK;
}
