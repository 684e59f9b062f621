/* Where the lines of the journal are. */
#include "index/index_db.h"

#include <string.h>

static void add_length(struct rg_index_lines *lines, uint64_t length)
{
	for (; length > 127; length >>= 7)
		lines->lengths[lines->length_bytes++] = (unsigned char)(length | 128);
	lines->lengths[lines->length_bytes++] = (unsigned char)length;
}

/* False: the bytes end too early. */
static bool next_length(struct roger_str *lengths, uint64_t *ret_length)
{
	uint64_t length = 0;
	unsigned shift;
	unsigned char byte;

	for (shift = 0; lengths->length && shift < 64; shift += 7) {
		byte = (unsigned char)*lengths->data++;
		lengths->length--;
		length |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*ret_length = length;
			return true;
		}
	}
	return false;
}

static bool holds(struct roger_str lengths, int64_t count)
{
	uint64_t length;

	while (count && next_length(&lengths, &length))
		count--;
	return count == 0 && lengths.length == 0;
}

static int damaged(struct rg_index *index, struct roger_err *err)
{
	index->damaged = true;
	return rg_fail(err, ROGER_EDATA, 0, "index '%s' is damaged", index->name);
}

/* The row of a block, with its offset and lengths; the caller resets it. */
static int find_block(struct rg_index *index, int64_t block, sqlite3_stmt **ret_row,
		      struct roger_err *err)
{
	sqlite3_stmt *get = rg_index_statement(index, RG_SQL_LINES_GET, err);
	int step, r;

	if (!get)
		return ROGER_EIO;
	*ret_row = get;
	sqlite3_bind_int64(get, 1, block);
	step = sqlite3_step(get);
	if (step == SQLITE_ROW)
		return ROGER_OK;
	r = step == SQLITE_DONE ? damaged(index, err) : rg_index_fail(index, "look up lines", err);
	sqlite3_reset(get);
	return r;
}

static int save(struct rg_index *index, struct roger_err *err)
{
	const struct rg_index_lines *lines = &index->lines;
	sqlite3_stmt *set = rg_index_statement(index, RG_SQL_LINES_SET, err);

	if (!set)
		return ROGER_EIO;
	sqlite3_bind_int64(set, 1, lines->block);
	sqlite3_bind_int64(set, 2, lines->offset);
	sqlite3_bind_blob64(set, 3, lines->lengths, lines->length_bytes, SQLITE_STATIC);
	return rg_index_step(index, set, err);
}

int rg_index_lines_begin(struct rg_index *index, struct roger_err *err)
{
	const int64_t block = index->progress.lines / RG_INDEX_LINES,
		      count = index->progress.lines % RG_INDEX_LINES;
	struct rg_index_lines *lines = &index->lines;
	struct roger_str lengths;
	sqlite3_stmt *row;
	int r = count ? find_block(index, block, &row, err) : ROGER_OK;

	if (r < 0 || !count)
		return r;
	lengths = rg_index_bytes(row, 1);
	if (holds(lengths, count)) {
		*lines = (struct rg_index_lines){ block, sqlite3_column_int64(row, 0),
						  .length_bytes = lengths.length };
		memcpy(lines->lengths, lengths.data, lengths.length);
	} else {
		r = damaged(index, err);
	}
	sqlite3_reset(row);
	return r;
}

int rg_index_lines_add(struct rg_index *index, uint64_t offset, uint64_t length,
		       struct roger_err *err)
{
	int64_t before = index->progress.lines;
	struct rg_index_lines *lines = &index->lines;

	if (before % RG_INDEX_LINES == 0) {
		lines->block = before / RG_INDEX_LINES;
		lines->offset = (int64_t)offset;
		lines->length_bytes = 0;
	}
	add_length(lines, length);
	return (before + 1) % RG_INDEX_LINES == 0 ? save(index, err) : ROGER_OK;
}

int rg_index_lines_end(struct rg_index *index, struct roger_err *err)
{
	return index->progress.lines % RG_INDEX_LINES ? save(index, err) : ROGER_OK;
}

int rg_index_lines_find(struct rg_index *index, int64_t line, int64_t offset,
			struct roger_str lengths, struct rg_entry *ret_entry, struct roger_err *err)
{
	int64_t before = (line - 1) % RG_INDEX_LINES;
	uint64_t at = (uint64_t)offset, length = 0;

	for (; before >= 0; before--) {
		if (!next_length(&lengths, &length))
			return damaged(index, err);
		if (before)
			at += length + 1;
	}
	ret_entry->line = line;
	ret_entry->offset = at;
	ret_entry->length = length;
	return ROGER_OK;
}

static int find_line(struct rg_index *index, int64_t line, struct rg_entry *ret_entry,
		     struct roger_err *err)
{
	sqlite3_stmt *row;
	int r = find_block(index, (line - 1) / RG_INDEX_LINES, &row, err);

	if (r < 0)
		return r;
	ret_entry->position = line;
	r = rg_index_lines_find(index, line, sqlite3_column_int64(row, 0), rg_index_bytes(row, 1),
				ret_entry, err);
	sqlite3_reset(row);
	return r;
}

int rg_index_lines_place(struct rg_index *index, int64_t line, struct rg_entry *ret_entry,
			 struct roger_err *err)
{
	const struct rg_index_lines *lines = &index->lines;

	*ret_entry = (struct rg_entry){ .position = line };
	if ((line - 1) / RG_INDEX_LINES != lines->block || !lines->length_bytes)
		return find_line(index, line, ret_entry, err);
	return rg_index_lines_find(
		index, line, lines->offset,
		(struct roger_str){ (const char *)lines->lengths, lines->length_bytes }, ret_entry,
		err);
}

int rg_index_find_first(struct rg_index *index, struct roger_str id, struct rg_entry *ret_first,
			struct roger_err *err)
{
	int tries = 0, r;

	do {
		r = rg_index_run_one(index, RG_SQL_BEGIN, err);
		if (r == ROGER_OK)
			r = rg_index_first_of_all(index, id, ret_first, err);
		if (r == ROGER_OK && ret_first->position)
			r = find_line(index, ret_first->position, ret_first, err);
		if (!sqlite3_get_autocommit(index->db))
			(void)rg_index_run_one(index, RG_SQL_END, NULL);
	} while (rg_index_heals(index, &tries, &r, err));
	return r;
}
