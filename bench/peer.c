#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lanes.h"

enum { HEAD_BYTES_MAX = 512, ANSWER_LINES = 8 /* of roger serve: seven of head */ };

struct bench_peer {
	int socket;
	size_t message_bytes_max;
	char request[];
};

struct bench_peer *bench_peer_open(uint16_t port, size_t message_bytes_max)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct bench_peer *peer = malloc(sizeof *peer + HEAD_BYTES_MAX + message_bytes_max + 2);
	int on = 1;

	if (!peer)
		bench_die("out of memory");
	peer->message_bytes_max = message_bytes_max;
	peer->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(peer->socket, (struct sockaddr *)&address, sizeof address) != 0)
		bench_die("connect to port %u: %s", port, strerror(errno));
	setsockopt(peer->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return peer;
}

void bench_peer_close(struct bench_peer *peer)
{
	if (!peer)
		return;
	close(peer->socket);
	free(peer);
}

/* Send the first `total` bytes of the request buffer, read `lines` lines of answer, and check how
 * it starts. */
static const char *ask(struct bench_peer *peer, size_t total, const char *expected, size_t lines)
{
	static char answer[1024];
	size_t got = 0, seen = 0, i;
	ssize_t n;

	if (send(peer->socket, peer->request, total, MSG_NOSIGNAL) != (ssize_t)total)
		bench_die("send to peer: %s", strerror(errno));
	while (seen < lines) {
		n = recv(peer->socket, answer + got, sizeof answer - 1 - got, 0);
		if (n <= 0)
			bench_die("the peer hung up");
		for (i = got; i < got + (size_t)n; i++)
			seen += answer[i] == '\n';
		got += (size_t)n;
	}
	answer[got] = '\0';
	if (strncmp(answer, expected, strlen(expected)) != 0)
		bench_die("the peer answered: %s", answer);
	return answer;
}

/* Append the message to the head that is already in the request buffer, and send both. */
static void put(struct bench_peer *peer, int head_bytes, const char *data, size_t length,
		const char *expected)
{
	if (length > peer->message_bytes_max)
		bench_die("a message of %zu bytes is too long", length);
	memcpy(peer->request + head_bytes, data, length);
	memcpy(peer->request + head_bytes + length, "\r\n", 2);
	ask(peer, (size_t)head_bytes + length + 2, expected, 1);
}

void bench_peer_lpush(struct bench_peer *peer, unsigned list, const char *data, size_t length)
{
	char name[16];
	int name_bytes = snprintf(name, sizeof name, "q%u", list);
	int head_bytes =
		snprintf(peer->request, HEAD_BYTES_MAX,
			 "*3\r\n$5\r\nLPUSH\r\n$%d\r\n%s\r\n$%zu\r\n", name_bytes, name, length);

	put(peer, head_bytes, data, length, ":");
}

void bench_peer_put(struct bench_peer *peer, const char *data, size_t length)
{
	int head_bytes = snprintf(peer->request, HEAD_BYTES_MAX, "put 0 0 60 %zu\r\n", length);

	put(peer, head_bytes, data, length, "INSERTED");
}

void bench_peer_send(struct bench_peer *peer, const char *token, const char *from, const char *to,
		     const char *data, size_t length)
{
	static const char body[] = "{\"from\":\"%s\",\"to\":[\"%s\"],\"content\":\"%.*s\"}";
	int body_bytes = snprintf(NULL, 0, body, from, to, (int)length, data);
	int bytes =
		snprintf(peer->request, HEAD_BYTES_MAX + peer->message_bytes_max,
			 "POST /v1/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
			 "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n",
			 token, body_bytes);

	bytes += snprintf(peer->request + bytes,
			  HEAD_BYTES_MAX + peer->message_bytes_max - (size_t)bytes, body, from, to,
			  (int)length, data);
	/* The answer's body is the one line that begins so. */
	if (!strstr(ask(peer, (size_t)bytes, "HTTP/1.1 200", ANSWER_LINES), "\n{"))
		bench_die("the server's answer has no body");
}

void bench_peer_take_redis(struct bench_peer *peer, unsigned list, unsigned worker)
{
	char *request = peer->request;
	const char *data;
	int head_bytes;
	size_t length;

	head_bytes =
		snprintf(request, HEAD_BYTES_MAX, "LMOVE q%u taken%u RIGHT LEFT\r\n", list, worker);
	data = strchr(ask(peer, (size_t)head_bytes, "$", 2), '\n') + 1;
	length = strcspn(data, "\r");
	head_bytes = snprintf(request, HEAD_BYTES_MAX,
			      "*4\r\n$4\r\nLREM\r\n$%d\r\ntaken%u\r\n$1\r\n1\r\n$%zu\r\n",
			      snprintf(NULL, 0, "taken%u", worker), worker, length);
	put(peer, head_bytes, data, length, ":1");
}

void bench_peer_take_beanstalkd(struct bench_peer *peer)
{
	char *request = peer->request;
	unsigned long long id;
	int bytes;

	bytes = snprintf(request, HEAD_BYTES_MAX, "reserve-with-timeout 0\r\n");
	id = strtoull(ask(peer, (size_t)bytes, "RESERVED ", 2) + strlen("RESERVED "), NULL, 10);
	bytes = snprintf(request, HEAD_BYTES_MAX, "delete %llu\r\n", id);
	ask(peer, (size_t)bytes, "DELETED", 1);
}
