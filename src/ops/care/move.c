/* move: move all of a workspace into another store: PostgreSQL, or files. */
#include "engine/move.h"

#include <stdlib.h>

#include "ops/care/merge.h"
#include "ops/note.h"
#include "ops/runs/run_document.h"
#include "ops/tools/trust.h"

/* One side of a move. */
struct side {
	struct rg_workspace *workspace;
	struct rg_engine *engine;
	struct roger_str place;
};

static void close_side(struct side *side)
{
	rg_engine_close(side->engine);
	rg_workspace_close(side->workspace);
}

static int open_workspace(struct side *side, const char *path, const char *place,
			  struct roger_err *err)
{
	int r = rg_workspace_open(path, &side->workspace, err);

	if (r == ROGER_OK && place)
		r = rg_store_use(side->workspace, place, err);
	if (r == ROGER_OK) {
		side->workspace->moving = true;
		side->place = rg_store_place(side->workspace);
	}
	return r;
}

static int open_sides(struct side *from, struct side *to, const struct roger_move_request *request,
		      struct roger_err *err)
{
	char path[RG_PLACE_BYTES], place[RG_PLACE_BYTES], root[RG_PLACE_BYTES], why[RG_WHY_BYTES];
	struct rg_worktree tree;
	bool made;
	int r;

	r = rg_op_path(request->from, "from", path, err);
	if (r == ROGER_OK)
		r = rg_op_path(request->to, "to", place, err);
	if (r == ROGER_OK)
		r = open_workspace(from, path[0] ? path : NULL, NULL, err);
	if (r < 0 || rg_store_is_address(place))
		return r < 0 ? r : open_workspace(to, from->workspace->root, place, err);
	/* A folder that is not a workspace becomes one, but not for a source that stays. */
	if (rg_workspace_home(place, root, &tree, NULL) < 0 ||
	    strcmp(root, from->workspace->root) != 0)
		r = rg_engine_open(from->workspace, &from->engine, err);
	if (r == ROGER_OK && from->engine)
		r = rg_engine_check_source(from->engine, err);
	if (r < 0)
		return r;
	r = rg_workspace_make(place, &made, root, why, err);
	return r < 0 ? r : open_workspace(to, root, "", err);
}

/* ------------------------------------------------------------------- note -- */

/* Note the move in the new store; the chain of this line covers all lines that were moved. */
static int note_move(void *context, struct rg_engine *to, const struct roger_move_reply *moved,
		     struct roger_err *err)
{
	const struct side *sides = context;
	struct roger there = { .workspace = sides[1].workspace, .engine = to };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf numbers = { .maximum = 400 };
	struct rg_note entry = { .verb = RG_STR("move"), .from = sides[0].place };

	rg_buf_printf(&numbers, "\"journals\":%lld,\"lines\":%lld,\"bytes\":%lld,\"runs\":%lld",
		      (long long)moved->journals, (long long)moved->lines, (long long)moved->bytes,
		      (long long)moved->runs);
	entry.numbers = moved->journals ? rg_buf_str(&numbers) : RG_STR("");
	return rg_note_write(&there, &entry, true, err);
}

/* ------------------------------------------------------------------- verb -- */

/* Merge one folder into another that has mail already, and note it there. */
static int take_in(struct side sides[2], struct roger_move_reply *reply, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf numbers = { .maximum = 400 };
	struct roger from = { .workspace = sides[0].workspace, .engine = sides[0].engine };
	struct roger to = { .workspace = sides[1].workspace, .engine = sides[1].engine };
	struct rg_note entry = { .verb = RG_STR("move"), .from = sides[0].place };
	int r = rg_merge(&from, &to, sides[1].place, reply, err);

	rg_buf_printf(&numbers, "\"messages\":%lld,\"runs\":%lld", (long long)reply->messages,
		      (long long)reply->runs);
	entry.numbers = rg_buf_str(&numbers);
	return r == ROGER_OK ? rg_note_write(&to, &entry, true, err) : r;
}

/* What is no document of a run is taken along as it is. */
static int check_run(struct roger_str text, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_receipts receipts;
	struct roger_run run;
	int r = arena ? rg_run_read(text, &json, arena, &run, &receipts, err) : rg_fail_memory(err);

	if (r == ROGER_EDATA)
		return ROGER_OK;
	return r < 0 ? r : rg_run_check_left(&run, err);
}

static int move_sides(struct side sides[2], struct roger_move_reply *reply, struct roger_err *err)
{
	const bool to_store = sides[1].workspace->config->store.length > 0;
	const struct rg_move_wish wish = {
		.here = sides[0].place,
		.there = sides[1].place,
		.tell = rg_alone.tell,
		.context = rg_alone.context,
		.check_run = check_run,
		.note = to_store ? NULL : note_move,
		.note_context = sides,
	};
	/* The setting of the folder after the move: the store's address, or "" for files. */
	const char *root = sides[to_store ? 0 : 1].workspace->root;
	const struct roger_str address = to_store ? sides[1].place : RG_STR("");
	bool occupied = false;
	int r = rg_config_set_store(root, address, true, err);

	/* A store that this program cannot open is found before anything is done. */
	if (r == ROGER_OK)
		r = rg_engine_open(sides[1].workspace, &sides[1].engine, err);
	if (r == ROGER_OK && !sides[0].engine)
		r = rg_engine_open(sides[0].workspace, &sides[0].engine, err);
	if (r == ROGER_OK)
		r = rg_engine_move(sides[0].engine, sides[1].engine, &wish, reply, &occupied, err);
	if (occupied && !sides[0].workspace->config->store.length && !to_store)
		r = take_in(sides, reply, err);
	/* The address was named by a person here, which is what trust asks for. */
	if (r == ROGER_OK)
		r = rg_trust_set_store(root, address, err);
	return r == ROGER_OK ? rg_config_set_store(root, address, false, err) : r;
}

int rg_verb_move(struct roger *roger, const struct roger_move_request *request,
		 struct roger_move_reply *reply, struct roger_err *err)
{
	struct side sides[2] = { { 0 } };
	int r;

	(void)roger;
	r = open_sides(&sides[0], &sides[1], request, err);
	reply->already = r == ROGER_OK && rg_str_equal(sides[0].place, sides[1].place);
	if (reply->already) {
		/* Both sides are one store: check that it can be opened. */
		sides[0].workspace->moving = false;
		sides[0].engine = rg_engine_close(sides[0].engine);
		r = rg_engine_open(sides[0].workspace, &sides[0].engine, err);
	} else if (r == ROGER_OK) {
		r = move_sides(sides, reply, err);
	}
	reply->from = rg_arena_str(reply->memory, sides[0].place);
	reply->to = rg_arena_str(reply->memory, sides[1].place);
	reply->overruled = r == ROGER_OK && getenv("ROGER_STORE") != NULL && !reply->already;
	close_side(&sides[0]);
	close_side(&sides[1]);
	return r;
}
