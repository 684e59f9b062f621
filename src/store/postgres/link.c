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

static void add_arg(struct rg_args *args, const char *value, size_t length, int format)
{
	rg_assert(args->count < RG_ARGS_MAX);
	args->values[args->count] = value;
	args->lengths[args->count] = (int)length;
	args->formats[args->count++] = format;
}

void rg_arg_int(struct rg_args *args, int64_t number)
{
	char *to = args->numbers[args->count];

	snprintf(to, sizeof args->numbers[0], "%lld", (long long)number);
	add_arg(args, to, 0, 0);
}

void rg_arg_bytes(struct rg_args *args, struct roger_str bytes)
{
	add_arg(args, bytes.length ? bytes.data : "", bytes.length, 1);
}

void rg_arg_text(struct rg_args *args, const char *text)
{
	add_arg(args, text, 0, 0);
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

bool rg_link_failed(const PGresult *result)
{
	const ExecStatusType status = result ? PQresultStatus(result) : PGRES_FATAL_ERROR;

	return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
}

static bool is_state(const char *state, const char *start)
{
	return !strncmp(state, start, strlen(start));
}

/* The message of the server is one about the statement; it never repeats how we connected. */
int rg_link_fail(PGresult *result, struct roger_err *err)
{
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *why = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	int r;

	if (!state || is_state(state, "08") || is_state(state, "57P") || is_state(state, "25P03"))
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "the connection to PostgreSQL was lost; try again");
	else if (is_state(state, "55P03") || is_state(state, "40"))
		r = rg_fail(err, ROGER_ETIMEOUT, 0, "somebody else holds the lock; try again");
	else if (is_state(state, "3F000") || is_state(state, "42P01") || is_state(state, "42703"))
		r = rg_fail(err, ROGER_ECONFIG, 0,
			    "the database has no tables of this roger; `roger init` makes them");
	else
		r = rg_fail(err, is_state(state, "42501") ? ROGER_EREFUSED : ROGER_EIO, 0,
			    "PostgreSQL: %s (%s)", why ? why : "failed", state);
	PQclear(result);
	return r;
}

/* ------------------------------------------------------------ connection -- */

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

/* A pooler gives us another server process for each transaction, which has neither our locks
 * nor our notifications.  It shows: the number it gave us is not the server's. */
static int check_direct(struct rg_link *link, const PGresult *result, struct roger_err *err)
{
	if (rg_column_int(result, 0, 0) == PQbackendPID(link->connection))
		return ROGER_OK;
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "between roger and PostgreSQL there is a pooler (PgBouncer?), which loses "
		       "locks and notifications: name the server itself");
}

/* A client that stands still with the append lock is ended by the server; so is the connection of
 * one whose machine is gone, with its other locks. */
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
		"set_config('jit', 'off', false), "
		"(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
	PGresult *result = NULL;
	int r;

	PQsetNoticeReceiver(link->connection, note_notice, link);
	if (PQsetnonblocking(link->connection, 1) != 0 || !PQenterPipelineMode(link->connection))
		return rg_fail_memory(err);
	rg_link_put(link, RG_ROLE_OTHER, sql, NULL);
	rg_link_sync(link);
	r = rg_link_expect(link, RG_ANSWER_MS, &result, err);
	if (r == ROGER_OK)
		r = check_direct(link, result, err);
	if (r == ROGER_OK)
		rg_clock_follow(rg_column_int(result, 0, PQnfields(result) - 1));
	PQclear(result);
	return r;
}

/* Take the numbers of the streams that are closed. */
static void hold_streams(int held[3], int *ret_count)
{
	int i = 0, next;

	while ((next = eventfd(0, EFD_CLOEXEC)) >= 0 && next <= STDERR_FILENO)
		held[i++] = next;
	if (next > STDERR_FILENO)
		close(next);
	*ret_count = i;
}

/* What the address says wins over these, which come before it.  The socket must not become a
 * stream, which programs that we start would read. */
static PGconn *connect(const struct rg_link *link)
{
	static const char *const names[] = { "connect_timeout",	     "tcp_user_timeout",
					     "keepalives_idle",	     "keepalives_interval",
					     "keepalives_count",     "application_name",
					     "target_session_attrs", "dbname",
					     "client_encoding",	     NULL };
	const char *values[] = { "5",	  "10000",	"5",	       "2",    "3",
				 "roger", "read-write", link->address, "UTF8", NULL };
	PGconn *connection;
	int held[3], count;

	hold_streams(held, &count);
	connection = PQconnectdbParams(names, values, 1);
	while (count > 0)
		close(held[--count]);
	return connection;
}

