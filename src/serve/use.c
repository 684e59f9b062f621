/*
 * use - when and from where each token or login was last used, for `roger token list`.
 *
 * The server keeps it in memory, and now and then in a file beside the tokens, which is replaced
 * but not synced: a crash costs the last seconds of it and nothing else.
 */
#include <event2/http.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "host/file.h"
#include "serve/serve.h"

enum { USES_MAX = 256, ADDRESS_BYTES = 64, TICKS = 5, BYTES_MAX = 128 << 10, PATH_BYTES = 4300 };

struct serve_uses {
	struct rg_arena *arena;
	struct rg_use *items;
	size_t count;
	bool changed;
};

static bool path_of(const char *workspace, char to[PATH_BYTES])
{
	if (serve_tokens_path(workspace, to, NULL) < 0)
		return false;
	memcpy(strrchr(to, '.'), ".uses", sizeof ".uses");
	return true;
}

static struct rg_use *find_use(struct serve_uses *uses, struct roger_str login)
{
	size_t i;

	for (i = 0; i < uses->count; i++)
		if (rg_str_equal(uses->items[i].login, login))
			return &uses->items[i];
	return NULL;
}

/* Find or add a use; when there are too many, the longest unused one goes.  NULL: out of memory. */
static struct rg_use *put_use(struct serve_uses *uses, struct roger_str login)
{
	struct rg_use *use = find_use(uses, login);
	struct roger_str kept;
	size_t i;

	if (use || !rg_arena_copy(uses->arena, login, &kept))
		return use;
	if (uses->count < USES_MAX) {
		use = rg_arena_push(uses->arena, &uses->items, &uses->count, sizeof *use);
	} else {
		for (use = uses->items, i = 1; i < uses->count; i++)
			if (uses->items[i].at_ms < use->at_ms)
				use = &uses->items[i];
	}
	if (use)
		*use = (struct rg_use){
			.login = kept,
			.room = use->room ? use->room : rg_arena_get(uses->arena, ADDRESS_BYTES)
		};
	return use && use->room ? use : NULL;
}

/* Read the lines of the file; anything else in it is skipped. */
static void read_lines(struct serve_uses *uses, struct roger_str rest)
{
	struct roger_str line;
	struct rg_use said, *use;

	while (rg_str_next_line(&rest, &line)) {
		said = (struct rg_use){ 0 };
		if (rg_record_read(&rg_use_record, line, &said, uses->arena, NULL) == ROGER_OK &&
		    (use = put_use(uses, said.login)))
			use->at_ms = said.at_ms, use->from = said.from;
	}
}

struct serve_uses *serve_uses_free(struct serve_uses *uses)
{
	if (uses)
		rg_arena_free(uses->arena);
	free(uses);
	return NULL;
}

struct serve_uses *serve_uses_read(const char *workspace)
{
	struct serve_uses *uses = calloc(1, sizeof *uses);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str kept;
	char path[PATH_BYTES];
	bool found;

	if (uses)
		uses->arena = rg_arena_new();
	if (!uses || !uses->arena)
		return serve_uses_free(uses);
	/* The file is in a folder that is this user's alone. */
	if (path_of(workspace, path) &&
	    rg_file_read_all(AT_FDCWD, path, BYTES_MAX, &text, &found, NULL) == ROGER_OK &&
	    rg_arena_keep(uses->arena, &text, &kept))
		read_lines(uses, kept);
	return uses;
}

const struct rg_use *serve_use_find(struct serve_uses *uses, const char *login)
{
	return uses ? find_use(uses, rg_str(login)) : NULL;
}

void serve_use_note(struct serve *serve, struct evhttp_request *request,
		    const struct serve_caller *caller)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	struct rg_use *use;
	uint16_t port;
	char *from;

	/* If there is only a head, the request is still to come. */
	if (!connection || caller->how < RG_BY_TOKEN)
		return;
	if (!serve->uses)
		serve->uses = serve_uses_read(serve->workspace);
	use = serve->uses ? put_use(serve->uses, rg_str(caller->login)) : NULL;
	if (!use)
		return;
	evhttp_connection_get_peer(connection, &from, &port);
	snprintf(use->room, ADDRESS_BYTES, "%s", from);
	use->from = rg_str(use->room);
	use->at_ms = rg_clock_ms();
	serve->uses->changed = true;
}

void serve_uses_save(struct serve *serve, bool now)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = BYTES_MAX };
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char path[PATH_BYTES], *name;
	size_t i;

	if (!serve->uses || !serve->uses->changed || (!now && serve->ticks % TICKS) ||
	    !path_of(serve->workspace, path))
		return;
	for (i = 0; i < serve->uses->count; i++) {
		rg_record_encode(&rg_use_record, &serve->uses->items[i], &text);
		rg_buf_add_char(&text, '\n');
	}
	serve->uses->changed = false;
	name = strrchr(path, '/') + 1;
	name[-1] = '\0';
	folder = text.failed ? RG_NO_FILE : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder != RG_NO_FILE)
		(void)!rg_file_replace(folder, name, rg_buf_str(&text), false, NULL);
}
