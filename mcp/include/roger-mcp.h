/*
 * roger-mcp - servers of the Model Context Protocol in C.
 *
 * A server offers tools, resources and prompts, each with a handler.  The
 * library speaks the protocol, in revision 2026-07-28 (stateless) and in those
 * that begin with a handshake (2025-11-25 and before), over standard input and
 * output, or over streamable HTTP on the loopback.  One handler serves them
 * all.  The smallest whole server is examples/mcp_clock.c; mcp/docs/MCP.md explains.
 *
 * Text is UTF-8 and ends with a NUL.  JSON is passed as text.  What a handler
 * reads from its call lives as long as the call; what it hands over is copied.
 * The library prints nothing and never exits.
 *
 * Threads.  The function that serves is the one loop of its server: it reads,
 * answers and calls handlers, one after the other.  A handler that may take
 * longer says so (ROGER_MCP_BLOCKING) and gets a thread of its own, or it ends
 * its call later (roger_mcp_defer).  A call belongs to one thread at a time;
 * what may be called from any thread is marked (any thread).
 */
#ifndef ROGER_MCP_H
#define ROGER_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(ROGER_BUILD) && defined(__GNUC__)
#define ROGER_MCP_API __attribute__((visibility("default")))
#else
#define ROGER_MCP_API
#endif

#if defined(__GNUC__)
#define ROGER_MCP_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ROGER_MCP_PRINTF(text, first)
#endif

#define ROGER_MCP_LIBRARY_VERSION "0.1.0"

/* The newest revision of the protocol that is spoken. */
#define ROGER_MCP_REVISION "2026-07-28"

/* Functions that can go wrong return ROGER_MCP_OK or one of these. */
enum roger_mcp_code {
	ROGER_MCP_OK = 0,
	ROGER_MCP_EUSAGE = -64, /* what was asked for contradicts itself */
	ROGER_MCP_EDATA = -65,	/* a schema, a name or other text is not acceptable */
	ROGER_MCP_ENOENT = -66, /* nothing has that name */
	ROGER_MCP_ENOMEM = -71, /* out of memory */
	ROGER_MCP_EIO = -74,	/* reading or writing went wrong */
};

struct roger_mcp_err {
	int code;	   /* enum roger_mcp_code */
	char message[464]; /* one line for people: what, and what was expected */
};

struct roger_mcp_server;
struct roger_mcp_call;
struct roger_mcp_value; /* a value of JSON, inside a call */

/* --------------------------------------------------------------- server -- */

/* Zeroed, it asks for every default; name and version are needed. */
struct roger_mcp_options {
	const char *name;
	const char *version;
	const char *title;
	const char *instructions; /* how a model is to use this server */

	bool logging;		  /* handlers log to the client (roger_mcp_log) */
	size_t page_items;	  /* of one page of a list; 0: 100 */
	size_t threads_max;	  /* blocking handlers at one time; 0: 16 */
	size_t calls_max;	  /* unanswered calls at one time; 0: 256 */
	size_t message_bytes_max; /* of what a client sends; 0: 4 MiB */
	int64_t list_ttl_ms;  /* how long a client may keep a list; 0: five minutes, < 0: not at all
			       */
	int64_t state_ttl_ms; /* how long roger_mcp_keep() holds; 0: ten minutes */
	/* Over HTTP, a call that takes longer fails with these words, as roger_mcp_fail() does.
	 * Its handler keeps running, and sees that it was cancelled.  0: no limit. */
	int64_t late_ms;
	const char *late_words;
};

/* NULL: out of memory, or no name or version. */
ROGER_MCP_API struct roger_mcp_server *roger_mcp_server_new(
	const struct roger_mcp_options *options);

/*
 * Instructions that depend on who reads them: for that caller (roger_mcp_caller()), with
 * a client of that name, which is its own claim (NULL: it says none).  The text lives
 * until the next one is asked for.  Set it before anything serves; it takes the place of the
 * option.
 */
typedef const char *roger_mcp_instruct(const char *caller, const char *client_name, void *data);
ROGER_MCP_API void roger_mcp_set_instructions(struct roger_mcp_server *server,
					      roger_mcp_instruct *instruct, void *data);

