/* Sockets: a unix socket for this user, TCP, and those that a service manager passes. */
#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/session.h"

enum { FIRST_PASSED_FD = 3, PASSED_MAX = 16, BACKLOG = 128 };

/* -------------------------------------------------------------------- doors -- */

/* There are no more descriptors: new clients wait until the next tick. */
static void on_accept_error(struct evconnlistener *listener, void *http)
{
	(void)http;
	serve_is_crowded = true;
	evconnlistener_disable(listener);
}

/* Serve whoever connects to fd, which is closed with the door. */
static int open_door(struct serve *serve, int fd, bool local, struct roger_err *err)
{
	struct serve_door *door = calloc(1, sizeof *door);

	if (!door) {
		close(fd);
		return rg_fail_memory(err);
	}
	*door = (struct serve_door){ .next = serve->doors,
				     .serve = serve,
				     .local = local,
				     .body_bytes_max = local ? SERVE_BODY_BYTES_MAX
							     : SERVE_BODY_BYTES_MAX_TCP };
	serve->doors = door;
	door->http = evhttp_new(serve->base);
	door->listener =
		evconnlistener_new(serve->base, NULL, NULL,
				   LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, BACKLOG, fd);
	if (!door->http || !door->listener || !evhttp_bind_listener(door->http, door->listener))
		return rg_fail(err, ROGER_EIO, errno, "listen");
	evconnlistener_set_error_cb(door->listener, on_accept_error);
	evhttp_set_bevcb(door->http, serve_connection_new, door);
	/* All, also those that HTTP does not know: evhttp would refuse them in HTML. */
	evhttp_set_allowed_methods(door->http, UINT16_MAX);
	/* Larger than what is refused here first. */
	evhttp_set_max_headers_size(door->http, 2 * SERVE_HEAD_BYTES_MAX);
	evhttp_set_max_body_size(door->http, (ssize_t)door->body_bytes_max);
	evhttp_set_timeout(door->http, SERVE_IDLE_MS / 1000);
	evhttp_set_gencb(door->http, serve_on_request, door);
	return ROGER_OK;
}

/* -------------------------------------------------------------- unix socket -- */

int serve_own_folder(bool session, char to[4096], struct roger_err *err)
{
	struct stat is;
	int r = rg_session_make_folder(session, to, err);

	if (r < 0)
		return r;
	if (stat(to, &is) < 0 || is.st_uid != geteuid() || (is.st_mode & 077))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%s' is not a folder that is yours alone; expected mode 0700", to);
	return ROGER_OK;
}

int serve_socket_path(const struct rg_serve_request *options, const char *workspace, char to[4200],
		      struct roger_err *err)
{
	char folder[4096];
	int r;

	if (options->socket.length) {
		snprintf(to, 4200, "%.*s", RG_STR_ARGS(options->socket));
		return ROGER_OK;
	}
	r = serve_own_folder(true, folder, err);
	return r == ROGER_OK ? rg_session_socket(workspace, to, err) : r;
}

/* Remove the socket of a server that was killed: it is in the way of the next one. */
static int clear_path(const struct sockaddr_un *address, struct roger_err *err)
{
	struct stat is;
	bool answers;
	int fd;

	if (lstat(address->sun_path, &is) < 0)
		return ROGER_OK;
	if (!S_ISSOCK(is.st_mode) || is.st_uid != geteuid())
		return rg_fail(err, ROGER_ECREATE, 0, "'%s' is there, and no socket of yours",
			       address->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	answers = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
	if (fd >= 0)
		close(fd);
	if (answers)
		return rg_fail(err, ROGER_ECREATE, 0, "another server answers at '%s'",
			       address->sun_path);
	unlink(address->sun_path);
	return ROGER_OK;
}

int serve_listen_local(struct serve *serve, const char *workspace, struct roger_err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[4200];
	int fd, r;

	r = serve_socket_path(serve->options, workspace, path, err);
	if (r < 0)
		return r;
	if (strlen(path) >= sizeof address.sun_path)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "'%s' is too long for a socket; give a shorter --socket PATH", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	r = clear_path(&address, err);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The program's umask is 077, so nobody else may connect, from the first moment on. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
	    chmod(path, 0600) < 0 || listen(fd, BACKLOG) < 0) {
		r = rg_fail(err, ROGER_ECREATE, errno, "listen at '%s'", path);
		if (fd >= 0)
			close(fd);
		return r;
	}
	memcpy(serve->socket_path, path, strlen(path) + 1);
	serve->made_socket = true;
	return open_door(serve, fd, true, err);
}

/* ---------------------------------------------------------------------- TCP -- */

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_storage room;
};

static bool is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->four.sin_addr.s_addr) >> 24 == 127;
	return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address->six.sin6_addr);
}

static int check_address(const struct serve *serve, const union address *address,
			 struct roger_err *err)
{
	if (is_loopback(address) || serve->options->behind_proxy.count)
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, "listen",
			      "listen: others could read what is sent to an address that is not of "
			      "the loopback; listen on 127.0.0.1, or give --behind-proxy HOST for "
			      "the proxy with TLS in front of it");
}

