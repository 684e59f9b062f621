#include "store/postgres/link.h"

#include <endian.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

/* ------------------------------------------------------------- arguments -- */

/* An array is this header, for one dimension and filled in at the end, then each entry with its
 * length before it. */
struct header {
	uint32_t dimensions, nulls, type, count, from;
};

void rg_array_open(struct rg_buf *array, enum rg_array type)
{
	const struct header header = { .type = htobe32(type), .from = htobe32(1) };

	rg_buf_init(array, SIZE_MAX);
	rg_buf_add(array, &header, sizeof header);
}

void rg_array_add(struct rg_buf *array, struct roger_str bytes)
{
	const uint32_t length = htobe32((uint32_t)bytes.length);
	struct header *header = (struct header *)array->data;

	if (array->failed)
		return;
	header->count++;
	rg_buf_add(array, &length, sizeof length);
	rg_buf_add(array, bytes.data, bytes.length);
}

void rg_array_add_int(struct rg_buf *array, int64_t number)
{
	const uint64_t eight = htobe64((uint64_t)number);

	rg_array_add(array, (struct roger_str){ (const char *)&eight, sizeof eight });
}

struct rg_arg rg_array_close(struct rg_buf *array)
{
	struct header *header = (struct header *)array->data;

	rg_assert(!array->failed);
	header->dimensions = htobe32(header->count > 0);
	if (!header->count)
		array->length = offsetof(struct header, count);
	header->count = htobe32(header->count);
	return RG_BYTES(rg_buf_str(array));
}

/* --------------------------------------------------------------- results -- */

int64_t rg_column_int(const PGresult *result, int row, int column)
{
	const char *at = PQgetvalue(result, row, column);
	uint64_t eight = 0;
	uint32_t four = 0;

	if (PQgetisnull(result, row, column))
		return 0;
	switch (PQgetlength(result, row, column)) {
	case 8:
		memcpy(&eight, at, sizeof eight);
		return (int64_t)be64toh(eight);
	case 4:
		memcpy(&four, at, sizeof four);
		return (int32_t)be32toh(four);
	default:
		return *at;
	}
}

struct roger_str rg_column_bytes(const PGresult *result, int row, int column)
{
	return (struct roger_str){ PQgetvalue(result, row, column),
				   (size_t)PQgetlength(result, row, column) };
}

static bool is_failed(const PGresult *result)
{
	const ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;

	return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
}

static bool is_state(const char *state, const char *start)
{
	return !strncmp(state, start, strlen(start));
}

/* Turn a failed result into an error, and clear it; NULL: the connection was lost.  The server's
 * message is about the statement; it never repeats the address. */
static int fail_result(PGresult *result, struct roger_err *err)
{
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *why = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	int r;

	if (!state || is_state(state, "08") || is_state(state, "57P") || is_state(state, "25P03"))
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "the connection to PostgreSQL was lost; try again");
	else if (is_state(state, "55P03") || is_state(state, "40") || is_state(state, "26"))
		r = rg_fail(err, ROGER_ETIMEOUT, 0, "somebody else holds the lock; try again");
	else if (is_state(state, "3F000") || is_state(state, "42P01") || is_state(state, "42703") ||
		 is_state(state, "42883"))
		r = rg_fail(err, ROGER_ECONFIG, 0,
			    "the database has no tables of this roger; `roger init` makes them");
	else if (is_state(state, "RG001") || is_state(state, "23505"))
		r = rg_fail(err, ROGER_ENOENT, 0, "figures changed meanwhile");
	else
		r = rg_fail(err, is_state(state, "42501") ? ROGER_EREFUSED : ROGER_EIO, 0,
			    "PostgreSQL: %s (%s)", why ? why : "failed", state);
	PQclear(result);
	return r;
}

/* ------------------------------------------------------------ connection -- */

enum { CONNECT_S = 5, TRIES_MS = 3000 };

static void note_notice(void *context, const PGresult *result)
{
	struct rg_link *link = context;
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

	link->warned |= severity && !strcmp(severity, "WARNING");
}

void rg_link_close(struct rg_link *link)
{
	PQfinish(link->connection);
	link->connection = NULL;
	link->first = link->queued = 0;
}

