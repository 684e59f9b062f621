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
 *     head.c         refuses requests before their bodies are read
 *     route.c        the gate, then paths and methods
 *     call.c         makes a verb's request of one, and an answer of its reply
 *     job.c          the threads, and answers while one is still at work
 *     replay.c       answers kept for requests that come again with the same key
 *     token.c        who may come in over TCP, and do what
 *     use.c          when each token was last used
 *     login.c        how a browser comes in: `roger ui`, a key, a cookie
 *     events.c       streams of events
 *     mcp.c          agents, over the Model Context Protocol
 *     assets.c       the page
 *     openapi.c, metrics.c   what the server says about itself
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <event2/event.h>
#include <event2/http.h>
#include <pthread.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "cli/serve.h"
#include "data/http_head.h"
#include "data/http_raw.h"
#include "data/json.h"
#include "data/record.h"

enum {
	SERVE_CONNECTIONS_MAX = 512,
	SERVE_HEAD_BYTES_MAX = 64 << 10,
	SERVE_HEAD_KEPT_MAX = SERVE_HEAD_BYTES_MAX + 1, /* with a NUL */
	SERVE_FIELDS_MAX = 100,
	/* The body of a request: a batch of the largest size with texts of the usual length. */
	SERVE_BODY_BYTES_MAX = 64 << 20,
	SERVE_BODY_BYTES_MAX_TCP = 8 << 20,
	SERVE_LOGIN_BYTES_MAX = 4096,
	/* The bytes of all requests that are on their way in or not yet answered. */
	SERVE_BODIES_BYTES_MAX = 128 << 20,
	SERVE_REQUEST_MS = 30 * 1000, /* from its first byte to its last */
	SERVE_IDLE_MS = 60 * 1000,
	SERVE_TICK_MS = 1000,
	SERVE_WAIT_MS_MAX = 60 * 1000, /* a waiting verb ends then, as if its time was up */
	/* The loop then answers for a thread: a slow verb is at work, or the thread hangs. */
	SERVE_SLOW_MS = 2 * 1000,
	SERVE_LATE_MS = RG_REQUEST_WAIT_MS + 500,
};

struct serve;
struct serve_replay;
struct serve_connection;
struct serve_stream;
struct serve_job;

/* A socket where clients come in. */
struct serve_door {
	struct serve_door *next;
	struct serve *serve;
	struct evhttp *http;
	struct evconnlistener *listener;
	bool local; /* a unix socket: whoever connects is the user that we are */
	size_t body_bytes_max;
};

/* ---------------------------------------------------------------- answers -- */

enum { SERVE_TAG_BYTES = 20 };

struct serve_answer {
	int status;
	const char *type; /* of the body */
	struct rg_buf body;
	char etag[SERVE_TAG_BYTES]; /* "": none */
	bool replayed;	/* the request was made before with this key, and this is its answer */
	bool closes;	/* the connection closes after this */
	bool elsewhere; /* nothing was done: another server leads the workspace */
	const struct roger_field *old; /* a member that came under its older name; NULL: none */
};

/* Print an error as RFC 9457 has it; code 0: an error of HTTP alone, named by kind. */
void serve_problem(struct serve_answer *answer, int status, int code, const char *kind,
		   const struct roger_err *err);
/* Send an answer, and free its body. */
void serve_send(struct evhttp_request *request, struct serve_answer *answer);
void serve_refuse(struct evhttp_request *request, int status, const char *kind, bool closes,
		  const char *format, ...) RG_PRINTF(5, 6);
/* Send what is in the output buffer; to HEAD only its length. */
void serve_reply(struct evhttp_request *request, int status);
/* Does it ask for something, and change nothing?  HEAD is a GET whose answer has no body. */
bool serve_is_look(struct evhttp_request *request);
void serve_set_header(struct evhttp_request *request, const char *name, const char *value);
const char *serve_header(struct evhttp_request *request, const char *name);

/* ------------------------------------------------------------------ calls -- */

/* The threads that call a verb: slow and waiting verbs must not hold up quick ones, and the
 * server's chores must not hold up anybody. */
enum serve_pool_kind { SERVE_QUICK, SERVE_SLOW, SERVE_CHORES, SERVE_WAITS, SERVE_POOLS };

