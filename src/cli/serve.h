/*
 * serve - what `roger serve` is asked for.  The server is a program of its own,
 * roger-serve: roger itself with libevent and src/serve, which `roger serve` becomes.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/command.h"

struct cli_serve_request {
	struct roger_str socket;	/* "": where commands look for it */
	struct roger_str listen;	/* "ADDRESS:PORT"; "": no TCP */
	struct roger_strs behind_proxy; /* names of hosts that a proxy in front of it has */
};

/* In src/serve; NULL in a program without it. */
RG_CHECKED int serve_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

#endif