/* Refuse a pooler, which gives us another server process for each transaction: that one does not
 * have our locks.  The number that the pooler gave us is not the server's. */
static int check_direct(struct rg_link *link, const PGresult *result, struct roger_err *err)
{
	if (rg_column_int(result, 0, 0) == PQbackendPID(link->connection))
		return ROGER_OK;
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "between roger and PostgreSQL there is a pooler (PgBouncer?), which loses "
		       "locks: name the server itself");
}

/* Set up the session.  The server ends a client that stands still in a transaction, and the
 * connection of a machine that is gone, with its locks.  Our session that was lost is ended now:
 * while it waits for a standby it does not notice, and such sessions would use up all that the
 * server has. */
static int set_up(struct rg_link *link, struct roger_err *err)
{
	static const char sql[] =
		"SELECT pg_backend_pid(), set_config('synchronous_commit', CASE "
		"current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' "
		"ELSE 'on' END, false), set_config('idle_in_transaction_session_timeout', '5s', "
		"false), set_config('statement_timeout', '0', false), set_config('lock_timeout', "
		"'10s', false), set_config('search_path', 'pg_catalog', false), "
		"set_config('client_connection_check_interval', '1s', false), "
		"set_config('tcp_keepalives_idle', '5', false), "
		"set_config('tcp_keepalives_interval', '2', false), "
		"set_config('tcp_keepalives_count', '3', false), "
		"set_config('default_transaction_isolation', 'read committed', false), "
		"set_config('jit', 'off', false), (SELECT backend_start::text FROM "
		"pg_stat_activity "
		"WHERE pid = pg_backend_pid()), (SELECT bool_or(pg_terminate_backend(pid)) FROM "
		"pg_stat_activity WHERE pid = $1 AND backend_start::text = $2)";
	RG_CLEANUP(rg_result_clearp) PGresult *result = NULL;
	int r;

	PQsetNoticeReceiver(link->connection, note_notice, link);
	if (PQsetnonblocking(link->connection, 1) != 0 || !PQenterPipelineMode(link->connection))
		return rg_fail_memory(err);
	memset(link->statements, 0, sizeof link->statements);
	rg_link_put(link, sql, RG_ARGS(RG_INT(link->session), RG_TEXT(link->begun)));
	rg_link_sync(link);
	r = rg_link_expect(link, link->patience_ms ? link->patience_ms : RG_ANSWER_MS, &result,
			   err);
	if (r == ROGER_OK)
		r = check_direct(link, result, err);
	if (r == ROGER_OK) {
		link->session = rg_column_int(result, 0, 0);
		snprintf(link->begun, sizeof link->begun, "%s",
			 rg_column_bytes(result, 0, PQnfields(result) - 2).data);
	}
	return r;
}

/* Occupy the numbers of standard streams that are closed. */
static void hold_streams(int held[3], int *ret_count)
{
	int i = 0, next;

	while ((next = eventfd(0, EFD_CLOEXEC)) >= 0 && next <= STDERR_FILENO)
		held[i++] = next;
	if (next > STDERR_FILENO)
		close(next);
	*ret_count = i;
}

/* Connect.  The address overrides the options before it.  The socket must not become a standard
 * stream, which programs that we start would read. */
static PGconn *connect_link(const struct rg_link *link)
{
	static const char *const names[] = { "connect_timeout",	     "tcp_user_timeout",
					     "keepalives_idle",	     "keepalives_interval",
					     "keepalives_count",     "application_name",
					     "target_session_attrs", "dbname",
					     "client_encoding",	     NULL };
	char seconds[12];
	const char *values[] = { seconds, "10000",	"5",	       "2",    "3",
				 "roger", "read-write", link->address, "UTF8", NULL };
	PGconn *connection;
	int held[3], count;

	snprintf(seconds, sizeof seconds, "%d",
		 link->patience_ms && link->patience_ms < CONNECT_S * 1000
			 ? (int)(link->patience_ms / 1000 + (link->patience_ms < 1000))
			 : CONNECT_S);
	hold_streams(held, &count);
	connection = PQconnectdbParams(names, values, 1);
	while (count > 0)
		close(held[--count]);
	return connection;
}

