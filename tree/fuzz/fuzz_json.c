/*
 * Any bytes as JSON, as a message and as message-state.json.  What is read
 * prints, and prints the same when it is read again; any text written as a
 * string reads back as itself; any error is one line of valid text.
 */
#include "base/limits.h"
#include "facts/message.h"
#include "facts/sequence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct roger_err *err)
{
	size_t chars;

	rg_assert(err->message[0] && !strchr(err->message, '\n'));
	rg_assert(rg_utf8_count(rg_str(err->message), &chars));
}

static void print_json(struct roger_str text, struct rg_buf *out)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_err err;

	rg_buf_init(out, SIZE_MAX);
	if (rg_json_read(text, &json, &err) < 0) {
		check_error(&err);
		return;
	}
	rg_json_print(rg_json_root(json), out);
	rg_assert(!out->failed && out->length);
	rg_assert(!memchr(out->data, '\n', out->length));
}

static void print_message(struct roger_str text, struct rg_buf *out)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_arena *arena = rg_arena_new();
	struct roger_message message = { 0 };
	struct roger_err err;

	rg_buf_init(out, SIZE_MAX);
	if (rg_json_read(text, &json, NULL) < 0) {
		rg_arena_free(arena);
		return;
	}
	if (rg_record_decode(&rg_message_record, rg_json_root(json), &message, arena, &err) < 0) {
		check_error(&err);
	} else {
		rg_assert(rg_record_keep(&rg_message_record, &message, arena));
		json = rg_json_free(json);
		rg_record_encode(&rg_message_record, &message, out);
		rg_assert(!out->failed && out->length);
	}
	rg_arena_free(arena);
}

static void print_sequence(struct roger_str text, struct rg_buf *out)
{
	struct rg_sequence *sequence = NULL;
	struct roger_err err;

	rg_buf_init(out, SIZE_MAX);
	if (rg_sequence_read(text, &sequence, &err) < 0) {
		check_error(&err);
		return;
	}
	rg_sequence_print(sequence, out);
	rg_assert(!out->failed && out->length);
	rg_sequence_free(sequence);
}

static void check_printed_again(struct roger_str text,
				void (*print)(struct roger_str, struct rg_buf *))
{
	struct rg_buf first, second;

	print(text, &first);
	if (first.length) {
		print(rg_buf_str(&first), &second);
		rg_assert(rg_str_equal(rg_buf_str(&first), rg_buf_str(&second)));
		rg_buf_deinit(&second);
	}
	rg_buf_deinit(&first);
}

static void check_string(struct roger_str text)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	size_t chars;
	int r;

	if (!rg_utf8_count(text, &chars))
		return;
	rg_json_add_string(&out, text);
	r = rg_json_read(rg_buf_str(&out), &json, NULL);
	rg_assert(r == ROGER_OK);
	rg_assert(rg_str_equal(rg_json_str(rg_json_root(json)), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str text = { (const char *)data, size };

	check_printed_again(text, print_json);
	check_printed_again(text, print_message);
	check_printed_again(text, print_sequence);
	check_string(text);
	return 0;
}
