/*
 * mcp - roger as a server of the Model Context Protocol, for agents.
 *
 * A session serves one client over standard input and output.  Its agent is named by
 * the launch (--as, ROGER_AGENT, --for), or else by the client's own name, and no
 * argument of a tool can change it.  roger serve has many clients and a session for
 * each thread; the caller of a request says who the client is and what it may do.
 * The schemas of the tools are made from the fields of the verbs.
 */
#ifndef CLI_MCP_H
#define CLI_MCP_H

#include <roger-mcp.h>
#include <stdio.h>

#include "cli/command.h"
#include "data/caller.h"

enum { MCP_AGENT_BYTES = 132, MCP_TOOLS_MAX = 64 };

struct mcp_tool;

/* An action of a tool that has several verbs. */
struct mcp_action {
	const char *name;
	const char *verb;
};

/* Settings of one tool, in mcp_tools.c; all else comes from its verb. */
struct mcp_words {
	const char *name;
	const struct mcp_action *actions; /* if it has several verbs; ends with a nameless one */
	const char *description;	  /* NULL: the verb's; needed with actions */
	const char *annotations;
	const char *meta;
	unsigned flags;
	const char *const *members; /* the only members shown of messages, then NULL.  NULL: all */

	/* Prints the reply for the model.  NULL: its fields are printed. */
	void (*tell)(FILE *to, const struct mcp_tool *tool);
	/* Runs in place of one call of the verb, on its own thread with its own handle. */
	int (*run)(const struct mcp_tool *tool, struct roger_mcp_call *call,
		   const struct roger_op *op, void *request, void *reply, struct roger_err *err);
};

struct mcp_tool {
	struct mcp_session *session;
	const struct roger_op *op; /* the verb; of the last action if there are several */
	const struct mcp_words *words;
	const void *reply; /* the reply to print */
};

struct mcp_session {
	struct roger_mcp_server *server;
	const char *workspace;	   /* --workspace, or NULL */
	struct mcp_shared *shared; /* set in roger serve; NULL: there is one client */
	struct roger_str launched; /* the agent's name from --as or ROGER_AGENT, or "" */
	struct roger_str tool;	   /* the tool's name from --for, or "" */
	struct roger_str agent;	   /* the caller of the present call; ends with a NUL */
	char agent_name[MCP_AGENT_BYTES];
	/* For a client without a name from the launch: its tool's name, and the name that it got;
	 * "": not yet. */
	char tool_name[MCP_AGENT_BYTES], own_name[MCP_AGENT_BYTES];
	char instructions[1100];
	char why[500];			      /* why no tool works; "": they work */
	struct roger *roger;		      /* the handle of this thread; NULL: not open yet */
	size_t shown;			      /* messages in the text of the last answer */
	struct mcp_tool tools[MCP_TOOLS_MAX]; /* the server points to them */
};

/* Return the session of this thread; NULL: the call was answered with an error. */
struct mcp_session *mcp_session_here(struct mcp_session *session, struct roger_mcp_call *call);

/*
 * The tools for many clients.  Their caller (roger_mcp_caller()) has three words: the right, such
 * as "look", "act" or "administer"; the agent of the token ("": unknown); and the token, login or
 * socket.
 */
struct mcp_shared;
RG_CHECKED int mcp_shared_open(const char *workspace, struct mcp_shared **ret,
			       struct roger_err *err);
struct roger_mcp_server *mcp_shared_server(struct mcp_shared *shared);
void mcp_shared_close(struct mcp_shared *shared);

/* Set the caller of the handle.  The caller of `roger mcp` is known by access to the files.  A call
 * of roger serve gets a deadline; unless it is quick, it may work beyond that, but not wait. */
void mcp_set_caller(struct roger *roger, const struct roger_mcp_call *call, bool quick);
/* True if the caller may only look.  True if the token is of another agent than this one. */
bool mcp_only_looks(const struct roger_mcp_call *call);
bool mcp_is_foreign(const struct roger_mcp_call *call, struct roger_str agent);

/*
 * Return the agent of a client with that name, or "" if it is unknown; the name is kept in to,
 * unless the launch gave it.  Setup writes --for TOOL into files that other tools read, too, so a
 * client that calls itself another known tool is believed.  The handle is of this thread.
 */
struct roger_str mcp_agent_of(struct mcp_session *session, struct roger *roger, const char *caller,
			      const char *client_name, char to[MCP_AGENT_BYTES]);

/* Set session->agent to the caller; false: unknown, and the call was answered. */
bool mcp_name_caller(struct mcp_session *session, struct roger_mcp_call *call);
void mcp_fail_nameless(struct roger_mcp_call *call);

/*
 * Return why no mail may be shown, in one sentence: the workspace cannot be opened, or is not
 * trusted, which is checked at each call.  "": mail may be shown.  The sentence quotes nothing from
 * the configuration, since a model reads it.
 */
const char *mcp_distrust(struct mcp_session *session, struct roger **roger);

/* Return the open workspace; NULL: the call was answered with the error. */
struct roger *mcp_open(struct mcp_session *session, struct roger_mcp_call *call);

/* Fail the call, in words for an agent that has tools and no shell. */
void mcp_fail(struct roger_mcp_call *call, const struct roger_err *err, const char *more);

/* End a page, and add its text, if any, to the answer. */
struct cli_page;
void mcp_add_page(struct roger_mcp_call *call, struct cli_page *page);

/*
 * Print a reply as JSON that ends with a NUL, for a model: with the sentence that says
 * whose words the messages are, and the damage of the workspace.  members: the only ones of
 * each message; NULL: all.  shown: how many
 * messages are in the text of the result; 0: print all without their texts.  The
 * messages of the reply are cut to that.
 */
RG_CHECKED bool mcp_print_reply(struct rg_buf *json, const struct roger *roger,
				const struct roger_op *op, void *reply, const char *const *members,
				size_t shown, struct rg_arena *arena);

/* Register all tools, and then the views.  Tools of a shared session run on threads. */
RG_CHECKED int mcp_add_tools(struct mcp_session *session, struct roger_mcp_err *err);
RG_CHECKED int mcp_add_views(struct mcp_session *session, struct roger_mcp_err *err);

/* Print the schemas of a tool, which are made from the fields of its verbs. */
void mcp_print_input_schema(const struct mcp_tool *tool, struct rg_buf *out);
void mcp_print_output_schema(const struct mcp_tool *tool, struct rg_buf *out);

/* Return the verb of an action of the tool; NULL: there is no such action. */
const struct roger_op *mcp_verb(const struct mcp_tool *tool, const char *action);

/* Return the field that is the argument of that name, or NULL. */
const struct roger_field *mcp_field(const struct roger_record *record, const char *name);
#endif
