/* Threads that call verbs, and answers while one of them is still at work. */
#include "serve/serve.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cli/term.h"

/* Threads, and requests that may wait for one.  Each caller that waits for mail has a thread. */
static const struct {
	size_t threads, queue;
} sizes[SERVE_POOLS] = { { 4, 256 }, { 2, 32 }, { 3, 0 }, { SERVE_CONNECTIONS_MAX, 0 } };

/* How long a thread appends sends for one sync. */
enum { TURN_MS = 20 };
enum { LATE_MS = 500 };

static size_t threads_of(const struct serve_pool *pool)
{
	return pool->serve->keeps_answers && pool->kind == SERVE_QUICK ? SERVE_GATHERING
								       : sizes[pool->kind].threads;
}

static struct serve_job *refuse_memory(struct evhttp_request *http)
{
	if (http)
		serve_refuse(http, 503, "memory", false, "out of memory; try again");
	return NULL;
}

struct serve_job *serve_job_new(struct serve *serve, const struct roger_op *verb,
				struct evhttp_request *http)
{
	struct serve_job *job = calloc(1, sizeof *job);

	if (!job)
		return refuse_memory(http);
	job->serve = serve;
	job->verb = verb;
	job->pool = verb->flags & (ROGER_ADMINISTERS | ROGER_SLOW) ? SERVE_SLOW : SERVE_QUICK;
	job->http = http;
	job->client = -1;
	job->arena = rg_arena_new();
	job->request = job->arena ? rg_arena_get(job->arena, verb->request->size + 1) : NULL;
	rg_buf_init(&job->answer.body, SIZE_MAX);
	job->began_ns = rg_clock_monotonic_ns();
	if (job->request)
		return job;
	serve_job_free(job);
	return refuse_memory(http);
}

void serve_job_free(struct serve_job *job)
{
	rg_buf_deinit(&job->answer.body);
	rg_arena_free(job->arena);
	if (job->client >= 0)
		close(job->client);
	free(job);
}

/* ------------------------------------------------------------- on a thread -- */

/* Does a thread append sends?  Only one does at a time: sends that come meanwhile are its next
 * commit.  After its turn others may, so that a slow one, as to a stranger, holds up nobody. */
static bool is_gathering(const struct serve_pool *pool)
{
	return pool->gathers_ns &&
	       rg_clock_monotonic_ns() - pool->gathers_ns < TURN_MS * INT64_C(1000000);
}

static struct serve_job *pop_job(struct serve_pool *pool, struct serve_job **place)
{
	struct serve_job *job = *place;

	*place = job->next;
	if (!*place)
		pool->last = place;
	job->next = NULL;
	pool->queued--;
	pool->running++;
	return job;
}

/* The place of the first job that may be taken now; NULL: none may. */
static struct serve_job **next_place(struct serve_pool *pool)
{
	const bool gathering = is_gathering(pool);
	struct serve_job **place = &pool->first;

	while (*place && gathering && (*place)->gathers)
		place = &(*place)->next;
	return *place ? place : NULL;
}

static struct serve_job *take_job(struct serve_pool *pool)
{
	const struct serve *serve = pool->serve;
	struct serve_job **place, *job;
	struct timespec until;
	int64_t until_ms;

	while (!(place = next_place(pool)) && (pool->first || !serve->ending)) {
		until_ms = rg_clock_monotonic_ms() + TURN_MS;
		until = (struct timespec){ until_ms / 1000, until_ms % 1000 * 1000000 };
		pool->idle++;
		if (pool->first)
			pthread_cond_timedwait(&pool->come, &pool->serve->lock, &until);
		else
			pthread_cond_wait(&pool->come, &pool->serve->lock);
		pool->idle--;
	}
	if (!place)
		return NULL;
	job = pop_job(pool, place);
	if (job->gathers)
		pool->gathers_ns = rg_clock_monotonic_ns();
	if (next_place(pool))
		pthread_cond_signal(&pool->come);
	return job;
}

/* Take the next send of this turn; NULL: there is none, or the turn is over. */
static struct serve_job *take_more(struct serve_pool *pool, int64_t since_ns)
{
	struct serve_job **place = &pool->first;

