/*
 * serve - inside of `roger serve`: one loop for all connections, threads for the verbs.
 *
 * The loop's thread owns everything of libevent, and never waits: not for a disk, not
 * for a client.  A request that passes the gate becomes a job; a thread with a handle
 * of its own calls the verb and prints the reply, and the loop sends it.  All that a
 * client can make grow has a bound here.
 *
 *     server.c       opening, running, ending
 *     guest.c        further workspaces of the same server
 *     listen.c       sockets: where they are, and that they are ours
 *     connection.c   how many connections there are, and how long one may take
 *     head.c         what is refused before its body is read
 *     route.c        the gate, then paths and methods
 *     call.c         a request into a verb's, its reply into an answer
 *     job.c          the threads, and what is answered before one of them has ended
 *     replay.c       answers kept for who asks again with the same key
 *     token.c        who may come in over TCP, and do what
 *     use.c          when each token was last used
 *     login.c        how a browser comes in: `roger ui`, a key, a cookie
 *     events.c       streams of events
 *     mcp.c          agents, over the Model Context Protocol
 *     assets.c       the page
 *     openapi.c, metrics.c   what it says of itself
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <event2/event.h>
#include <event2/http.h>
#include <pthread.h>
#include <sys/queue.h>

#include "base/limits.h"
#include "cli/serve.h"
#include "data/http_head.h"
#include "data/http_raw.h"
#include "data/json.h"
#include "data/record.h"

enum {
	SERVE_CONNECTIONS_MAX = 512,
	SERVE_HEAD_BYTES_MAX = 16 << 10,
	SERVE_HEAD_KEPT_MAX = 2 * SERVE_HEAD_BYTES_MAX, /* with its line ends */
	SERVE_FIELDS_MAX = 100,
	/* One request; a batch of the largest size with texts of the usual one. */
	SERVE_BODY_BYTES_MAX = 64 << 20,
	SERVE_BODY_BYTES_MAX_TCP = 8 << 20,
	SERVE_LOGIN_BYTES_MAX = 4096,
	/* All requests that are on their way in or not yet answered. */
	SERVE_BODIES_BYTES_MAX = 128 << 20,
	SERVE_REQUEST_MS = 30 * 1000, /* from its first byte to its last */
	SERVE_IDLE_MS = 60 * 1000,
	SERVE_TICK_MS = 1000,
	SERVE_WAIT_MS_MAX = 60 * 1000, /* a verb that waits ends then, as if its time was up */
	/* When the loop answers for a thread: that a slow verb is under way; that it stands still.
	 */
	SERVE_SLOW_MS = 2 * 1000,
	SERVE_LATE_MS = RG_REQUEST_WAIT_MS + 500,
};

struct serve;
struct serve_replay;
struct serve_connection;
struct serve_stream;
struct serve_job;

/* Where clients come in. */
struct serve_door {
	struct serve_door *next;
	struct serve *serve;
	struct evhttp *http;
	struct evconnlistener *listener;
	bool local; /* a unix socket: whoever connects is the user that we are */
};

/* ---------------------------------------------------------------- answers -- */

enum { SERVE_TAG_BYTES = 20 };

struct serve_answer {
	int status;
	const char *type; /* of the body */
	struct rg_buf body;
	char etag[SERVE_TAG_BYTES];    /* "": none */
	bool replayed;		       /* it had been done before, with this key */
	bool closes;		       /* nothing more is read from this connection */
	bool elsewhere;		       /* nothing was done: another server leads the workspace */
	const struct roger_field *old; /* the request had its older name; NULL: none */
};

/* An error as RFC 9457 has it; code 0: of HTTP alone, which kind names. */
void serve_problem(struct serve_answer *answer, int status, int code, const char *kind,
		   const struct roger_err *err);
void serve_send(struct evhttp_request *request, struct serve_answer *answer);
void serve_refuse(struct evhttp_request *request, int status, const char *kind, bool closes,
		  const char *format, ...) RG_PRINTF(5, 6);
void serve_set_header(struct evhttp_request *request, const char *name, const char *value);
const char *serve_header(struct evhttp_request *request, const char *name);

