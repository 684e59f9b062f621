/* Opening, running and ending a server: its loop, its chores, the command. */
#include "serve/serve.h"

#include <errno.h>
#include <event2/listener.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cli/term.h"

/* After a request to end, clients have this long to read their answers. */
enum { GOODBYE_TICKS = 2, TRIM_TICKS = 5 };

enum { FILES_LEAST = 64 }; /* open files that a server needs */

/* ---------------------------------------------------------------- the loop -- */

static struct serve_job *take_done(struct serve *serve)
{
	struct serve_job *jobs;

	pthread_mutex_lock(&serve->lock);
	jobs = serve->done;
	serve->done = NULL;
	pthread_mutex_unlock(&serve->lock);
	return jobs;
}

/* The answer of a verb that only reads is kept only if the client was told to wait for it. */
static bool is_kept(const struct serve_job *job)
{
	return !job->answer.elsewhere && (job->late || job->verb->flags & ROGER_WRITES);
}

static void send_done(struct serve *serve)
{
	struct serve_job *job, *next;

	for (job = take_done(serve); job; job = next) {
		next = job->next;
		job->answer.closes = serve->stopping;
		if (job->http || job->late)
			serve_count(serve, job);
		if (job->replay)
			serve_replay_done(serve, job->replay, is_kept(job) ? &job->answer : NULL);
		if (job->finish)
			job->finish(job);
		else if (job->http)
			serve_send(job->http, &job->answer);
		serve->answered |= job->http || job->late;
		LIST_REMOVE(job, open);
		serve_job_free(job);
		serve->job_count--;
	}
}

static bool take_changed(struct serve *serve, bool *ret_deep)
{
	bool changed;

	pthread_mutex_lock(&serve->lock);
	changed = serve->changed;
	*ret_deep = serve->changed_deep;
	serve->changed = serve->changed_deep = false;
	pthread_mutex_unlock(&serve->lock);
	return changed;
}

static void on_woken(evutil_socket_t fd, short what, void *serve)
{
	eventfd_t ignored;
	bool deep;

	(void)what;
	eventfd_read(fd, &ignored);
	send_done(serve);
	if (take_changed(serve, &deep))
		serve_streams_look(serve, deep);
}

/* ------------------------------------------------------------------ chores -- */

/*
 * Chores do what the command of that name does, under the same locks: they wake agents that are
 * due, exchange trigger files, judge and recover runs that nobody watches, and retry sends that
 * were not confirmed in time.
 */
static const struct {
	const char *verb;
	size_t ticks;	     /* from one run to the next */
	const char *refused; /* what to tell a person if it is refused; NULL: nothing */
} chores[] = { { "wake", 2, NULL },
	       { "bridge", 2,
		 "trigger files are left where they are, since this workspace is not trusted "
		 "as it is now; see `roger trust`" },
	       { "sweep", 10, NULL } };

/* Tell once that a chore was refused, until it goes well again: nobody gets its answer. */
static void tell_refusal(struct serve *serve, size_t which, bool refused)
{
	bool told = serve->refused & 1U << which;

	if (refused && !told && chores[which].refused)
		cli_print_note(rg_str(chores[which].refused));
	serve->refused = (serve->refused & ~(1U << which)) | (unsigned)refused << which;
}

static void end_chore(struct serve_job *job)
{
	size_t i;

	for (i = 0; i < sizeof chores / sizeof *chores; i++)
		if (strcmp(chores[i].verb, job->verb->name) == 0) {
			job->serve->chores &= ~(1U << i);
			tell_refusal(job->serve, i, job->answer.status == 403);
		}
}

static void do_chore(struct serve *serve, size_t which)
{
	const struct roger_op *verb = serve_find_verb(rg_str(chores[which].verb));
	struct serve_job *job = serve_job_new(serve, verb, NULL);

	if (!job)
		return;
	job->pool = SERVE_CHORES;
	job->finish = end_chore;
	if (serve_job_start(job))
		serve->chores |= 1U << which;
	else
		serve_job_free(job);
}

/* A chore that takes long, such as a bridge beside another one, does not hold up others. */
static void do_chores(struct serve *serve)
{
	size_t i;

	serve->ticks++;
	for (i = 0; i < sizeof chores / sizeof *chores; i++)
		if (serve->ticks % chores[i].ticks == 0 && !(serve->chores & 1U << i))
			do_chore(serve, i);
}

