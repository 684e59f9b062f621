/*
 * mcp - the tools of `roger mcp` at /mcp.  libroger-mcp speaks the protocol in this loop;
 * its threads call the verbs, each with a handle of its own.
 */
#include <roger-mcp.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/mcp.h"
#include "serve/serve.h"

enum { CALLER_BYTES = RG_NAME_CHARS_MAX + SERVE_LABEL_BYTES + 16 };

/* Name the caller: by the token, or by a header if the token, or the socket, allows any name. */
static bool name_caller(struct evhttp_request *request, const struct serve_caller *caller,
			char to[CALLER_BYTES])
{
	const char *said = serve_header(request, "Roger-Agent"), *name = said ? said : caller->name;

	if (said && (!rg_name_valid(rg_str(said)) || strcmp(said, "all") == 0))
		serve_refuse(request, 400, "agent", false,
			     "expected the name of one agent in the header 'Roger-Agent'");
	else if (!said && caller->right == RG_ACT && rg_name_is_pattern(rg_str(caller->name)))
		serve_refuse(request, 400, "agent", false,
			     "this token is of '%s': expected one such name in the header "
			     "'Roger-Agent'",
			     caller->name);
	else if (said && caller->right == RG_ACT &&
		 !rg_name_fits(rg_str(caller->name), rg_str(said)))
		serve_refuse(request, 403, "agent", false, "this token is of '%s'", caller->name);
	else {
		snprintf(to, CALLER_BYTES, "%s %s %s",
			 rg_right_names[caller->own ? RG_OWN : caller->right], name, caller->login);
		return true;
	}
	return false;
}

static bool open_mcp(struct serve *serve, struct roger_err *err)
{
	struct roger_mcp_err mcp_err = { 0 };

	if (!serve->mcp && mcp_shared_open(serve->workspace, &serve->mcp, err) < 0)
		return false;
	if (serve->mcp_http || roger_mcp_http_mount(mcp_shared_server(serve->mcp), serve->base,
						    NULL, &serve->mcp_http, &mcp_err) == 0)
		return true;
	snprintf(err->message, sizeof err->message, "%s", mcp_err.message);
	return false;
}

void serve_on_mcp(struct serve *serve, struct evhttp_request *request,
		  const struct serve_caller *caller)
{
	struct roger_err err = { 0 };
	char name[CALLER_BYTES];

	serve_connection_of(serve, request)->mcp_began_ns = rg_clock_monotonic_ns();
	if (!name_caller(request, caller, name))
		return;
	if (open_mcp(serve, &err))
		roger_mcp_http_take(serve->mcp_http, request, name);
	else
		serve_refuse(request, 503, "mcp", false, "%s", err.message);
}

void serve_mcp_end(struct serve *serve)
{
	serve->mcp_http = roger_mcp_http_close(serve->mcp_http);
	mcp_shared_close(serve->mcp);
	serve->mcp = NULL;
}
