/*
 * Any bytes as an entry of the activity log.  What is accepted prints as one
 * line that reads as the same entry and prints the same again, whatever order
 * and layout it came in; a strict one has no members of others; any error is
 * one line of valid text, and what it calls a member fits its place.
 */
#include "base/limits.h"
#include "facts/activity.h"
#include "facts/log_kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(int code, const struct roger_err *err)
{
	size_t chars;

	rg_assert(code == ROGER_EDATA && err->code == ROGER_EDATA);
	rg_assert(err->message[0] && !strchr(err->message, '\n'));
	rg_assert(rg_utf8_count(rg_str(err->message), &chars));
	rg_assert(strlen(err->member) < sizeof err->member);
}

static void check_entry(const struct roger_activity *entry)
{
	rg_assert(entry->type >= 0 && entry->type <= ROGER_CRITIC_FEEDBACK);
	rg_assert(entry->status >= 0 && entry->status <= ROGER_IN_PROGRESS);
	rg_assert(entry->at_ms >= 0 && entry->at_ms <= RG_TIME_MS_MAX);
	rg_assert(entry->details.length >= 2 && entry->details.data[0] == '{');
}

/* False: it is no entry, or too long for a line. */
static bool print_again(struct roger_str text, struct rg_buf *out)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_activity entry;
	struct roger_err err;
	int r;

	rg_assert(arena);
	rg_buf_init(out, SIZE_MAX);
	r = rg_log_kind_read(RG_LOG_ACTIVITY, text, arena, &entry, &err);
	if (r == ROGER_OK) {
		check_entry(&entry);
		r = rg_activity_print(&entry, out, &err);
	}
	if (r < 0)
		check_error(r, &err);
	rg_arena_free(arena);
	return r == ROGER_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rg_buf once, twice = { 0 };

	if (print_again((struct roger_str){ (const char *)data, size }, &once)) {
		rg_assert(once.length && once.length <= RG_ACTIVITY_BYTES_MAX);
		rg_assert(memchr(once.data, '\n', once.length) == once.data + once.length - 1);
		rg_assert(print_again(rg_buf_str(&once), &twice));
		rg_assert(rg_str_equal(rg_buf_str(&once), rg_buf_str(&twice)));
	}
	rg_buf_deinit(&once);
	rg_buf_deinit(&twice);
	return 0;
}
