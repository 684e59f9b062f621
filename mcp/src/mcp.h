/*
 * mcp - inside of libroger-mcp: a server, its catalogue, its clients and their
 * calls, and what transports see of them.
 *
 *     stdio.c, http.c    read and write messages
 *     dispatch.c         finds what answers a message
 *     catalogue.c        tools, resources and prompts, and their lists
 *     request.h          one request on its way, and the methods (method_*.c)
 *     call.c             functions for handlers: the request, and the answer
 *     answer.c           runs handlers, asks the client, sends answers
 *     events.c           tells clients of changes
 *     server.c           the server, its clients, its threads, streams
 *
 * One lock guards all that several threads see: catalogue, peers, streams,
 * listeners, and of a call the members that are marked.  No handler runs under
 * it.  Names end in _locked where it must be held.
 */
#ifndef RG_MCP_MCP_H
#define RG_MCP_MCP_H

#include <pthread.h>
#include <roger-mcp.h>
#include <stdatomic.h>

#include "uri.h"
#include "wire.h"

/* The revisions in their order; the last one is modern, the others are legacy. */
enum rg_mcp_revision {
	RG_MCP_NONE,
	RG_MCP_2024_11_05,
	RG_MCP_2025_03_26,
	RG_MCP_2025_06_18,
	RG_MCP_2025_11_25,
	RG_MCP_2026_07_28,
};

const char *rg_mcp_revision_name(enum rg_mcp_revision revision);

/* The revision of that name; RG_MCP_NONE: not one that we speak. */
enum rg_mcp_revision rg_mcp_revision_of(struct roger_str name);

static inline bool rg_mcp_is_modern(enum rg_mcp_revision revision)
{
	return revision >= RG_MCP_2026_07_28;
}

/* ---------------------------------------------------------- catalogue -- */

enum rg_mcp_kind { RG_MCP_TOOLS, RG_MCP_RESOURCES, RG_MCP_TEMPLATES, RG_MCP_PROMPTS, RG_MCP_KINDS };

/* A tool, resource, template or prompt.  It does not change, and lives while anybody uses it. */
struct rg_mcp_item {
	struct rg_mcp_item *next;
	size_t users;
	enum rg_mcp_kind kind;
	int64_t number; /* rises with each new item; a page starts behind a number */
	char *key;	/* name, or uri */
	char *listed;	/* as a list shows it: JSON */
	char *mime_type;
	struct rg_json *input_schema;
	struct rg_json *output_schema;
	char **required; /* arguments a prompt needs; ends with NULL */
	unsigned flags;
	roger_mcp_handler *handler;
	roger_mcp_handler *complete;
	void *data;
};

struct rg_mcp_item *rg_mcp_find_locked(struct roger_mcp_server *server, enum rg_mcp_kind kind,
				       struct roger_str key);

/* Find the resource of a uri, or the template that matches it; NULL: none. */
struct rg_mcp_item *rg_mcp_find_uri_locked(struct roger_mcp_server *server, struct roger_str uri,
					   struct rg_arena *arena, struct rg_uri_names *names);
void rg_mcp_item_release_locked(struct rg_mcp_item *item);
void rg_mcp_catalogue_free(struct roger_mcp_server *server);

/* Add a page of a list, with nextCursor if there is more; false: there is no such cursor. */
bool rg_mcp_list_locked(struct roger_mcp_server *server, enum rg_mcp_kind kind,
			const struct rg_value *cursor, struct rg_buf *out);

/* ------------------------------------------------- streams and clients -- */

/*
 * Where messages go out: standard output, or the answer to one request over HTTP.  The transport
 * owns it, takes the bytes in `out`, and closes it when nobody reads any more.
 */
struct rg_mcp_stream {
	struct rg_mcp_peer *peer;
	void (*ready_locked)(struct rg_mcp_stream *stream); /* there is something to take */
	struct rg_buf out;
	size_t mark;	/* where the message that is being written began */
	size_t users;	/* the transport, and each call */
	bool framed;	/* each message is an event of HTTP; else a line */
	bool one_only;	/* the client takes one answer and nothing else */
	bool plain;	/* out is the one answer, without a frame */
	bool ended;	/* nothing more will come */
	bool closed;	/* nobody reads any more */
	bool late;	/* something is left to tell once there is room */
	int status;	/* HTTP status that fits the answer */
	size_t backlog; /* bytes that were taken and are not sent yet */
};

void rg_mcp_stream_init_locked(struct rg_mcp_stream *stream, struct rg_mcp_peer *peer);

/* Nobody reads any more: cancel the stream's calls, and end its subscriptions. */
void rg_mcp_stream_close_locked(struct rg_mcp_stream *stream);

/*
 * Begin and end a message, which is written into the buffer returned (NULL: nobody reads).  last:
 * it is the last one of an answer over HTTP.  A message that does not fit into memory is taken
 * back; an answer is then replaced by an error with its id.
 */
struct rg_buf *rg_mcp_begin_locked(struct rg_mcp_stream *stream, bool last);
void rg_mcp_end_locked(struct rg_mcp_stream *stream, struct roger_str id, bool last, int status);

