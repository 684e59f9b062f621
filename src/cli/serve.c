/* serve: the workspace over HTTP; ui: its page; token: who may ask it over TCP. */
#include "cli/serve.h"

#include "base/clock.h"
#include "cli/term.h"

const char *const serve_rights[] = { "look", "act", "administer", NULL };
const char *const serve_kinds[] = { "token", "key", "login", NULL };

static int become_server(struct cli_run *run, struct roger_err *err)
{
	run->roger = roger_close(run->roger);
	return cli_become("roger-serve", run->argv,
			  "server and no page; install the package roger-serve (from source it is "
			  "built where libevent is: libevent-dev)",
			  err);
}

static int run_serve(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	return serve_run ? serve_run(run, ret_exit, err) : become_server(run, err);
}

static int run_token(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	return serve_token_run ? serve_token_run(run, ret_exit, err) : become_server(run, err);
}

static int run_ui(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	return serve_ui_run ? serve_ui_run(run, ret_exit, err) : become_server(run, err);
}

#define AT(member) offsetof(struct cli_serve_request, member)
static const struct roger_field fields[] = {
	{ "listen", ROGER_TEXT, AT(listen), 0, NULL, NULL,
	  "also on this address of the loopback, such as 127.0.0.1:8484; there a token is needed" },
	{ "socket", ROGER_TEXT, AT(socket), 0, NULL, NULL,
	  "the unix socket (default: one for the workspace in XDG_RUNTIME_DIR/roger)" },
	{ "behind_proxy", ROGER_TEXTS, AT(behind_proxy), 0, NULL, NULL,
	  "a host that a proxy in front of it answers for; then other addresses are allowed" },
	{ "assets", ROGER_TEXT, AT(assets), 0, NULL, NULL,
	  "take the files of the page from this folder, for working on them" },
	{ 0 },
};
#undef AT
static const struct roger_record request_record = { "serve", sizeof(struct cli_serve_request),
						    fields };

static const struct roger_op op = {
	.name = "serve",
	.summary = "serve the workspace over HTTP: unix socket, or loopback",
	.examples =
		"roger serve\nroger serve --listen 127.0.0.1:8484\n"
		"curl --unix-socket \"$XDG_RUNTIME_DIR\"/roger/*.sock http://localhost/v1/status\n",
	.request = &request_record,
};

const struct cli_command cli_serve = { .name = "serve", .own = &op, .run = run_serve };

/* ----------------------------------------------------------------------- ui -- */

static const char *const ui_rights[] = { "", "look", "act", "administer", NULL };

#define AT(member) offsetof(struct cli_ui_request, member)
static const struct roger_field ui_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_SELF, NULL, NULL, "who you are there (else human)" },
	{ "right", ROGER_ENUM, AT(right), 0, ui_rights, NULL,
	  "look, act as yourself (default), or administer" },
	{ "listen", ROGER_TEXT, AT(serve.listen), 0, NULL, NULL,
	  "where there is no server yet: on this address (default 127.0.0.1:8484)" },
	{ "socket", ROGER_TEXT, AT(serve.socket), 0, NULL, NULL,
	  "the unix socket of the server, where it has another one than usual" },
	{ 0 },
};
#undef AT
static const struct roger_record ui_record = { "ui", sizeof(struct cli_ui_request), ui_fields };

static const struct roger_op ui_op = {
	.name = "ui",
	.summary = "open the page of the workspace in a browser",
	.examples = "roger ui\nroger ui --as ann --right look\nroger ui --listen 127.0.0.1:8485\n",
	.request = &ui_record,
};

const struct cli_command cli_ui = { .name = "ui", .own = &ui_op, .run = run_ui };

/* -------------------------------------------------------------------- token -- */