/* Find, or go through, the verbs that are routes; NULL: none of that name, or no more. */
const struct roger_op *serve_find_verb(struct roger_str name);
const struct roger_op *serve_next_verb(size_t *i);

/* Who asks, as struct rg_caller tells it to verbs (data/caller.h). */
enum { SERVE_LABEL_BYTES = RG_NAME_CHARS_MAX + 24 };
struct serve_caller {
	enum rg_caller_how how;
	enum rg_right right;
	char name[RG_NAME_CHARS_MAX + 1];     /* of the token or login, or "ci-*"; "": none */
	char login[SERVE_LABEL_BYTES];	      /* its label in notes: "token bob 1a2b3c4d" */
	char observed[RG_NAME_CHARS_MAX + 1]; /* who was seen at the socket; "": nobody */
	bool own;			      /* sees only its own mail */
};

enum { SERVE_DIGEST_BYTES = 65 };

/* A request on its way through a thread. */
struct serve_job {
	struct serve_job *next;
	LIST_ENTRY(serve_job) open; /* jobs that have not ended */
	struct serve *serve;
	const struct roger_op *verb;
	enum serve_pool_kind pool;
	struct evhttp_request *http; /* for the loop's thread; NULL: nobody waits for an answer */
	bool late;		     /* it was answered that the job has not ended */
	int client;		     /* of one that waits: a copy of its socket; -1: none */
	bool gathers;		     /* a send that may share a sync with others */
	struct rg_arena *arena;
	void *request; /* the request of the verb */
	struct serve_answer answer;
	char if_match[64], if_none_match[64];
	bool tagged;		     /* the answer gets an ETag */
	struct serve_caller caller;  /* nobody for the server's chores */
	int64_t began_ns, waits_ms;  /* waits_ms: how long the request may wait */
	struct serve_replay *replay; /* keeps the answer; NULL: none */
	char given_key[48];	     /* made for a slow request without a key; "": none */
	/* Digests, if the answer is stored with its changes, so that other servers know it, too. */
	char key[SERVE_DIGEST_BYTES], body[SERVE_DIGEST_BYTES];
	/* These replace the call of the verb, and the sending of the answer; NULL: they do not. */
	void (*work)(struct serve_job *job, struct roger *roger);
	void (*finish)(struct serve_job *job);
	void *context;
	/* How far the job is, guarded by serve->lock; total 0: not known. */
	char what[32];
	int64_t so_far, total;
};

/* Read a verb's request from a query, or from a JSON object; then add what HTTP says. */
RG_CHECKED int serve_read_query(struct serve_job *job, const char *query, struct roger_err *err);
RG_CHECKED int serve_read_body(struct serve_job *job, struct roger_str body, struct roger_err *err);
RG_CHECKED int serve_finish_request(struct serve_job *job, const char *key, struct roger_err *err);

/* On a thread: call the verb, and fill the answer. */
void serve_call(struct serve_job *job, struct roger *roger);

/* Fill the answer for an error of a verb. */
void serve_fail(struct serve_answer *answer, int code, const struct roger_err *err);

/* ------------------------------------------------------------------ tries -- */

/* A request with an Idempotency-Key. */
struct serve_tried {
	const char *key;
	struct roger_str body;
	int64_t since_ms; /* how long ago the client began its first try; 0: this is it */
};
enum serve_try {
	SERVE_TRY_NEW,	     /* do it; *ret keeps the answer, or is NULL: out of memory */
	SERVE_TRY_DONE,	     /* *ret has the answer */
	SERVE_TRY_UNDER_WAY, /* the first try is still at work */
	SERVE_TRY_OTHER,     /* the key was used for something else */
	SERVE_TRY_FORGOTTEN, /* nobody knows whether it was done */
};
enum serve_try serve_replay_find(struct serve *serve, const struct serve_caller *caller,
				 const struct roger_op *verb, const struct serve_tried *tried,
				 struct serve_replay **ret);
/* Fill job->key if the answer is to be stored with the changes. */
void serve_replay_name(struct serve_job *job, const struct serve_caller *caller,
		       const struct serve_tried *tried);
