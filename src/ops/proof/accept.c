/* accept: record that a person has seen damage. */
#include <stdlib.h>
#include <unistd.h>

#include "ops/runs/run_list.h"

/* Read a place: FILE:LINE, or FILE. */
static int read_place(struct roger_str place, struct roger_damage *accepted, struct roger_err *err)
{
	size_t at = place.length;
	int64_t line = 0;

	while (at > 0 && place.data[at - 1] >= '0' && place.data[at - 1] <= '9')
		at--;
	accepted->file = place;
	if (at == place.length || at < 2 || place.data[at - 1] != ':')
		return ROGER_OK;
	accepted->file.length = at - 1;
	for (; at < place.length && line < INT64_MAX / 100; at++)
		line = line * 10 + place.data[at] - '0';
	accepted->line = line;
	return line > 0 ? ROGER_OK
			: rg_fail_member(err, ROGER_EDATA, "place",
					 "place: lines are numbered from 1");
}

/* If the place is a run's document with errors, set accepted->kind, and its digest in sha256. */
static int look_for_document(struct roger *roger, struct rg_arena *arena,
			     struct roger_damage *accepted, struct roger_err *err)
{
	struct rg_run_list list;
	struct roger_str file;
	size_t i;
	int r = accepted->line
			? ROGER_OK
			: rg_run_list_load(roger, (struct rg_run_wish){ 0 }, arena, &list, err);

	for (i = 0; r == ROGER_OK && !accepted->line && i < list.troubles.count; i++) {
		rg_run_trouble_identify(&list.troubles.items[i], arena, &file, &accepted->sha256);
		if (!rg_str_equal(file, accepted->file))
			continue;
		accepted->kind = ROGER_DAMAGE_INVALID;
		break;
	}
	return r < 0 ? r : rg_kept(!rg_arena_failed(arena), err);
}

int rg_verb_accept(struct roger *roger, const struct roger_accept_request *request,
		   struct roger_accept_reply *reply, struct roger_err *err)
{
	struct roger_damage accepted = { 0 };
	const char *agent = getenv("ROGER_AGENT");
	int r;

	r = read_place(request->place, &accepted, err);
	if (r < 0)
		return r;
	/* Copy the texts, since the reply has them and outlives the request. */
	if (!rg_arena_copy(reply->memory, request->reason, &accepted.reason) ||
	    !rg_arena_print(reply->memory, &accepted.accepted_by, "uid %lld%s%.140s",
			    (long long)geteuid(), agent && *agent ? ", agent " : "",
			    agent ? agent : ""))
		return rg_fail_memory(err);
	r = look_for_document(roger, reply->memory, &accepted, err);
	return r < 0 ? r
		     : rg_engine_accept(roger->engine, &accepted, reply->memory, &reply->damages,
					err);
}