static bool is_refused(const char *why)
{
	return strstr(why, "authentication failed") || strstr(why, "no password supplied") ||
	       (strstr(why, "database \"") && strstr(why, "does not exist")) ||
	       (strstr(why, "role \"") && strstr(why, "does not exist")) ||
	       strstr(why, "no pg_hba.conf entry");
}

/* libpq's text may repeat parts of an address with a password: only the kind of failure is told. */
static int tell_refused(const PGconn *connection, struct roger_err *err)
{
	const char *why = PQerrorMessage(connection);

	if (strstr(why, "invalid "))
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "store: a part of the address has a value that PostgreSQL does not "
			       "take");
	if (is_refused(why))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "PostgreSQL lets us not in: check role, password, database and "
			       "pg_hba.conf");
	return rg_fail(
		err, ROGER_EENGINE, 0,
		strstr(why, "session is read-only") || strstr(why, "in hot standby mode")
			? "PostgreSQL is a standby that takes no changes; try again after "
			  "its promotion"
			: "PostgreSQL cannot be reached at the address of `store`; try again");
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

int rg_link_open(struct rg_link *link, struct roger_err *err)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + (int64_t)RG_LOCK_WAIT_MS * 1000000;
	int r = ROGER_OK;

	if (link->connection)
		return ROGER_OK;
	if (!link->lives)
		r = check_address(link, err);
	while (r == ROGER_OK && !link->connection) {
		link->connection = connect(link);
		if (PQstatus(link->connection) == CONNECTION_OK)
			break;
		r = tell_refused(link->connection, err);
		rg_link_close(link);
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

void rg_link_put(struct rg_link *link, enum rg_role role, const char *sql,
		 const struct rg_args *args)
{
	static const struct rg_args none;

	if (!link->connection)
		return;
	rg_assert(link->queued < RG_ROLES_MAX);
	args = args ? args : &none;
	if (!PQsendQueryParams(link->connection, sql, args->count, NULL, args->values,
			       args->lengths, args->formats, 1)) {
		rg_link_close(link);
		return;
	}
	link->roles[(link->first + link->queued++) % RG_ROLES_MAX] = (unsigned char)role;
}

void rg_link_sync(struct rg_link *link)
{
	if (link->connection && !PQpipelineSync(link->connection))
		rg_link_close(link);
}

void rg_link_flush(struct rg_link *link)
{
	if (link->connection && PQflush(link->connection) < 0)
		rg_link_close(link);
}

/* Wait for the socket; false: nothing until then. */
static bool wait_for_socket(struct rg_link *link, bool to_send, int64_t until_ns)
{
	const int64_t left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000 + 1;
	struct pollfd ready = { PQsocket(link->connection), POLLIN, 0 };

	if (to_send)
		ready.events |= POLLOUT;
	return left_ms > 0 && poll(&ready, 1, (int)left_ms) != 0;
}

static void note_notifications(struct rg_link *link)
{
	PGnotify *notify;

	while ((notify = PQnotifies(link->connection))) {
		link->notified = true;
		PQfreemem(notify);
	}
}

/* Until a result is there; false: the connection is lost, or nothing came in time. */
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
		note_notifications(link);
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

PGresult *rg_link_take(struct rg_link *link, enum rg_role *ret_role, int64_t wait_ms)
{
	PGresult *result = NULL;

	if (link->connection && link->queued)
		result = next_result(link, rg_clock_monotonic_ns() + wait_ms * 1000000);
	if (!result) {
		rg_link_close(link);
		return NULL;
	}
	*ret_role = link->roles[link->first];
	link->first = (link->first + 1) % RG_ROLES_MAX;
	link->queued--;
	return result;
}

int rg_link_expect(struct rg_link *link, int64_t wait_ms, PGresult **ret_result,
		   struct roger_err *err)
{
	enum rg_role role;
	PGresult *result = rg_link_take(link, &role, wait_ms);

	if (rg_link_failed(result))
		return rg_link_fail(result, err);
	if (ret_result)
		*ret_result = result;
	else
		PQclear(result);
	return ROGER_OK;
}

void rg_link_wait(struct rg_link *link, int64_t wait_ms)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + wait_ms * 1000000;

	note_notifications(link);
	while (link->connection && !link->notified && wait_for_socket(link, false, until_ns)) {
		if (!PQconsumeInput(link->connection) ||
		    PQstatus(link->connection) == CONNECTION_BAD) {
			rg_link_close(link);
			return;
		}
		note_notifications(link);
	}
}