	while (*place && !(*place)->gathers)
		place = &(*place)->next;
	return *place && pool->gathers_ns == since_ns && is_gathering(pool) ? pop_job(pool, place)
									    : NULL;
}

/* Note how far the job is.  False: the server ends, or a retry is left to the sweeps. */
static bool go_on(void *job_, const char *what, int64_t done, int64_t total)
{
	struct serve_job *job = job_;
	bool ending;

	if (strcmp(what, "wait") == 0)
		return !serve_job_is_over(job);
	pthread_mutex_lock(&job->serve->lock);
	snprintf(job->what, sizeof job->what, "%s", what);
	job->so_far = done;
	job->total = total;
	ending = job->serve->ending;
	pthread_mutex_unlock(&job->serve->lock);
	return strcmp(what, "retry") != 0 && !ending;
}

/* The deadline of the request; if it waited long for a thread, it still gets LATE_MS. */
static int64_t until_ns(const struct serve_job *job)
{
	const int64_t due_ns =
		job->began_ns + (RG_REQUEST_WAIT_MS + job->waits_ms) * INT64_C(1000000);
	const int64_t soon_ns = rg_clock_monotonic_ns() + LATE_MS * INT64_C(1000000);

	if (job->pool == SERVE_CHORES)
		return 0;
	return due_ns > soon_ns ? due_ns : soon_ns;
}

static void set_caller(const struct serve_job *job, struct roger *roger)
{
	const struct serve_caller *caller = &job->caller;

	rg_set_caller(roger, &(struct rg_caller){ caller->how, caller->right, rg_str(caller->name),
						  rg_str(caller->login), rg_str(caller->observed),
						  caller->how == RG_BY_LOGIN, caller->own,
						  until_ns(job), job->pool == SERVE_SLOW });
}

/* Print a notice that a command would print; damage is in the answer. */
static void tell_notice(struct serve *serve, const char *notice)
{
	if (!*notice)
		return;
	pthread_mutex_lock(&serve->lock);
	if (strncmp(notice, serve->told, sizeof serve->told - 1) != 0) {
		snprintf(serve->told, sizeof serve->told, "%s", notice);
		cli_print_note(rg_str(notice));
		cli_term_flush();
	}
	pthread_mutex_unlock(&serve->lock);
}

/* Let the index keep up, so that taking over takes a moment. */
static void follow_leader(struct roger *roger)
{
	const struct roger_empty_request request = { 0 };
	struct roger_status_reply reply;

	if (roger_status(roger, &request, &reply, NULL) == ROGER_OK)
		roger_reply_free(&reply);
}

static void run_job(struct serve_pool *pool, struct roger **roger, struct serve_job *job)
{
	struct roger_err err = { 0 };
	int r = ROGER_OK;

	if (*roger && job->gathers)
		rg_gather(*roger);
	if (!*roger)
		r = roger_open(pool->serve->workspace, roger, &err);
	if (r < 0) {
		serve_fail(&job->answer, r, &err);
		return;
	}
	roger_on_progress(*roger, go_on, job);
	set_caller(job, *roger);
	if (pool->kind == SERVE_CHORES && !rg_leads(*roger)) {
		follow_leader(*roger);
		job->answer.status = 200;
		return;
	}
	if (pool->kind == SERVE_CHORES && rg_keeps_answers(*roger))
		rg_get_ready(*roger);
	(job->work ? job->work : serve_call)(job, *roger);
	tell_notice(pool->serve, roger_notice(*roger));
}

/* Sync once for all sends that were appended. */
static void sync_jobs(struct serve_pool *pool, struct roger *roger, struct serve_job *job)
{
	struct roger_err err = { 0 };
	int r = rg_gathered(roger, &err);

	tell_notice(pool->serve, roger_notice(roger));
	for (; r < 0 && job; job = job->next)
		if (job->answer.status == 200)
			serve_fail(&job->answer, r, &err);
}