void serve_replay_answer(const struct serve_replay *replay, struct serve_answer *answer);
/* Keep the answer; NULL: drop the entry, since there is no answer to keep. */
void serve_replay_done(struct serve *serve, struct serve_replay *replay,
		       const struct serve_answer *answer);
void serve_replays_free(struct serve *serve);

/* ----------------------------------------------------------------- tokens -- */

struct serve_tokens;

/* Kinds of secrets, with those of enum rg_secret.  Only hashes are kept; token.c has a drawing. */
enum { SERVE_TOKEN };
enum { SERVE_SECRET_BYTES = 80 };

/* Find the owner of a secret; false: it is not valid now. */
bool serve_token_find(struct serve *serve, int kind, const char *secret, struct serve_caller *ret);
/* Was the token valid once? */
bool serve_token_is_expired(struct serve *serve, const char *secret);

/* Make a key for a browser; trade a key, once, for a login; end a login.  These wait for a disk. */
RG_CHECKED int serve_key_make(const char *workspace, const struct serve_caller *whose,
			      char key[SERVE_SECRET_BYTES], struct roger_err *err);
RG_CHECKED int serve_key_trade(const char *workspace, const char *key,
			       char secret[SERVE_SECRET_BYTES], struct serve_caller *ret,
			       struct roger_err *err);
RG_CHECKED int serve_login_end(const char *workspace, const char *secret, struct roger_err *err);
extern const char serve_key_fault[]; /* why a key is refused */
void serve_tokens_free(struct serve *serve);
/* Print the path of the file of a workspace's tokens; to has 4200 bytes. */
RG_CHECKED int serve_tokens_path(const char *workspace, char *to, struct roger_err *err);

struct serve_uses;
struct serve_uses *serve_uses_read(const char *workspace); /* NULL: out of memory */
struct serve_uses *serve_uses_free(struct serve_uses *uses);
const struct rg_use *serve_use_find(struct serve_uses *uses, const char *login);
void serve_use_note(struct serve *serve, struct evhttp_request *request,
		    const struct serve_caller *caller);
/* Save the uses if there are new ones, and it is time, or now is set. */
void serve_uses_save(struct serve *serve, bool now);

/* ----------------------------------------------------------------- logins -- */

/* Find the caller by a browser's cookie; false: *ret_fault says why a login is not enough. */
bool serve_login_find(const struct serve_door *door, struct evhttp_request *request,
		      struct serve_caller *ret, const char **ret_fault);
/* Answer POST /login, POST /logout and GET /v1/session. */
void serve_on_login(struct serve *serve, struct evhttp_request *request,
		    const struct serve_caller *nobody);
void serve_on_logout(struct serve *serve, struct evhttp_request *request,
		     const struct serve_caller *nobody);
void serve_on_session(struct serve *serve, struct evhttp_request *request,
		      const struct serve_caller *caller);
/* For `roger ui`: make a key for the server that listens at url, show and open the page. */
RG_CHECKED int serve_open_page(const struct serve *serve, const struct cli_run *run,
			       struct roger_err *err);

/* ------------------------------------------------------------------- jobs -- */

/* Threads for sends where a commit crosses a network: while some wait, others gather. */
enum { SERVE_GATHERING = 24 };

struct serve_pool {
	struct serve *serve;
	enum serve_pool_kind kind;
	pthread_cond_t come;
	struct serve_job *first, **last;
	size_t queued, running, threads, idle;
	pthread_t workers[SERVE_GATHERING]; /* except those for SERVE_WAITS */
	int64_t gathers_ns;		    /* since when a thread appends sends; 0: none does */
};

/* NULL: out of memory, which is answered. */
struct serve_job *serve_job_new(struct serve *serve, const struct roger_op *verb,
				struct evhttp_request *http);
void serve_job_free(struct serve_job *job);

/* Queue a job; false: too many wait already. */
bool serve_job_start(struct serve_job *job);
/* Queue a job, or answer that too many wait already; or answer an error of its request. */
void serve_job_begin(struct serve_job *job);
void serve_job_fail(struct serve_job *job, int code, const struct roger_err *err);
/* At each tick: answer requests that have waited too long, while their threads go on. */
void serve_jobs_tick(struct serve *serve);
/* Give a slow job without a key one, by which its answer can be fetched. */
void serve_give_key(struct serve_job *job);
/* Answer how far the job is that this entry waits for. */
void serve_say_under_way(struct serve *serve, const struct serve_replay *replay,
			 struct serve_answer *answer);

