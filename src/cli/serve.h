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
	struct roger_str assets;	/* a folder with the files of the page; "": its own */
	struct roger_strs behind_proxy; /* names of hosts that a proxy in front of it has */
};

/* What a caller has to be allowed; each may do what those before it may. */
enum serve_right { SERVE_LOOK, SERVE_ACT, SERVE_ADMINISTER };
extern const char *const serve_rights[]; /* their names, then NULL */

struct cli_ui_request {
	struct cli_serve_request serve; /* where there is no server yet */
	struct roger_str name;		/* "": human */
	int right;			/* enum serve_right, from 1 */
};

struct cli_token_request {
	bool fresh, revoke; /* neither: list */
	struct roger_str name;
	int right;	    /* enum serve_right */
	int64_t expires_ms; /* from now on; 0: the usual time */
};

RG_CHECKED int serve_token_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

/* In src/serve; NULL in a program without it. */
RG_CHECKED int serve_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

RG_CHECKED int serve_ui_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

#endif
