/*
 * head - refuse a request by its head alone, if its body is not worth reading.
 *
 * evhttp calls us only when a request is whole; until then it would keep up to 8 MiB of anybody who
 * can connect over TCP, and its own refusals are HTML.  So the bytes of a connection are looked at
 * as they come in (connection.c).  Once a head is whole and a body follows, it must pass the rules
 * that the request must pass later.  If not, it is answered at once, and the rest is thrown away,
 * up to a bound.
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "serve/serve.h"

/* Cut off the next line, ended with a NUL; NULL: there is none. */
static char *next_line(char **text)
{
	char *line = *text, *end = line ? strstr(line, "\r\n") : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 2;
	return line;
}

/* Read "POST /v1/send HTTP/1.1"; false: the method has no body, or evhttp refuses it itself. */
static bool read_request_line(char *line, struct evhttp_request *request)
{
	static const struct {
		const char *name;
		enum evhttp_cmd_type type;
	} methods[] = { { "POST ", EVHTTP_REQ_POST },
			{ "PUT ", EVHTTP_REQ_PUT },
			{ "PATCH ", EVHTTP_REQ_PATCH } };
	char *target = line ? strchr(line, ' ') : NULL, *rest = target ? strrchr(line, ' ') : NULL;
	size_t i = 0;

	while (i < 3 && target && strncmp(line, methods[i].name, strlen(methods[i].name)) != 0)
		i++;
	if (i == 3 || !rest || rest == target ||
	    sscanf(rest, " HTTP/%c.%c", &request->major, &request->minor) != 2)
		return false;
	*rest = '\0';
	request->type = methods[i].type;
	request->major = (char)(request->major - '0');
	request->minor = (char)(request->minor - '0');
	request->uri = strdup(target + 1);
	request->uri_elems = evhttp_uri_parse_with_flags(target + 1, EVHTTP_URI_NONCONFORMANT);
	return request->uri && request->uri_elems;
}

static bool read_fields(char *text, struct evhttp_request *request)
{
	struct evkeyvalq *fields = evhttp_request_get_input_headers(request);
	char *line, *colon;

	while ((line = next_line(&text)) && *line) {
		colon = strchr(line, ':');
		if (!colon)
			return false;
		*colon = '\0';
		if (evhttp_add_header(fields, line, colon + 1 + strspn(colon + 1, " \t")) < 0)
			return false;
	}
	return true;
}

static bool has_body(struct evhttp_request *request)
{
	const char *length = serve_header(request, "Content-Length");

	return serve_header(request, "Transfer-Encoding") ||
	       (length && strspn(length, "0") < strlen(length));
}

void serve_head_judge(struct serve_connection *connection)
{
	/* This request has no connection of evhttp's, so its answers go through
	 * serve_head_refuse(). */
	struct evhttp_request *request = evhttp_request_new(NULL, connection);
	char *text;
	bool odd = connection->raw.state == RG_RAW_ODD;

	if (!request)
		return;
	rg_buf_add_char(&connection->head, '\0');
	text = connection->head.data;
	if (connection->raw.chunks > connection->door->body_bytes_max)
		serve_refuse_length(connection, request);
	else if (!odd && text && !strstr(text, "\r\n\r\n"))
		serve_refuse(request, 431, "head", true, "expected a head of at most %d KiB",
			     SERVE_HEAD_BYTES_MAX >> 10);
	else if (odd || (!connection->head.failed && read_request_line(next_line(&text), request) &&
			 read_fields(text, request) && has_body(request)))
		serve_admit(connection, request);
	evhttp_request_free(request);
	rg_buf_deinit(&connection->head);
	rg_buf_init(&connection->head, SERVE_HEAD_KEPT_MAX);
}

void serve_head_refuse(struct evhttp_request *request, int status)
{
	struct serve_connection *connection = request->cb_arg;
	struct evbuffer *body = evhttp_request_get_output_buffer(request);
	struct evbuffer *input = bufferevent_get_input(connection->buffer);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct evkeyval *header;

	evhttp_remove_header(evhttp_request_get_output_headers(request), "Connection");
	rg_buf_printf(&text, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Length: %zu\r\n",
		      status, rg_http_reason(status), evbuffer_get_length(body));
	TAILQ_FOREACH(header, evhttp_request_get_output_headers(request), next)
	rg_buf_printf(&text, "%s: %s\r\n", header->key, header->value);
	rg_buf_add_text(&text, "\r\n");
	rg_buf_add(&text, evbuffer_pullup(body, -1), evbuffer_get_length(body));
	/* All earlier answers were sent, so the socket has room for one this short. */
	if (!text.failed)
		send(bufferevent_getfd(connection->buffer), text.data, text.length,
		     MSG_DONTWAIT | MSG_NOSIGNAL);
	connection->refused = true;
	evbuffer_drain(input, evbuffer_get_length(input));
}
