#include "host/tar.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 512, NAME_FIELD = 100, NUMBER_FIELD = 12, PAX_BYTES_MAX = 2048 };
static const char zeros[2 * BLOCK];
static const uint64_t size_most = UINT64_C(077777777777);

/* Offsets of the fields of a header. */
enum { MODE = 100, UID = 108, GID = 116, SIZE = 124, MTIME = 136, SUM = 148, TYPE = 156 };
enum { MAGIC = 257 };

static unsigned sum_of(const char block[BLOCK])
{
	unsigned sum = 0;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		sum += i >= SUM && i < TYPE ? ' ' : (unsigned char)block[i];
	return sum;
}

static bool fill_folder(const char *path, struct rg_tar *tar, struct roger_err *err)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	*tar = (struct rg_tar){ .file = RG_NO_FILE, .folder = RG_NO_FILE };
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1,
		 slash ? path : ".");
	return snprintf(tar->name, sizeof tar->name, "%s", slash ? slash + 1 : path) <
		       (int)sizeof tar->name - 20 &&
	       tar->name[0] &&
	       rg_file_open_folder(AT_FDCWD, folder, &tar->folder, err) == ROGER_OK &&
	       tar->folder != RG_NO_FILE;
}

static void add_header(const struct rg_tar *tar, const char *name, char type, uint64_t size,
		       struct rg_buf *out)
{
	char block[BLOCK] = { 0 };

	snprintf(block, NAME_FIELD, "%s", name);
	snprintf(block + MODE, 8, "0000600");
	snprintf(block + UID, 8, "0000000");
	snprintf(block + GID, 8, "0000000");
	snprintf(block + SIZE, NUMBER_FIELD, "%011llo",
		 (unsigned long long)(size < size_most ? size : 0));
	snprintf(block + MTIME, NUMBER_FIELD, "%011llo",
		 (unsigned long long)(tar->made_ms / 1000) & size_most);
	block[TYPE] = type;
	memcpy(block + MAGIC, "ustar\00000", 8);
	snprintf(block + SUM, 8, "%06o", sum_of(block));
	block[SUM + 7] = ' ';
	rg_buf_add(out, block, BLOCK);
}

static size_t pad_of(uint64_t size)
{
	return (BLOCK - size % BLOCK) % BLOCK;
}

/* Add a pax record, which begins with its own length; that counts its own digits, too. */
static void add_pax(struct rg_buf *text, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, length = rest + 1, before;
	char digits[24];

	do {
		before = length;
		length = rest + (size_t)snprintf(digits, sizeof digits, "%zu", before);
	} while (length != before);
	rg_buf_printf(text, "%zu %s=%s\n", length, key, value);
}

/* Print the headers before a file's bytes. */
static int compose_head(struct rg_tar *tar, const char *name, uint64_t size, struct rg_buf *out,
			struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf pax = { .maximum = PAX_BYTES_MAX };
	char digits[24];

	rg_assert(!tar->left);
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
	if (strlen(name) >= NAME_FIELD)
		add_pax(&pax, "path", name);
	if (size > size_most)
		add_pax(&pax, "size", digits);
	if (pax.length) {
		add_header(tar, "pax", 'x', pax.length, out);
		rg_buf_add_str(out, rg_buf_str(&pax));
		rg_buf_add(out, zeros, pad_of(pax.length));
	}
	add_header(tar, name, '0', size, out);
	tar->left = size;
	tar->pad = pad_of(size);
	return rg_kept(!pax.failed && !out->failed, err);
}

int rg_tar_make(const char *path, int64_t made_ms, struct rg_tar *ret_tar, struct roger_err *err)
{
	if (!fill_folder(path, ret_tar, err))
		return rg_fail(err, ROGER_ECREATE, 0, "there is no folder for '%.3000s'", path);
	if (rg_file_is_there(ret_tar->folder, ret_tar->name))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%.3000s' is there already: name a new file", path);
	ret_tar->made_ms = made_ms;
	rg_file_spare(ret_tar->name, ret_tar->spare);
	(void)!rg_file_remove(ret_tar->folder, ret_tar->spare, NULL);
	return rg_file_open(ret_tar->folder, ret_tar->spare, RG_FILE_CREATE_NEW, &ret_tar->file,
			    err);
}

int rg_tar_add(struct rg_tar *tar, const char *name, uint64_t size, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf head = { .maximum = SIZE_MAX };
	int r = compose_head(tar, name, size, &head, err);

	return r < 0 ? r : rg_file_write(tar->file, head.data, head.length, tar->name, err);
}

int rg_tar_write(struct rg_tar *tar, struct roger_str piece, struct roger_err *err)
{
	int r = rg_file_write(tar->file, piece.data, piece.length, tar->name, err);

	rg_assert(piece.length <= tar->left);
	rg_assert(tar->file != RG_NO_FILE);
	tar->left -= piece.length;
	return r < 0 || tar->left ? r : rg_file_write(tar->file, zeros, tar->pad, tar->name, err);
}

