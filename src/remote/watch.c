/*
 * watch - sleep until something is stored, by the server's stream of events.
 *
 * What an event says is not used: it wakes the caller, who asks.  If there is no stream, or it
 * broke, the caller sleeps to the end of its time and asks then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "remote/remote.h"

enum { POLL_MS = 1000, OPEN_MS = 3000, AGAIN_MS = 1000 };

struct remote_watch {
	void *stream; /* NULL: none */
	bool open;
	uint32_t seen;	/* events so far */
	char line[256]; /* the line of the stream that has come so far */
	size_t length;
	char last[160]; /* the place to go on from after a break: "Last-Event-ID: ID" */
	int64_t begun_ns;
};

static bool line_begins(const struct remote_watch *watch, const char *with)
{
	return strncmp(watch->line, with, strlen(with)) == 0;
}

static void take_line(struct remote_watch *watch)
{
	watch->line[watch->length] = '\0';
	if (line_begins(watch, "id: ") && watch->length < 100) {
		memcpy(watch->last, "Last-Event-ID: ", 15);
		memcpy(watch->last + 15, watch->line + 4, watch->length - 3);
	} else if (line_begins(watch, "event: open")) {
		watch->open = true;
	} else if (line_begins(watch, "event: message") || line_begins(watch, "event: reset")) {
		watch->seen++;
	}
	watch->length = 0;
}

void remote_watch_take(struct remote_watch *watch, const char *data, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (data[i] == '\n')
			take_line(watch);
		else if (data[i] && watch->length < sizeof watch->line - 1)
			watch->line[watch->length++] = data[i];
}

struct remote_watch *remote_watch_free(struct remote *remote)
{
	struct remote_watch *watch = remote->watch;

	if (watch && watch->stream)
		remote->wire->end(watch->stream);
	free(watch);
	remote->watch = NULL;
	return NULL;
}

static void begin_stream(struct remote *remote, struct remote_watch *watch)
{
	watch->length = 0;
	watch->open = *watch->last;
	watch->begun_ns = rg_clock_monotonic_ns();
	watch->stream = remote->wire->stream(remote, watch->last);
}

static void step_stream(struct remote *remote, struct remote_watch *watch, int64_t wait_ms)
{
	if (!watch->stream &&
	    rg_clock_monotonic_ns() - watch->begun_ns > AGAIN_MS * INT64_C(1000000))
		begin_stream(remote, watch);
	if (!watch->stream) {
		rg_clock_sleep(wait_ms);
	} else if (!remote->wire->step(watch->stream, watch, wait_ms)) {
		remote->wire->end(watch->stream);
		watch->stream = NULL;
	}
}

bool remote_watch(struct remote *remote, uint32_t *mark, int64_t timeout_ms)
{
	int64_t until_ns = rg_clock_monotonic_ns() + (timeout_ms ? timeout_ms : OPEN_MS) * 1000000;
	const uint32_t before = *mark;
	struct remote_watch *watch = remote->watch;

	if (!watch) {
		watch = remote->watch = calloc(1, sizeof *watch);
		if (watch)
			begin_stream(remote, watch);
	}
	while (watch && !remote_is_interrupted() && rg_clock_monotonic_ns() < until_ns &&
	       (timeout_ms ? watch->seen == before : watch->stream && !watch->open))
		step_stream(remote, watch, POLL_MS);
	if (!watch && timeout_ms)
		rg_clock_sleep(timeout_ms < AGAIN_MS ? timeout_ms : AGAIN_MS);
	*mark = watch ? watch->seen : before;
	return *mark != before;
}
