/*
 * remote - every verb as a request to `roger serve`: on another machine, or, where the workspace is
 * in PostgreSQL, on this one.
 *
 * A handle of roger.h (api/roger.c) that has one of these asks it in place of an engine, so
 * all commands, hooks and `roger mcp` print and end as they do beside the files.
 *
 *     where.c    which servers, and the token that belongs to each
 *     socket.c   one request and its answer over a socket of this machine
 *     curl/      the same over HTTPS, in roger-remote alone: libcurl does TLS and proxies
 *     ask.c      tries: the same request again, until its outcome is known
 *     call.c     a verb's request into one of HTTP, the answer into the verb's reply
 *     watch.c    a stream of events, to sleep until something is stored
 *     outbox.c   sends that wait on disk for the server
 *     down.c     that nobody answers there, for the next commands
 *     remote.c   handles
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/arena.h"
#include "verbs.h"

enum {
	REMOTE_URL_BYTES = 2048,
	REMOTE_TOKEN_BYTES = 512,
	/* A longer answer is not read: a server cannot fill the memory of its clients. */
	REMOTE_ANSWER_BYTES_MAX = 128 << 20,
	REMOTE_MEMBER_BYTES = 48,
	REMOTE_KEY_BYTES = 80,
	REMOTE_PLACES_MAX = 4,
};

/* A server, and what it may be told. */
struct remote_place {
	char name[REMOTE_URL_BYTES]; /* "https://host:443/prefix", as a token is bound to it */
	char socket[108];	     /* of a unix socket; "": there is none */
	char host[256], port[8], path[1024];
	char token[REMOTE_TOKEN_BYTES]; /* "": none */
	bool tls;
};

struct remote;
struct remote_request;
struct remote_answer;
struct remote_watch;

enum remote_outcome {
	REMOTE_ANSWERED,
	REMOTE_UNSENT, /* nothing of it has reached the server */
	REMOTE_BROKEN, /* it may have been done, or not */
	REMOTE_NEVER,  /* no further try can do better; err says why */
};

/* How bytes come to a server and back. */
struct remote_wire {
	/* A connection that answers in turn; NULL: out of memory. */
	void *(*open)(const struct remote *remote);
	void (*close)(void *connection);
	/* One request over remote->connection, into an answer that is empty. */
	enum remote_outcome (*ask)(struct remote *remote, const struct remote_request *request,
				   struct remote_answer *answer, struct roger_err *err);
	/* A stream of its own for /v1/events; last: "Last-Event-ID: ID" or "". */
	void *(*stream)(struct remote *remote, const char *last);
	/* Let come what comes, for so long at most; false: it has ended. */
	bool (*step)(void *stream, struct remote_watch *watch, int64_t wait_ms);
	void (*end)(void *stream);
};
extern const struct remote_wire remote_socket_wire;
/* In roger-remote; NULL in a program without it. */
extern const struct remote_wire remote_curl_wire __attribute__((weak));

struct remote {
	struct remote_place places[REMOTE_PLACES_MAX], *place; /* place: of the last try */
	size_t place_count;
	const struct remote_wire *wire;
	void *connection;	    /* NULL: none */
	bool here;		    /* the server of a workspace of this machine */
	struct remote_watch *watch; /* NULL: nobody watches yet */
	roger_progress *tell;
	void *tell_context;
	int holds;	  /* the file whose bytes are locks; RG_NO_FILE: not open */
	char damage[464]; /* as the last answer said */
	char notice[464];
	char what[32];		    /* what is under way */
	char key[REMOTE_KEY_BYTES]; /* of the last send */
	bool unreached;		    /* the last verb had no answer: what came of it is not known */
	bool hurried;		    /* no server is waited for that is not there */
	bool flushed;		    /* the outbox was looked at */
	bool down_known;	    /* it was looked whether */
	int64_t down_ms;	    /* nobody answered, since then; 0: nothing is known of that */
};

/* ----------------------------------------------------------------- handles -- */

/* What ROGER_SERVER names, with its tokens.  ROGER_EENGINE, member wire: not in this program. */
RG_CHECKED int remote_open(struct remote **ret_remote, struct roger_err *err);
/* The server at a unix socket of this machine. */
RG_CHECKED int remote_open_here(const char *socket, struct remote **ret_remote,
				struct roger_err *err);
struct remote *remote_close(struct remote *remote);
/* As the functions of roger.h. */
RG_CHECKED int remote_call(struct remote *remote, const struct roger_op *op, const void *request,
			   void *ret_reply, struct roger_err *err);