static void *work_on_jobs(void *pool_)
{
	struct serve_pool *pool = pool_;
	struct serve *serve = pool->serve;
	struct roger *roger = NULL;
	struct serve_job *first, *job, **last;
	int64_t since_ns;
	size_t count, most;

	pthread_mutex_lock(&serve->lock);
	while ((first = take_job(pool))) {
		since_ns = pool->gathers_ns;
		most = pool->queued + 1; /* no more than those that wait by now */
		last = &first;
		for (job = first, count = 1; job; count++) {
			pthread_mutex_unlock(&serve->lock);
			run_job(pool, &roger, job);
			pthread_mutex_lock(&serve->lock);
			*last = job;
			last = &job->next;
			job = first->gathers && count < most ? take_more(pool, since_ns) : NULL;
		}
		if (first->gathers && roger) {
			pthread_mutex_unlock(&serve->lock);
			sync_jobs(pool, roger, first);
			pthread_mutex_lock(&serve->lock);
		}
		if (first->gathers && pool->gathers_ns == since_ns)
			pool->gathers_ns = 0;
		pool->running -= count - 1;
		*last = serve->done;
		serve->done = first;
		eventfd_write(serve->wake, 1);
	}
	pthread_cond_broadcast(&pool->come);
	pthread_mutex_unlock(&serve->lock);
	/* To close may take a while, and the last job is gone by now. */
	if (roger)
		roger_on_progress(roger, NULL, NULL);
	roger_close(roger);
	return NULL;
}

/* ----------------------------------------------------------- on the loop's -- */

bool serve_start_thread(void *(*start)(void *argument), void *argument)
{
	pthread_t thread;

	return rg_thread_start(&thread, start, argument) && pthread_detach(thread) == 0;
}

/* The end does not wait for SERVE_WAITS, whose threads wait for somebody else, as for a reader. */
static bool start_worker(struct serve_pool *pool)
{
	return pool->kind == SERVE_WAITS
		       ? serve_start_thread(work_on_jobs, pool)
		       : rg_thread_start(&pool->workers[pool->threads], work_on_jobs, pool);
}

bool serve_job_start(struct serve_job *job)
{
	struct serve *serve = job->serve;
	struct serve_pool *pool = &serve->pools[job->pool];
	bool good, waits;

	pthread_mutex_lock(&serve->lock);
	waits = job->gathers && is_gathering(pool);
	if (pool->queued >= pool->idle && pool->threads < threads_of(pool))
		pool->threads += start_worker(pool);
	good = pool->threads &&
	       pool->queued + pool->running < sizes[pool->kind].queue + threads_of(pool);
	if (good) {
		*pool->last = job;
		pool->last = &job->next;
		pool->queued++;
		/* The first of the sends that wait for a turn wakes a thread to see to that. */
		if (!waits || pool->queued == 1)
			pthread_cond_signal(&pool->come);
	}
	pthread_mutex_unlock(&serve->lock);
	if (good)
		LIST_INSERT_HEAD(&serve->open, job, open);
	serve->job_count += good;
	return good;
}

void serve_job_begin(struct serve_job *job)
{
	struct evhttp_request *request = job->http;
	struct bufferevent *buffer =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));

	if (job->pool == SERVE_WAITS)
		job->client = fcntl(bufferevent_getfd(buffer), F_DUPFD_CLOEXEC, 0);
	if (serve_job_start(job))
		return;
	if (job->replay)
		serve_replay_done(job->serve, job->replay, NULL);
	serve_job_free(job);
	serve_refuse(request, 503, "busy", false, "too much to do already; try again");
}

void serve_job_fail(struct serve_job *job, int code, const struct roger_err *err)
{
	serve_fail(&job->answer, code, err);
	serve_send(job->http, &job->answer);
	serve_job_free(job);
}

static int64_t age_ms(const struct serve_job *job)
{
	return (rg_clock_monotonic_ns() - job->began_ns) / 1000000;
}

static void say_under_way(struct serve_job *job, struct serve_answer *answer)
{
	const long long seconds = age_ms(job) / 1000;
	char how_far[80] = "", with[80] = "same key";
	struct roger_err err = { 0 };
	bool known;

	pthread_mutex_lock(&job->serve->lock);
	known = job->total > 0;
	if (known)
		snprintf(how_far, sizeof how_far, ": %s, %lld of %lld", job->what,
			 (long long)job->so_far, (long long)job->total);
	if (*job->given_key)
		snprintf(with, sizeof with, "header 'Idempotency-Key: %s'", job->given_key);
	snprintf(err.message, sizeof err.message,
		 "%s is under way for %lld s%s; ask again with the %s", job->verb->name, seconds,
		 how_far, with);
	serve_problem(answer, 409, 0, "under-way", &err);
	answer->body.length -= strlen("}\n");
	rg_json_add_member(&answer->body, "what", rg_str(known ? job->what : job->verb->name));
	if (*job->given_key)
		rg_buf_printf(&answer->body, ",\"key\":\"%s\"", job->given_key);
	rg_buf_printf(&answer->body, ",\"done\":%lld,\"total\":%lld}\n",
		      known ? (long long)job->so_far : seconds, (long long)job->total);
	pthread_mutex_unlock(&job->serve->lock);
}

