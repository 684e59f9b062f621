#include "host/process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "host/file.h"

enum { COMMAND_BYTES = 4096 }; /* how much of a command line is read */

/* Read the first bytes of a file of the system; returns how many, 0: it cannot be read. */
static size_t read_start(const char *path, char *to, size_t size)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	size_t got = 0;

	if (rg_file_open(-1, path, RG_FILE_READ, &file, NULL) < 0 || file == RG_NO_FILE ||
	    rg_file_read_at(file, to, size, 0, &got, NULL) < 0)
		return 0;
	return got;
}

/* Like read_start(), for a file in /proc/<pid>/. */
static size_t read_proc(int64_t id, const char *what, char *to, size_t size)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/%lld/%s", (long long)id, what);
	return read_start(path, to, size);
}

void rg_boot_id(char to[RG_BOOT_ID_BYTES])
{
	enum { DIGITS = 36 };

	memset(to, 0, RG_BOOT_ID_BYTES);
	if (read_start("/proc/sys/kernel/random/boot_id", to, DIGITS) < DIGITS)
		memset(to, 0, RG_BOOT_ID_BYTES);
}

/* Copy a name in printable ASCII: a process may be called anything. */
static void copy_name(struct roger_str name, char to[RG_PROCESS_NAME_BYTES])
{
	size_t i;

	for (i = 0; i < name.length && i < RG_PROCESS_NAME_BYTES - 1 && name.data[i] != '\n'; i++)
		to[i] = name.data[i] < ' ' || name.data[i] > '~' ? '?' : name.data[i];
	to[i] = '\0';
}

/* Reads fields 2, 3, 4, 20 and 22 of /proc/<pid>/stat. */
bool rg_process_look(int64_t id, struct rg_process_look *ret_look)
{
	char text[4096];
	const char *name, *at;

	text[read_proc(id, "stat", text, sizeof text - 1)] = '\0';
	/* The name in parentheses may hold anything; field 3 follows the last of them. */
	name = strchr(text, '(');
	at = name ? strrchr(name, ')') : NULL;
	if (at)
		copy_name((struct roger_str){ name + 1, (size_t)(at - name - 1) }, ret_look->name);
	return at && sscanf(at,
			    ") %c %" SCNd64
			    " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%ld %*s %" SCNd64,
			    &ret_look->state, &ret_look->parent, &ret_look->threads,
			    &ret_look->start) == 4;
}

bool rg_process_is_zombie(const struct rg_process_look *look)
{
	return (look->state == 'Z' || look->state == 'X') && look->threads <= 1;
}

void rg_process_find(int64_t id, struct rg_process *ret_process)
{
	struct rg_process_look look;

	*ret_process = (struct rg_process){ .id = id, .space = (int64_t)rg_file_own_namespace() };
	if (rg_process_look(id, &look))
		ret_process->start = look.start;
	rg_boot_id(ret_process->boot_id);
}

bool rg_process_command(int64_t id, struct rg_arena *arena, struct roger_strs *ret_words,
			int64_t *ret_parent)
{
	char text[COMMAND_BYTES];
	struct rg_process_look look;
	size_t got, at;

	if (!rg_process_look(id, &look))
		return false;
	*ret_parent = look.parent;
	got = read_proc(id, "cmdline", text, sizeof text - 1);
	text[got] = '\0';
	*ret_words = (struct roger_strs){ 0 };
	if (!rg_arena_add(arena, ret_words, rg_str(look.name)))
		return false;
	for (at = 0; at < got; at += strlen(text + at) + 1)
		if (!rg_arena_add(arena, ret_words, rg_str(text + at)))
			return false;
	return true;
}

