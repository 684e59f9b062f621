#include "host/chore.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"
#include "host/process.h"

/* A file younger than FRESH_MS is not written again; a gap of more than PAUSE_MS ends a spell. */
enum { TEXT_BYTES = 400, LINES = 4, FRESH_MS = 10000, PAUSE_MS = 120000 };

static bool read_chore(int folder, const char *verb, char text[TEXT_BYTES],
		       struct roger_chore *ret_chore)
{
	struct roger_str lines[LINES];
	struct rg_file_facts facts;

	if (!rg_file_read_lines(folder, verb, text, TEXT_BYTES, lines, LINES, &facts))
		return false;
	*ret_chore = (struct roger_chore){ .verb = rg_str(verb), .by = lines[3] };
	return rg_str_number(lines[0], &ret_chore->since_ms) &&
	       rg_str_number(lines[1], &ret_chore->last_ms) &&
	       rg_str_number(lines[2], &ret_chore->pid);
}

void rg_chore_done(const struct rg_workspace *workspace, const char *verb)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = TEXT_BYTES };
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	const int64_t now_ms = rg_clock_ms();
	struct roger_chore last = { 0 };
	char text[TEXT_BYTES];

	if (rg_file_open_made_folder(workspace->data, RG_CHORES_FOLDER, &folder, NULL) < 0)
		return;
	if (!read_chore(folder, verb, text, &last) || last.pid != getpid() ||
	    last.last_ms < now_ms - PAUSE_MS)
		last = (struct roger_chore){ .since_ms = now_ms };
	else if (last.last_ms > now_ms - FRESH_MS && last.last_ms <= now_ms)
		return;
	/* The clock was set back. */
	if (last.since_ms > now_ms)
		last.since_ms = now_ms;
	rg_buf_printf(&out, "%lld\n%lld\n%lld\n%s\n", (long long)last.since_ms, (long long)now_ms,
		      (long long)getpid(), program_invocation_short_name);
	if (!out.failed)
		(void)!rg_file_replace(folder, verb, rg_buf_str(&out), false, NULL);
}

bool rg_chore_find(const struct rg_workspace *workspace, const char *verb, struct rg_arena *arena,
		   struct roger_chore *ret_chore)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char text[TEXT_BYTES];

	if (rg_file_open_folder(workspace->data, RG_CHORES_FOLDER, &folder, NULL) < 0 ||
	    folder == RG_NO_FILE || !read_chore(folder, verb, text, ret_chore))
		return false;
	if (!rg_process_lives(ret_chore->pid))
		ret_chore->pid = 0;
	return rg_arena_copy(arena, ret_chore->by, &ret_chore->by);
}