int rg_tar_finish(struct rg_tar *tar, struct roger_err *err)
{
	bool moved = false;
	int r = rg_file_write(tar->file, zeros, sizeof zeros, tar->name, err);

	rg_assert(!tar->left && tar->spare[0]);
	if (r == ROGER_OK)
		r = rg_file_sync(tar->file, tar->name, err);
	if (r == ROGER_OK)
		r = rg_file_move(tar->folder, tar->spare, tar->folder, tar->name, &moved, err);
	if (r == ROGER_OK && !moved)
		r = rg_fail(err, ROGER_EIO, 0, "'%s' went away", tar->spare);
	if (r == ROGER_OK)
		r = rg_file_sync_folder(tar->folder, tar->name, err);
	if (moved)
		tar->spare[0] = '\0';
	return r;
}

void rg_tar_close(struct rg_tar *tar)
{
	if (tar->spare[0] && tar->folder != RG_NO_FILE)
		(void)!rg_file_remove(tar->folder, tar->spare, NULL);
	rg_file_close(tar->file);
	rg_file_close(tar->folder);
	*tar = (struct rg_tar){ .file = RG_NO_FILE, .folder = RG_NO_FILE };
}

/* --------------------------------------------------------------- reading -- */

static int fail_format(const struct rg_tar *tar, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "'%s' is no backup, or was cut off or changed",
		       tar->name);
}

/* Read the next bytes, which must be equal to these. */
static int expect_bytes(struct rg_tar *tar, struct roger_str bytes, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf there = { .maximum = SIZE_MAX };
	char *room = rg_buf_room(&there, bytes.length);
	size_t got;
	int r = rg_kept(room, err);

	if (r == ROGER_OK)
		r = rg_file_read_at(tar->file, room, bytes.length, tar->at, &got, err);
	if (r == ROGER_OK && (got < bytes.length || memcmp(room, bytes.data, got) != 0))
		r = fail_format(tar, err);
	tar->at += (int64_t)bytes.length;
	return r;
}

int rg_tar_expect(struct rg_tar *tar, const char *name, uint64_t size, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf head = { .maximum = SIZE_MAX };
	int r = compose_head(tar, name, size, &head, err);

	return r < 0 ? r : expect_bytes(tar, rg_buf_str(&head), err);
}

int rg_tar_expect_end(struct rg_tar *tar, struct roger_err *err)
{
	char rest[sizeof zeros + 1];
	size_t got;
	int r = rg_file_read_at(tar->file, rest, sizeof rest, tar->at, &got, err);

	if (r == ROGER_OK && (got != sizeof zeros || memcmp(rest, zeros, got) != 0))
		r = fail_format(tar, err);
	return r;
}

int rg_tar_open(const char *path, const char *first, struct rg_tar *ret_tar, uint64_t *ret_size,
		struct roger_err *err)
{
	char block[BLOCK] = "";
	size_t got;
	int r = fill_folder(path, ret_tar, err) ? rg_file_open(ret_tar->folder, ret_tar->name,
							       RG_FILE_READ, &ret_tar->file, err)
						: ROGER_OK;

	if (r == ROGER_OK && ret_tar->file == RG_NO_FILE)
		r = rg_fail(err, ROGER_ENOENT, 0, "there is no file '%.3000s'", path);
	if (r == ROGER_OK)
		r = rg_file_read_at(ret_tar->file, block, sizeof block, 0, &got, err);
	if (r < 0)
		return r;
	/* Size and time are taken from the header; rg_tar_expect() finds wrong ones by the sum. */
	block[SIZE + NUMBER_FIELD - 1] = block[MTIME + NUMBER_FIELD - 1] = '\0';
	*ret_size = strtoull(block + SIZE, NULL, 8);
	ret_tar->made_ms = (int64_t)(strtoull(block + MTIME, NULL, 8) & size_most) * 1000;
	return rg_tar_expect(ret_tar, first, *ret_size, err);
}

int rg_tar_read(struct rg_tar *tar, char *room, size_t want, size_t *ret_got, struct roger_err *err)
{
	int r;

	*ret_got = 0;
	want = want < tar->left ? want : (size_t)tar->left;
	r = rg_file_read_at(tar->file, room, want, tar->at, ret_got, err);
	if (r == ROGER_OK && *ret_got < want)
		r = fail_format(tar, err);
	tar->at += (int64_t)*ret_got;
	tar->left -= *ret_got;
	if (r == ROGER_OK && !tar->left && tar->pad)
		r = expect_bytes(tar, (struct roger_str){ zeros, tar->pad }, err);
	return r;
}
