/*
 * serve - what `roger serve` is asked for.  The server is a program of its own,
 * roger-serve: roger itself with libevent and src/serve, which `roger serve` becomes.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/command.h"
#include "data/caller.h"

struct cli_serve_request {
	struct roger_str socket;	/* "": where commands look for it */
	struct roger_str listen;	/* "ADDRESS:PORT"; "": no TCP */
	struct roger_str assets;	/* a folder with the files of the page; "": its own */
	struct roger_strs behind_proxy; /* names of hosts that a proxy in front of it has */
};

extern const char *const serve_rights[]; /* names of enum rg_right, then NULL */

struct cli_ui_request {
	struct cli_serve_request serve; /* where there is no server yet */
	struct roger_str name;		/* "": human */
	int right;			/* enum rg_right, from 1 */
};

struct cli_token_request {
	bool fresh, revoke; /* neither: list */
	struct roger_str name;
	int right;	    /* enum rg_right */
	int64_t expires_ms; /* from now on; 0: the usual time */
};

/* What there is, was made, or is worth nothing any more. */
struct cli_token {
	struct roger_str name;
	int right;
	int kind; /* of serve_kinds */
	int64_t created_at_ms, expires_at_ms;
	struct roger_str sha256;
	struct roger_str secret; /* of a new one, this once */
	bool foreign;		 /* made for a workspace that stood at this path before */
	int64_t used_at_ms;	 /* 0: nobody knows of a use */
	struct roger_str used_from;
};
struct cli_token_reply {
	struct rg_arena *memory;
	struct {
		struct cli_token *items;
		size_t count;
	} tokens;
};
extern const char *const serve_kinds[]; /* names of enum serve_secret, then NULL */

RG_CHECKED int serve_token_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

/* In src/serve; NULL in a program without it. */
RG_CHECKED int serve_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

RG_CHECKED int serve_ui_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
	__attribute__((weak));

#endif