/* After everything that serves it has returned.  Takes NULL, returns NULL. */
ROGER_MCP_API struct roger_mcp_server *roger_mcp_server_free(struct roger_mcp_server *server);

/* Answers a call; data is what was registered with it. */
typedef void roger_mcp_handler(struct roger_mcp_call *call, void *data);

/* Flags of what is registered. */
enum {
	ROGER_MCP_BLOCKING = 1, /* the handler may take long: it runs on a thread of its own */

	/*
	 * Of a tool: a string is taken where its schema has an array of strings, and the handler
	 * sees that string.  Models give one alone now and then, and a schema that says so (a list
	 * of types) is refused by some of their makers.
	 */
	ROGER_MCP_LONE_ITEMS = 2,
};

/*
 * What a server offers, in the order in which it is listed.  Adding and
 * removing may happen while the server serves: clients that asked to be told
 * are told (any thread).  A second one of the same name is refused.
 */
struct roger_mcp_tool {
	const char *name; /* 1 to 128 of A-Z a-z 0-9 _ - . */
	const char *title;
	const char *description;
	const char *input_schema;  /* JSON Schema of an object; NULL: takes no arguments */
	const char *output_schema; /* of roger_mcp_set_structured() */
	const char *annotations;   /* {"readOnlyHint":true,...} */
	const char *icons;	   /* [{"src":...},...] */
	const char *meta;	   /* its _meta: an object */
	unsigned flags;
	roger_mcp_handler *call;
	void *data;
};

ROGER_MCP_API int roger_mcp_add_tool(struct roger_mcp_server *server,
				     const struct roger_mcp_tool *tool, struct roger_mcp_err *err);
ROGER_MCP_API int roger_mcp_remove_tool(struct roger_mcp_server *server, const char *name);

/*
 * A resource, or many: a template's uri holds {names} that match up to the
 * next slash; its handler asks for them with roger_mcp_variable().
 */
struct roger_mcp_resource {
	const char *uri; /* "roger://dead-letters", or "roger://inbox/{agent}" */
	const char *name;
	const char *title;
	const char *description;
	const char *mime_type; /* of roger_mcp_add_text(); NULL: text/plain */
	const char *annotations;
	const char *icons;
	const char *meta;
	unsigned flags;
	roger_mcp_handler *read;
	roger_mcp_handler *complete; /* values for a template's names; NULL: none */
	void *data;
};

ROGER_MCP_API int roger_mcp_add_resource(struct roger_mcp_server *server,
					 const struct roger_mcp_resource *resource,
					 struct roger_mcp_err *err);
ROGER_MCP_API int roger_mcp_remove_resource(struct roger_mcp_server *server, const char *uri);

struct roger_mcp_argument {
	const char *name;
	const char *title;
	const char *description;
	bool required;
};

struct roger_mcp_prompt {
	const char *name;
	const char *title;
	const char *description;
	const struct roger_mcp_argument *arguments;
	size_t argument_count;
	const char *icons;
	const char *meta;
	unsigned flags;
	roger_mcp_handler *get;
	roger_mcp_handler *complete; /* values for an argument; NULL: none */
	void *data;
};

ROGER_MCP_API int roger_mcp_add_prompt(struct roger_mcp_server *server,
				       const struct roger_mcp_prompt *prompt,
				       struct roger_mcp_err *err);
ROGER_MCP_API int roger_mcp_remove_prompt(struct roger_mcp_server *server, const char *name);

/*
 * A resource changed: notify the clients that subscribed to it (any thread).  With
 * uri NULL any resource may have changed, and every subscription is notified.
 */
ROGER_MCP_API void roger_mcp_resource_updated(struct roger_mcp_server *server, const char *uri);

/* Did any client ask to be told of a resource?  Who looks for changes may rest if not (any thread).
 */
ROGER_MCP_API bool roger_mcp_has_listeners(struct roger_mcp_server *server);

/*
 * Called whenever a client begins to ask to be told of a resource, so that who
 * looks for changes can sleep until then.  It may only wake somebody: it runs under
 * the server's lock.  Set it before anything serves.
 */