/* ------------------------------------------------------------------ calls -- */

/* Where a verb is called: those that are quick are not to wait for those that are not, and
 * nobody for what the server does by itself. */
enum serve_pool_kind { SERVE_QUICK, SERVE_SLOW, SERVE_CHORES, SERVE_WAITS, SERVE_POOLS };

/* The verbs that are routes; NULL: none of that name, or no more. */
const struct roger_op *serve_find_verb(struct roger_str name);
const struct roger_op *serve_next_verb(size_t *i);

/* Who asks, as verbs are told (data/caller.h). */
enum { SERVE_LABEL_BYTES = RG_NAME_CHARS_MAX + 24 };
struct serve_caller {
	enum rg_caller_how how;
	enum rg_right right;
	char name[RG_NAME_CHARS_MAX + 1];     /* of the token or login, or "ci-*"; "": none */
	char login[SERVE_LABEL_BYTES];	      /* which one, for notes */
	char observed[RG_NAME_CHARS_MAX + 1]; /* who was seen at the socket; "": nobody */
	bool own;			      /* who sees its own mail alone */
};

enum { SERVE_DIGEST_BYTES = 65 };

/* A request on its way through a thread. */
struct serve_job {
	struct serve_job *next;
	LIST_ENTRY(serve_job) open; /* those that have not ended */
	struct serve *serve;
	const struct roger_op *verb;
	enum serve_pool_kind pool;
	struct evhttp_request *http; /* of the loop's thread; NULL: nobody waits for an answer */
	bool late;		     /* its answer was that it has not ended */
	bool gone;		     /* who asked has hung up; with serve->lock */
	bool gathers;		     /* a send that may share a sync with others */
	struct rg_arena *arena;
	void *request; /* of the verb */
	struct serve_answer answer;
	char if_match[64], if_none_match[64];
	bool tagged;		     /* the answer gets an ETag */
	struct serve_caller caller;  /* who sent the request; nobody for the chores of the server */
	int64_t began_ns, waits_ms;  /* waits_ms: as its request says */
	struct serve_replay *replay; /* keeps the answer; NULL: nobody does */
	char given_key[48];	     /* of one that came without, and takes long; "": none */
	/* By its key the answer is kept with what is done, so that another server knows it, too. */
	char key[SERVE_DIGEST_BYTES], body[SERVE_DIGEST_BYTES];
	/* Where it is not to call the verb, and to send the answer. */
	void (*work)(struct serve_job *job, struct roger *roger);
	void (*finish)(struct serve_job *job);
	void *context;
	/* How far it is, with serve->lock; total 0: nobody knows. */
	char what[32];
	int64_t so_far, total;
};

/* The request of a verb from a query, or from a JSON object; then what HTTP adds to it. */
RG_CHECKED int serve_read_query(struct serve_job *job, const char *query, struct roger_err *err);
RG_CHECKED int serve_read_body(struct serve_job *job, struct roger_str body, struct roger_err *err);
RG_CHECKED int serve_finish_request(struct serve_job *job, const char *key, struct roger_err *err);

/* On a thread: call the verb, fill the answer. */
void serve_call(struct serve_job *job, struct roger *roger);

/* The answer to an error of a verb. */
void serve_fail(struct serve_answer *answer, int code, const struct roger_err *err);

/* ------------------------------------------------------------------ tries -- */

/* A request with an Idempotency-Key. */
struct serve_tried {
	const char *key;
	struct roger_str body;
	int64_t since_ms; /* the first try began so long ago, by its client; 0: this is it */
};
enum serve_try {
	SERVE_TRY_NEW,	     /* do it; *ret keeps the answer, or is NULL for want of memory */
	SERVE_TRY_DONE,	     /* *ret has the answer */
	SERVE_TRY_UNDER_WAY, /* it is being done */
	SERVE_TRY_OTHER,     /* the key was used for something else */
	SERVE_TRY_FORGOTTEN, /* nobody knows whether it was done */
};
enum serve_try serve_replay_find(struct serve *serve, const struct serve_caller *caller,
				 const struct roger_op *verb, const struct serve_tried *tried,
				 struct serve_replay **ret);
