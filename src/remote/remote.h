/*
 * remote - every verb as a request to `roger serve`: on another machine, or, where the workspace is
 * in PostgreSQL, on this one.
 *
 * A handle of roger.h (api/roger.c) that has a struct remote asks it in place of an engine, so
 * all commands, hooks and `roger mcp` print and end as they do beside the files.
 *
 *     where.c    which servers, and the token that belongs to each
 *     socket.c   one request and its answer over a socket of this machine
 *     curl/      the same over HTTPS, in roger-remote alone: libcurl does TLS and proxies
 *     ask.c      tries: the same request again, until its outcome is known
 *     call.c     a verb's request into one of HTTP, the answer into the verb's reply
 *     watch.c    a stream of events, to sleep until something is stored
 *     outbox.c   sends that wait on disk for the server
 *     down.c     a note that nobody answered, for the next commands
 *     remote.c   handles
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/arena.h"
#include "verbs.h"

enum {
	REMOTE_URL_BYTES = 2048,
	REMOTE_TOKEN_BYTES = 512,
	/* A longer answer is refused, so that a server cannot fill the memory of its clients. */
	REMOTE_ANSWER_BYTES_MAX = 128 << 20,
	REMOTE_MEMBER_BYTES = 48,
	REMOTE_KEY_BYTES = 80,
	REMOTE_PLACES_MAX = 4,
};

/* A server, and the token that it may be told. */
struct remote_place {
	char name[REMOTE_URL_BYTES]; /* "https://host:443/prefix", as a token is bound to it */
	char socket[108];	     /* path of a unix socket; "": none */
	char host[256], port[8], path[1024];
	char token[REMOTE_TOKEN_BYTES]; /* "": none */
	bool tls;
};

struct rg_json;
struct remote;
struct remote_request;
struct remote_answer;
struct remote_watch;

enum remote_outcome {
	REMOTE_ANSWERED,
	REMOTE_UNSENT, /* nothing of the request has reached the server */
	REMOTE_BROKEN, /* the request may have been done, or not */
	REMOTE_NEVER,  /* no further try can help; err says why */
};

/* How bytes come to a server and back. */
struct remote_wire {
	/* Make a connection, which connects when it is needed; NULL: out of memory. */
	void *(*open)(const struct remote *remote);
	void (*close)(void *connection);
	/* Make a request over remote->connection.  The answer must be empty. */
	enum remote_outcome (*ask)(struct remote *remote, const struct remote_request *request,
				   struct remote_answer *answer, struct roger_err *err);
	/* Open a stream for /v1/events; last: "Last-Event-ID: ID" or "". */
	void *(*stream)(struct remote *remote, const char *last);
	/* Pass on what the stream brings, for at most wait_ms; false: it has ended. */
	bool (*step)(void *stream, struct remote_watch *watch, int64_t wait_ms);
	void (*end)(void *stream);
};
extern const struct remote_wire remote_socket_wire;
/* Is linked into roger-remote; NULL in other programs. */
extern const struct remote_wire remote_curl_wire __attribute__((weak));

struct remote {
	struct remote_place places[REMOTE_PLACES_MAX], *place; /* place: the one tried last */
	size_t place_count;
	const struct remote_wire *wire;
	void *connection;	    /* NULL: none */
	bool here;		    /* the server of a workspace of this machine */
	struct remote_watch *watch; /* NULL: nobody watches yet */
	roger_progress *tell;
	void *tell_context;
	int holds;	  /* the file whose bytes are locks; RG_NO_FILE: not open */
	char damage[464]; /* as the last answer told it */
	char notice[464];
	int64_t refused;	    /* sends from the outbox, by the server */
	char what[32];		    /* the work that the server does */
	char key[REMOTE_KEY_BYTES]; /* of the last send */
	bool unreached;		    /* the last verb got no answer, so its outcome is not known */
	bool hurried;		    /* do not wait for a server that does not answer */
	bool lost;		    /* it did not answer: it is not asked again, if hurried never */
	char lost_why[464];
	bool flushed;	 /* the outbox has been looked at */
	bool down_known; /* down_ms has been looked up */
	int64_t down_ms; /* since when nobody answered; 0: somebody did, or it is not known */
};

/* ----------------------------------------------------------------- handles -- */

/* Open a handle of the server at a unix socket of this machine, or (NULL) of the servers in
 * ROGER_SERVER, with their tokens.  ROGER_EENGINE with the member wire: this program cannot. */
