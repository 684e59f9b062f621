#include "store/decoder.h"

#include <stdlib.h>

#include "facts/message.h"

struct rg_decoder {
	struct rg_lines lines;
	const struct rg_altered *altered;
	struct rg_arena *arena; /* of the message */
	struct rg_decoded decoded;
};

int rg_decoder_open(const struct rg_bytes *bytes, uint64_t from, uint64_t end,
		    const struct rg_altered *altered, struct rg_decoder **ret_decoder,
		    struct roger_err *err)
{
	struct rg_decoder *decoder = malloc(sizeof *decoder);

	rg_assert(altered != NULL);
	if (!decoder)
		return rg_fail_memory(err);
	rg_lines_init(&decoder->lines, bytes, from, end);
	decoder->altered = altered;
	decoder->arena = rg_arena_new();
	if (!decoder->arena) {
		rg_decoder_close(decoder);
		return rg_fail_memory(err);
	}
	*ret_decoder = decoder;
	return ROGER_OK;
}

struct rg_decoder *rg_decoder_close(struct rg_decoder *decoder)
{
	if (!decoder)
		return NULL;
	rg_arena_free(decoder->arena);
	rg_lines_deinit(&decoder->lines);
	free(decoder);
	return NULL;
}

int rg_decoder_next(struct rg_decoder *decoder, const struct rg_decoded **ret_decoded,
		    struct roger_err *err)
{
	struct rg_decoded *decoded = &decoder->decoded;
	struct rg_line *line = &decoded->line;
	bool found;
	int r;

	*ret_decoded = NULL;
	r = rg_lines_next(&decoder->lines, line, &found, err);
	if (r < 0 || !found)
		return r;

	rg_arena_reset(decoder->arena);
	r = line->too_long
		    ? ROGER_EDATA
		    : rg_message_read_within(line->text, decoder->arena, &decoded->message, NULL);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	decoded->is_message = r == ROGER_OK;
	decoded->torn = !line->too_long && rg_line_is_torn(line->text);
	decoded->altered = rg_altered_has(decoder->altered, 0, line->offset);
	if (decoded->altered && decoded->is_message)
		rg_message_as_sent(&decoded->message);
	*ret_decoded = decoded;
	return ROGER_OK;
}