ROGER_MCP_API void roger_mcp_on_listening(struct roger_mcp_server *server,
					  void (*listening)(void *data), void *data);

/* ----------------------------------------------------------------- JSON -- */

enum roger_mcp_kind {
	ROGER_MCP_NULL,
	ROGER_MCP_FALSE,
	ROGER_MCP_TRUE,
	ROGER_MCP_NUMBER,
	ROGER_MCP_STRING,
	ROGER_MCP_ARRAY,
	ROGER_MCP_OBJECT,
};

/* All of these take NULL for a value that is not there. */
ROGER_MCP_API enum roger_mcp_kind roger_mcp_kind_of(const struct roger_mcp_value *value);
ROGER_MCP_API const struct roger_mcp_value *roger_mcp_member(const struct roger_mcp_value *object,
							     const char *name);

/* Items of an array, members of an object (with *key): start with *i = 0. */
ROGER_MCP_API bool roger_mcp_next(const struct roger_mcp_value *container, size_t *i,
				  const char **key, const struct roger_mcp_value **value);

/* The value, or otherwise where it is of another kind. */
ROGER_MCP_API const char *roger_mcp_text_of(const struct roger_mcp_value *value,
					    const char *otherwise);
ROGER_MCP_API int64_t roger_mcp_int_of(const struct roger_mcp_value *value, int64_t otherwise);
ROGER_MCP_API double roger_mcp_number_of(const struct roger_mcp_value *value, double otherwise);
ROGER_MCP_API bool roger_mcp_bool_of(const struct roger_mcp_value *value, bool otherwise);

/* The value as JSON without white space; lives as long as the call.  NULL: out of memory. */
ROGER_MCP_API const char *roger_mcp_json_of(struct roger_mcp_call *call,
					    const struct roger_mcp_value *value);

/* ------------------------------------------------- what a call asks for -- */

/*
 * The arguments: an object, NULL where there are none.  Those of a tool keep
 * its input schema: types, required, enum, const, additionalProperties, lengths,
 * bounds and items were checked, and the model was told where they did not fit.
 */
ROGER_MCP_API const struct roger_mcp_value *roger_mcp_arguments(const struct roger_mcp_call *call);

/* A text argument, or otherwise. */
ROGER_MCP_API const char *roger_mcp_argument_text(const struct roger_mcp_call *call,
						  const char *name, const char *otherwise);

/* The name of the tool or prompt, the uri of the resource. */
ROGER_MCP_API const char *roger_mcp_name(const struct roger_mcp_call *call);

/* The value of {name} in the uri that is read, decoded; NULL: no such name. */
ROGER_MCP_API const char *roger_mcp_variable(const struct roger_mcp_call *call, const char *name);

/* A completion: which argument, and what is typed of it so far. */
ROGER_MCP_API const char *roger_mcp_completed_name(const struct roger_mcp_call *call);
ROGER_MCP_API const char *roger_mcp_completed_text(const struct roger_mcp_call *call);

/* The request's _meta; NULL: none. */
ROGER_MCP_API const struct roger_mcp_value *roger_mcp_meta(const struct roger_mcp_call *call);

/*
 * Who calls: the owner of the token over HTTP, "" over standard input, where
 * the environment says it.  The client's name and version are its own claim.
 */
ROGER_MCP_API const char *roger_mcp_caller(const struct roger_mcp_call *call);
ROGER_MCP_API const char *roger_mcp_client_name(const struct roger_mcp_call *call);
ROGER_MCP_API const char *roger_mcp_client_version(const struct roger_mcp_call *call);

/* "2026-07-28": the revision of the protocol this call is made in. */
ROGER_MCP_API const char *roger_mcp_revision(const struct roger_mcp_call *call);

/* Has the client declared this: "elicitation", "sampling", "roots"? */
ROGER_MCP_API bool roger_mcp_client_can(const struct roger_mcp_call *call, const char *capability);

/* -------------------------------------------------- what a call answers -- */

/*
 * Content, in order: a tool's result, a resource's contents, or a prompt's
 * messages, each with the role that was set last ("user" at first).
 */