/* Give freed memory within blocks back to the system: taking in many messages needs much. */
static void give_back(struct serve *serve)
{
#ifdef M_ARENA_MAX
	if (serve->answered && serve->ticks % TRIM_TICKS == 0) {
		malloc_trim(0);
		serve->answered = false;
	}
#else
	(void)serve;
#endif
}

static void do_each_second(struct serve *serve)
{
	struct serve_door *door;

	serve_connections_tick(serve);
	serve_jobs_tick(serve);
	serve_streams_tick(serve);
	serve_streams_watched(serve);
	do_chores(serve);
	serve_uses_save(serve, false);
	give_back(serve);
	for (door = serve->doors; door; door = door->next)
		evconnlistener_enable(door->listener);
}

static void on_tick(evutil_socket_t fd, short what, void *host)
{
	struct serve *serve;

	(void)fd;
	(void)what;
	do_each_second(host);
	for (serve = ((struct serve *)host)->guests; serve; serve = serve->next_guest)
		do_each_second(serve);
	serve_is_crowded = false;
}

static void on_stop(evutil_socket_t number, short what, void *host_)
{
	struct serve *host = host_, *serve;

	(void)number;
	(void)what;
	host->stopping = true;
	for (serve = host->guests; serve; serve = serve->next_guest)
		serve->stopping = true;
	event_base_loopbreak(host->base);
}

int serve_prepare(struct serve *serve, struct roger_err *err)
{
	if (!serve_find_home(serve, &serve->home))
		return rg_fail(err, ROGER_EIO, errno, "look for '%s/.roger'", serve->workspace);
	serve->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (serve->base && serve->wake >= 0 && serve_pools_init(serve))
		serve->woken =
			event_new(serve->base, serve->wake, EV_READ | EV_PERSIST, on_woken, serve);
	return serve->woken && event_add(serve->woken, NULL) == 0
		       ? ROGER_OK
		       : rg_fail(err, ROGER_EIO, errno, "prepare for HTTP");
}