/* The same with a reply that has its memory. */
RG_CHECKED int remote_call_within(struct remote *remote, const struct roger_op *op,
				  const void *request, void *reply, struct roger_err *err);
/* Does the verb work on this machine, and ask the server for its steps? */
bool remote_is_here(const struct remote *remote, const struct roger_op *op);
bool remote_hold(struct remote *remote, const char *what);
bool remote_watch(struct remote *remote, uint32_t *mark, int64_t timeout_ms);
void remote_interrupt(void);
bool remote_is_interrupted(void);

/* ------------------------------------------------------------------- where -- */

RG_CHECKED int remote_find(struct remote *remote, struct roger_err *err);
/* Speak to another one of its places from now on; false: there is one alone. */
bool remote_turn(struct remote *remote);

/* -------------------------------------------------------------------- HTTP -- */

struct remote_request {
	const char *path;      /* "/v1/send", with its query */
	struct roger_str body; /* of a POST; NULL: a GET */
	const char *key;       /* the same for each try; NULL: a quick look needs none */
	int64_t since_ms;      /* the first try began so long ago; 0: this is the first */
	int64_t within_ms;
	bool slow;	 /* it may be under way for long: the server says so, and how far it is */
	int64_t turn_ms; /* of several servers, another one is asked after this; 0: as within_ms */
};

struct remote_answer {
	long status;
	bool chunked, sized; /* so its end is known */
	bool too_long;
	struct rg_buf body;
};

/* -------------------------------------------------------------------- asking -- */

/*
 * Ask until there is an answer that is the server's last word: ROGER_OK with the body of
 * a good one, else the error it says.  ROGER_ETIMEOUT with remote->unreached: there was none.
 */
RG_CHECKED int remote_ask(struct remote *remote, struct remote_request *request,
			  struct remote_answer *answer, struct roger_err *err);

/* One try, whatever comes of it. */
enum remote_outcome remote_try(struct remote *remote, const struct remote_request *request,
			       struct remote_answer *answer, struct roger_err *err);

/* Random, for the tries of one request. */
RG_CHECKED int remote_new_key(char to[REMOTE_KEY_BYTES], struct roger_err *err);

/* ---------------------------------------------------------------------- down -- */

/* Did an earlier command find that nobody answers?  Then remote->down_ms. */
void remote_down_find(struct remote *remote);
/* Keep that for the next commands, or that somebody does. */
void remote_down_note(struct remote *remote, bool down);
/* Does anybody answer, within a second? */
bool remote_is_there(struct remote *remote, struct roger_err *err);
/* Is it what a proxy says that reaches nobody? */
static inline bool remote_is_of_proxy(long status)
{
	return status >= 502 && status <= 504;
}
/* Say that it was; ROGER_ETIMEOUT. */
int remote_fail_proxy(const struct remote *remote, long status, struct roger_err *err);

/* -------------------------------------------------------------------- outbox -- */

/* This user's folder of roger; RG_NO_FILE where it is not there, and not to be made. */
RG_CHECKED int remote_own_folder(bool make, int *ret_folder, struct roger_err *err);
/* A name in it that is of this server: "outbox-0123456789abcdef". */
void remote_print_own(const struct remote *remote, const char *what, char to[40]);

struct remote_outbox {
	int64_t waiting, refused;
	int64_t since_ms; /* the oldest of those that wait */
	char path[40];	  /* below this user's folder */
};

/* Send what waits there, in order; wait: also when another process is doing it right now. */
RG_CHECKED int remote_outbox_flush(struct remote *remote, bool wait, struct roger_err *err);
/* To an error, that something waits. */
void remote_outbox_tell(const struct remote *remote, struct roger_err *err);
void remote_outbox_look(const struct remote *remote, struct remote_outbox *ret);
/* Keep a send on disk, which had no answer: with the key that it was tried with. */
RG_CHECKED int remote_queue(struct remote *remote, const struct roger_op *op,
			    const struct roger_send_request *request, struct roger_str *ret_key,
			    struct roger_err *err);

/* A send as it goes into a body: only what is set. */
void remote_print_request(const struct roger_record *record, const void *request,
			  struct rg_buf *out);

/* -------------------------------------------------------------------- watching -- */

/* Bytes of a stream. */
void remote_watch_take(struct remote_watch *watch, const char *data, size_t length);
struct remote_watch *remote_watch_free(struct remote *remote);

#endif
