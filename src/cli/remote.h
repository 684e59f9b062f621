/*
 * remote - commands on a machine without the workspace.  The program for that is
 * roger-remote: roger with src/remote in place of its library, which `roger` becomes
 * where ROGER_SERVER names a server.
 */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include "cli/command.h"

/* In src/remote; NULL in a program without it. */

/* Keep a send on disk, which had no answer: with the key that it was tried with. */
RG_CHECKED int remote_queue(struct roger *roger, const struct roger_op *op,
			    const struct roger_send_request *request, struct roger_str *ret_key,
			    struct roger_err *err) __attribute__((weak));
/* What is kept on disk otherwise need not wait for a server that is being started. */
void remote_hurry(struct roger *roger) __attribute__((weak));
/* Had the last send no answer, and is the connection the reason? */
bool remote_may_queue(const struct roger *roger) __attribute__((weak));
const char *remote_server(const struct roger *roger) __attribute__((weak));

/* become.c: for what cannot be done from another machine. */
RG_CHECKED int cli_need_workspace(const char *what, struct roger_err *err);

#endif