static int check_address(const struct rg_link *link, struct roger_err *err)
{
	PQconninfoOption *options = PQconninfoParse(link->address, NULL);

	PQconninfoFree(options);
	return options ? ROGER_OK
		       : rg_fail(err, ROGER_ECONFIG, 0,
				 "store: no address as PostgreSQL has them, "
				 "postgres://ROLE@HOST/DATABASE");
}

/* Say why there is no connection; a try that took all its time is not repeated. */
static int tell_refused(const struct rg_link *link, int64_t start_ns, struct roger_err *err)
{
	if (rg_clock_monotonic_ns() - start_ns >= CONNECT_S * INT64_C(1000000000))
		return rg_link_tell_late(err);
	return rg_link_tell_cause(link->address, err);
}

int rg_link_open(struct rg_link *link, struct roger_err *err)
{
	const int64_t tries_ms =
		link->patience_ms && link->patience_ms < TRIES_MS ? link->patience_ms : TRIES_MS;
	const int64_t until_ns = rg_clock_monotonic_ns() + tries_ms * INT64_C(1000000);
	int64_t start_ns;
	int r = ROGER_OK;

	if (link->connection)
		return ROGER_OK;
	if (!link->lives)
		r = check_address(link, err);
	while (r == ROGER_OK && !link->connection) {
		start_ns = rg_clock_monotonic_ns();
		link->connection = connect_link(link);
		if (PQstatus(link->connection) == CONNECTION_OK)
			break;
		rg_link_close(link);
		/* A failover leaves no time to find out why. */
		r = link->lives ? rg_fail(err, ROGER_EENGINE, 0,
					  "no server of PostgreSQL that takes writes answers")
				: tell_refused(link, start_ns, err);
		/* A standby may just be becoming the primary. */
		if (r == ROGER_EENGINE && link->lives && rg_clock_monotonic_ns() < until_ns) {
			rg_clock_sleep(50);
			r = ROGER_OK;
		}
	}
	if (r == ROGER_OK)
		r = set_up(link, err);
	if (r < 0)
		rg_link_close(link);
	else
		link->lives++;
	return r;
}

/* -------------------------------------------------------------- pipeline -- */

static void note_queued(struct rg_link *link, size_t prepares)
{
	rg_assert(link->queued < RG_QUEUED_MAX);
	link->prepares[(link->first + link->queued++) % RG_QUEUED_MAX] = (unsigned char)prepares;
}

/* Name a statement on this connection, and prepare it unless it is.  When there are too many, it
 * gets no name. */
static bool prepare_statement(struct rg_link *link, const char *sql, char name[16])
{
	size_t i, gap = RG_STATEMENTS_MAX;

	for (i = RG_STATEMENTS_MAX; i > 0 && link->statements[i - 1] != sql; i--)
		gap = link->statements[i - 1] ? gap : i - 1;
	snprintf(name, 16, "r%zu", i ? i - 1 : gap);
	if (i)
		return true;
	if (gap < RG_STATEMENTS_MAX)
		link->statements[gap] = sql;
	else
		*name = '\0';
	note_queued(link, 1 + gap);
	return PQsendPrepare(link->connection, name, sql, 0, NULL);
}

void rg_link_put(struct rg_link *link, const char *sql, const struct rg_arg *args)
{
	const char *values[RG_ARGS_MAX];
	int lengths[RG_ARGS_MAX], formats[RG_ARGS_MAX], count = 0;
	char numbers[RG_ARGS_MAX][24], name[16];

	if (!link->connection)
		return;
	for (; args && args->kind != RG_ARG_END; args++, count++) {
		rg_assert(count < RG_ARGS_MAX);
		values[count] = args->kind == RG_ARG_INT ? numbers[count] : args->bytes.data;
		lengths[count] = (int)args->bytes.length;
		formats[count] = args->kind == RG_ARG_BYTES;
		snprintf(numbers[count], sizeof *numbers, "%lld", (long long)args->number);
	}
	if (!prepare_statement(link, sql, name) ||
	    !PQsendQueryPrepared(link->connection, name, count, values, lengths, formats, 1)) {
		rg_link_close(link);
		return;
	}
	note_queued(link, 0);
}

void rg_link_sync(struct rg_link *link)
{
	if (link->connection && !PQpipelineSync(link->connection))
		rg_link_close(link);
}

