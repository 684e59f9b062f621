/*
 * cause - find out why there is no connection to PostgreSQL.
 *
 * libpq says why only in words: in some language, and with parts of an address that may hold a
 * password.  So we connect once more, step by step, only to see how far that comes and which
 * SQLSTATE the server names.  If TLS failed, it is tried again with fewer checks, and no further.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/file.h"
#include "store/postgres/link.h"

enum { TRY_MS = 5000, STATE_BYTES = 6, AUTHORITIES_BYTES_MAX = 4 << 20 };
static const char no_file[] = "/dev/null/none";

/* One more try, as it stood when it ended. */
struct
try {
	PGconn *connection;
	ConnStatusType step;
	bool begun;  /* libpq took the address */
	bool late;   /* it timed out */
	bool open;   /* nothing was wrong; with TLS alone to look at: TLS was not */
	bool no_tls; /* the server has no TLS */
	char state[STATE_BYTES];
};

/* sslmode: look at TLS alone, with these checks and without a certificate of our own; NULL: try
 * all that the address says. */
static PGconn *start_connection(const char *address, const char *sslmode)
{
	static const char *const names[] = { "application_name", "client_encoding",
					     "dbname",		 "target_session_attrs",
					     "sslmode",		 "sslcert",
					     "sslrootcert",	 NULL };
	const char *values[] = { "roger", "UTF8", address, "any", sslmode, NULL, NULL, NULL };

	if (sslmode)
		values[5] = no_file;
	if (sslmode && strcmp(sslmode, "prefer") == 0)
		values[6] = no_file;
	return PQconnectStartParams(names, values, 1);
}

/* Read a SQLSTATE such as "FATAL:  28P01" at a line's end: the server is asked to name nothing
 * else. */
static void read_state(const char *why, char state[STATE_BYTES])
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *at;

	for (at = why; (at = strstr(at, ":  ")); at += 3)
		if (strspn(at + 3, digits) == STATE_BYTES - 1 &&
		    (at[2 + STATE_BYTES] == '\n' || !at[2 + STATE_BYTES]))
			snprintf(state, STATE_BYTES, "%.5s", at + 3);
}

static bool wait_for(PGconn *connection, PostgresPollingStatusType what, int64_t until_ns)
{
	const int64_t left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000;
	struct pollfd ready = { PQsocket(connection),
				what == PGRES_POLLING_READING ? POLLIN : POLLOUT, 0 };

	if (left_ms <= 0)
		return false;
	return poll(&ready, 1, (int)left_ms) > 0 || errno == EINTR;
}

/* Wait until the try has ended.  tls_alone: end after TLS, before anything is said to a server
 * that has not proved who it is. */
static void go_on(struct try *try, bool tls_alone)
{
	const int64_t until_ns = rg_clock_monotonic_ns() + (int64_t)TRY_MS * 1000000;
	PostgresPollingStatusType what = PGRES_POLLING_WRITING;

	while (what == PGRES_POLLING_READING || what == PGRES_POLLING_WRITING) {
		if (tls_alone && try->step == CONNECTION_SSL_STARTUP &&
		    PQstatus(try->connection) != CONNECTION_SSL_STARTUP) {
			try->open = PQsslInUse(try->connection);
			try->no_tls = !try->open && PQstatus(try->connection) == CONNECTION_MADE;
			return;
		}
		try->step = PQstatus(try->connection);
		if (!wait_for(try->connection, what, until_ns)) {
			try->late = true;
			return;
		}
		what = PQconnectPoll(try->connection);
	}
	try->open = what == PGRES_POLLING_OK;
	read_state(PQerrorMessage(try->connection), try->state);
}

static void begin_try(struct try *try, const char *address, const char *sslmode)
{
	*try = (struct try){ .connection = start_connection(address, sslmode),
			     .step = CONNECTION_NEEDED };
	PQsetErrorVerbosity(try->connection, PQERRORS_SQLSTATE);
	try->begun = PQstatus(try->connection) != CONNECTION_BAD;
	if (try->begun)
		go_on(try, sslmode);
}

