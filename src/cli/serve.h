/*
 * serve - what `roger serve` is asked for.  The server is a program of its own,
 * roger-serve: roger itself with libevent and src/serve, which `roger serve` becomes.
 */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include "cli/command.h"
#include "data/caller.h"

RG_CHECKED int serve_token_run(struct cli_run *run, struct roger_err *err) __attribute__((weak));

/* Defined in src/serve; NULL in a program without it. */
RG_CHECKED int serve_run(struct cli_run *run, struct roger_err *err) __attribute__((weak));

RG_CHECKED int serve_ui_run(struct cli_run *run, struct roger_err *err) __attribute__((weak));

#endif