#define AT(member) offsetof(struct cli_token_request, member)
static const struct roger_field token_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_PLACE, NULL, NULL,
	  "the agent that it is for, or the person" },
	{ "right", ROGER_ENUM, AT(right), 0, serve_rights, NULL,
	  "look (default), act as this agent, or administer" },
	{ "expires", ROGER_SPAN, AT(expires_ms), 0, NULL, NULL,
	  "it expires after this time (default 90 days)" },
	{ "new", ROGER_BOOL, AT(fresh), 0, NULL, NULL, "make one, and show it this once" },
	{ "revoke", ROGER_BOOL, AT(revoke), 0, NULL, NULL,
	  "take all of this name back, logins too" },
	{ 0 },
};
#undef AT
static const struct roger_record token_record = { "token", sizeof(struct cli_token_request),
						  token_fields };

#define AT(member) offsetof(struct cli_token, member)
static const struct roger_field one_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_REQUIRED, NULL, NULL, "whose it is" },
	{ "right", ROGER_ENUM, AT(right), ROGER_REQUIRED, serve_rights, NULL, "what it may do" },
	{ "kind", ROGER_ENUM, AT(kind), ROGER_SPARE, serve_kinds, NULL,
	  "key of `roger ui`, or login of a browser; left out: token" },
	{ "created_at", ROGER_TIME, AT(created_at_ms), ROGER_REQUIRED, NULL, NULL, "since when" },
	{ "expires_at", ROGER_TIME, AT(expires_at_ms), ROGER_REQUIRED, NULL, NULL, "until when" },
	{ "sha256", ROGER_TEXT, AT(sha256), ROGER_REQUIRED, NULL, NULL, "of its text" },
	{ "used_at", ROGER_TIME, AT(used_at_ms), ROGER_SPARE, NULL, NULL,
	  "when it was last used," },
	{ "used_from", ROGER_TEXT, AT(used_from), ROGER_SPARE, NULL, NULL, "from which address" },
	{ "foreign", ROGER_BOOL, AT(foreign), ROGER_SPARE, NULL, NULL,
	  "worth nothing: it was made for another workspace at this path" },
	{ "token", ROGER_TEXT, AT(secret), ROGER_SPARE, NULL, NULL,
	  "the text of a new one: it is shown this once" },
	{ 0 },
};
#undef AT
static const struct roger_record one_record = { "token", sizeof(struct cli_token), one_fields };
static const struct roger_field tokens_fields[] = {
	{ "tokens", ROGER_RECORDS, offsetof(struct cli_token_reply, tokens), 0, NULL, &one_record,
	  "all there are, the new one, or those that were revoked" },
	{ 0 },
};
static const struct roger_record tokens_record = { "tokens", sizeof(struct cli_token_reply),
						   tokens_fields };

static void print_token(const struct cli_token *token)
{
	cli_say("%t  %s  %s %w  %t%s%s", token->name, serve_rights[token->right],
		token->expires_at_ms > rg_clock_ms() ? "until" : "expired", token->expires_at_ms,
		(struct roger_str){ token->sha256.data, 8 }, token->kind ? "  " : "",
		token->kind ? serve_kinds[token->kind] : "");
	if (token->used_at_ms)
		cli_say("  used %w from %t", token->used_at_ms, token->used_from);
	cli_say("%s\n", token->foreign
				? "  of another workspace at this path: revoke it, make a new one"
				: "");
}

static void print_tokens(const struct cli_run *run, const void *reply_)
{
	const struct cli_token_request *request = run->request;
	const struct cli_token_reply *reply = reply_;
	const struct cli_token *token;
	size_t i;

	if (!reply->tokens.count)
		fputs("no tokens\n", cli_out);
	for (i = 0; !request->revoke && i < reply->tokens.count; i++) {
		token = &reply->tokens.items[i];
		if (token->secret.length)
			cli_say("%t\n", token->secret);
		else
			print_token(token);
	}
}

static const struct roger_op token_op = {
	.name = "token",
	.summary = "create, list and revoke tokens and logins of `roger serve` on TCP",
	.examples = "roger token new bob --right act\nroger token new grafana --expires 30d\n"
		    "roger token list\nroger token revoke bob\n",
	.request = &token_record,
	.reply = &tokens_record,
};

const struct cli_command cli_token = { .name = "token",
				       .own = &token_op,
				       .words = "new|list|revoke",
				       .run = run_token,
				       .print = print_tokens,
				       .nothing = true };
