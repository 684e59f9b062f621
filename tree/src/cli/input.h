/*
 * input - what a file or standard input holds, whole; and text into a file.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/arena.h"

/*
 * Into out, as it is.  path NULL: standard input.
 * member: what it is for, in the error that it is longer than bytes_max.
 */
RG_CHECKED int cli_read_input(const char *path, const char *member, size_t bytes_max,
			      struct rg_buf *out, struct roger_err *err);

/* Like cli_read_input(), into an arena. */
RG_CHECKED int cli_read_text(const char *path, const char *member, size_t bytes_max,
			     struct rg_arena *arena, struct roger_str *ret, struct roger_err *err);

/* Into a file that is not there yet, and onto the disk. */
RG_CHECKED int cli_write_output(const char *path, struct roger_str text, struct roger_err *err);

#endif