/* A uri that a client subscribed to. */
struct rg_mcp_uri {
	struct rg_mcp_uri *next;
	bool late; /* it changed, and there was no room to tell */
	char text[];
};

/* The changes that a client wants to be told. */
struct rg_mcp_wishes {
	unsigned lists; /* bit 1 << enum rg_mcp_kind */
	unsigned late_lists;
	struct rg_mcp_uri *uris;
	size_t uri_count;
};

/* An open request of subscriptions/listen. */
struct rg_mcp_listener {
	struct rg_mcp_listener *next;
	struct rg_mcp_peer *peer;
	struct rg_mcp_stream *stream;
	struct rg_mcp_wishes wishes;
	char id[];
};

/* A client: a process at the other end, a session over HTTP, or one stateless request. */
struct rg_mcp_peer {
	struct rg_mcp_peer *next;
	struct roger_mcp_server *server;
	size_t users;		       /* its streams, its calls, and the transport */
	enum rg_mcp_revision revision; /* of the handshake; RG_MCP_NONE before it */
	char *client_name;
	char *client_version;
	struct rg_json *capabilities;
	int log_level;
	struct rg_mcp_wishes wishes;
	size_t listener_count;
	struct rg_mcp_stream *stream; /* for what belongs to no request; NULL: none is open */
	char *caller;
};

struct rg_mcp_peer *rg_mcp_peer_new_locked(struct roger_mcp_server *server, const char *caller);
void rg_mcp_peer_release_locked(struct rg_mcp_peer *peer);
void rg_mcp_stream_release_locked(struct rg_mcp_stream *stream);

/* ------------------------------------------------------------- server -- */

/* Tell an inner error in the public struct; returns its code. */
int rg_mcp_tell(const struct roger_err *from, struct roger_mcp_err *err);

struct rg_mcp_thread;

struct roger_mcp_server {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a call was cancelled or ended, or there is work */
	struct roger_mcp_options options;
	char *name, *version, *title, *instructions, *late_words;
	roger_mcp_instruct *instruct; /* replaces instructions; NULL: none */
	void *instruct_data;
	void (*listening)(void *data); /* NULL: not asked for */
	void *listening_data;
	unsigned char secret[32]; /* signs states that travel through clients */
	int stop_event;		  /* readable once roger_mcp_stop() was called */
	atomic_bool stopping;

	struct rg_mcp_item *items[RG_MCP_KINDS];
	int64_t last_number;
	bool offers[RG_MCP_KINDS];
	bool completes;

	struct rg_mcp_peer *peers;
	struct rg_mcp_listener *listeners;
	struct roger_mcp_call *calls;
	size_t call_count;
	uint64_t last_ask;

	struct rg_arena *spare; /* the last call's arena, to be used again */

	struct roger_mcp_call *work, **work_end; /* calls that wait for a thread */
	struct rg_mcp_thread *threads;
	bool threads_end;
	size_t thread_count, idle_count;
};

static inline void rg_mcp_lock(struct roger_mcp_server *server)
{
	pthread_mutex_lock(&server->lock);
}

static inline void rg_mcp_unlock(struct roger_mcp_server *server)
{
	pthread_mutex_unlock(&server->lock);
}

/* Run the call's handler on a thread of its own; false: no thread can be had. */
bool rg_mcp_work_locked(struct roger_mcp_server *server, struct roger_mcp_call *call);

/* Wait until this peer (NULL: any peer) has no call left. */
void rg_mcp_wait_idle_locked(struct roger_mcp_server *server, const struct rg_mcp_peer *peer);

/* ----------------------------------------------------------- dispatch -- */

/* The headers of a request over HTTP; a member is NULL if its header is missing. */
struct rg_mcp_headers {
	const char *version;
	const char *method;
	const char *name;
	const char *(*find)(const void *request, const char *name);
	const void *request;
};

/* Does this message speak a stateless revision, as its _meta and headers show? */
bool rg_mcp_speaks_modern(const struct rg_mcp_message *message,
			  const struct rg_mcp_headers *headers);

/*
 * Answer a message that was read into arena, which becomes the call's.  The answers, now or later,
 * go to stream.  headers is NULL except over HTTP.
 */
void rg_mcp_dispatch(struct rg_mcp_stream *stream, const struct rg_mcp_message *message,
		     struct rg_arena *arena, const struct rg_mcp_headers *headers);

/* Answer a message that could not be read. */
void rg_mcp_answer_unreadable(struct rg_mcp_stream *stream, const struct rg_mcp_message *message,
			      int code, const char *words);

struct rg_arena *rg_mcp_arena_new(struct roger_mcp_server *server);
void rg_mcp_arena_free_locked(struct roger_mcp_server *server, struct rg_arena *arena);

/* ------------------------------------------------------------- events -- */

/* Add what a client wants to be told and may be; false: it asks for too much. */
bool rg_mcp_wish_locked(struct roger_mcp_server *server, struct rg_mcp_wishes *wishes,
			struct roger_str uri, struct rg_arena *arena);
void rg_mcp_unwish(struct rg_mcp_wishes *wishes, struct roger_str uri);
void rg_mcp_wishes_deinit(struct rg_mcp_wishes *wishes);