static int fail_unreached(struct roger_err *err, const char *why)
{
	return rg_fail(err, ROGER_EENGINE, 0, "PostgreSQL cannot be reached: %s", why);
}

/* ------------------------------------------------------------- each kind -- */

static bool has_bad_number(PGconn *connection)
{
	static const char *const numbers[] = { "connect_timeout",  "keepalives",
					       "keepalives_idle",  "keepalives_interval",
					       "keepalives_count", "tcp_user_timeout" };
	PQconninfoOption *all = PQconninfo(connection), *one;
	const char *port = PQport(connection);
	bool bad = port && *port && (atoi(port) < 1 || atoi(port) > 65535);
	char *end;
	size_t i;

	for (one = all; one && one->keyword; one++)
		for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
			if (one->val && *one->val && !strcmp(one->keyword, numbers[i])) {
				strtol(one->val, &end, 10);
				bad |= *end;
			}
	PQconninfoFree(all);
	return bad;
}

/* No host, or a path, means this machine, which is known. */
static bool is_name_unknown(const PGconn *connection)
{
	const char *host = PQhost(connection);
	struct addrinfo *found = NULL;
	int r = host && *host && *host != '/' ? getaddrinfo(host, NULL, NULL, &found) : 0;

	if (r == 0 && found)
		freeaddrinfo(found);
	return r != 0;
}

/* Say why nothing could be sent. */
static int tell_not_begun(const struct try *try, const char *address, struct roger_err *err)
{
	static const char *const names[] = { "dbname", NULL };
	const char *values[] = { address, NULL };

	if (has_bad_number(try->connection))
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "store: a number in the address is none that PostgreSQL takes");
	if (is_name_unknown(try->connection))
		return fail_unreached(err, "no address is known for the host of `store`; check its "
					   "name, and the network");
	if (PQpingParams(names, values, 1) == PQPING_NO_ATTEMPT)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "store: a part of the address has a value that PostgreSQL does not "
			       "take");
	return fail_unreached(err,
			      "nobody answers at the host and port of `store`; check both, and "
			      "that it runs");
}

/* Read an option as the address, a variable or a service sets it; "": not set. */
static void read_option(PGconn *connection, const char *name, char *to, size_t size)
{
	PQconninfoOption *all = PQconninfo(connection), *one;

	*to = '\0';
	for (one = all; one && one->keyword; one++)
		if (!strcmp(one->keyword, name) && one->val)
			snprintf(to, size, "%s", one->val);
	PQconninfoFree(all);
}

static bool has_authorities(PGconn *connection)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = AUTHORITIES_BYTES_MAX };
	char path[PATH_MAX], real[PATH_MAX];
	const char *home = getenv("HOME");
	bool found = false;

	read_option(connection, "sslrootcert", path, sizeof path);
	if (!strcmp(path, "system"))
		return true;
	if (!*path)
		snprintf(path, sizeof path, "%s/.postgresql/root.crt", home ? home : "");
	/* The file of authorities is often a link. */
	if (!realpath(path, real) ||
	    rg_file_read_all(AT_FDCWD, real, AUTHORITIES_BYTES_MAX - 1, &text, &found, NULL) < 0)
		return false;
	rg_buf_add_char(&text, '\0');
	return found && !text.failed && strstr(text.data, "-----BEGIN ");
}

static bool is_good(const char *address, const char *sslmode)
{
	struct try try;

	begin_try(&try, address, sslmode);
	PQfinish(try.connection);
	return try.open;
}

