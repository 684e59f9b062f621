#include "cli/input.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 65536 };

static int fail_larger(const char *name, const char *member, size_t bytes_max,
		       struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EDATA, member, "%s: '%s' holds more than %zu bytes",
			      member, name, bytes_max);
}

static int read_stream(FILE *stream, const char *name, const char *member, size_t bytes_max,
		       struct rg_buf *out, struct roger_err *err)
{
	struct stat facts;
	size_t got;
	char *room;

	/* The size of a file is known before it is read. */
	if (fstat(fileno(stream), &facts) == 0 && S_ISREG(facts.st_mode) &&
	    (uint64_t)facts.st_size > bytes_max)
		return fail_larger(name, member, bytes_max, err);
	do {
		room = rg_buf_room(out, PIECE);
		if (!room)
			return rg_fail_memory(err);
		got = fread(room, 1, PIECE, stream);
		out->length += got;
		if (out->length > bytes_max)
			return fail_larger(name, member, bytes_max, err);
	} while (got > 0);
	if (ferror(stream))
		return rg_fail(err, ROGER_EIO, errno, "read '%s'", name);
	return ROGER_OK;
}

int cli_read_input(const char *path, const char *member, size_t bytes_max, struct rg_buf *out,
		   struct roger_err *err)
{
	FILE *stream;
	int r;

	if (!path)
		return read_stream(stdin, "standard input", member, bytes_max, out, err);
	stream = fopen(path, "rbe");
	if (!stream)
		return rg_fail(err, errno == ENOENT ? ROGER_ENOENT : ROGER_EIO, errno, "open '%s'",
			       path);
	r = read_stream(stream, path, member, bytes_max, out, err);
	fclose(stream);
	return r;
}

int cli_read_text(const char *path, const char *member, size_t bytes_max, struct rg_arena *arena,
		  struct roger_str *ret, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	int r = cli_read_input(path, member, bytes_max, &text, err);

	return r < 0 || rg_arena_keep(arena, &text, ret) ? r : rg_fail_memory(err);
}

int cli_write_output(const char *path, struct roger_str text, struct roger_err *err)
{
	FILE *stream = fopen(path, "wxe");
	bool good;

	if (!stream)
		return rg_fail(err, ROGER_ECREATE, errno, "create '%s'", path);
	good = fwrite(text.data, 1, text.length, stream) == text.length && fflush(stream) == 0 &&
	       fsync(fileno(stream)) == 0;
	if (fclose(stream) == 0 && good)
		return ROGER_OK;
	return rg_fail(err, ROGER_EIO, errno, "write '%s'", path);
}