bool serve_pools_init(struct serve *serve);
/* Begin no more jobs, and finish all but those of SERVE_WAITS. */
void serve_pools_end(struct serve *serve);
/* Does nobody wait for the answer any more, or does the server end? */
bool serve_job_is_over(const struct serve_job *job);
/* Start a thread that nobody joins; signals are for the loop. */
bool serve_start_thread(void *(*work)(void *argument), void *argument);

/* ----------------------------------------------------------------- events -- */

/* Open a stream of events for this request. */
void serve_on_events(struct serve *serve, struct evhttp_request *request,
		     const struct serve_caller *caller);
/* For all streams: look for what is new (deep: in the log, too); at each tick; at the end. */
void serve_streams_look(struct serve *serve, bool deep);
void serve_streams_tick(struct serve *serve);
void serve_streams_end(struct serve *serve);
/* Start or stop the watching of the workspace, by whether there are streams. */
void serve_streams_watched(struct serve *serve);

/* -------------------------------------------------------------------- MCP -- */

/* Answer a request to /mcp.  MCP is prepared by the first one: most servers get none. */
void serve_on_mcp(struct serve *serve, struct evhttp_request *request,
		  const struct serve_caller *caller);
void serve_mcp_end(struct serve *serve);

/* --------------------------------------------------------------- the page -- */

/* Send a file of the page, or the page itself for one of its views; false: it is no such path. */
bool serve_on_page(struct serve *serve, struct evhttp_request *request, const char *path);

/* ---------------------------------------------------- what is said of itself -- */

void serve_print_openapi(struct rg_buf *out);

enum { SERVE_BUCKETS = 8, SERVE_VERBS_MAX = 80 };
struct serve_figures {
	int64_t done[3]; /* successes, refusals, failures */
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
	struct serve *serve;	    /* the workspace that the request is for */
	struct bufferevent *buffer; /* we hold a reference to it */
	int64_t began_ms;	    /* when the request on its way in began; 0: there is none */
	int64_t opened_ms;
	int64_t seen_ms;
	size_t bytes; /* bytes of that request */
	struct rg_http_raw raw;
	struct rg_buf head;   /* that is on its way in */
	bool judged;	      /* the head was judged: a body may come, or there is none */
	bool refused;	      /* it was refused before it was whole, so the rest is thrown away */
	size_t thrown;	      /* bytes thrown away */
	int64_t mcp_began_ns; /* when a request to /mcp began that is being answered; 0: none */
	bool busy;	      /* a request is being answered */
	bool leaving;	      /* we hung up */
	bool own_user;	      /* the other end of a unix socket is our own user */
	bool observed_once;   /* observed is set */
	char observed[RG_NAME_CHARS_MAX + 1]; /* see struct serve_caller */
};

/* For evhttp: make the buffer of a new connection. */
struct bufferevent *serve_connection_new(struct event_base *base, void *door);
struct serve_connection *serve_connection_of(struct serve *serve, struct evhttp_request *request);
void serve_connection_begin(struct serve_connection *connection, struct evhttp_request *request);
void serve_hang_up(struct serve_connection *connection);
/* At each tick: close connections that are idle, or slow. */
void serve_connections_tick(struct serve *serve);
/* Did this process have no descriptor for a client since the last tick? */
extern bool serve_is_crowded;
/* At the end: close connections that have nothing left to send. */
void serve_connections_goodbye(struct serve *serve);
void serve_connections_end(struct serve *serve);

/* ----------------------------------------------------------------- server -- */

