/* stream - the server's events over libcurl. */
#include <stdio.h>
#include <stdlib.h>

#include "remote/curl/curl.h"

struct stream {
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	struct remote_watch *watch; /* of the current step */
};

static size_t take_events(char *data, size_t size, size_t count, void *stream_)
{
	const struct stream *stream = stream_;

	if (stream->watch)
		remote_watch_take(stream->watch, data, size * count);
	return size * count;
}

void remote_curl_end(void *stream_)
{
	struct stream *stream = stream_;

	if (stream->multi && stream->curl)
		curl_multi_remove_handle(stream->multi, stream->curl);
	curl_easy_cleanup(stream->curl);
	curl_multi_cleanup(stream->multi);
	curl_slist_free_all(stream->headers);
	free(stream);
}

void *remote_curl_begin(struct remote *remote, const char *last)
{
	struct stream *stream = calloc(1, sizeof *stream);
	char url[REMOTE_URL_BYTES + 40];

	if (!stream)
		return NULL;
	stream->multi = curl_multi_init();
	stream->curl = remote_curl_new(remote);
	if (!stream->multi || !stream->curl) {
		remote_curl_end(stream);
		return NULL;
	}
	snprintf(url, sizeof url, "%s/v1/events",
		 *remote->place->socket ? "http://localhost" : remote->place->name);
	curl_easy_setopt(stream->curl, CURLOPT_URL, url);
	curl_easy_setopt(stream->curl, CURLOPT_WRITEFUNCTION, take_events);
	curl_easy_setopt(stream->curl, CURLOPT_WRITEDATA, stream);
	curl_easy_setopt(stream->curl, CURLOPT_FAILONERROR, 1L);
	/* The server sends something every 15 seconds. */
	curl_easy_setopt(stream->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(stream->curl, CURLOPT_LOW_SPEED_TIME, 60L);
	stream->headers = *last ? curl_slist_append(NULL, last) : NULL;
	curl_easy_setopt(stream->curl, CURLOPT_HTTPHEADER, stream->headers);
	if (curl_multi_add_handle(stream->multi, stream->curl) == CURLM_OK)
		return stream;
	remote_curl_end(stream);
	return NULL;
}

bool remote_curl_step(void *stream_, struct remote_watch *watch, int64_t wait_ms)
{
	struct stream *stream = stream_;
	int running = 0;

	stream->watch = watch;
	curl_multi_poll(stream->multi, NULL, 0, (int)wait_ms, NULL);
	curl_multi_perform(stream->multi, &running);
	return running;
}
