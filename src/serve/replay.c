/*
 * replay - keep answers for a while, by the Idempotency-Key of their requests.
 *
 * A client whose connection broke asks again with the same key, and gets the answer of the first
 * try; nothing is done twice.  The memory for answers is bounded, and a restart loses them.  So a
 * further try whose answer may have been lost hears that nobody knows, unless doing the verb
 * again changes nothing.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/sign.h"
#include "data/record.h"
#include "serve/serve.h"

enum {
	BUCKETS = 256,
	ANSWERS_MAX = 4096,
	BYTES_MAX = 32 << 20,
	KEPT_MS = 10 * 60 * 1000,
	/* How long a request may have been on its way since it said when it was first tried. */
	MARGIN_MS = 500,
};

struct serve_replay {
	LIST_ENTRY(serve_replay) in_bucket;
	TAILQ_ENTRY(serve_replay) by_age; /* the oldest is the first */
	char key[RG_DIGEST_DIGITS + 1], body[RG_DIGEST_DIGITS + 1];
	int64_t at_ms;
	bool done;
	int status;
	const char *type;
	struct rg_buf text;
};

struct serve_replays {
	LIST_HEAD(bucket, serve_replay) buckets[BUCKETS];
	TAILQ_HEAD(, serve_replay) all;
	size_t count, bytes;
	int64_t known_ms; /* answers from before this may have been forgotten */
};

/* -------------------------------------------------------------------- keeping -- */

static struct bucket *bucket_of(struct serve_replays *replays, const char *key)
{
	char digits[3] = { key[0], key[1], '\0' };

	return &replays->buckets[strtoul(digits, NULL, 16)];
}

static void drop_replay(struct serve_replays *replays, struct serve_replay *replay)
{
	LIST_REMOVE(replay, in_bucket);
	TAILQ_REMOVE(&replays->all, replay, by_age);
	replays->count--;
	replays->bytes -= replay->text.length;
	rg_buf_deinit(&replay->text);
	free(replay);
}

/* Drop old answers; unfinished requests stay. */
static void make_room(struct serve_replays *replays)
{
	struct serve_replay *replay, *later;
	const int64_t now = rg_clock_monotonic_ms();

	for (replay = TAILQ_FIRST(&replays->all); replay; replay = later) {
		later = TAILQ_NEXT(replay, by_age);
		if (replays->count <= ANSWERS_MAX && replays->bytes <= BYTES_MAX &&
		    now - replay->at_ms <= KEPT_MS)
			return;
		if (!replay->done)
			continue;
		if (replays->known_ms <= replay->at_ms)
			replays->known_ms = replay->at_ms + 1;
		drop_replay(replays, replay);
	}
}

static struct serve_replay *add_replay(struct serve_replays *replays, const char *key,
				       const char *body)
{
	struct serve_replay *replay = calloc(1, sizeof *replay);

	if (!replay)
		return NULL;
	make_room(replays);
	memcpy(replay->key, key, sizeof replay->key);
	memcpy(replay->body, body, sizeof replay->body);
	replay->at_ms = rg_clock_monotonic_ms();
	rg_buf_init(&replay->text, SIZE_MAX);
	LIST_INSERT_HEAD(bucket_of(replays, key), replay, in_bucket);
	TAILQ_INSERT_TAIL(&replays->all, replay, by_age);
	replays->count++;
	return replay;
}

static struct serve_replays *replays_of(struct serve *serve)
{
	if (!serve->replays) {
		serve->replays = calloc(1, sizeof *serve->replays);
		if (!serve->replays)
			return NULL;
		TAILQ_INIT(&serve->replays->all);
		serve->replays->known_ms = serve->began_ms;
	}
	return serve->replays;
}

/* -------------------------------------------------------------------- finding -- */

/* Make the key of an entry: another caller or verb with the same key has another entry. */
static void print_key(const struct serve_caller *caller, const struct roger_op *verb,
		      const char *key, char to[RG_DIGEST_DIGITS + 1])
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	rg_buf_printf(&text, "%d %s\n%s\n%s", (int)caller->right, caller->name, verb->name, key);
	rg_sha256_hex(rg_buf_str(&text), to);
}