void serve_say_under_way(struct serve *serve, const struct serve_replay *replay,
			 struct serve_answer *answer)
{
	struct serve_job *job;

	LIST_FOREACH(job, &serve->open, open)
	if (job->replay == replay)
		say_under_way(job, answer);
}

/* The thread has not come back: its disk or its database does not answer. */
static void say_late(struct serve_job *job, struct serve_answer *answer)
{
	struct roger_err err;

	rg_fail_member(
		&err, ROGER_ETIMEOUT, "late",
		"no answer for %lld s: the server waits for its disk or its database, or has much "
		"to read; %s",
		(long long)age_ms(job) / 1000,
		job->verb->flags & ROGER_WRITES ? "it is not known whether it was done"
						: "try again");
	serve_fail(answer, ROGER_ETIMEOUT, &err);
}

static void answer_early(struct serve_job *job)
{
	struct serve_answer answer = { .closes = job->serve->stopping,
				       .body = { .maximum = SIZE_MAX } };

	if (job->pool == SERVE_SLOW && !job->replay)
		serve_give_key(job);
	(job->pool == SERVE_SLOW && job->replay ? say_under_way : say_late)(job, &answer);
	serve_send(job->http, &answer);
	job->http = NULL;
	job->finish = NULL;
	job->late = true;
}

/* A slow job with a key is answered early with how far it is; one without a key later. */
static bool is_late(const struct serve_job *job)
{
	if (!job->http)
		return false;
	if (job->pool == SERVE_SLOW)
		return age_ms(job) >= (job->replay ? SERVE_SLOW_MS : SERVE_LATE_MS);
	return age_ms(job) >= SERVE_LATE_MS + job->waits_ms;
}

void serve_jobs_tick(struct serve *serve)
{
	struct serve_job *job;

	LIST_FOREACH(job, &serve->open, open)
	{
		if (is_late(job))
			answer_early(job);
	}
}

bool serve_pools_init(struct serve *serve)
{
	pthread_condattr_t monotonic;
	int i;

	if (pthread_mutex_init(&serve->lock, NULL) != 0 ||
	    pthread_cond_init(&serve->watch, NULL) != 0)
		return false;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	for (i = 0; i < SERVE_POOLS; i++) {
		serve->pools[i] =
			(struct serve_pool){ .serve = serve, .kind = (enum serve_pool_kind)i };
		serve->pools[i].last = &serve->pools[i].first;
		pthread_cond_init(&serve->pools[i].come, &monotonic);
	}
	pthread_condattr_destroy(&monotonic);
	return true;
}

void serve_pools_end(struct serve *serve)
{
	struct serve_pool *pool;
	size_t i;

	pthread_mutex_lock(&serve->lock);
	serve->ending = true;
	pthread_cond_broadcast(&serve->watch);
	for (pool = serve->pools; pool < serve->pools + SERVE_POOLS; pool++)
		pthread_cond_broadcast(&pool->come);
	pthread_mutex_unlock(&serve->lock);
	for (pool = serve->pools; pool < serve->pools + SERVE_POOLS; pool++) {
		for (i = 0; pool->kind != SERVE_WAITS && i < pool->threads; i++)
			pthread_join(pool->workers[i], NULL);
		pool->threads = 0;
	}
}

bool serve_job_is_over(const struct serve_job *job)
{
	const int peek = MSG_PEEK | MSG_DONTWAIT;
	char byte;
	const ssize_t got = job->client < 0 ? 1 : recv(job->client, &byte, 1, peek);
	bool over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);

	pthread_mutex_lock(&job->serve->lock);
	over |= job->serve->ending;
	pthread_mutex_unlock(&job->serve->lock);
	return over;
}
