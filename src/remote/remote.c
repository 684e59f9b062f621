/* remote - handles of a server. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/limits.h"
#include "data/json.h"
#include "data/record.h"
#include "data/remote.h"
#include "host/file.h"
#include "remote/remote.h"

static volatile sig_atomic_t interrupted;

static int open_wire(struct remote *remote, struct roger_err *err)
{
	size_t i;

	remote->place = remote->places;
	remote->wire = &remote_socket_wire;
	for (i = 0; i < remote->place_count; i++)
		if (remote->places[i].tls)
			remote->wire = &remote_curl_wire;
	return remote->wire
		       ? ROGER_OK
		       : rg_fail_member(err, ROGER_EENGINE, "wire",
					"this program speaks to servers of this machine alone");
}

static int take_socket(struct remote *remote, const char *socket, struct roger_err *err)
{
	struct remote_place *place = remote->places;

	remote->place_count = 1;
	remote->here = true;
	snprintf(place->name, sizeof place->name, "unix:%s", socket);
	if (strlen(socket) >= sizeof place->socket)
		return rg_fail(err, ROGER_EUSAGE, 0, "'%s' is too long for a socket", socket);
	memcpy(place->socket, socket, strlen(socket) + 1);
	return ROGER_OK;
}

int remote_open(const char *socket, struct remote **ret_remote, struct roger_err *err)
{
	struct remote *remote = calloc(1, sizeof *remote);
	int r;

	if (!remote)
		return rg_fail_memory(err);
	remote->holds = RG_NO_FILE;
	r = socket ? take_socket(remote, socket, err) : remote_find(remote, err);
	if (r == ROGER_OK)
		r = open_wire(remote, err);
	if (r < 0) {
		remote_close(remote);
		return r;
	}
	*ret_remote = remote;
	return ROGER_OK;
}

struct remote *remote_close(struct remote *remote)
{
	if (!remote)
		return NULL;
	remote_watch_free(remote);
	if (remote->connection)
		remote->wire->close(remote->connection);
	rg_file_close(remote->holds);
	free(remote);
	return NULL;
}

bool remote_turn(struct remote *remote)
{
	if (remote->place_count < 2)
		return false;
	if (remote->connection)
		remote->wire->close(remote->connection);
	remote->connection = NULL;
	remote->place =
		remote->places + (size_t)(remote->place + 1 - remote->places) % remote->place_count;
	remote_watch_free(remote);
	return true;
}

/* Ask what the server is, and who it takes this caller for; false: it does not say. */
static bool ask_session(struct remote *remote, struct rg_arena *arena,
			struct rg_server_session *ret)
{
	struct remote_request request = { .path = "/v1/session", .within_ms = RG_ANSWER_WAIT_MS };
	struct remote_answer answer = { 0 };
	struct roger_err err = { 0 };
	const struct rg_json *json;
	struct roger_str text;
	bool said = remote_ask(remote, &request, &answer, &err) == ROGER_OK &&
		    rg_arena_copy(arena, rg_buf_str(&answer.body), &text) &&
		    rg_json_read_within(text, arena, &json, NULL) == ROGER_OK &&
		    rg_answer_decode(&rg_server_session_record, rg_json_root(json), ret, arena,
				     NULL) == ROGER_OK;

	rg_buf_deinit(&answer.body);
	return said;
}

bool rg_find_server(const char *socket, struct rg_arena *arena, struct rg_server_session *ret)
{
	struct remote *remote = NULL;
	bool found =
		remote_open(socket, &remote, NULL) == ROGER_OK && ask_session(remote, arena, ret);

	remote_close(remote);
	return found;
}

struct roger_str remote_name(struct remote *remote, struct roger_str tool, char *to, size_t size)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_server_session session = { 0 };

	if (!*remote->place->token)
		return tool;
	if (!arena || !ask_session(remote, arena, &session))
		return RG_STR("");
	if (session.right == RG_ADMINISTER || !rg_name_valid(session.name))
		return tool;
	snprintf(to, size, "%.*s", RG_STR_ARGS(session.name));
	return rg_str(to);
}

void remote_interrupt(void)
{
	interrupted = 1;
}

bool remote_is_interrupted(void)
{
	return interrupted;
}

bool remote_hold(struct remote *remote, const char *what)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	const char *name = remote->places->name;
	uint64_t byte = rg_hash(rg_hash(1, name, strlen(name)), what, strlen(what));
	bool held = true;
	int r = ROGER_OK;

	if (remote->holds == RG_NO_FILE)
		r = remote_own_folder(true, &folder, NULL);
	if (remote->holds == RG_NO_FILE && r == ROGER_OK)
		r = rg_file_open(folder, "hold", RG_FILE_CREATE_APPEND, &remote->holds, NULL);
	if (r == ROGER_OK)
		r = rg_file_lock_byte(remote->holds, (int64_t)(byte >> 2), "hold", &held, NULL);
	/* If no lock can be had, doing it twice is better than never. */
	return r < 0 || held;
}