void rg_mcp_list_changed_locked(struct roger_mcp_server *server, enum rg_mcp_kind kind);

/* The transport has taken the bytes: tell what there was no room for. */
void rg_mcp_catch_up_locked(struct rg_mcp_stream *stream);

/* End one listener, with an answer if told is set. */
void rg_mcp_listener_end_locked(struct roger_mcp_server *server, struct rg_mcp_listener *listener,
				bool told);
struct rg_mcp_listener *rg_mcp_listener_find_locked(struct roger_mcp_server *server,
						    const struct rg_mcp_peer *peer,
						    struct roger_str id);
void rg_mcp_end_listeners_locked(struct roger_mcp_server *server);

/* -------------------------------------------------------------- calls -- */

enum rg_mcp_answer { RG_MCP_TOOL_CALL, RG_MCP_READ, RG_MCP_GET_PROMPT, RG_MCP_COMPLETE };

/* A question that the handler asks the client. */
struct rg_mcp_ask {
	struct rg_mcp_ask *next;
	const char *key;
	const char *method;
	struct roger_str params;
	char id[32];		       /* legacy: the id of our request */
	const struct rg_value *answer; /* an object; NULL: none yet */
	bool refused;		       /* the client answered with an error */
};

struct roger_mcp_call {
	struct roger_mcp_call *next, *next_work;
	struct roger_mcp_server *server;
	struct rg_mcp_peer *peer;
	struct rg_mcp_stream *stream;
	struct rg_mcp_item *item;
	struct rg_arena *arena;
	struct rg_mcp_message message;
	enum rg_mcp_revision revision;
	enum rg_mcp_answer answer;
	roger_mcp_handler *handler;

	/* The request: */
	struct roger_str name;
	const struct rg_value *meta;
	const struct rg_value *capabilities;
	const struct rg_value *arguments;
	const struct rg_value *input_responses;
	const char *client_name, *client_version, *caller;
	const char *kept; /* the state from the round before */
	struct roger_str completed_name, completed_text;
	struct rg_uri_names names;
	struct roger_str progress_token; /* as JSON; "" none */
	int log_level;			 /* RG_MCP_NO_LOG: none */

	/* The answer: */
	struct rg_buf content; /* items */
	struct rg_buf structured;
	const char *role;
	int64_t ttl_ms;
	bool shared, is_error;
	size_t completion_count;
	int error_code; /* 0: no error of the protocol */
	struct roger_str error_words;
	const char *missing_capability;
	struct rg_mcp_ask *asks;     /* of this round */
	struct rg_mcp_ask *answered; /* legacy: questions of the round before */
	const char *keep;
	size_t rounds;
	double progress;
	int64_t progress_ns;
	bool progressed;

	/* Guarded by the lock: */
	atomic_bool cancelled;
	bool deferred, returned, finished;
	bool asking;	  /* legacy: waits for the client's answers */
	int64_t began_ns; /* when it began, or made progress last */
};

enum { RG_MCP_NO_LOG = 99 };

/* The number of a level: "debug" is 0, "emergency" 7; < 0: not a level. */
int rg_mcp_level_of(struct roger_str level);

/* Answer the call with an error of the protocol. */
void rg_mcp_call_refuse(struct roger_mcp_call *call, int code, struct roger_str words);

/* Answer that the call failed, in the way that suits the request. */
void rg_mcp_call_fail(struct roger_mcp_call *call, const char *words);

/* Drop what the call has answered so far. */
void rg_mcp_call_clear(struct roger_mcp_call *call);

/* Run the call's handler, here or on a thread, and answer the call once that is done. */
void rg_mcp_call_start_locked(struct roger_mcp_call *call);

/* Run a call on a thread, without the lock. */
void rg_mcp_call_run(struct roger_mcp_call *call);
void rg_mcp_call_cancel_locked(struct roger_mcp_call *call);

/* At each tick: answer calls that take too long, without their handlers. */
void rg_mcp_answer_late(struct roger_mcp_server *server);

/* Take the client's answer to a question of one of its calls. */
void rg_mcp_call_answered_locked(struct rg_mcp_peer *peer, const struct rg_mcp_message *message);

/* Print {"jsonrpc":"2.0","id":..., or the end of an error, with data. */
void rg_mcp_put_head(struct rg_buf *out, struct roger_str id);
void rg_mcp_put_error(struct rg_buf *out, int code, struct roger_str words, struct roger_str data);
int rg_mcp_status_of(enum rg_mcp_revision revision, int code);

/* Print members of every modern result. */
void rg_mcp_put_server(struct roger_mcp_server *server, struct rg_buf *out);
void rg_mcp_put_cache(struct rg_buf *out, int64_t ttl_ms, bool shared);

/* Seal a state, which travels through the client, for this call, or unseal it; NULL: it is not
 * one of ours. */
void rg_mcp_seal(const struct roger_mcp_call *call, const char *state, int64_t now_ms,
		 struct rg_buf *out);
const char *rg_mcp_unseal(const struct roger_mcp_call *call, struct roger_str sealed,
			  int64_t now_ms);

#endif
