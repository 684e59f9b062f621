/* serve: the workspace over HTTP. */
#include "cli/serve.h"

static int run_serve(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	if (serve_run)
		return serve_run(run, ret_exit, err);
	/* Options before the command have been moved after it. */
	run->argv[1] = (char *)(uintptr_t)run->command->name;
	run->roger = roger_close(run->roger);
	return cli_become("roger-serve", run->argv, "libevent (libevent-dev)", err);
}

#define AT(member) offsetof(struct cli_serve_request, member)
static const struct roger_field fields[] = {
	{ "listen", ROGER_TEXT, AT(listen), 0, NULL, NULL,
	  "also on this address of the loopback, such as 127.0.0.1:8484; there a token is needed" },
	{ "socket", ROGER_TEXT, AT(socket), 0, NULL, NULL,
	  "the unix socket (default: one for the workspace in XDG_RUNTIME_DIR/roger)" },
	{ "behind_proxy", ROGER_TEXTS, AT(behind_proxy), 0, NULL, NULL,
	  "a host that a proxy in front of it answers for; then other addresses are allowed" },
	{ 0 },
};
#undef AT
static const struct roger_record request_record = { "serve", sizeof(struct cli_serve_request),
						    fields };

static const struct roger_op op = {
	.name = "serve",
	.summary = "serve the workspace over HTTP, on a unix socket and on request on the loopback",
	.examples =
		"roger serve\nroger serve --listen 127.0.0.1:8484\n"
		"curl --unix-socket \"$XDG_RUNTIME_DIR\"/roger/*.sock http://localhost/v1/status\n",
	.request = &request_record,
};

const struct cli_command cli_serve = { .name = "serve", .own = &op, .run = run_serve };