/* A verb with a key of the workspace stores its message once, however often it is called. */
static bool has_keys(const struct roger_record *record)
{
	const struct roger_field *field;

	for (field = record->fields; field->name; field++)
		if ((field->flags & ROGER_KEY) ||
		    (field->kind == ROGER_RECORDS && has_keys(field->record)))
			return true;
	return false;
}

static bool may_be_forgotten(const struct serve_replays *replays, const struct roger_op *verb,
			     int64_t tried_ms)
{
	return (verb->flags & ROGER_WRITES) && tried_ms &&
	       rg_clock_monotonic_ms() - tried_ms < replays->known_ms + MARGIN_MS &&
	       !(verb->flags & ROGER_AGAIN) && !has_keys(verb->request);
}

enum serve_try serve_replay_find(struct serve *serve, const struct serve_caller *caller,
				 const struct roger_op *verb, const struct serve_tried *tried,
				 struct serve_replay **ret)
{
	struct serve_replays *replays = replays_of(serve);
	char key[RG_DIGEST_DIGITS + 1], body[RG_DIGEST_DIGITS + 1];
	struct serve_replay *replay;

	*ret = NULL;
	if (!replays)
		return SERVE_TRY_NEW;
	print_key(caller, verb, tried->key, key);
	rg_sha256_hex(tried->body, body);
	LIST_FOREACH(replay, bucket_of(replays, key), in_bucket)
	if (strcmp(replay->key, key) == 0)
		break;
	/* A new request with this key may get a better answer than an old error. */
	if (replay && replay->done && replay->status != 200 && !tried->since_ms) {
		drop_replay(replays, replay);
		replay = NULL;
	}
	if (!replay && !serve->keeps_answers && may_be_forgotten(replays, verb, tried->since_ms))
		return SERVE_TRY_FORGOTTEN;
	if (!replay) {
		*ret = add_replay(replays, key, body);
		return SERVE_TRY_NEW;
	}
	*ret = replay;
	return strcmp(replay->body, body) != 0 ? SERVE_TRY_OTHER
	       : replay->done		       ? SERVE_TRY_DONE
					       : SERVE_TRY_UNDER_WAY;
}

void serve_replay_name(struct serve_job *job, const struct serve_caller *caller,
		       const struct serve_tried *tried)
{
	if (!job->serve->keeps_answers || (job->verb->flags & ROGER_AGAIN) ||
	    has_keys(job->verb->request) || job->pool == SERVE_WAITS || job->pool == SERVE_SLOW)
		return;
	print_key(caller, job->verb, tried->key, job->key);
	rg_sha256_hex(tried->body, job->body);
}

void serve_replay_answer(const struct serve_replay *replay, struct serve_answer *answer)
{
	answer->status = replay->status;
	answer->type = replay->type;
	answer->replayed = true;
	rg_buf_clear(&answer->body);
	rg_buf_add_str(&answer->body, rg_buf_str(&replay->text));
}

void serve_replay_done(struct serve *serve, struct serve_replay *replay,
		       const struct serve_answer *answer)
{
	struct serve_replays *replays = serve->replays;

	if (replay->done)
		replays->bytes -= replay->text.length;
	if (answer)
		rg_buf_add_str(&replay->text, rg_buf_str(&answer->body));
	/* A request that was not begun can be tried as if for the first time. */
	if (!answer || replay->text.failed) {
		if (answer)
			replays->known_ms = rg_clock_monotonic_ms();
		replay->text.length = 0;
		drop_replay(replays, replay);
		return;
	}
	replay->done = true;
	replay->status = answer->status;
	replay->type = answer->type;
	replays->bytes += replay->text.length;
	make_room(replays);
}

void serve_replays_free(struct serve *serve)
{
	while (serve->replays && !TAILQ_EMPTY(&serve->replays->all))
		drop_replay(serve->replays, TAILQ_FIRST(&serve->replays->all));
	free(serve->replays);
	serve->replays = NULL;
}
