/* serve: the workspace over HTTP; ui: its page; token: who may ask it over TCP. */
#include "cli/serve.h"

#include "base/clock.h"
#include "data/remote.h"
#include "cli/term.h"

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

static int run_serve(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	if (serve_run && rg_is_remote(run->roger) && !cli_is_elsewhere(run))
		return rg_fail_member(err, ROGER_EENGINE, "store",
				      "this roger-serve is linked without PostgreSQL");
	return serve_run && !cli_is_elsewhere(run) ? serve_run(run, ret_exit, err)
						   : become_server(run, err);
}

static int run_token(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	return serve_token_run && !cli_is_elsewhere(run) ? serve_token_run(run, ret_exit, err)
							 : become_server(run, err);
}

static int run_ui(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	return serve_ui_run && !cli_is_elsewhere(run) ? serve_ui_run(run, ret_exit, err)
						      : become_server(run, err);
}

const struct cli_command cli_serve = { .name = "serve", .own = &rg_op_serve, .run = run_serve };

/* ----------------------------------------------------------------------- ui -- */

const struct cli_command cli_ui = { .name = "ui", .own = &rg_op_ui, .run = run_ui };

/* -------------------------------------------------------------------- token -- */

static void print_token(const struct rg_token *token)
{
	cli_say("%t  %s  %s %w  %t%s%s", token->name, rg_right_names[token->right],
		token->expires_at_ms > rg_clock_ms() ? "until" : "expired", token->expires_at_ms,
		(struct roger_str){ token->sha256.data, 8 }, token->kind ? "  " : "",
		token->kind ? rg_secret_names[token->kind] : "");
	if (token->used_at_ms)
		cli_say("  used %w from %t", token->used_at_ms, token->used_from);
	cli_say("%s\n", token->foreign
				? "  of another workspace at this path: revoke it, make a new one"
				: "");
}

static void print_tokens(const struct cli_run *run, const void *reply_)
{
	const struct rg_token_request *request = run->request;
	const struct rg_token_reply *reply = reply_;
	const struct rg_token *token;
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

const struct cli_command cli_token = { .name = "token",
				       .own = &rg_op_token,
				       .words = "new|list|revoke",
				       .run = run_token,
				       .print = print_tokens,
				       .nothing = true };