static int prepare_host(struct serve *host, struct roger_err *err)
{
	const struct timeval tick = { SERVE_TICK_MS / 1000, 0 };
	struct event_config *config = event_config_new();

	/* evhttp changes what it waits for several times a request; the changelist gathers that. */
	if (config) {
		event_config_set_flag(config, EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
		host->base = event_base_new_with_config(config);
		event_config_free(config);
	}
	if (host->base) {
		host->tick = event_new(host->base, -1, EV_PERSIST, on_tick, host);
		host->term = evsignal_new(host->base, SIGTERM, on_stop, host);
		host->interrupt = evsignal_new(host->base, SIGINT, on_stop, host);
	}
	return host->tick && host->term && host->interrupt && event_add(host->tick, &tick) == 0 &&
			       event_add(host->term, NULL) == 0 &&
			       event_add(host->interrupt, NULL) == 0
		       ? serve_prepare(host, err)
		       : rg_fail(err, ROGER_EIO, errno, "prepare for HTTP");
}

/* Finish and answer what has begun; accept no new client. */
static void say_goodbye(struct serve *serve)
{
	struct serve_door *door;
	int64_t until_ms;

	for (door = serve->doors; door; door = door->next)
		evconnlistener_disable(door->listener);
	serve_streams_end(serve);
	serve_mcp_end(serve);
	serve_pools_end(serve);
	send_done(serve);
	until_ms = rg_clock_monotonic_ms() + GOODBYE_TICKS * SERVE_TICK_MS;
	while (serve->connections && rg_clock_monotonic_ms() < until_ms) {
		event_base_loop(serve->base, EVLOOP_NONBLOCK);
		serve_connections_goodbye(serve);
		rg_clock_sleep(2);
	}
}

static void close_one(struct serve *serve)
{
	serve_listen_end(serve);
	if (serve->woken)
		event_free(serve->woken);
	serve_tokens_free(serve);
	serve_uses_save(serve, true);
	serve->uses = serve_uses_free(serve->uses);
	serve_replays_free(serve);
	roger_reply_free(&serve->config);
	serve->roger = roger_close(serve->roger);
}

/* Guests are not freed: a thread that still waits for somebody may use one. */
static void close_all(struct serve *host)
{
	struct serve *serve;

	for (serve = host->guests; serve; serve = serve->next_guest)
		close_one(serve);
	close_one(host);
	if (host->tick)
		event_free(host->tick);
	if (host->term)
		event_free(host->term);
	if (host->interrupt)
		event_free(host->interrupt);
	if (host->base)
		event_base_free(host->base);
	free(host->hosts);
}

/* --------------------------------------------------------------- the command -- */

/* Allow more descriptors, one for each connection; its threads alone need some. */
static int raise_limit(struct roger_err *err)
{
	struct rlimit limit = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur >= FILES_LEAST
		       ? ROGER_OK
		       : rg_fail(err, ROGER_ECONFIG, 0,
				 "a server needs %d open files, and may have %lld; `ulimit -n` "
				 "allows more",
				 FILES_LEAST, (long long)limit.rlim_cur);
}

/*
 * Give memory back when a request is answered.  Otherwise each thread keeps the most that it ever
 * needed, and glibc keeps whole blocks of it: twice the memory at 100,000 messages.
 */
static void keep_small(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
#endif
}

static void tell_where(const struct serve *serve, const struct cli_run *run)
{
	const struct serve *guest;

	if (run->quiet || serve->ui)
		return;
	for (guest = serve->guests; guest; guest = guest->next_guest)
		cli_say("/w/%t: the workspace in %t, at %s\n", guest->name, guest->config.workspace,
			guest->socket_path);
	if (serve->made_socket)
		cli_say("listening at %s\n", serve->socket_path);
	if (serve->port)
		cli_say("listening on port %d; there a token is needed\n", (int64_t)serve->port);
	cli_term_flush();
}

/* Take the hosts as the gate wants them. */
static int take_hosts(struct serve *serve, struct roger_err *err)
{
	const struct roger_strs *hosts = &serve->options->behind_proxy;
	size_t i;

	serve->hosts = calloc(hosts->count + 1, sizeof *serve->hosts);
	if (!serve->hosts)
		return rg_fail_memory(err);
	for (i = 0; i < hosts->count; i++)
		serve->hosts[i] = hosts->items[i].data;
	return ROGER_OK;
}

static int serve_workspace(struct serve *serve, struct cli_run *run,
			   const struct roger_config_reply *config, struct roger_err *err)
{
	struct serve *guest;
	int r = take_hosts(serve, err);

	if (r == ROGER_OK)
		r = prepare_host(serve, err);
	if (r == ROGER_OK)
		r = serve_guests_open(serve, config, err);
	if (r == ROGER_OK)
		r = serve_listen(serve, serve->workspace, err);
	if (r < 0)
		return r;
	if (serve->ui)
		r = serve_open_page(serve, run, err);
	if (r < 0)
		return r;
	serve_notify("READY=1");
	tell_where(serve, run);
	if (event_base_dispatch(serve->base) < 0)
		return rg_fail(err, ROGER_EIO, errno, "wait for requests");
	serve_notify("STOPPING=1");
	for (guest = serve->guests; guest; guest = guest->next_guest)
		say_goodbye(guest);
	say_goodbye(serve);
	return ROGER_OK;
}

int serve_run_held(struct cli_run *run, const struct rg_serve_request *options,
		   const struct rg_ui_request *ui, struct roger_err *err)
{
	/* It is not on the stack: a thread that still waits for somebody may use it. */
	static struct serve serve = { .host = &serve, .wake = -1 };
	RG_CLEANUP(roger_reply_free) struct roger_config_reply config = { 0 };
	const struct roger_empty_request none = { 0 };
	int r;

	r = raise_limit(err);
	if (r == ROGER_OK)
		r = roger_config(run->roger, &none, &config, err);
	if (r < 0)
		return r;
	keep_small();
	serve.options = options;
	serve.ui = ui;
	serve.began_ms = rg_clock_monotonic_ms();
	serve.workspace = config.workspace.data;
	serve.keeps_answers = rg_keeps_answers(run->roger);
	r = serve_workspace(&serve, run, &config, err);
	close_all(&serve);
	return r;
}

int serve_run(struct cli_run *run, struct roger_err *err)
{
	if (!roger_hold(run->roger, "serve"))
		return rg_fail(err, ROGER_ETIMEOUT, 0, "this workspace has a server already");
	return serve_run_held(run, run->request, NULL, err);
}