/* Is the answer to be kept with what is done?  Then job->key says under which key. */
void serve_replay_name(struct serve_job *job, const struct serve_caller *caller,
		       const struct serve_tried *tried);
void serve_replay_answer(const struct serve_replay *replay, struct serve_answer *answer);
/* NULL: it was not begun, or is not to be kept. */
void serve_replay_done(struct serve *serve, struct serve_replay *replay,
		       const struct serve_answer *answer);
void serve_replays_free(struct serve *serve);

/* ----------------------------------------------------------------- tokens -- */

struct serve_tokens;

/* What is kept of each is its hash; token.c has the drawing. */
/* Also those of enum rg_secret. */
enum { SERVE_TOKEN };
enum { SERVE_SECRET_BYTES = 80 };

/* Whose it is, if it is worth anything now. */
bool serve_token_find(struct serve *serve, int kind, const char *secret, struct serve_caller *ret);
/* Was it worth something once? */
bool serve_token_is_expired(struct serve *serve, const char *secret);

/* A key for a browser; a login for a key, once; the end of a login.  These wait for a disk. */
RG_CHECKED int serve_key_make(const char *workspace, const struct serve_caller *whose,
			      char key[SERVE_SECRET_BYTES], struct roger_err *err);
RG_CHECKED int serve_key_trade(const char *workspace, const char *key,
			       char secret[SERVE_SECRET_BYTES], struct serve_caller *ret,
			       struct roger_err *err);
RG_CHECKED int serve_login_end(const char *workspace, const char *secret, struct roger_err *err);
extern const char serve_key_fault[]; /* why a key is refused */
void serve_tokens_free(struct serve *serve);
/* The file of the tokens of a workspace; to has 4200 bytes. */
RG_CHECKED int serve_tokens_path(const char *workspace, char *to, struct roger_err *err);

struct serve_uses;
struct serve_uses *serve_uses_read(const char *workspace); /* NULL: out of memory */
struct serve_uses *serve_uses_free(struct serve_uses *uses);
const struct rg_use *serve_use_find(struct serve_uses *uses, const char *login);
void serve_use_note(struct serve *serve, struct evhttp_request *request,
		    const struct serve_caller *caller);
/* If anything is to be written, and it is time, or the end. */
void serve_uses_save(struct serve *serve, bool now);

/* ----------------------------------------------------------------- logins -- */

/* Who asks, by the cookie of a browser; else false, *ret_fault: why a login is not enough. */
bool serve_login_find(const struct serve_door *door, struct evhttp_request *request,
		      struct serve_caller *ret, const char **ret_fault);
/* POST /login and /logout; GET /v1/session. */
void serve_on_login(struct serve *serve, struct evhttp_request *request);
void serve_on_logout(struct serve *serve, struct evhttp_request *request);
void serve_on_session(struct serve *serve, struct evhttp_request *request,
		      const struct serve_caller *caller);
/* `roger ui`: a key for the server that listens at url, shown and opened. */
RG_CHECKED int serve_open_page(const struct serve *serve, const struct cli_run *run,
			       struct roger_err *err);

/* ------------------------------------------------------------------- jobs -- */

/* Threads of sends where a commit crosses a network: while they wait, others gather. */
enum { SERVE_GATHERING = 24 };

struct serve_pool {
	struct serve *serve;
	enum serve_pool_kind kind;
	pthread_cond_t come;
	struct serve_job *first, **last;
	size_t queued, running, threads, idle;
	pthread_t workers[SERVE_GATHERING]; /* but of those that wait for somebody else */
	int64_t gathers_ns;		    /* since when a thread has sends; 0: none has */
};

struct serve_job *serve_job_new(struct serve *serve, const struct roger_op *verb,
				struct evhttp_request *http);
void serve_job_free(struct serve_job *job);

/* False: too many wait already. */
bool serve_job_start(struct serve_job *job);
/* Whoever waits too long is answered, and the thread goes on: at each tick. */
void serve_jobs_tick(struct serve *serve);
/* A slow job whose caller gave no key gets one, by which its answer can be fetched. */
void serve_give_key(struct serve_job *job);
/* How far the job of that key is. */
void serve_say_under_way(struct serve *serve, const struct serve_replay *replay,
			 struct serve_answer *answer);

