#include "store/decoder.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"
#include "facts/message.h"

/* The threads hand over blocks.  Less than AHEAD_BYTES is not worth starting a second thread. */
enum { BLOCK_LINES = 256, BLOCK_BYTES_MAX = 4 << 20, BLOCKS = 2, AHEAD_BYTES = 8 << 20 };

struct block {
	struct rg_decoded items[BLOCK_LINES];
	size_t count;
	struct rg_arena *arena;
	bool full;
	bool last;  /* no block follows */
	int result; /* of the last block: why reading ended */
	struct roger_err err;
};

struct rg_decoder {
	struct rg_lines lines;
	struct block blocks[BLOCKS];
	bool started; /* a block is with the caller */
	size_t using; /* the block with the caller */
	size_t at;    /* its next item */

	bool ahead; /* a second thread fills the blocks */
	bool stop;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

/* Add a line to the block; of a line that is not a message only its place is kept. */
static int add_line(struct block *block, const struct rg_line *line, struct roger_err *err)
{
	struct rg_decoded *decoded = &block->items[block->count];
	int r = ROGER_EDATA;

	*decoded = (struct rg_decoded){ .line = *line };
	decoded->line.text = (struct roger_str){ "", 0 };
	if (!line->too_long)
		r = rg_message_read_within(line->text, block->arena, &decoded->message, NULL);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	decoded->is_message = r == ROGER_OK;
	decoded->torn = !line->too_long && rg_line_is_torn(line->text);
	block->count++;
	return ROGER_OK;
}

static int fill_lines(struct rg_lines *lines, struct block *block, bool *ret_found,
		      struct roger_err *err)
{
	uint64_t start = lines->at;
	struct rg_line line;
	int r = ROGER_OK;

	*ret_found = true;
	while (block->count < BLOCK_LINES && lines->at - start < BLOCK_BYTES_MAX) {
		r = rg_lines_next(lines, &line, ret_found, err);
		if (r < 0 || !*ret_found)
			break;
		r = add_line(block, &line, err);
		if (r < 0)
			break;
	}
	return r;
}

static void fill_block(struct rg_lines *lines, struct block *block)
{
	bool found = false;

	block->count = 0;
	if (block->arena)
		rg_arena_reset(block->arena);
	else
		block->arena = rg_arena_new();
	block->result = block->arena ? fill_lines(lines, block, &found, &block->err)
				     : rg_fail_memory(&block->err);
	block->last = block->result < 0 || !found;
}

/* ------------------------------------------------------- reading ahead -- */

static void *read_ahead(void *context)
{
	struct rg_decoder *decoder = context;
	struct block *block;
	bool last = false;
	size_t i;

	for (i = 0; !last; i = (i + 1) % BLOCKS) {
		block = &decoder->blocks[i];
		pthread_mutex_lock(&decoder->mutex);
		while (block->full && !decoder->stop)
			pthread_cond_wait(&decoder->changed, &decoder->mutex);
		last = decoder->stop;
		pthread_mutex_unlock(&decoder->mutex);
		if (last)
			break;

		fill_block(&decoder->lines, block);
		last = block->last;
		pthread_mutex_lock(&decoder->mutex);
		block->full = true;
		pthread_cond_signal(&decoder->changed);
		pthread_mutex_unlock(&decoder->mutex);
	}
	return NULL;
}

int rg_decoder_open(const struct rg_bytes *bytes, uint64_t from, uint64_t end,
		    struct rg_decoder **ret_decoder, struct roger_err *err)
{
	struct rg_decoder *decoder = malloc(sizeof *decoder);
	size_t i;

	if (!decoder)
		return rg_fail_memory(err);
	/* Usually a line or two: items keep their size. */
	for (i = 0; i < BLOCKS; i++) {
		decoder->blocks[i].count = 0;
		decoder->blocks[i].arena = NULL;
		decoder->blocks[i].full = decoder->blocks[i].last = false;
	}
	decoder->started = decoder->stop = false;
	decoder->using = decoder->at = 0;
	rg_lines_init(&decoder->lines, bytes, from, end);
	pthread_mutex_init(&decoder->mutex, NULL);
	pthread_cond_init(&decoder->changed, NULL);
	/* Without the second thread it works too, only slower. */
	decoder->ahead =
		end - from > AHEAD_BYTES && rg_thread_start(&decoder->thread, read_ahead, decoder);
	*ret_decoder = decoder;
	return ROGER_OK;
}

struct rg_decoder *rg_decoder_close(struct rg_decoder *decoder)
{
	size_t i;

	if (!decoder)
		return NULL;
	if (decoder->ahead) {
		pthread_mutex_lock(&decoder->mutex);
		decoder->stop = true;
		pthread_cond_signal(&decoder->changed);
		pthread_mutex_unlock(&decoder->mutex);
		pthread_join(decoder->thread, NULL);
	}
	for (i = 0; i < BLOCKS; i++)
		rg_arena_free(decoder->blocks[i].arena);
	rg_lines_deinit(&decoder->lines);
	pthread_cond_destroy(&decoder->changed);
	pthread_mutex_destroy(&decoder->mutex);
	free(decoder);
	return NULL;
}

/* Return the used block and wait for the next. */
static struct block *next_block(struct rg_decoder *decoder)
{
	struct block *used = decoder->started ? &decoder->blocks[decoder->using] : NULL, *block;

	if (used)
		decoder->using = (decoder->using + 1) % BLOCKS;
	decoder->started = true;
	decoder->at = 0;
	block = &decoder->blocks[decoder->using];
	if (!decoder->ahead) {
		fill_block(&decoder->lines, block);
		return block;
	}
	pthread_mutex_lock(&decoder->mutex);
	if (used)
		used->full = false;
	pthread_cond_signal(&decoder->changed);
	while (!block->full)
		pthread_cond_wait(&decoder->changed, &decoder->mutex);
	pthread_mutex_unlock(&decoder->mutex);
	return block;
}

int rg_decoder_next(struct rg_decoder *decoder, const struct rg_decoded **ret_decoded,
		    struct roger_err *err)
{
	/* Only a block that was handed over may be read. */
	struct block *block =
		decoder->started ? &decoder->blocks[decoder->using] : next_block(decoder);

	while (decoder->at >= block->count) {
		if (block->last) {
			if (block->result < 0 && err)
				*err = block->err;
			*ret_decoded = NULL;
			return block->result;
		}
		block = next_block(decoder);
	}
	*ret_decoded = &block->items[decoder->at++];
	return ROGER_OK;
}