RG_CHECKED int remote_open(const char *socket, struct remote **ret_remote, struct roger_err *err);
struct remote *remote_close(struct remote *remote);
/* The agent that the token belongs to, in `to`; tool: it is of no one agent; "": not known. */
struct roger_str remote_name(struct remote *remote, struct roger_str tool, char *to, size_t size);
/* Call a verb, as roger_call() does. */
RG_CHECKED int remote_call(struct remote *remote, const struct roger_op *op, const void *request,
			   void *ret_reply, struct roger_err *err);
/* Like remote_call(), but the reply has its memory already. */
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
/* Use the next one of the servers from now on; false: there is only one. */
bool remote_turn(struct remote *remote);

/* -------------------------------------------------------------------- HTTP -- */

struct remote_request {
	const char *path;      /* "/v1/send", with its query */
	struct roger_str body; /* of a POST; NULL: a GET */
	const char *key;       /* the same for each try; NULL: none */
	int64_t since_ms;      /* how long ago the first try began; 0: this is the first */
	int64_t within_ms;
	bool queued;	 /* it comes from the outbox, and is tried again */
	bool slow;	 /* it may take long; the server reports its progress */
	int64_t turn_ms; /* after this, another one of several servers is asked; 0: within_ms */
};

struct remote_answer {
	long status;
	bool sized; /* the end of the body is known */
	bool too_long;
	struct rg_buf body;
};

/* -------------------------------------------------------------------- asking -- */

/*
 * Ask until there is an answer that is the server's last word.  ROGER_OK: the body is in answer;
 * else the error that it says.  ROGER_ETIMEOUT with remote->unreached: there was none.
 */
RG_CHECKED int remote_ask(struct remote *remote, struct remote_request *request,
			  struct remote_answer *answer, struct roger_err *err);

/* Read the body of an answer to a verb.  What no server of roger says, such as the page of a proxy,
 * is ROGER_EENGINE, after a write ROGER_ETIMEOUT. */
RG_CHECKED int remote_read_reply(const struct remote *remote, const struct roger_op *op,
				 const struct remote_answer *answer, struct rg_arena *arena,
				 void *reply, const struct rg_json **ret_json,
				 struct roger_err *err);

/* Make one try. */
enum remote_outcome remote_try(struct remote *remote, const struct remote_request *request,
			       struct remote_answer *answer, struct roger_err *err);

/* Make a random key for the tries of one request. */
RG_CHECKED int remote_new_key(char to[REMOTE_KEY_BYTES], struct roger_err *err);

/* ---------------------------------------------------------------------- down -- */

/* Did an earlier command find that nobody answers?  Then remote->down_ms is set. */
void remote_down_find(struct remote *remote);
/* Note for the next commands that nobody answers, or that somebody does. */
void remote_down_note(struct remote *remote, bool down);
/* Does anybody answer, within a second? */
bool remote_is_there(struct remote *remote, struct roger_err *err);
/* Is this a proxy's answer for a server that it cannot reach? */
static inline bool remote_is_of_proxy(long status)
{
	return status >= 502 && status <= 504;
}
/* Fail with ROGER_ETIMEOUT: a proxy answered. */
int remote_fail_proxy(const struct remote *remote, long status, struct roger_err *err);

/* -------------------------------------------------------------------- outbox -- */

/* Open this user's folder of roger; RG_NO_FILE: it is not there, and make is false. */
RG_CHECKED int remote_own_folder(bool make, int *ret_folder, struct roger_err *err);
/* Print the name in it of something of this server: "outbox-0123456789abcdef". */
void remote_print_own(const struct remote *remote, const char *what, char to[40]);

struct remote_outbox {
	int64_t waiting, refused;
	int64_t since_ms; /* the time of the oldest one that waits */
	char path[40];	  /* below this user's folder */
	char server[256]; /* its address; "": not known */
};

/* Send all that waits, in order; wait: even if another process is sending right now. */
RG_CHECKED int remote_outbox_flush(struct remote *remote, bool wait, struct roger_err *err);
/* Add to an error that messages wait. */
void remote_outbox_tell(const struct remote *remote, struct roger_err *err);
/* elsewhere: look for one of another server's in which a message waits. */
void remote_outbox_look(const struct remote *remote, bool elsewhere, struct remote_outbox *ret);
/* Keep a send on disk, which had no answer: with the key that it was tried with. */
RG_CHECKED int remote_queue(struct remote *remote, const struct roger_op *op,
			    const struct roger_send_request *request, struct roger_str *ret_key,
			    struct roger_err *err);

/* Print a request as the body has it: only members that are set. */
void remote_print_request(const struct roger_record *record, const void *request,
			  struct rg_buf *out);

/* -------------------------------------------------------------------- watching -- */

/* Take bytes of the stream. */
void remote_watch_take(struct remote_watch *watch, const char *data, size_t length);
struct remote_watch *remote_watch_free(struct remote *remote);

#endif