bool serve_pools_open(struct serve *serve);
/* No more is begun, and what does not wait for somebody is finished. */
void serve_pools_end(struct serve *serve);
/* Nobody waits for the answer any more, or the server ends. */
bool serve_job_is_over(const struct serve_job *job);
/* Signals are for the loop. */
bool serve_start_thread(void *(*work)(void *argument), void *argument);

/* ----------------------------------------------------------------- events -- */

/* A stream of events for this request. */
void serve_on_events(struct serve *serve, struct evhttp_request *request,
		     const struct serve_caller *caller);
/* Something was stored, or (deep) noted; a second has passed; it ends. */
void serve_streams_look(struct serve *serve, bool deep);
void serve_streams_tick(struct serve *serve);
void serve_streams_end(struct serve *serve);
/* Somebody watches the workspace for them, or nobody need. */
void serve_streams_watched(struct serve *serve);

/* -------------------------------------------------------------------- MCP -- */

/* Not before the first request: most servers have no agents of that kind. */
void serve_on_mcp(struct serve *serve, struct evhttp_request *request,
		  const struct serve_caller *caller);
void serve_mcp_end(struct serve *serve);

/* --------------------------------------------------------------- the page -- */

/* A file of the page, or the page itself for one of its views; false: it is no such path. */
bool serve_on_page(struct serve *serve, struct evhttp_request *request, const char *path);

/* ---------------------------------------------------- what is said of itself -- */

void serve_print_openapi(struct rg_buf *out);

enum { SERVE_BUCKETS = 8, SERVE_VERBS_MAX = 80 };
struct serve_figures {
	int64_t done[3]; /* well, refused, failed */
	int64_t buckets[SERVE_BUCKETS];
	int64_t sum_ns;
};
void serve_count(struct serve *serve, const struct serve_job *job);
void serve_count_mcp(struct serve *serve, int status, int64_t began_ns);
void serve_read_metrics(struct serve_job *job, struct roger *roger);
void serve_finish_metrics(struct serve_job *job);

/* ------------------------------------------------------------ connections -- */

struct serve_connection {
	struct serve_connection *next;
	struct serve_door *door;
	struct serve *serve;	    /* whom the request is for */
	struct bufferevent *buffer; /* we hold on to it; it says when it is over */
	int64_t began_ms;	    /* of the request on its way in; 0: none is */
	int64_t seen_ms;
	size_t bytes; /* of that request */
	struct rg_http_raw raw;
	struct rg_buf head;   /* over TCP, of a request whose head is on its way in */
	bool judged;	      /* a body may come, or there is none */
	bool refused;	      /* it was answered by its head: what still comes is thrown away, */
	size_t thrown;	      /* so many bytes by now */
	int64_t mcp_began_ns; /* of a request to /mcp that is being answered; 0: it is none */
	bool busy;	      /* it is being answered */
	bool leaving;	      /* it was hung up on */
	bool own_user;	      /* at the other end of a unix socket is the user that we are */
	bool observed_once;   /* who is at the other end was looked at */
	char observed[RG_NAME_CHARS_MAX + 1]; /* "": nobody was seen */
};

/* For evhttp: a new connection. */
struct bufferevent *serve_connection_new(struct event_base *base, void *door);
struct serve_connection *serve_connection_of(struct serve *serve, struct evhttp_request *request);
void serve_connection_begin(struct serve_connection *connection, struct evhttp_request *request);
void serve_hang_up(struct serve_connection *connection);
/* Look after all of them: each tick. */
void serve_connections_tick(struct serve *serve);
/* Those that have nothing to say or to hear any more are closed. */
void serve_connections_goodbye(struct serve *serve);
void serve_connections_end(struct serve *serve);

/* ----------------------------------------------------------------- server -- */

