/*
 * down - notes on this machine's disk that nobody answered at a server, for the next commands.
 *
 * While the file is there, a command first asks for a second whether anybody is alive, and else
 * ends: of many commands, one waits for a server that is gone.  The file's time says since when.
 */
#include "base/clock.h"
#include "host/file.h"
#include "remote/remote.h"

enum { PROBE_MS = 1000 };

static bool open_place(const struct remote *remote, bool make, int *ret_folder, char to[40])
{
	remote_print_own(remote, "down", to);
	return remote_own_folder(make, ret_folder, NULL) == ROGER_OK && *ret_folder != RG_NO_FILE;
}

void remote_down_find(struct remote *remote)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct rg_file_facts facts;
	char name[40];

	if (remote->down_known)
		return;
	remote->down_known = true;
	if (open_place(remote, false, &folder, name) &&
	    rg_file_look(folder, name, &facts, NULL) == ROGER_OK && facts.kind)
		remote->down_ms = facts.changed_ms;
}

void remote_down_note(struct remote *remote, bool down)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char name[40];

	if (down == (remote->down_ms > 0) || !open_place(remote, down, &folder, name))
		return;
	remote->down_known = true;
	remote->down_ms = down ? rg_clock_ms() : 0;
	if (down)
		(void)!rg_file_replace(folder, name, RG_STR(""), false, NULL);
	else
		(void)!rg_file_remove(folder, name, NULL);
}

int remote_fail_proxy(const struct remote *remote, long status, struct roger_err *err)
{
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "%.200s: a proxy answered (status %ld), but no server behind it",
		       remote->place->name, status);
}

bool remote_is_there(struct remote *remote, struct roger_err *err)
{
	const struct remote_request request = { .path = "/healthz", .within_ms = PROBE_MS };
	struct remote_answer answer = { 0 };
	bool there = false;
	size_t i;

	for (i = 0; i < remote->place_count && !there; i++) {
		there = remote_try(remote, &request, &answer, err) == REMOTE_ANSWERED &&
			!remote_is_of_proxy(answer.status);
		if (remote_is_of_proxy(answer.status))
			(void)!remote_fail_proxy(remote, answer.status, err);
		if (!there)
			remote_turn(remote);
	}
	rg_buf_deinit(&answer.body);
	return there;
}
