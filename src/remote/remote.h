/*
 * remote - roger.h for a machine without a copy: every verb is a request to `roger serve`.
 *
 * roger-remote is roger with this in place of api/roger.c, so that all commands, hooks
 * and `roger mcp` print and end as they do beside the workspace.  `roger` becomes it
 * where ROGER_SERVER is set.
 *
 *     where.c    which server, and the token that belongs to it
 *     http.c     one request and its answer (libcurl)
 *     ask.c      tries: the same request again, until its outcome is known
 *     call.c     a verb's request into one of HTTP, the answer into the verb's reply
 *     watch.c    a stream of events, to sleep until something is stored
 *     outbox.c   sends that wait on disk for the server
 *     remote.c   the rest of roger.h
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include <curl/curl.h>

#include "base/arena.h"
#include "verbs.h"

enum {
	REMOTE_URL_BYTES = 2048,
	REMOTE_TOKEN_BYTES = 512,
	/* A longer answer is not read: a server cannot fill the memory of its clients. */
	REMOTE_ANSWER_BYTES_MAX = 128 << 20,
	REMOTE_MEMBER_BYTES = 48,
	REMOTE_KEY_BYTES = 80,
};

/* A server, and what it may be told. */
struct remote_place {
	char name[REMOTE_URL_BYTES];	/* "https://host:443/prefix", as a token is bound to it */
	char socket[108];		/* of a unix socket; "": there is none */
	char token[REMOTE_TOKEN_BYTES]; /* "": none */
	bool tls;
};

struct remote_watch;

struct roger {
	struct remote_place place;
	CURL *curl;
	struct remote_watch *watch; /* NULL: nobody watches yet */
	roger_progress *tell;
	void *tell_context;
	int holds;	  /* the file whose bytes are locks; RG_NO_FILE: not open */
	char damage[464]; /* as the last answer said */
	char notice[464];
	char key[REMOTE_KEY_BYTES]; /* of the last send */
	char said[CURL_ERROR_SIZE]; /* by libcurl, of what went wrong last */
	bool unreached;		    /* the last verb had no answer: what came of it is not known */
	bool hurried;		    /* no server is waited for that is not there */
	bool flushed;		    /* the outbox was looked at */
};

/* ------------------------------------------------------------------- where -- */

/* What ROGER_SERVER names, with its token. */
RG_CHECKED int remote_find(struct remote_place *ret_place, struct roger_err *err);

/* -------------------------------------------------------------------- HTTP -- */

struct remote_request {
	const char *path;      /* "/v1/send", with its query */
	struct roger_str body; /* of a POST; NULL: a GET */
	const char *key;       /* the same for each try; NULL: a GET needs none */
	int64_t since_ms;      /* the first try began so long ago; 0: this is the first */
	int64_t within_ms;
};

enum remote_outcome {
	REMOTE_ANSWERED,
	REMOTE_UNSENT, /* nothing of it has reached the server */
	REMOTE_BROKEN, /* it may have been done, or not */
	REMOTE_NEVER,  /* no further try can do better; err says why */
};

struct remote_answer {
	long status;
	bool chunked, sized; /* so its end is known */
	bool too_long;
	struct rg_buf body;
};

enum remote_outcome remote_http(struct roger *roger, const struct remote_request *request,
				struct remote_answer *answer, struct roger_err *err);

/* A handle that knows the server and its token, for requests and streams; NULL: out of memory. */
CURL *remote_curl_new(const struct roger *roger);

/* roger_interrupt() was called. */
bool remote_is_interrupted(void);

/* -------------------------------------------------------------------- asking -- */

/*
 * Ask until there is an answer that is the server's last word: ROGER_OK with the body of
 * a good one, else the error it says.  ROGER_ETIMEOUT with roger->unreached: there was none.
 */
RG_CHECKED int remote_ask(struct roger *roger, struct remote_request *request,
			  struct remote_answer *answer, struct roger_err *err);

/* Random, for the tries of one request. */
RG_CHECKED int remote_new_key(char to[REMOTE_KEY_BYTES], struct roger_err *err);

/* -------------------------------------------------------------------- outbox -- */

/* This user's folder of roger; made if need be. */
RG_CHECKED int remote_own_folder(int *ret_folder, struct roger_err *err);

struct remote_outbox {
	int64_t waiting, refused;
	int64_t since_ms; /* the oldest of those that wait */
	char path[REMOTE_URL_BYTES];
};

/* Send what waits there, in order; wait: also when another process is doing it right now. */
RG_CHECKED int remote_outbox_flush(struct roger *roger, bool wait, struct roger_err *err);
/* To an error, that something waits. */
void remote_outbox_tell(const struct roger *roger, struct roger_err *err);
void remote_outbox_look(const struct roger *roger, struct remote_outbox *ret);

/* A send as it goes into a body: only what is set. */
void remote_print_request(const struct roger_record *record, const void *request,
			  struct rg_buf *out);

/* -------------------------------------------------------------------- watching -- */

/* As roger_watch(). */
bool remote_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms);
struct remote_watch *remote_watch_free(struct remote_watch *watch);

#endif