struct serve {
	const struct rg_serve_request *options;
	const char *workspace;
	/* Of several workspaces one is the host, whose TCP and loop are for all. */
	struct serve *host; /* itself, if it is that */
	struct serve *guests, *next_guest;
	/* Of a guest. */
	struct serve_door gate; /* behind the host's TCP */
	struct roger_str name;
	struct rg_serve_request own_options;
	struct roger *roger; /* holds its turn */
	struct roger_config_reply config;
	const struct rg_ui_request *ui; /* NULL: nobody waits for a page */
	struct event_base *base;
	struct serve_door *doors;
	struct event *tick, *woken, *term, *interrupt;
	struct serve_connection *connections;
	size_t connection_count;
	size_t bytes;	    /* of requests that are not answered yet */
	const char **hosts; /* of a proxy */
	char socket_path[108];
	bool made_socket;
	int port;      /* of TCP; 0: none */
	char url[256]; /* of the page; "": there is no TCP */
	bool stopping;
	int wake;	  /* an eventfd: a job is done */
	size_t job_count; /* those that have not ended */
	LIST_HEAD(, serve_job) open;
	size_t ticks;
	bool answered;	  /* since memory was given back */
	unsigned chores;  /* those that are under way, a bit each */
	unsigned refused; /* of these, a bit each: it was said */

	struct serve_tokens *tokens;   /* as last read; NULL: not yet */
	struct serve_uses *uses;       /* NULL: none was used yet */
	struct serve_replays *replays; /* NULL: none yet */
	int64_t began_ms;
	bool keeps_answers;	/* the store does, for all servers of the workspace */
	struct mcp_shared *mcp; /* NULL: nobody came yet */
	struct roger_mcp_http *mcp_http;
	struct serve_stream *streams;
	size_t stream_count;
	struct serve_figures figures[SERVE_VERBS_MAX], mcp_figures;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t watch;
	size_t watched; /* streams, for the thread that watches */
	bool watching, changed, changed_deep;
	struct serve_pool pools[SERVE_POOLS];
	struct serve_job *done;
	bool ending;
	char told[464]; /* of the workspace, to whoever started the server */
};

/* server.c: serve, after the turn was taken; ui: then open the page, or NULL. */
RG_CHECKED int serve_run_held(struct cli_run *run, const struct rg_serve_request *options,
			      const struct rg_ui_request *ui, struct roger_err *err);

/* listen.c: all that it listens on; on a failure serve_listen_end() is still due. */
/* This user's folder for what lasts as long as the session, or for ever; made if need be. */
RG_CHECKED int serve_own_folder(bool session, char to[4096], struct roger_err *err);

/* Where a server of this workspace has its socket. */
RG_CHECKED int serve_socket_path(const struct rg_serve_request *options, const char *workspace,
				 char to[4200], struct roger_err *err);

RG_CHECKED int serve_listen(struct serve *serve, const char *workspace, struct roger_err *err);
RG_CHECKED int serve_listen_local(struct serve *serve, const char *workspace,
				  struct roger_err *err);
void serve_listen_end(struct serve *serve);
/* For a service manager: "READY=1". */
void serve_notify(const char *state);

/* route.c: is who asked, and is still being answered, let in as before? */
bool serve_is_known(struct serve *serve, struct evhttp_request *request);

/* head.c: all of a head is there; then may a body come?  Else it was refused. */
void serve_head_judge(struct serve_connection *connection);
void serve_head_refuse(struct evhttp_request *request, int status, const char *reason);
/* route.c: the same, of a request that is nothing but a head. */
void serve_admit(struct serve_connection *connection, struct evhttp_request *request);

/* guest.c: open what the options of the host name. */
RG_CHECKED int serve_guests_open(struct serve *host, const struct roger_config_reply *config,
				 struct roger_err *err);
/* "/w/NAME/..." is the guest's of that name, and *path goes on behind it; NULL: nobody's. */
struct serve_door *serve_guest_door(struct serve_door *door, const char **path);

/* server.c: its threads, and what wakes the loop for it. */
RG_CHECKED int serve_prepare(struct serve *serve, struct roger_err *err);

/* For evhttp: a request, at a door. */
void serve_on_request(struct evhttp_request *request, void *door);

#endif
