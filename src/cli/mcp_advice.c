/*
 * mcp: errors and notes of verbs name commands for a shell; an agent that calls a tool is
 * told the tool, or its argument, that does the same.  What only a person does (`roger trust`)
 * stays as it is.
 */
#include "base/escape.h"
#include "cli/mcp.h"

static const struct {
	const char *command, *instead;
} advice[] = {
	{ "`roger send --new`", "new: true" },
	{ "`roger list`", "inbox" },
	{ "`roger agents`", "agents" },
	{ "`roger dead`", "dead_letters" },
	{ "`roger runs`", "run with action status" },
	/* The end of the quote is missing here, since the name of a run follows. */
	{ "`roger runs ", "run with action status" },
	/* This is the end of a sentence. */
	{ "; - reads it from standard input", "" },
};

static void add_advice(struct roger_str text, struct rg_buf *out)
{
	const char *end = text.data + text.length, *at = text.data, *stop;
	size_t i, length;

	while (at < end) {
		for (i = 0; i < sizeof advice / sizeof *advice; i++) {
			length = strlen(advice[i].command);
			if ((size_t)(end - at) >= length &&
			    strncmp(at, advice[i].command, length) == 0)
				break;
		}
		if (i == sizeof advice / sizeof *advice) {
			rg_buf_add_char(out, *at++);
			continue;
		}
		rg_buf_add_text(out, advice[i].instead);
		stop = memchr(at + length - 1, '`', (size_t)(end - at) - length + 1);
		at = stop ? stop + 1 : end;
	}
}

void mcp_fail(struct roger_mcp_call *call, const struct roger_err *err, const char *more)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };

	add_advice(rg_str(err->message), &words);
	rg_buf_add_escaped(&out, RG_IN_LINE, rg_buf_str(&words));
	if (words.failed || out.failed)
		roger_mcp_fail(call, "out of memory");
	else
		roger_mcp_fail(call, "%.*s%s", (int)out.length, out.data, more);
}
