/*
 * serve - clients of `roger serve` at its socket, and the floor that they are measured against:
 *
 *     serve floor SOCKET FILE
 *     serve load SOCKET CLIENTS SECONDS TURNS_MAX    (0: as many as fit the time)
 *     serve keyed ...                                (the same, each send with a key)
 *     serve event SOCKET TURNS
 *
 * The floor is one thread: of all requests that are there in a turn, the bodies go out in one
 * write and one fdatasync, then each is answered.  It checks nothing and knows nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lanes.h"
#include "text.h"

enum { CLIENTS_MAX = 1024, BYTES_MAX = 16 << 10, CONTENT_BYTES = 125, SPANS_MAX = 1 << 20 };

/* One connection, at either end. */
struct end {
	int socket;
	size_t got;
	int64_t asked_ns;
	char data[BYTES_MAX + 1];
};

static int open_socket(const char *path, bool listens)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct sockaddr *at = (const struct sockaddr *)&address;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (made < 0 || (listens ? bind(made, at, sizeof address) < 0 || listen(made, 128) < 0
				 : connect(made, at, sizeof address) < 0))
		bench_die("socket %s: %s", path, strerror(errno));
	return made;
}

static void watch(int epoll, struct end *end)
{
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, end->socket,
		      &(struct epoll_event){ .events = EPOLLIN, .data.ptr = end }) < 0)
		bench_die("epoll: %s", strerror(errno));
}

static struct end *new_end(int socket)
{
	struct end *end = calloc(1, sizeof *end);

	if (!end || socket < 0)
		bench_die("a connection: %s", strerror(errno));
	end->socket = socket;
	return end;
}

/* What came now; false: the other end hung up. */
static bool take(struct end *end)
{
	ssize_t n;

	if (end->got == BYTES_MAX)
		end->got = 0;
	n = recv(end->socket, end->data + end->got, BYTES_MAX - end->got, 0);
	if (n <= 0)
		return false;
	end->got += (size_t)n;
	end->data[end->got] = '\0';
	return true;
}

/* The body of a message that is all there, up to *ret_end; else NULL. */
static const char *find_body(const struct end *end, const char **ret_end)
{
	const char *body = strstr(end->data, "\r\n\r\n");
	const char *length = body ? strcasestr(end->data, "Content-Length: ") : NULL;

	if (!length || length > body)
		return NULL;
	body += 4;
	*ret_end = body + strtoul(length + strlen("Content-Length: "), NULL, 10);
	return *ret_end <= end->data + end->got ? body : NULL;
}

static void put(int to, const char *data, size_t length)
{
	if (write(to, data, length) != (ssize_t)length)
		bench_die("write: %s", strerror(errno));
}

/* --------------------------------------------------------------- the floor -- */

