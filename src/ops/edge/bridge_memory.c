/*
 * bridge: the handle's folders, and what it remembers from one look to the next: what was reported,
 * and how files were that are still open for writing.
 */
#include "ops/edge/bridge.h"

#include <stdlib.h>

#include "host/file.h"

/* ---------------------------------------------------------- the folders -- */

struct rg_bridge *rg_bridge_free(struct rg_bridge *bridge)
{
	if (!bridge)
		return NULL;
	if (bridge->is_bridge)
		rg_engine_bridge_end(bridge->engine);
	rg_triggers_close(&bridge->triggers);
	rg_file_close(bridge->watch);
	rg_arena_free(bridge->scratch);
	rg_table_deinit(&bridge->told);
	rg_table_deinit(&bridge->telling);
	rg_table_deinit(&bridge->still);
	free(bridge->before.items);
	free(bridge);
	return NULL;
}

/* Watch the folders.  Without that the bridge only notices files later. */
static void watch_folders(struct rg_bridge *bridge)
{
	rg_watch_folder(bridge->watch, bridge->triggers.folder);
	rg_watch_folder(bridge->watch, bridge->triggers.taken);
}

int rg_bridge_open(struct roger *roger, struct roger_err *err)
{
	struct rg_bridge *bridge;
	int r;

	if (roger->bridge)
		return ROGER_OK;
	bridge = calloc(1, sizeof *bridge);
	if (!bridge)
		return rg_fail_memory(err);
	bridge->triggers =
		(struct rg_triggers){ RG_NO_FILE, RG_NO_FILE, RG_NO_FILE, RG_NO_FILE, 0 };
	bridge->watch = RG_NO_FILE;
	rg_table_init(&bridge->told, sizeof(uint64_t));
	bridge->still = bridge->telling = bridge->told;
	bridge->engine = roger->engine;
	bridge->scratch = rg_arena_new();
	r = bridge->scratch ? rg_triggers_open(roger->workspace, &bridge->triggers, err)
			    : rg_fail_memory(err);
	if (r < 0) {
		rg_bridge_free(bridge);
		return r;
	}
	bridge->watch = rg_watch_open();
	watch_folders(bridge);
	roger->bridge = bridge;
	return ROGER_OK;
}

int rg_bridge_reopen_lost(struct roger *roger, struct rg_bridge *bridge, struct roger_err *err)
{
	struct rg_triggers triggers;
	int r;

	if (!rg_triggers_lost(roger->workspace, &bridge->triggers))
		return ROGER_OK;
	r = rg_triggers_open(roger->workspace, &triggers, err);
	if (r < 0)
		return r;
	triggers.last_ms = bridge->triggers.last_ms;
	rg_triggers_close(&bridge->triggers);
	bridge->triggers = triggers;
	watch_folders(bridge);
	return ROGER_OK;
}

void rg_bridge_watch_journal(struct roger *roger, struct rg_bridge *bridge)
{
	const struct rg_config *config = roger->workspace->config;

	if (!bridge->watches_journal && (bridge->waits || config->file_only.count))
		bridge->watches_journal = rg_watch_file(bridge->watch, roger->workspace->data,
							config->jsonl_file.data);
}

/* ------------------------------------------------------------- telling -- */

bool rg_bridge_tell_once(struct rg_bridge *bridge, const char *kind, struct roger_str what,
			 struct roger_str to, int64_t number)
{
	uint64_t hash = rg_hash((uint64_t)number, kind, strlen(kind));
	bool fresh = true;

	hash = rg_hash(rg_hash(hash, what.data, what.length), to.data, to.length);
	/* Without memory it is reported again, which does no harm. */
	(void)rg_table_put(&bridge->telling, hash, &fresh);
	return fresh && !rg_table_find(&bridge->told, hash);
}

void rg_bridge_swap_told(struct rg_bridge *bridge)
{
	rg_table_deinit(&bridge->told);
	bridge->told = bridge->telling;
	rg_table_init(&bridge->telling, sizeof(uint64_t));
}

/* ----------------------------------------------------- files held open -- */

bool rg_bridge_is_still(struct rg_bridge *bridge, const struct rg_taken *taken,
			const struct rg_file_facts *facts)
{
	uint64_t hash = rg_hash((uint64_t)facts->size, taken->name, strlen(taken->name));
	bool fresh = true;

	hash = rg_hash(hash, &facts->changed_ms, sizeof facts->changed_ms);
	(void)rg_table_put(&bridge->still, hash, &fresh);
	return !fresh;
}

static struct rg_bridge_before *find_before(const struct rg_bridge *bridge,
					    const struct rg_taken *taken)
{
	uint64_t id = rg_hash(0, taken->id.data, taken->id.length);
	size_t i;

	for (i = 0; i < bridge->before.count; i++)
		if (bridge->before.items[i].id == id)
			return &bridge->before.items[i];
	return NULL;
}

void rg_bridge_forget_text(struct rg_bridge *bridge, const struct rg_taken *taken)
{
	struct rg_bridge_before *before = find_before(bridge, taken);

	if (before)
		*before = bridge->before.items[--bridge->before.count];
}

void rg_bridge_remember_text(struct rg_bridge *bridge, const struct rg_taken *taken,
			     struct roger_str text)
{
	struct rg_bridge_before *before = find_before(bridge, taken), *grown;
	size_t capacity = bridge->before.capacity + 16;

	if (!before && bridge->before.count == bridge->before.capacity) {
		grown = realloc(bridge->before.items, capacity * sizeof *grown);
		if (!grown)
			return;
		bridge->before.items = grown;
		bridge->before.capacity = capacity;
	}
	if (!before)
		before = &bridge->before.items[bridge->before.count++];
	before->id = rg_hash(0, taken->id.data, taken->id.length);
	before->offset = taken->offset;
	before->text = rg_hash(0, text.data, (size_t)taken->offset);
}

bool rg_bridge_is_rewritten(const struct rg_bridge *bridge, const struct rg_taken *taken,
			    struct roger_str text)
{
	const struct rg_bridge_before *before = find_before(bridge, taken);

	if ((int64_t)text.length < taken->offset)
		return true;
	return before && before->offset == taken->offset &&
	       before->text != rg_hash(0, text.data, (size_t)taken->offset);
}
