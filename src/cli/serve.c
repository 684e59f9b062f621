/* serve: the workspace over HTTP; ui: its page; token: who may ask it over TCP. */
#include "cli/serve.h"

#include "base/clock.h"
#include "data/remote.h"

extern const struct cli_command cli_ui;

static int become_server(struct cli_run *run, struct roger_err *err)
{
	run->roger = roger_close(run->roger);
	if (cli_is_elsewhere(run))
		return cli_need_workspace(run, run->command->name, err);
	return cli_become("roger-serve", run->argv,
			  "server and no page; install the package roger-serve (from source it is "
			  "built where libevent is: libevent-dev)",
			  err);
}

static int run_serve(struct cli_run *run, struct roger_err *err)
{
	if (serve_run && rg_is_remote(run->roger) && !cli_is_elsewhere(run))
		return rg_fail_member(err, ROGER_EENGINE, "store",
				      "this roger-serve is linked without PostgreSQL");
	return serve_run && !cli_is_elsewhere(run) ? serve_run(run, err) : become_server(run, err);
}

/* Run token or ui, which need the program that has a server. */
static int run_other(struct cli_run *run, struct roger_err *err)
{
	if (!serve_run || cli_is_elsewhere(run))
		return become_server(run, err);
	return (run->command == &cli_ui ? serve_ui_run : serve_token_run)(run, err);
}

CLI_COMMAND(serve, "serve", .own = &rg_op_serve, .run = run_serve);

/* ----------------------------------------------------------------------- ui -- */

CLI_COMMAND(ui, "ui", .own = &rg_op_ui, .run = run_other);

/* -------------------------------------------------------------------- token -- */

static void print_tokens(const struct cli_run *run)
{
	const struct rg_token_request *request = run->request;
	const struct rg_token_reply *reply = run->reply;
	const struct rg_token *token;
	size_t i;

	if (!reply->tokens.count)
		cli_say("no tokens\n");
	for (i = 0; !request->revoke && i < reply->tokens.count; i++) {
		token = &reply->tokens.items[i];
		if (token->secret.length)
			cli_say("%t\n", token->secret);
		else
			cli_say("%t  %s  %s %w  %t%(  %s%)%(  used %w from %t%)%s\n", token->name,
				rg_right_names[token->right],
				token->expires_at_ms > rg_clock_ms() ? "until" : "expired",
				token->expires_at_ms, (struct roger_str){ token->sha256.data, 8 },
				rg_secret_names[token->kind], token->used_at_ms, token->used_from,
				token->foreign ? "  of another workspace at this path: revoke it, "
						 "make a new one"
					       : "");
	}
}

CLI_COMMAND(token, "token", .own = &rg_op_token, .words = "new|list|revoke", .run = run_other,
	    .print = print_tokens, .nothing = true);
