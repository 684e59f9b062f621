/*
 * watch - to sleep until something is stored: the server's stream of events.
 *
 * What an event says is not looked at; whoever is woken asks.  Where there is no stream,
 * or it broke, whoever sleeps does so to the end of its time and looks then.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "remote/remote.h"

enum { POLL_MS = 1000, OPEN_MS = 3000, AGAIN_MS = 1000 };

struct remote_watch {
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	bool running, open;
	uint32_t seen;	/* events so far */
	char line[256]; /* of the stream, as far as it is here */
	size_t length;
	char last[160]; /* where it goes on after a break: "Last-Event-ID: ID" */
	int64_t begun_ns;
};

static bool begins(const struct remote_watch *watch, const char *with)
{
	return strncmp(watch->line, with, strlen(with)) == 0;
}

static void take_line(struct remote_watch *watch)
{
	watch->line[watch->length] = '\0';
	if (begins(watch, "id: ") && watch->length < 100) {
		memcpy(watch->last, "Last-Event-ID: ", 15);
		memcpy(watch->last + 15, watch->line + 4, watch->length - 3);
	} else if (begins(watch, "event: open")) {
		watch->open = true;
	} else if (begins(watch, "event: message") || begins(watch, "event: reset")) {
		watch->seen++;
	}
	watch->length = 0;
}

static size_t take(char *data, size_t size, size_t count, void *watch_)
{
	struct remote_watch *watch = watch_;
	size_t i;

	for (i = 0; i < size * count; i++)
		if (data[i] == '\n')
			take_line(watch);
		else if (data[i] && watch->length < sizeof watch->line - 1)
			watch->line[watch->length++] = data[i];
	return size * count;
}

struct remote_watch *remote_watch_free(struct remote_watch *watch)
{
	if (!watch)
		return NULL;
	if (watch->multi && watch->curl)
		curl_multi_remove_handle(watch->multi, watch->curl);
	curl_easy_cleanup(watch->curl);
	curl_multi_cleanup(watch->multi);
	curl_slist_free_all(watch->headers);
	free(watch);
	return NULL;
}

static struct remote_watch *new_watch(struct roger *roger)
{
	struct remote_watch *watch = calloc(1, sizeof *watch);
	char url[REMOTE_URL_BYTES + 40];

	if (!watch)
		return NULL;
	watch->multi = curl_multi_init();
	watch->curl = remote_curl_new(roger);
	if (!watch->multi || !watch->curl)
		return remote_watch_free(watch);
	snprintf(url, sizeof url, "%s/v1/events",
		 *roger->place.socket ? "http://localhost" : roger->place.name);
	curl_easy_setopt(watch->curl, CURLOPT_URL, url);
	curl_easy_setopt(watch->curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(watch->curl, CURLOPT_WRITEDATA, watch);
	curl_easy_setopt(watch->curl, CURLOPT_FAILONERROR, 1L);
	/* The server says something every 15 seconds. */
	curl_easy_setopt(watch->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(watch->curl, CURLOPT_LOW_SPEED_TIME, 60L);
	return watch;
}

static void begin(struct remote_watch *watch)
{
	curl_slist_free_all(watch->headers);
	watch->headers = *watch->last ? curl_slist_append(NULL, watch->last) : NULL;
	watch->length = 0;
	watch->open = *watch->last;
	watch->begun_ns = rg_clock_monotonic_ns();
	curl_easy_setopt(watch->curl, CURLOPT_HTTPHEADER, watch->headers);
	watch->running = curl_multi_add_handle(watch->multi, watch->curl) == CURLM_OK;
}

/* Let come what comes, for so long at most. */
static void step(struct remote_watch *watch, int64_t wait_ms)
{
	int running = 0;

	if (!watch->running &&
	    rg_clock_monotonic_ns() - watch->begun_ns > AGAIN_MS * INT64_C(1000000))
		begin(watch);
	if (!watch->running) {
		rg_clock_sleep(wait_ms);
		return;
	}
	curl_multi_poll(watch->multi, NULL, 0, (int)wait_ms, NULL);
	curl_multi_perform(watch->multi, &running);
	if (running)
		return;
	curl_multi_remove_handle(watch->multi, watch->curl);
	watch->running = false;
}

bool remote_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms)
{
	int64_t until_ns = rg_clock_monotonic_ns() + (timeout_ms ? timeout_ms : OPEN_MS) * 1000000;
	const uint32_t before = *mark;
	struct remote_watch *watch = roger->watch;

	if (!watch) {
		watch = roger->watch = new_watch(roger);
		if (watch)
			begin(watch);
	}
	while (watch && !remote_is_interrupted() && rg_clock_monotonic_ns() < until_ns &&
	       (timeout_ms ? watch->seen == before : watch->running && !watch->open))
		step(watch, POLL_MS);
	if (!watch && timeout_ms)
		rg_clock_sleep(timeout_ms < AGAIN_MS ? timeout_ms : AGAIN_MS);
	*mark = watch ? watch->seen : before;
	return *mark != before;
}