/* Wait for the socket; false: nothing came in time. */
static bool wait_for_socket(struct rg_link *link, bool to_send, int64_t until_ns)
{
	const int64_t left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000 + 1;
	struct pollfd ready = { PQsocket(link->connection), POLLIN, 0 };

	if (to_send)
		ready.events |= POLLOUT;
	return left_ms > 0 && poll(&ready, 1, (int)left_ms) != 0;
}

/* Wait for a result; false: the connection is lost, or nothing came in time. */
static bool wait_for_result(struct rg_link *link, int64_t until_ns)
{
	int unsent;

	for (;;) {
		unsent = PQflush(link->connection);
		if (unsent < 0)
			return false;
		if (!unsent && !PQisBusy(link->connection))
			return true;
		if (!wait_for_socket(link, unsent, until_ns) || !PQconsumeInput(link->connection))
			return !PQisBusy(link->connection);
	}
}

static PGresult *next_result(struct rg_link *link, int64_t until_ns)
{
	PGresult *result;

	for (;;) {
		if (!wait_for_result(link, until_ns))
			return NULL;
		result = PQgetResult(link->connection);
		if (PQstatus(link->connection) == CONNECTION_BAD) {
			PQclear(result);
			return NULL;
		}
		if (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC)
			return result;
		PQclear(result);
	}
}

/* The next result, and which statement it prepares (see struct rg_link); NULL: the connection is
 * lost, and closed. */
static PGresult *take_result(struct rg_link *link, unsigned *ret_prepares, int64_t until_ns)
{
	PGresult *result = NULL;

	if (link->connection && link->queued)
		result = next_result(link, until_ns);
	if (!result) {
		rg_link_close(link);
		return NULL;
	}
	*ret_prepares = link->prepares[link->first];
	link->first = (link->first + 1) % RG_QUEUED_MAX;
	link->queued--;
	/* Forget a statement whose preparing failed, maybe since one before it failed. */
	if (*ret_prepares && *ret_prepares <= RG_STATEMENTS_MAX && is_failed(result))
		link->statements[*ret_prepares - 1] = NULL;
	return result;
}

/* Take the next result that is waited for; drop those before it.  A statement whose preparing
 * failed fails, too, and gives the reason of the former. */
static PGresult *take_asked(struct rg_link *link, int64_t until_ns)
{
	PGresult *result, *refused = NULL;
	unsigned prepares;

	while ((result = take_result(link, &prepares, until_ns)) && prepares) {
		if (is_failed(result) && !refused)
			refused = result;
		else
			PQclear(result);
	}
	if (!result || !refused || PQresultStatus(result) != PGRES_PIPELINE_ABORTED) {
		PQclear(refused);
		return result;
	}
	PQclear(result);
	return refused;
}

void rg_link_drain(struct rg_link *link)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + (int64_t)RG_ANSWER_MS * 1000000;
	unsigned unused;

	while (link->connection && link->queued)
		PQclear(take_result(link, &unused, until_ns));
}

int rg_link_expect(struct rg_link *link, int64_t wait_ms, PGresult **ret_result,
		   struct roger_err *err)
{
	PGresult *result = take_asked(link, rg_clock_monotonic_ns() + wait_ms * 1000000);

	if (is_failed(result))
		return fail_result(result, err);
	if (ret_result)
		*ret_result = result;
	else
		PQclear(result);
	return ROGER_OK;
}

/* Read the ends of the last statement and of its pipeline, and leave the mode. */
static void leave_pipeline(PGconn *connection)
{
	if (PQpipelineStatus(connection) == PQ_PIPELINE_OFF)
		return;
	PQsetnonblocking(connection, 0);
	PQclear(PQgetResult(connection));
	PQclear(PQgetResult(connection));
	PQexitPipelineMode(connection);
}

int rg_link_run(struct rg_link *link, const char *sql, int64_t *ret_number, struct roger_err *err)
{
	PGresult *result;

	leave_pipeline(link->connection);
	result = PQexec(link->connection, sql);
	if (is_failed(result))
		return fail_result(result, err);
	if (ret_number)
		*ret_number = atoll(PQgetvalue(result, 0, 0));
	PQclear(result);
	return ROGER_OK;
}