ROGER_MCP_API void roger_mcp_add_text(struct roger_mcp_call *call, const char *text);
ROGER_MCP_API void roger_mcp_printf(struct roger_mcp_call *call, const char *format, ...)
	ROGER_MCP_PRINTF(2, 3);
ROGER_MCP_API void roger_mcp_add_image(struct roger_mcp_call *call, const char *mime_type,
				       const void *data, size_t size);
ROGER_MCP_API void roger_mcp_add_audio(struct roger_mcp_call *call, const char *mime_type,
				       const void *data, size_t size);

/* A resource that comes along.  When a resource is read, this is its content or one of several. */
ROGER_MCP_API void roger_mcp_add_resource_text(struct roger_mcp_call *call, const char *uri,
					       const char *mime_type, const char *text);
ROGER_MCP_API void roger_mcp_add_resource_blob(struct roger_mcp_call *call, const char *uri,
					       const char *mime_type, const void *data,
					       size_t size);
ROGER_MCP_API void roger_mcp_add_link(struct roger_mcp_call *call, const char *uri,
				      const char *name, const char *mime_type);
ROGER_MCP_API void roger_mcp_set_role(struct roger_mcp_call *call, const char *role);

/* A tool's structured result: JSON.  Where no content is added, it also goes out as text. */
ROGER_MCP_API void roger_mcp_set_structured(struct roger_mcp_call *call, const char *json);

/* How long a client may keep what it read, and whether it may show it to others; else 0, no. */
ROGER_MCP_API void roger_mcp_set_cache(struct roger_mcp_call *call, int64_t ttl_ms, bool shared);

/* A value of a completion; those beyond 100 are only counted. */
ROGER_MCP_API void roger_mcp_add_completion(struct roger_mcp_call *call, const char *value);

/*
 * It did not work, in a sentence a model can act on: what was wrong, what was
 * expected, what to do.  A tool's result is then an error (isError); a resource
 * or prompt is answered with an error of the protocol.
 */
ROGER_MCP_API void roger_mcp_fail(struct roger_mcp_call *call, const char *format, ...)
	ROGER_MCP_PRINTF(2, 3);

/* There is no such resource: the protocol's own answer to that. */
ROGER_MCP_API void roger_mcp_not_found(struct roger_mcp_call *call);

/* An error of the protocol; codes of your own lie outside -32768 to -32000. */
ROGER_MCP_API void roger_mcp_refuse(struct roger_mcp_call *call, int code, const char *message);

/* ------------------------------------------------------ while it lasts -- */

/*
 * How far the call is, for a client that asked to know.  Only what rises is
 * sent, and not more than fifty a second; total 0: unknown; message may be NULL.
 */
ROGER_MCP_API void roger_mcp_progress(struct roger_mcp_call *call, double progress, double total,
				      const char *message);

/* A line for the client's log, if it wants that level ("debug" to "emergency"). */
ROGER_MCP_API void roger_mcp_log(struct roger_mcp_call *call, const char *level, const char *logger,
				 const char *text);

/* The call has late_ms from now on: for one that waits, or gets on. */
ROGER_MCP_API void roger_mcp_not_late(struct roger_mcp_call *call);

/* Nobody waits for the answer any more: the client cancelled, went away, or the server ends. */
ROGER_MCP_API bool roger_mcp_cancelled(const struct roger_mcp_call *call);

/* Sleep until then or until the call is cancelled (true), in a blocking handler. */
ROGER_MCP_API bool roger_mcp_sleep(struct roger_mcp_call *call, int64_t ms);

/*
 * The call continues when its handler returns, and is answered by
 * roger_mcp_finish() (any thread), which must come, even for a cancelled call.
 */
ROGER_MCP_API void roger_mcp_defer(struct roger_mcp_call *call);
ROGER_MCP_API void roger_mcp_finish(struct roger_mcp_call *call);

/*
 * Ask the client something: "elicitation/create", "sampling/createMessage" or
 * "roots/list", with its params as JSON.  The answer (the client's result), or
 * NULL while there is none: then return, and the handler is called again, from
 * its start, when there is.  Ask for everything that is needed before you
 * return.  Only the answers of the last round are there; keep what you need.
 * A client that cannot be asked gets an error that says so.
 */
