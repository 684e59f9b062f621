/*
 * session - this user's own folders outside of any workspace, and the socket of a workspace's
 * server.
 *
 * Commands look for the server's socket in a folder of this user, never in the workspace, which
 * others may have written.
 */
#ifndef RG_SESSION_H
#define RG_SESSION_H

#include "base/err.h"

/* $XDG_RUNTIME_DIR/roger (session), else $XDG_STATE_HOME/roger or ~/.local/state/roger. */
RG_CHECKED int rg_session_folder(bool session, char to[4096], struct roger_err *err);

/* The same, made where it is missing, for this user alone. */
RG_CHECKED int rg_session_make_folder(bool session, char to[4096], struct roger_err *err);

/* The path of the socket of a server of this workspace. */
RG_CHECKED int rg_session_socket(const char *workspace, char to[4200], struct roger_err *err);

#endif