/* Say what is wrong with TLS, by tries with one more check each. */
static int tell_tls(PGconn *connection, const char *address, struct roger_err *err)
{
	struct try bare;
	char sslmode[32];
	bool known;

	begin_try(&bare, address, "prefer");
	PQfinish(bare.connection);
	if (bare.no_tls)
		return fail_unreached(err,
				      "it does without TLS, which `store` asks for by sslmode; "
				      "switch ssl on there, or check the port");
	if (!bare.open)
		return fail_unreached(err,
				      "TLS cannot be agreed on; check that PostgreSQL answers at "
				      "this port, and which versions of TLS it takes");
	read_option(connection, "sslmode", sslmode, sizeof sslmode);
	known = has_authorities(connection);
	if (!known && strncmp(sslmode, "verify-", 7) == 0)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "store: the file of authorities is missing or holds no "
			       "certificate; check sslrootcert, PGSSLROOTCERT or "
			       "~/.postgresql/root.crt");
	if (known && !is_good(address, "verify-ca"))
		return fail_unreached(err,
				      "no authority of sslrootcert vouches for its certificate, "
				      "or the time of that is over; mend one of both");
	if (!strcmp(sslmode, "verify-full") && !is_good(address, sslmode))
		return fail_unreached(err,
				      "its certificate is for another host name; name the host in "
				      "`store` as the certificate does");
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "store: your own certificate is not usable; check sslcert and sslkey");
}

/* Say what the server answered, by its SQLSTATE. */
static int tell_state(const char *state, struct roger_err *err)
{
	if (!strncmp(state, "28", 2))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "PostgreSQL refuses the login; check role, password and "
			       "pg_hba.conf (%s)",
			       state);
	if (!strcmp(state, "3D000"))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "PostgreSQL has no database of this name; check `store`, or create "
			       "it (%s)",
			       state);
	if (!strcmp(state, "42501"))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "PostgreSQL does not let this role into the database; grant it "
			       "CONNECT (%s)",
			       state);
	if (!strncmp(state, "53", 2))
		return rg_fail(err, ROGER_EENGINE, 0,
			       "PostgreSQL has no room for one more connection; try again (%s)",
			       state);
	if (!strncmp(state, "57P", 3))
		return rg_fail(err, ROGER_EENGINE, 0,
			       "PostgreSQL is just starting or ending; try again (%s)", state);
	return rg_fail(err, ROGER_EENGINE, 0,
		       "PostgreSQL takes no connection; its log says why (%s)", state);
}

static bool is_on(const PGconn *connection, const char *name)
{
	const char *value = PQparameterStatus(connection, name);

	return value && !strcmp(value, "on");
}

static int tell_cause(const struct try *try, const char *address, struct roger_err *err)
{
	if (*try->state)
		return tell_state(try->state, err);
	if (!try->begun)
		return tell_not_begun(try, address, err);
	if (try->open && (is_on(try->connection, "in_hot_standby") ||
			  is_on(try->connection, "default_transaction_read_only")))
		return rg_fail(err, ROGER_EENGINE, 0,
			       "PostgreSQL is a standby that takes no changes; try again after "
			       "its promotion");
	if (try->open)
		return fail_unreached(err, "the connection broke off; try again");
	if (PQconnectionNeedsPassword(try->connection))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "PostgreSQL asks for a password and has got none; put it into "
			       "~/.pgpass");
	if (try->late)
		return rg_link_tell_late(err);
	if (try->step == CONNECTION_SSL_STARTUP)
		return tell_tls(try->connection, address, err);
	if (try->step == CONNECTION_STARTED || try->step == CONNECTION_NEEDED)
		return fail_unreached(err, "nobody answers at the host and port of `store`; check "
					   "both, and that it runs");
	return fail_unreached(err, "who answers there breaks off; check that it is PostgreSQL");
}

int rg_link_tell_late(struct roger_err *err)
{
	return fail_unreached(err, "no answer in time; check the host of `store` and the network");
}

int rg_link_tell_cause(const char *address, struct roger_err *err)
{
	struct try try;
	int r;

	begin_try(&try, address, NULL);
	r = try.connection ? tell_cause(&try, address, err) : rg_fail_memory(err);
	PQfinish(try.connection);
	return r;
}
