/*
 * mcp - roger as a server of the Model Context Protocol, for agents.
 *
 * A session serves one client over standard input and output.  Its agent is who
 * the launch says it is (--as, ROGER_AGENT, --for), or else who the client says it
 * is, and no argument of a tool can make it another one.  In roger serve there are
 * many clients, whose caller says who they are and what they may do, and a session
 * for each thread.  What tools take and give
 * is read from the verbs.
 */
#ifndef CLI_MCP_H
#define CLI_MCP_H

#include <roger-mcp.h>
#include <stdio.h>

#include "cli/command.h"
#include "data/caller.h"

enum { MCP_AGENT_BYTES = 132, MCP_TOOLS_MAX = 64 };

struct mcp_tool;

/* An argument that the tool explains in its own words, in place of the field's help. */
struct mcp_argument {
	const char *name;
	const char *help; /* "": it needs none */
};

/* A verb that is one of several of one tool. */
struct mcp_action {
	const char *name;
	const char *verb;
};

/* What a tool has of its own; mcp_tools.c.  All else is its verb's. */
struct mcp_words {
	const char *name;
	const struct mcp_action *actions; /* of a tool of several verbs; ends with a nameless one */
	const char *description;	  /* of such a tool */
	const struct mcp_argument *arguments; /* ends with a nameless one; may be NULL */
	const char *annotations;
	const char *meta;
	unsigned flags;
	const char *const *members; /* of messages in the reply; ends with NULL.  NULL: all */

	/* The reply for the model.  NULL: by its fields. */
	void (*tell)(FILE *to, const struct mcp_tool *tool);
	/* In place of one call of the verb; on a thread of its own, with a handle of its own. */
	int (*run)(const struct mcp_tool *tool, struct roger_mcp_call *call,
		   const struct roger_op *op, void *request, void *reply, struct roger_err *err);
};

struct mcp_tool {
	struct mcp_session *session;
	const struct roger_op *op; /* of the last action where there are several */
	const struct mcp_words *words;
	const void *reply; /* the one to print */
};

struct mcp_session {
	struct roger_mcp_server *server;
	const char *workspace;	   /* --workspace, or NULL */
	struct mcp_shared *shared; /* of roger serve; NULL: there is one client */
	struct roger_str launched; /* who it was started for, by name; "" nobody said it */
	struct roger_str tool;	   /* for whose client; "" nobody said it */
	struct roger_str agent;	   /* who calls now; ends with a NUL */
	char agent_name[MCP_AGENT_BYTES];
	/* Of a client that nobody named: what its tool is called, and its own name; set before
	 * the first call. */
	char tool_name[MCP_AGENT_BYTES], own_name[MCP_AGENT_BYTES];
	char instructions[1100];
	char why[500];			      /* no tool works; "": they do */
	struct roger *roger;		      /* of this thread; NULL: not open yet */
	size_t shown;			      /* messages in the text of the last answer */
	struct mcp_tool tools[MCP_TOOLS_MAX]; /* of its server, which points to them */
};

/* The session of this thread.  NULL: the call was answered. */
struct mcp_session *mcp_session_here(struct mcp_session *session, struct roger_mcp_call *call);

/*
 * The tools for many clients, whose caller (roger_mcp_caller()) is what they may do,
 * "look", "act" or "administer", a blank, who they are by their token ("": not known), a blank,
 * and which token, login or socket that is.
 */
struct mcp_shared;
RG_CHECKED int mcp_shared_open(const char *workspace, struct mcp_shared **ret,
			       struct roger_err *err);
struct roger_mcp_server *mcp_shared_server(struct mcp_shared *shared);
void mcp_shared_close(struct mcp_shared *shared);

/* The handle knows the caller; whoever started `roger mcp` has the files.  Of a
 * server's it ends in time, with the reason, as every request; not quick: so do its waits. */
void mcp_set_caller(struct roger *roger, const struct roger_mcp_call *call, bool quick);
/* May the caller do no more than look?  Is somebody else's token used for this agent? */
bool mcp_only_looks(const struct roger_mcp_call *call);
bool mcp_is_foreign(const struct roger_mcp_call *call, struct roger_str agent);

/*
 * Who a client of that name is: in to, which is returned; "": nobody knows.  Setup
 * writes --for TOOL into files that other tools read, too, so a client that says it
 * is another one of them is believed.
 */
struct roger_str mcp_agent_of(const struct mcp_session *session, const char *caller,
			      const char *client_name, char to[MCP_AGENT_BYTES]);

/* Set session->agent to the caller; false: unknown, and the call was answered. */
bool mcp_name_caller(struct mcp_session *session, struct roger_mcp_call *call);
void mcp_fail_nameless(struct roger_mcp_call *call);

/*
 * Why no mail may be shown, in one sentence: the workspace cannot be opened, or is not trusted,
 * which is asked anew each time.  "": it may.  What a model gets to read holds no word of its
 * files.
 */
const char *mcp_distrust(struct mcp_session *session, struct roger **roger);

/* The open workspace; NULL: the call was answered with the error. */
struct roger *mcp_open(struct mcp_session *session, struct roger_mcp_call *call);

/* The call failed, in words for an agent that has tools and no shell. */
void mcp_fail(struct roger_mcp_call *call, const struct roger_err *err, const char *more);

/* The end of a page: its text, if any, becomes part of the answer. */
struct cli_page;
void mcp_add_page(struct roger_mcp_call *call, struct cli_page *page);

/*
 * A reply as JSON that ends with a NUL, for a model: of messages no more than one
 * result may hold, with whose words they are.  shown: 0: that they are, without their
 * texts.  What is damaged in the workspace is in it.  The reply is cut.
 */
RG_CHECKED bool mcp_print_reply(struct rg_buf *json, const struct roger *roger,
				const struct roger_op *op, void *reply, size_t shown,
				struct rg_arena *arena);

/* Register all of them, in the order of the table, and the views.  Of a shared session, on threads.
 */
RG_CHECKED int mcp_add_tools(struct mcp_session *session, struct roger_mcp_err *err);
RG_CHECKED int mcp_add_views(struct mcp_session *session, struct roger_mcp_err *err);

/* The schemas of a tool, from the fields of its verbs. */
void mcp_print_input_schema(const struct mcp_tool *tool, struct rg_buf *out);
void mcp_print_output_schema(const struct mcp_tool *tool, struct rg_buf *out);

/* The verb of an action of the tool; NULL: no such action. */
const struct roger_op *mcp_verb(const struct mcp_tool *tool, const char *action);

/* The field that is the argument of that name, or NULL. */
const struct roger_field *mcp_field(const struct roger_record *record, const char *name);
#endif
