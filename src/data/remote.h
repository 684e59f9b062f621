/*
 * remote - handles that ask a server, for the command line.
 *
 * It is not in roger.h: other programs name a workspace, and where that is in PostgreSQL, its
 * server is asked anyway.
 */
#ifndef RG_DATA_REMOTE_H
#define RG_DATA_REMOTE_H

#include "base/arena.h"
#include "verbs.h"

/* Open a handle of the server that ROGER_SERVER names.  ROGER_EENGINE with the member wire: only
 * the program roger-remote can. */
RG_CHECKED int rg_open_remote(struct roger **ret_roger, struct roger_err *err);
/* Does the handle ask a server? */
bool rg_is_remote(const struct roger *roger);
const char *rg_remote_server(const struct roger *roger);
/* Ask the server at a unix socket of this machine what it is; false: it does not answer. */
RG_CHECKED bool rg_find_server(const char *socket, struct rg_arena *arena,
			       struct rg_server_session *ret);

/* Keep a send that had no answer on disk, under the key that it was tried with. */
RG_CHECKED int rg_remote_queue(struct roger *roger, const struct roger_op *op,
			       const struct roger_send_request *request, struct roger_str *ret_key,
			       struct roger_err *err);
/* Wait less for a server that does not answer: a send is kept on disk, a hook holds up a tool. */
void rg_remote_hurry(struct roger *roger);
/* Had the last send no answer, and is the connection the reason? */
bool rg_remote_may_queue(const struct roger *roger);

#endif