bool rg_process_variable(int64_t id, const char *name, char *to, size_t size)
{
	enum { BYTES_MAX = 128 << 10 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = BYTES_MAX };
	const char *line = rg_buf_room(&text, BYTES_MAX), *end, *next;
	const size_t named = strlen(name);

	end = line ? line + read_proc(id, "environ", text.data, BYTES_MAX) : NULL;
	/* "NAME=value" lines that each end with a NUL. */
	for (; line < end; line = next + 1) {
		next = memchr(line, 0, (size_t)(end - line));
		if (!next)
			return false;
		if (strncmp(line, name, named) == 0 && line[named] == '=')
			return snprintf(to, size, "%s", line + named + 1) < (int)size;
	}
	return false;
}

void rg_process_ran(struct rg_ran *ret_ran)
{
	char name[RG_PROCESS_NAME_BYTES];
	int from;

	*ret_ran = (struct rg_ran){ .uid = (int64_t)getuid() };
	for (from = 0; from <= STDERR_FILENO && !ret_ran->terminal[0]; from++)
		if (ttyname_r(from, ret_ran->terminal, sizeof ret_ran->terminal) != 0)
			ret_ran->terminal[0] = '\0';
	copy_name((struct roger_str){ name, read_proc(getppid(), "comm", name, sizeof name) },
		  ret_ran->parent);
}

bool rg_process_lives(int64_t id)
{
	return id > 0 && id <= INT32_MAX && (kill((pid_t)id, 0) == 0 || errno != ESRCH);
}

enum rg_process_fate rg_process_fate(const struct rg_process *process)
{
	char boot_id[RG_BOOT_ID_BYTES];
	struct rg_process_look look;
	const bool elsewhere = process->boot_id[0] == RG_BOOT_ELSEWHERE[0];

	rg_boot_id(boot_id);
	if (process->id <= 0 || process->id > INT32_MAX || !boot_id[0] || !process->boot_id[0])
		return RG_PROCESS_UNKNOWN;
	if (strcmp(boot_id, process->boot_id + elsewhere) != 0)
		return elsewhere ? RG_PROCESS_UNKNOWN : RG_PROCESS_GONE;
	if (!process->space || process->space != (int64_t)rg_file_own_namespace())
		return RG_PROCESS_UNKNOWN;
	if (kill((pid_t)process->id, 0) < 0 && errno == ESRCH)
		return RG_PROCESS_GONE;
	if (!process->start || !rg_process_look(process->id, &look))
		return RG_PROCESS_UNKNOWN;
	return look.start != process->start || rg_process_is_zombie(&look) ? RG_PROCESS_GONE
									   : RG_PROCESS_LIVES;
}

static bool has_mapped(int64_t id, uint64_t inode, const char *name)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str rest, line;
	char path[40];
	const char *end;
	uint64_t mapped;

	snprintf(path, sizeof path, "/proc/%lld/maps", (long long)id);
	if (rg_file_read_all(-1, path, 4 << 20, &text, NULL, NULL) < 0)
		return false;
	rg_buf_add_char(&text, '\0'); /* where sscanf() stops */
	rest = rg_buf_str(&text);
	/* A line: addresses, rights, offset, device, inode, path. */
	while (!text.failed && rg_str_next_line(&rest, &line)) {
		/* The path of a replaced file ends in " (deleted)". */
		end = rg_str_find_part(line, rg_str(name));
		if (end && end[-1] == '/' &&
		    sscanf(line.data, "%*s %*s %*s %*s %" SCNu64, &mapped) == 1 && mapped == inode)
			return true;
	}
	return false;
}

size_t rg_process_find_mapping(uint64_t inode, const char *name, int64_t *ids, size_t ids_max)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_strs names = { 0 };
	size_t count = 0, i;
	int64_t id;

	if (!arena || rg_file_open_folder(-1, "/proc", &folder, NULL) < 0 || folder == RG_NO_FILE ||
	    rg_file_list_folder(folder, "/proc", arena, &names, NULL) < 0)
		names.count = 0;
	for (i = 0; i < names.count && count < ids_max; i++)
		if (rg_str_number(names.items[i], &id) && id != getpid() &&
		    has_mapped(id, inode, name))
			ids[count++] = id;
	return count;
}
