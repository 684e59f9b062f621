#include "host/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "host/outside.h"

int rg_session_folder(bool session, char to[4096], struct roger_err *err)
{
	const char *runtime = session ? getenv("XDG_RUNTIME_DIR") : NULL;
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (runtime && runtime[0] == '/')
		snprintf(to, 4096, "%.4000s/roger", runtime);
	else if (state && state[0] == '/')
		snprintf(to, 4096, "%.4000s/roger", state);
	else if (home && home[0] == '/')
		snprintf(to, 4096, "%.4000s/.local/state/roger", home);
	else
		return rg_fail(err, ROGER_EUSAGE, 0, "neither XDG_STATE_HOME nor HOME is absolute");
	return ROGER_OK;
}

int rg_session_make_folder(bool session, char to[4096], struct roger_err *err)
{
	char inside[4100];
	int r = rg_session_folder(session, to, err);

	snprintf(inside, sizeof inside, "%s/", r == ROGER_OK ? to : "");
	return r < 0 ? r : rg_outside_make_folders(inside, 0700, err);
}

int rg_session_socket(const char *workspace, char to[4200], struct roger_err *err)
{
	char folder[4096];
	int r = rg_session_folder(true, folder, err);

	if (r == ROGER_OK)
		snprintf(to, 4200, "%s/%016llx.sock", folder,
			 (unsigned long long)rg_hash(1, workspace, strlen(workspace)));
	return r;
}