struct serve {
	const struct rg_serve_request *options;
	const char *workspace;
	struct stat home; /* the folder of its files when it began, which stays open */
	/* One workspace is the host: its TCP port and loop are for all. */
	struct serve *host; /* the host itself: itself */
	struct serve *guests, *next_guest;
	/* Only in a guest: */
	struct serve_door gate; /* behind the host's TCP port */
	struct roger_str name;
	struct rg_serve_request own_options;
	struct roger *roger; /* holds the turn to serve the workspace */
	struct roger_config_reply config;
	const struct rg_ui_request *ui; /* NULL: no page is to be opened */
	struct event_base *base;
	struct serve_door *doors;
	struct event *tick, *woken, *term, *interrupt;
	struct serve_connection *connections;
	size_t connection_count;
	size_t bytes;	    /* of requests that are not answered yet */
	const char **hosts; /* names of hosts behind a proxy */
	char socket_path[108];
	bool made_socket;
	int port;      /* TCP port; 0: none */
	char url[256]; /* address of the page; "": there is no TCP */
	bool stopping;
	int wake;	  /* an eventfd, written when a job is done */
	size_t job_count; /* jobs that have not ended */
	LIST_HEAD(, serve_job) open;
	size_t ticks;
	bool answered;	  /* something was answered since memory was given back */
	unsigned chores;  /* a bit for each chore at work */
	unsigned refused; /* a bit for each chore that was refused last */

	struct serve_tokens *tokens;   /* as read last; NULL: not read yet */
	struct serve_uses *uses;       /* NULL: not read yet */
	struct serve_replays *replays; /* NULL: not needed yet */
	int64_t began_ms;
	bool keeps_answers;	/* the store keeps answers, for all servers of the workspace */
	struct mcp_shared *mcp; /* NULL: nobody has come yet */
	struct roger_mcp_http *mcp_http;
	struct serve_stream *streams;
	size_t stream_count;
	struct serve_figures figures[SERVE_VERBS_MAX], mcp_figures;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t watch;
	size_t watched; /* streams, as told to the watching thread */
	bool watching, changed, changed_deep;
	struct serve_pool pools[SERVE_POOLS];
	struct serve_job *done;
	bool ending;
	char told[464]; /* the last notice of the workspace that was printed */
};

/* server.c: serve a workspace whose turn this process holds; ui: then open the page, or NULL. */
RG_CHECKED int serve_run_held(struct cli_run *run, const struct rg_serve_request *options,
			      const struct rg_ui_request *ui, struct roger_err *err);

/* Print this user's folder for a session's files, or for lasting ones; it is made if needed. */
RG_CHECKED int serve_own_folder(bool session, char to[4096], struct roger_err *err);

/* Print the path of the socket of a server of this workspace. */
RG_CHECKED int serve_socket_path(const struct rg_serve_request *options, const char *workspace,
				 char to[4200], struct roger_err *err);

/* listen.c: open all sockets; after a failure serve_listen_end() is still due. */
RG_CHECKED int serve_listen(struct serve *serve, const char *workspace, struct roger_err *err);
RG_CHECKED int serve_listen_local(struct serve *serve, const char *workspace,
				  struct roger_err *err);
void serve_listen_end(struct serve *serve);
/* Tell the service manager, for example "READY=1". */
void serve_notify(const char *state);

/* route.c: is the caller of a request that is still being answered still let in? */
bool serve_is_known(struct serve *serve, struct evhttp_request *request);

/* Find the folder of the workspace's files as it is now; false: errno says why there is none. */
bool serve_find_home(const struct serve *serve, struct stat *ret);

/* Is the folder another one than when the server began?  Nobody would find what is stored now. */
bool serve_is_elsewhere(const struct serve *serve);

/* head.c: a whole head is there, or it or the chunks are too long: let a body come, or refuse. */
void serve_head_judge(struct serve_connection *connection);
void serve_head_refuse(struct evhttp_request *request, int status);
/* route.c: check a request that is only a head; it is answered if it is refused. */
void serve_admit(struct serve_connection *connection, struct evhttp_request *request);
void serve_refuse_length(const struct serve_connection *connection, struct evhttp_request *request);

/* guest.c: open the workspaces that the host's options name. */
RG_CHECKED int serve_guests_open(struct serve *host, const struct roger_config_reply *config,
				 struct roger_err *err);
/* Find the guest of "/w/NAME/...", and move *path past its name; NULL: no such guest. */
struct serve_door *serve_guest_door(struct serve_door *door, const char **path);

/* server.c: open the thread pools, and the event that wakes the loop for this workspace. */
RG_CHECKED int serve_prepare(struct serve *serve, struct roger_err *err);

/* For evhttp: take a request at a door. */
void serve_on_request(struct evhttp_request *request, void *door);

#endif
