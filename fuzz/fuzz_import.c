/*
 * Any bytes as what `roger log --import` reads.  A try changes nothing and says
 * what the import then does; what the log holds then are whole entries.
 */
#include "fuzz.h"
#include "facts/activity.h"
#include "facts/log_kinds.h"

/* A log that grows is quicker than one that begins again: so does the index. */
enum { LOG_BYTES = 4096 };

static char log_path[300];

static struct roger *open_place(void)
{
	static struct roger *roger;
	struct roger_init_request request = { .path = rg_str(fuzz_folder()) };
	struct roger_init_reply reply;
	int r = ROGER_OK;

	if (roger)
		return roger;
	r = roger_init(&request, &reply, NULL);
	rg_assert(r == ROGER_OK);
	roger_reply_free(&reply);
	r = roger_open(fuzz_folder(), &roger, NULL);
	rg_assert(r == ROGER_OK);
	snprintf(log_path, sizeof log_path, "%s/.roger/logs/activity.log.jsonl", fuzz_folder());
	return roger;
}

static struct roger_log_import_reply import(struct roger_str text, bool dry_run)
{
	struct roger_log_import_request request = { text, dry_run };
	struct roger_log_import_reply reply;
	struct roger_err err;
	size_t i;
	int r = roger_log_import(open_place(), &request, &reply, &err);

	rg_assert(r == ROGER_OK);
	for (i = 0; i < reply.lines.count; i++)
		rg_assert(reply.lines.items[i].line >= 1 && reply.lines.items[i].what.length);
	/* The figures outlive it. */
	roger_reply_free(&reply);
	return reply;
}

/* How long it is. */
static size_t check_log(void)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	const char *at, *newline;
	size_t size;
	int r;
	char *log = fuzz_get(AT_FDCWD, log_path, &size);

	for (at = log; at < log + size; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(log + size - at));
		rg_assert(newline && arena);
		r = rg_log_kind_read(RG_LOG_ACTIVITY,
				     (struct roger_str){ at, (size_t)(newline - at) }, arena,
				     &entry, NULL);
		rg_assert(r == ROGER_OK);
	}
	free(log);
	rg_arena_free(arena);
	return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str text = { (const char *)data, size };
	struct roger_log_import_reply tried, done;

	if (size == 0)
		return 0;
	tried = import(text, true);
	if (tried.imported) {
		done = import(text, false);
		rg_assert(done.imported == tried.imported && done.bad == tried.bad);
		if (check_log() > LOG_BYTES)
			rg_assert(truncate(log_path, 0) == 0);
	}
	return 0;
}