static void answer(const struct end *end)
{
	/* As long as roger's. */
	static const char head[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Content-Type-Options: "
		"nosniff\r\nCache-Control: no-store\r\nDate: Sun, 01 Jan 2023 00:00:00 GMT\r\n"
		"Content-Length: 300\r\n\r\n";
	char text[sizeof head + 300];

	memcpy(text, head, sizeof head - 1);
	memset(text + sizeof head - 1, 'x', 300);
	put(end->socket, text, sizeof head - 1 + 300);
}

static _Noreturn void run_floor(const char *path, const char *file_path)
{
	static char lines[CLIENTS_MAX * BYTES_MAX];
	struct end *door = new_end(open_socket(path, true)), *ready[CLIENTS_MAX], *end;
	struct epoll_event events[CLIENTS_MAX];
	int file = open(file_path, O_WRONLY | O_CREAT | O_APPEND, 0600), epoll = epoll_create1(0);
	const char *body, *body_end;
	size_t bytes, count, i;
	int n, k;

	for (watch(epoll, door);;) {
		n = epoll_wait(epoll, events, CLIENTS_MAX, -1);
		bytes = count = 0;
		for (k = 0; k < n; k++) {
			end = events[k].data.ptr;
			if (end == door) {
				watch(epoll, new_end(accept(door->socket, NULL, NULL)));
			} else if (!take(end)) {
				close(end->socket);
				free(end);
			} else if ((body = find_body(end, &body_end))) {
				memcpy(lines + bytes, body, (size_t)(body_end - body));
				bytes += (size_t)(body_end - body);
				lines[bytes++] = '\n';
				end->got = 0;
				ready[count++] = end;
			}
		}
		if (!count)
			continue;
		put(file, lines, bytes);
		if (fdatasync(file) < 0)
			bench_die("sync: %s", strerror(errno));
		for (i = 0; i < count; i++)
			answer(ready[i]);
	}
}

/* ------------------------------------------------------------- the clients -- */

static bool keyed;

static void ask(struct end *end, unsigned number, struct bench_text *text)
{
	char body[512], request[1024], key[64] = "";
	int length;

	if (keyed)
		snprintf(key, sizeof key, ",\"key\":\"k-%u-%lld\"", number,
			 (long long)bench_now_ns());
	length = snprintf(body, sizeof body,
			  "{\"from\":\"w%u\",\"to\":[\"r%u\"],\"content\":\"%.*s\"%s}", number,
			  number, CONTENT_BYTES, bench_text_next(text, CONTENT_BYTES), key);
	length = snprintf(request, sizeof request,
			  "POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
			  "application/json\r\nContent-Length: %d\r\n\r\n%s",
			  length, body);
	end->got = 0;
	end->asked_ns = bench_now_ns();
	put(end->socket, request, (size_t)length);
}

/* Has all of the answer come?  It has to be a good one. */
static bool is_answered(struct end *end)
{
	const char *ignored;

	if (!take(end))
		bench_die("the server hung up");
	if (!find_body(end, &ignored))
		return false;
	if (strncmp(end->data, "HTTP/1.1 200", 12) != 0)
		bench_die("the server answered: %s", end->data);
	return true;
}

static void run_load(const char *path, unsigned clients, double seconds, size_t turns_max)
{
	static uint32_t spans[SPANS_MAX];
	struct bench_text *text = bench_text_new(1);
	struct end *ends[CLIENTS_MAX], *end;
	struct epoll_event events[CLIENTS_MAX];
	int epoll = epoll_create1(0), n, k;
	int64_t start_ns, until_ns, now_ns;
	size_t turns = 0, asked = clients, open = clients;
	unsigned i;

	for (i = 0; i < clients; i++)
		watch(epoll, ends[i] = new_end(open_socket(path, false)));
	start_ns = bench_now_ns();
	until_ns = start_ns + (int64_t)(seconds * 1e9);
	for (i = 0; i < clients; i++)
		ask(ends[i], i, text);
	while (open) {
		n = epoll_wait(epoll, events, CLIENTS_MAX, -1);
		for (k = 0; k < n; k++) {
			end = events[k].data.ptr;
			if (!is_answered(end))
				continue;
			now_ns = bench_now_ns();
			spans[turns++ % SPANS_MAX] = (uint32_t)(now_ns - end->asked_ns);
			for (i = 0; ends[i] != end; i++)
				;
			if (now_ns < until_ns && (!turns_max || asked < turns_max)) {
				ask(end, i, text);
				asked++;
			} else {
				open--;
			}
		}
	}
	printf("turns %zu seconds %.6f ", turns, (double)(bench_now_ns() - start_ns) / 1e9);
	bench_print_spans("", spans, turns < SPANS_MAX ? turns : SPANS_MAX);
}

/* From the answer to a send until a stream of events has it: 0, if that is first. */
static void run_event(const char *path, size_t turns)
{
	static const char asks[] = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct end *sender = new_end(open_socket(path, false));
	struct end *stream = new_end(open_socket(path, false));
	struct bench_text *text = bench_text_new(1);
	uint32_t *answers = calloc(turns + 1, sizeof *answers);
	uint32_t *events = calloc(turns + 1, sizeof *events);
	int64_t answered_ns, seen_ns;
	size_t i;

	put(stream->socket, asks, sizeof asks - 1);
	while (!strstr(stream->data, "event: open"))
		take(stream);
	for (i = 0; i < turns; i++) {
		stream->got = 0;
		*stream->data = '\0';
		ask(sender, 0, text);
		while (!is_answered(sender))
			;
		answered_ns = bench_now_ns();
		while (!strstr(stream->data, "event: message"))
			if (!take(stream))
				bench_die("the stream ended");
		seen_ns = bench_now_ns();
		answers[i] = (uint32_t)(answered_ns - sender->asked_ns);
		events[i] = (uint32_t)(seen_ns - answered_ns);
		bench_pause_us(3000);
	}
	bench_print_spans("answer", answers, turns);
	bench_print_spans("event", events, turns);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "floor") == 0)
		run_floor(argv[2], argv[3]);
	else if (argc == 6 &&
		 (strcmp(argv[1], "load") == 0 || (keyed = strcmp(argv[1], "keyed") == 0)))
		run_load(argv[2], (unsigned)bench_number(argv[3]), bench_seconds(argv[4]),
			 bench_number(argv[5]));
	else if (argc == 4 && strcmp(argv[1], "event") == 0)
		run_event(argv[2], bench_number(argv[3]));
	else
		bench_die("usage: serve floor|load|keyed|event SOCKET ...");
	return 0;
}
