/*
 * Any bytes as what a server answers to a verb: its name, a newline, the answer.  What is
 * accepted prints as an answer that reads as the same and prints the same again, whatever
 * members a newer server added; any error is one line of valid text.
 */
#include "base/arena.h"
#include "data/json.h"
#include "data/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct roger_record *reply_of(struct roger_str verb)
{
	const struct roger_op *const *op;

	for (op = roger_ops(); *op; op++)
		if (rg_str_is(verb, (*op)->name))
			return (*op)->reply;
	return NULL;
}

/* False: it is no answer of that verb. */
static bool print_again(const struct roger_record *record, struct roger_str text,
			struct rg_buf *out)
{
	struct rg_arena *arena = rg_arena_new();
	const struct rg_json *json;
	struct roger_err err;
	size_t chars;
	void *reply;
	int r;

	rg_assert(arena);
	reply = rg_arena_get(arena, record->size);
	rg_assert(reply);
	rg_buf_init(out, SIZE_MAX);
	r = rg_json_read_within(text, arena, &json, &err);
	if (r == ROGER_OK)
		r = rg_answer_decode(record, rg_json_root(json), reply, arena, &err);
	if (r == ROGER_OK)
		rg_words_encode(record, reply, out);
	else
		rg_assert(err.message[0] && !strchr(err.message, '\n') &&
			  rg_utf8_count(rg_str(err.message), &chars));
	rg_arena_free(arena);
	return r == ROGER_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct roger_str all = { (const char *)data, size };
	const char *end = size ? rg_str_find(all, '\n') : NULL;
	const struct roger_record *record;
	struct rg_buf first, second;
	struct roger_str verb;

	if (!end)
		return 0;
	verb = (struct roger_str){ all.data, (size_t)(end - all.data) };
	record = reply_of(verb);
	if (!record)
		return 0;
	if (print_again(record, (struct roger_str){ end + 1, size - verb.length - 1 }, &first)) {
		rg_assert(print_again(record, rg_buf_str(&first), &second));
		rg_assert(rg_str_equal(rg_buf_str(&first), rg_buf_str(&second)));
		rg_buf_deinit(&second);
	}
	rg_buf_deinit(&first);
	return 0;
}