/* Read "127.0.0.1:8484" or "[::1]:8484"; port 0 is any. */
static bool parse_address(char *words, union address *ret)
{
	char *colon = strrchr(words, ':');
	int64_t port;

	memset(ret, 0, sizeof *ret);
	if (!colon || !rg_str_number(rg_str(colon + 1), &port) || port > 65535)
		return false;
	*colon = '\0';
	if (words[0] == '[' && colon > words && colon[-1] == ']') {
		colon[-1] = '\0';
		ret->six.sin6_family = AF_INET6;
		ret->six.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, words + 1, &ret->six.sin6_addr) == 1;
	}
	ret->four.sin_family = AF_INET;
	ret->four.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, words, &ret->four.sin_addr) == 1;
}

static int read_address(struct roger_str text, union address *ret, struct roger_err *err)
{
	char words[128];

	snprintf(words, sizeof words, "%.*s", RG_STR_ARGS(text));
	if (text.length < sizeof words && parse_address(words, ret))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, "listen",
			      "listen: expected ADDRESS:PORT, such as 127.0.0.1:8484 or "
			      "[::1]:8484");
}

/* Note the address for a browser: that of the proxy, or ours.  The first address counts. */
static void note_url(struct serve *serve, const union address *address)
{
	bool four = address->any.sa_family == AF_INET;
	char words[INET6_ADDRSTRLEN] = "";

	if (serve->port)
		return;
	serve->port = ntohs(four ? address->four.sin_port : address->six.sin6_port);
	inet_ntop(address->any.sa_family,
		  four ? (const void *)&address->four.sin_addr
		       : (const void *)&address->six.sin6_addr,
		  words, sizeof words);
	if (serve->hosts[0])
		snprintf(serve->url, sizeof serve->url, "https://%s", serve->hosts[0]);
	else
		snprintf(serve->url, sizeof serve->url, four ? "http://%s:%d" : "http://[%s]:%d",
			 words, serve->port);
}

static int listen_tcp(struct serve *serve, struct roger_err *err)
{
	const int yes = 1;
	union address address;
	socklen_t length;
	int fd, r;

	r = read_address(serve->options->listen, &address, err);
	if (r == ROGER_OK)
		r = check_address(serve, &address, err);
	if (r < 0)
		return r;
	length = address.any.sa_family == AF_INET ? sizeof address.four : sizeof address.six;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
	    bind(fd, &address.any, length) < 0 || listen(fd, BACKLOG) < 0) {
		r = rg_fail(err, ROGER_ECREATE, errno, "listen on '%.*s'%s",
			    RG_STR_ARGS(serve->options->listen),
			    errno == EADDRINUSE ? "; give another port with --listen" : "");
		if (fd >= 0)
			close(fd);
		return r;
	}
	length = sizeof address;
	getsockname(fd, &address.any, &length);
	note_url(serve, &address);
	return open_door(serve, fd, false, err);
}

/* ------------------------------------------------------- from a service manager -- */

/* The number of sockets that a service manager passed. */
static int count_passed(void)
{
	const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int64_t id, fds;

	if (!process || !count || !rg_str_number(rg_str(process), &id) || id != getpid() ||
	    !rg_str_number(rg_str(count), &fds) || fds > PASSED_MAX)
		return 0;
	return (int)fds;
}

static int take_passed(struct serve *serve, int fd, struct roger_err *err)
{
	union address address = { 0 };
	socklen_t length = sizeof address;
	int r;

	if (getsockname(fd, &address.any, &length) < 0)
		return rg_fail(err, ROGER_EUSAGE, errno, "LISTEN_FDS: descriptor %d", fd);
	if (address.any.sa_family != AF_UNIX) {
		r = check_address(serve, &address, err);
		if (r < 0)
			return r;
		note_url(serve, &address);
	}
	evutil_make_socket_nonblocking(fd);
	evutil_make_socket_closeonexec(fd);
	return open_door(serve, fd, address.any.sa_family == AF_UNIX, err);
}

int serve_listen(struct serve *serve, const char *workspace, struct roger_err *err)
{
	int count = count_passed(), i, r = ROGER_OK;

	for (i = 0; i < count && r == ROGER_OK; i++)
		r = take_passed(serve, FIRST_PASSED_FD + i, err);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	if (r == ROGER_OK && !count)
		r = serve_listen_local(serve, workspace, err);
	if (r == ROGER_OK && serve->options->listen.length)
		r = listen_tcp(serve, err);
	return r;
}

void serve_listen_end(struct serve *serve)
{
	struct serve_door *door;

	if (serve->made_socket)
		unlink(serve->socket_path);
	/* evhttp_free() frees the listener, too. */
	for (door = serve->doors; door; door = door->next)
		if (door->http)
			evhttp_free(door->http);
	serve_connections_end(serve);
	while ((door = serve->doors)) {
		serve->doors = door->next;
		free(door);
	}
}

void serve_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length < 2 || length >= sizeof address.sun_path)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	memcpy(address.sun_path, path, length);
	/* An abstract name begins with '@' here, and with a NUL in the address. */
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}