ROGER_MCP_API const struct roger_mcp_value *roger_mcp_ask(struct roger_mcp_call *call,
							  const char *key, const char *method,
							  const char *params);

/*
 * What the handler is to find again in the next round.  It travels through the
 * client, signed, and bound to the caller and to what is called; only a state
 * that is whole, recent and of the same call comes back.
 */
ROGER_MCP_API void roger_mcp_keep(struct roger_mcp_call *call, const char *state);
ROGER_MCP_API const char *roger_mcp_kept(const struct roger_mcp_call *call);

/* ------------------------------------------------------ standard input -- */

/*
 * Serve one client over two descriptors, 0 and 1 as a rule, until the input
 * ends, the output closes, or roger_mcp_stop().  Unfinished calls are then
 * cancelled and waited for.  Nothing else may write to the output.
 */
ROGER_MCP_API int roger_mcp_serve_stdio(struct roger_mcp_server *server, int input, int output,
					struct roger_mcp_err *err);

/* Ends everything that serves, for good (any thread, and signal handlers). */
ROGER_MCP_API void roger_mcp_stop(struct roger_mcp_server *server);

/* ---------------------------------------------------------------- HTTP -- */

/* Where libevent was there when the library was built. */

struct roger_mcp_token {
	const char *token; /* what stands behind "Authorization: Bearer " */
	const char *owner; /* roger_mcp_caller() */
};

struct roger_mcp_http_options {
	const char *address; /* NULL: 127.0.0.1.  Beyond the loopback only with allow_remote */
	uint16_t port;	     /* 0: any that is free, see roger_mcp_http_port() */
	const char *path;    /* NULL: "/mcp" */

	/* Whoever names none of these tokens is refused; none at all: nobody is asked. */
	const struct roger_mcp_token *tokens;
	size_t token_count;

	/* Beside localhost, 127.0.0.1 and [::1]: names in Host, and whole origins in Origin. */
	const char *const *hosts;
	size_t host_count;
	const char *const *origins;
	size_t origin_count;

	bool allow_remote;	/* needs tokens, and TLS in front */
	size_t sessions_max;	/* of clients with a handshake; 0: 256 */
	size_t connections_max; /* 0: 512 */
	int64_t keep_alive_ms;	/* between signs of life on an open stream; 0: 15 s */
};

struct roger_mcp_http;

/* Bind and listen; nothing is answered before roger_mcp_http_run(). */
ROGER_MCP_API int roger_mcp_http_open(struct roger_mcp_server *server,
				      const struct roger_mcp_http_options *options,
				      struct roger_mcp_http **ret_http, struct roger_mcp_err *err);
ROGER_MCP_API uint16_t roger_mcp_http_port(const struct roger_mcp_http *http);

/* Serve until roger_mcp_stop(). */
ROGER_MCP_API int roger_mcp_http_run(struct roger_mcp_http *http, struct roger_mcp_err *err);

/*
 * In place of these, inside a program with a libevent loop and an evhttp of its own, on
 * that loop's thread.  Of the options, those of sessions, connections and signs of life
 * count; who may come in, and where, the program decides before it hands a request over.
 */
struct event_base;
struct evhttp_request;
ROGER_MCP_API int roger_mcp_http_mount(struct roger_mcp_server *server, struct event_base *base,
				       const struct roger_mcp_http_options *options,
				       struct roger_mcp_http **ret_http, struct roger_mcp_err *err);

/* Answers the request, now or later; caller is what roger_mcp_caller() says. */
ROGER_MCP_API void roger_mcp_http_take(struct roger_mcp_http *http, struct evhttp_request *request,
				       const char *caller);

/*
 * Unfinished calls are cancelled and waited for.  One that was mounted is closed before the
 * evhttp of its requests, and answers what is open.  Takes NULL, returns NULL.
 */
ROGER_MCP_API struct roger_mcp_http *roger_mcp_http_close(struct roger_mcp_http *http);

#ifdef __cplusplus
}
#endif

#endif
