/* Choosing and opening a store, moves between stores, and what all stores share. */
#include "base/clock.h"
#include "store/store.h"

#include <stdio.h>

#include "base/id.h"
#include "base/limits.h"
#include "host/workspace.h"
#include "store/lines.h"

/* A reader does not wait longer for a writer that makes no progress. */
enum { SOON_MS = 200 };
/* Each wait of long work may take this long, even after its deadline. */
enum { WORKING_MS = 1000 };

/* NULL: this program is linked without store/postgres/. */
rg_store_opener rg_postgres_store_open __attribute__((weak));
int rg_postgres_prepare(struct rg_workspace *workspace, int *ret_steps, struct roger_err *err)
	__attribute__((weak));

static int fail_without(struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EENGINE, "store",
			      "store: this program is linked without PostgreSQL, which "
			      "`roger serve` opens");
}

static int open_configured(struct rg_workspace *workspace, const struct rg_store_above *above,
			   struct rg_store **ret_store, struct roger_err *err)
{
	if (!workspace->config->store.length)
		return rg_file_store_open(workspace, above, ret_store, err);
	return rg_postgres_store_open ? rg_postgres_store_open(workspace, above, ret_store, err)
				      : fail_without(err);
}

rg_store_opener *rg_store_open = open_configured;

int rg_store_prepare(struct rg_workspace *workspace, int *ret_steps, struct roger_err *err)
{
	*ret_steps = 0;
	return workspace->config->store.length ? rg_postgres_prepare(workspace, ret_steps, err)
					       : ROGER_OK;
}

int rg_store_check(const struct rg_config *config, struct roger_err *err)
{
	return config->store.length && !rg_postgres_prepare ? fail_without(err) : ROGER_OK;
}

/* ----------------------------------------------------------------- moving -- */

struct roger_str rg_store_place(const struct rg_workspace *workspace)
{
	const struct roger_setting_list *settings = &workspace->config->settings;
	size_t i;

	for (i = 0; workspace->config->store.length && i < settings->count; i++)
		if (rg_str_is(settings->items[i].key, "store"))
			return settings->items[i].value;
	return rg_str(workspace->root);
}

int rg_store_use(struct rg_workspace *workspace, const char *place, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = 2 * RG_PLACE_BYTES };

	rg_buf_add_text(&text, "store: '");
	place = rg_store_is_address(place) ? place : "";
	for (; *place; place++) {
		if (*place == '\'')
			rg_buf_add_char(&text, '\'');
		rg_buf_add_char(&text, *place);
	}
	rg_buf_add_text(&text, "'\n");
	return text.failed
		       ? rg_fail(err, ROGER_EDATA, 0, "the address is too long")
		       : rg_config_read(workspace->config, rg_buf_str(&text), "move", false, err);
}

int rg_store_fail_moved(const struct rg_store *store, struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0,
		       store->standing == RG_MOVED
			       ? "the workspace was moved to '%s'; if the move was cut short, the "
				 "same `roger move` goes on"
			       : "the workspace is being moved here from '%s'; if that was cut "
				 "short, the same `roger move`, from there, finishes it; if the "
				 "workspace was moved to another place since, remove it here",
		       store->place);
}

const char *const rg_standings[] = { "live", "incoming", "moved" };

enum rg_standing rg_store_read_standing(struct roger_str document, struct roger_str *ret_place)
{
	const char *blank = document.length ? memchr(document.data, ' ', document.length) : NULL;
	const size_t word = blank ? (size_t)(blank - document.data) : 0;

	*ret_place =
		blank ? (struct roger_str){ blank + 1, document.length - word - 1 } : RG_STR("");
	if (ret_place->length && ret_place->data[ret_place->length - 1] == '\n')
		ret_place->length--;
	document.length = word;
	return !document.data				     ? RG_LIVE
	       : rg_str_is(document, rg_standings[RG_MOVED]) ? RG_MOVED
							     : RG_INCOMING;
}

int rg_store_stand(struct rg_store *store, enum rg_standing standing, struct roger_str place,
		   struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_PLACE_BYTES };
	struct roger_str document = { NULL, 0 };

	rg_assert(standing != RG_MOVED || rg_store_took(store, RG_LOCK_APPEND));
	rg_assert((standing == RG_LIVE) == !place.length);
	if (standing != RG_LIVE) {
		rg_buf_printf(&text, "%s %.*s\n", rg_standings[standing], RG_STR_ARGS(place));
		document = rg_buf_str(&text);
	}
	if (text.failed)
		return rg_fail_memory(err);
	return store->ops->put(store, RG_DOCUMENT_MOVE, RG_STR(""), NULL, document, true, err);
}

/* May the other side of a move be opened?  It is a folder, or an address that a person trusts. */
static int may_look(const struct rg_store *store, struct rg_workspace *workspace, bool *ret_may,
		    struct roger_err *err)
{
	const struct rg_trust *trust;
	int r = rg_workspace_trust(workspace, &trust, err);

