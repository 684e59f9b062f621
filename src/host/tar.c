#include "host/tar.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "host/file.h"

enum { BLOCK = 512, NAME_FIELD = 100, PAX_BYTES_MAX = 2048 };
static const uint64_t size_most = UINT64_C(077777777777);

/* Where the fields of a header are. */
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

static int write_header(struct rg_tar *tar, const char *name, char type, uint64_t size,
			struct roger_err *err)
{
	char block[BLOCK] = { 0 };

	snprintf(block, NAME_FIELD, "%s", name);
	snprintf(block + MODE, 8, "0000600");
	snprintf(block + UID, 8, "0000000");
	snprintf(block + GID, 8, "0000000");
	snprintf(block + SIZE, 12, "%011llo", (unsigned long long)(size < size_most ? size : 0));
	snprintf(block + MTIME, 12, "%011llo",
		 (unsigned long long)(tar->made_ms / 1000) & size_most);
	block[TYPE] = type;
	memcpy(block + MAGIC, "ustar\00000", 8);
	snprintf(block + SUM, 8, "%06o", sum_of(block));
	block[SUM + 7] = ' ';
	tar->left = size;
	tar->pad = (BLOCK - size % BLOCK) % BLOCK;
	return rg_file_write(tar->file, block, BLOCK, tar->name, err);
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

/* A record says how long it is, itself included. */
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

int rg_tar_add(struct rg_tar *tar, const char *name, uint64_t size, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf pax = { .maximum = PAX_BYTES_MAX };
	char digits[24];
	int r = ROGER_OK;

	rg_assert(!tar->left);
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
	if (strlen(name) >= NAME_FIELD)
		add_pax(&pax, "path", name);
	if (size > size_most)
		add_pax(&pax, "size", digits);
	if (pax.length) {
		r = write_header(tar, "pax", 'x', pax.length, err);
		if (r == ROGER_OK)
			r = rg_tar_write(tar, rg_buf_str(&pax), err);
	}
	if (r == ROGER_OK)
		r = write_header(tar, name, '0', size, err);
	return r == ROGER_OK && !size ? rg_tar_write(tar, RG_STR(""), err) : r;
}

int rg_tar_write(struct rg_tar *tar, struct roger_str piece, struct roger_err *err)
{
	static const char zeros[BLOCK];
	int r = rg_file_write(tar->file, piece.data, piece.length, tar->name, err);

	rg_assert(piece.length <= tar->left);
	tar->left -= piece.length;
	return r < 0 || tar->left ? r : rg_file_write(tar->file, zeros, tar->pad, tar->name, err);
}

int rg_tar_finish(struct rg_tar *tar, struct roger_err *err)
{
	static const char zeros[2 * BLOCK];
	bool moved = false;
	int r = rg_file_write(tar->file, zeros, sizeof zeros, tar->name, err);

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

int rg_tar_open(const char *path, struct rg_tar *ret_tar, struct roger_err *err)
{
	int r = fill_folder(path, ret_tar, err) ? rg_file_open(ret_tar->folder, ret_tar->name,
							       RG_FILE_READ, &ret_tar->file, err)
						: ROGER_OK;

	return r == ROGER_OK && ret_tar->file == RG_NO_FILE
		       ? rg_fail(err, ROGER_ENOENT, 0, "there is no file '%.3000s'", path)
		       : r;
}

static int fail_format(const struct rg_tar *tar, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "'%s' is no backup, or was cut off or changed",
		       tar->name);
}

/* The file is read on from where it is; what follows the present file is skipped with it. */
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
	if (r == ROGER_OK && !tar->left) {
		tar->at += (int64_t)tar->pad;
		tar->pad = 0;
	}
	return r;
}

static bool read_octal(const char *field, size_t digits, uint64_t *ret_number)
{
	size_t i;

	for (i = 0, *ret_number = 0; i < digits && field[i] >= '0' && field[i] <= '7'; i++)
		*ret_number = *ret_number * 8 + (uint64_t)(field[i] - '0');
	return i > 0;
}

static int read_header(struct rg_tar *tar, char block[BLOCK], uint64_t *ret_size,
		       struct roger_err *err)
{
	size_t got;
	uint64_t sum;
	int r;

	rg_assert(!tar->left);
	tar->left = BLOCK;
	tar->pad = 0;
	r = rg_tar_read(tar, block, BLOCK, &got, err);
	if (r < 0)
		return r;
	/* It ends with blocks of zeros. */
	if (sum_of(block) == 8 * ' ')
		return ROGER_OK;
	if (!block[0] || !read_octal(block + SUM, 7, &sum) || sum != sum_of(block) ||
	    memcmp(block + MAGIC, "ustar", 5) != 0 || !read_octal(block + SIZE, 11, ret_size))
		return fail_format(tar, err);
	tar->left = *ret_size;
	tar->pad = (BLOCK - *ret_size % BLOCK) % BLOCK;
	return ROGER_OK;
}

/* Those records that we write. */
static bool read_pax(const char *text, char name[RG_TAR_NAME_BYTES], uint64_t *ret_size)
{
	const char *at, *end;
	int64_t number;

	for (at = text; *at; at = end + 1) {
		end = strchr(at, '\n');
		at = strchr(at, ' ');
		if (!end || !at || at > end)
			return false;
		if (strncmp(++at, "path=", 5) == 0 && end - at - 5 < RG_TAR_NAME_BYTES)
			snprintf(name, RG_TAR_NAME_BYTES, "%.*s", (int)(end - at - 5), at + 5);
		else if (strncmp(at, "size=", 5) == 0 &&
			 rg_str_number((struct roger_str){ at + 5, (size_t)(end - at - 5) },
				       &number))
			*ret_size = (uint64_t)number;
		else
			return false;
	}
	return true;
}

int rg_tar_next(struct rg_tar *tar, char name[RG_TAR_NAME_BYTES], uint64_t *ret_size,
		struct roger_err *err)
{
	char block[BLOCK], text[PAX_BYTES_MAX + 1];
	uint64_t size = 0, said = 0;
	size_t got;
	int r = read_header(tar, block, &size, err);

	name[0] = '\0';
	if (r == ROGER_OK && block[0] && block[TYPE] == 'x') {
		if (size > PAX_BYTES_MAX)
			return fail_format(tar, err);
		r = rg_tar_read(tar, text, (size_t)size, &got, err);
		text[r == ROGER_OK ? got : 0] = '\0';
		if (r == ROGER_OK && !read_pax(text, name, &said))
			return fail_format(tar, err);
		if (r == ROGER_OK)
			r = read_header(tar, block, &size, err);
	}
	if (r < 0 || !block[0]) {
		name[0] = '\0';
		return r;
	}
	if (block[TYPE] != '0' && block[TYPE])
		return fail_format(tar, err);
	if (!name[0])
		snprintf(name, RG_TAR_NAME_BYTES, "%.*s", NAME_FIELD, block);
	if (said) {
		size = tar->left = said;
		tar->pad = (BLOCK - said % BLOCK) % BLOCK;
	}
	*ret_size = size;
	return ROGER_OK;
}