	*ret_may = r == ROGER_OK && (!rg_store_is_address(store->place) ||
				     rg_trust_has_path(trust, rg_str(store->place)));
	return r;
}

/* Has the source of this move moved here?  Then only the last step is missing. */
static bool has_come(const struct rg_store *store, const struct rg_workspace *workspace,
		     const struct rg_store_above *above, struct roger_err *err)
{
	struct rg_workspace *from = NULL;
	struct rg_store *source = NULL;
	char path[RG_PLACE_BYTES + 16];
	bool may = false, come;
	int r;

	/* Open this very folder, even in a worktree that would use another one. */
	snprintf(path, sizeof path, "%s/" RG_WORKSPACE_FOLDER,
		 rg_store_is_address(store->place) ? workspace->root : store->place);
	r = rg_workspace_open(path, &from, err);
	if (r == ROGER_OK)
		r = may_look(store, from, &may, err);
	if (r == ROGER_OK && may)
		r = rg_store_use(from, store->place, err);
	if (r == ROGER_OK && may) {
		from->moving = true;
		r = rg_store_open(from, above, &source, err);
	}
	come = r == ROGER_OK && source && source->standing == RG_MOVED &&
	       rg_str_is(rg_store_place(workspace), source->place);
	if (source)
		source->ops->close(source);
	rg_workspace_close(from);
	return come;
}

int rg_store_follow(struct rg_store *store, const struct rg_workspace *workspace,
		    const struct rg_store_above *above, struct roger_err *err)
{
	struct roger_err why = { 0 };

	if (store->standing == RG_LIVE || workspace->moving)
		return ROGER_OK;
	if (store->standing == RG_INCOMING && has_come(store, workspace, above, &why))
		return rg_store_stand(store, RG_LIVE, RG_STR(""), err);
	/* This program lacks the store that it would look at; another one has it. */
	if (strcmp(why.member, "store") == 0)
		return fail_without(err);
	return rg_store_fail_moved(store, err);
}

struct rg_log_file *rg_log_files_find(const struct rg_log_files *files, struct roger_str shown)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		if (rg_str_equal(files->items[i].shown, shown))
			return &files->items[i];
	return NULL;
}

const struct rg_log_file rg_store_messages = { .log = RG_LOG_MESSAGES };

uint64_t rg_count_hash(enum rg_count kind, struct roger_str first, struct roger_str second)
{
	uint64_t hash = rg_hash(rg_hash((uint64_t)kind + 1, first.data, first.length), second.data,
				second.length);

	return hash ? hash : 1;
}

bool rg_store_run_shown(struct roger_str run_id, struct rg_arena *arena,
			struct roger_str *ret_shown)
{
	char name[RG_FILE_NAME_BYTES];

	rg_assert(run_id.length > 0);
	rg_workspace_file_name(run_id, ".json", name);
	return rg_arena_print(arena, ret_shown, RG_RUNS_SHOWN "/%s", name);
}

bool rg_store_is_long(const struct rg_store *store, uint64_t bytes)
{
	return store->elsewhere && store->until_ns && !store->works && bytes > RG_READY_BYTES;
}

int rg_store_check_ready(const struct rg_store *store, uint64_t bytes, struct roger_err *err)
{
	if (!rg_store_is_long(store, bytes))
		return ROGER_OK;
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "this server is getting ready: it has %llu MB of lines still to read; "
		       "nothing was done, try again",
		       (unsigned long long)(bytes >> 20));
}

int64_t rg_store_wait_ms(const struct rg_store *store, int64_t wait_ms)
{
	const int64_t left_ms =
		store->until_ns ? (store->until_ns - rg_clock_monotonic_ns()) / 1000000 : wait_ms;

	const int64_t least_ms = store->works ? WORKING_MS : 1;

	return wait_ms < 1 || wait_ms < left_ms ? wait_ms : left_ms > least_ms ? left_ms : least_ms;
}

int rg_store_begin(struct rg_store *store, size_t agents, size_t counts, struct roger_err *err)
{
	const struct rg_lock_wish wish = {
		RG_LOCK_APPEND, RG_LOCK_WAIT_MS, { "", 0 }, agents, counts
	};

	return store->ops->lock(store, &wish, err);
}

bool rg_store_begin_soon(struct rg_store *store, size_t counts)
{
	const struct rg_lock_wish wish = { RG_LOCK_APPEND, SOON_MS, { "", 0 }, 0, counts };

	return store->ops->lock(store, &wish, NULL) == ROGER_OK;
}

int rg_store_read_line(struct rg_store *store, uint64_t offset, size_t length, struct rg_buf *out,
		       struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(store, &rg_store_messages);

	return rg_bytes_add(&bytes, offset, length, out, err);
}
