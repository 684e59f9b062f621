/*
 * Files: AGENT.seat is a seat, AGENT.holder tells which process uses the name, and TREE.told that
 * people were told of a working tree.
 */
#include "host/seat.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "data/record.h"
#include "host/file.h"
#include "host/process.h"

enum { TEXT_BYTES = 6000, LINES = 4, FRESH_MS = 60000, NAMES_MAX = 100, NAME_CHARS = 120 };

static const char suffix[] = ".seat", holder[] = ".holder";

/* Open the folder of seats, or RG_NO_FILE; make: make it, to write to it. */
static int open_folder(const struct rg_workspace *workspace, bool make)
{
	int folder;

	(void)!rg_file_open_below(workspace->data, RG_SEATS_FOLDER, make, &folder, NULL);
	return folder;
}

struct seat {
	struct roger_seat seen;
	int64_t made_ns; /* when git made the tree */
};

/* Read a seat from its file; false: it is missing or not valid. */
static bool read_seat(int folder, const char *name, char text[TEXT_BYTES], struct seat *ret_seat)
{
	struct rg_file_facts facts;
	struct roger_str lines[LINES];

	if (!rg_file_read_lines(folder, name, text, TEXT_BYTES, lines, LINES, &facts))
		return false;
	ret_seat->seen = (struct roger_seat){ .agent = lines[0],
					      .worktree = lines[2],
					      .path = lines[3],
					      .seen_at_ms = facts.written_ns / 1000000 };
	return rg_name_valid(lines[0]) && rg_str_number(lines[1], &ret_seat->made_ns);
}

static bool is_here(const struct seat *seat, const struct rg_worktree *tree)
{
	return seat->made_ns == tree->made_ns && rg_str_is(seat->seen.worktree, tree->name) &&
	       rg_str_is(seat->seen.path, tree->base);
}

static bool print_seat(const struct rg_worktree *tree, struct roger_str agent, struct rg_buf *out)
{
	rg_buf_printf(out, "%.*s\n%lld\n%s\n%s\n", RG_STR_ARGS(agent), (long long)tree->made_ns,
		      tree->name, tree->base);
	/* A name with a newline does not fit into a line. */
	return !out->failed && !strchr(tree->name, '\n') && !strchr(tree->base, '\n');
}

void rg_seat_take(const struct rg_workspace *workspace, struct roger_str agent)
{
	const struct rg_worktree *tree = &workspace->tree;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = TEXT_BYTES };
	RG_CLEANUP(rg_file_closep) int folder = open_folder(workspace, tree->base[0]);
	char name[RG_FILE_NAME_BYTES], text[TEXT_BYTES];
	struct seat seat;

	if (folder == RG_NO_FILE || !rg_name_valid(agent))
		return;
	rg_workspace_file_name(agent, suffix, name);
	if (!tree->base[0])
		(void)!rg_file_remove(folder, name, NULL);
	else if ((!read_seat(folder, name, text, &seat) || !is_here(&seat, tree) ||
		  seat.seen.seen_at_ms < rg_clock_ms() - FRESH_MS) &&
		 print_seat(tree, agent, &out))
		(void)!rg_file_replace(folder, name, rg_buf_str(&out), false, NULL);
}

/* Give the name to this tree, unless another tree has it. */
static bool claim_seat(int folder, const struct rg_worktree *tree, struct roger_str agent)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = TEXT_BYTES };
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	char name[RG_FILE_NAME_BYTES], text[TEXT_BYTES];
	struct seat seat;

	rg_workspace_file_name(agent, suffix, name);
	if (!read_seat(folder, name, text, &seat) && print_seat(tree, agent, &out) &&
	    rg_file_open(folder, name, RG_FILE_CREATE_NEW, &file, NULL) == ROGER_OK)
		return rg_file_write(file, out.data, out.length, name, NULL) == ROGER_OK;
	/* A quicker process may not have written its file yet: then the next name is taken. */
	return read_seat(folder, name, text, &seat) && is_here(&seat, tree);
}

/* Read which process holds the name; false: none is recorded. */
static bool read_holder(int folder, const char *name, struct rg_process *ret_process)
{
	struct roger_str lines[LINES];
	struct rg_file_facts facts;
	char text[TEXT_BYTES];

	*ret_process = (struct rg_process){ 0 };
	if (!rg_file_read_lines(folder, name, text, TEXT_BYTES, lines, LINES, &facts) ||
	    lines[3].length >= sizeof ret_process->boot_id)
		return false;
	memcpy(ret_process->boot_id, lines[3].data, lines[3].length);
	return rg_str_number(lines[0], &ret_process->id) &&
	       rg_str_number(lines[1], &ret_process->start) &&
	       rg_str_number(lines[2], &ret_process->space);
}

static bool is_same(const struct rg_process *a, const struct rg_process *b)
{
	return a->id == b->id && a->start == b->start && a->space == b->space &&
	       strcmp(a->boot_id, b->boot_id) == 0;
}

/* Give the name to this process, unless another process that lives holds it. */
static bool hold_seat(int folder, const struct rg_process *process, struct roger_str agent)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = TEXT_BYTES };
	struct rg_process other;
	char name[RG_FILE_NAME_BYTES];

	rg_workspace_file_name(agent, holder, name);
	if (read_holder(folder, name, &other) &&
	    (is_same(&other, process) || rg_process_fate(&other) == RG_PROCESS_LIVES))
		return is_same(&other, process);
	rg_buf_printf(&out, "%lld\n%lld\n%lld\n%s\n", (long long)process->id,
		      (long long)process->start, (long long)process->space, process->boot_id);
	/* If two write at once, the last one holds the name; who cannot write shares it. */
	return out.failed || rg_file_replace(folder, name, rg_buf_str(&out), false, NULL) < 0 ||
	       !read_holder(folder, name, &other) || is_same(&other, process);
}

struct roger_str rg_seat_name(const struct rg_workspace *workspace, struct roger_str tool,
			      int64_t pid, char to[RG_SEAT_NAME_BYTES])
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	const struct rg_worktree *tree = &workspace->tree;
	const bool in_tree = tree->base[0];
	struct rg_process process = { 0 };
	size_t length, i;
	int number;

	if ((!in_tree && !pid) || !tool.length || tool.length > NAME_CHARS / 2)
		return tool;
	if (pid)
		rg_process_find(pid, &process);
	length = (size_t)snprintf(to, NAME_CHARS, "%.*s%s%s", RG_STR_ARGS(tool), in_tree ? "@" : "",
				  in_tree ? tree->name : "");
	length = length < NAME_CHARS ? length : NAME_CHARS - 1;
	for (i = tool.length + 1; i < length; i++)
		if (!rg_name_valid((struct roger_str){ to + i, 1 }))
			to[i] = '-';
	folder = open_folder(workspace, true);
	for (number = 2; folder != RG_NO_FILE && number < NAMES_MAX &&
			 ((in_tree && !claim_seat(folder, tree, rg_str(to))) ||
			  (pid && !hold_seat(folder, &process, rg_str(to))));
	     number++)
		snprintf(to + length, RG_SEAT_NAME_BYTES - length, "%c%d", in_tree ? '.' : '-',
			 number);
	return rg_str(to);
}

int rg_seat_list(const struct rg_workspace *workspace, struct rg_arena *arena,
		 struct roger_seat_list *ret_seats, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = open_folder(workspace, false);
	struct roger_strs names = { 0 };
	struct rg_worktree tree;
	struct roger_seat *items, *one;
	struct seat seat;
	char text[TEXT_BYTES];
	size_t i, count = 0;
	int r;

	*ret_seats = (struct roger_seat_list){ 0 };
	if (folder == RG_NO_FILE)
		return ROGER_OK;
	r = rg_file_list_folder(folder, RG_SEATS_FOLDER, arena, &names, err);
	items = rg_arena_get(arena, (names.count + 1) * sizeof *items);
	if (r < 0 || !items)
		return r < 0 ? r : rg_fail_memory(err);
	for (i = 0; i < names.count; i++) {
		if (!strstr(names.items[i].data, suffix) ||
		    !read_seat(folder, names.items[i].data, text, &seat))
			continue;
		one = &items[count++];
		*one = seat.seen;
		one->standing = rg_worktree_look(one->path.data, &tree) != RG_WORKTREE_LINKED ||
						!rg_str_is(one->worktree, tree.name)
					? ROGER_SEAT_GONE
				: tree.made_ns != seat.made_ns ? ROGER_SEAT_RECYCLED
							       : ROGER_SEAT_THERE;
		if (!rg_record_keep(&rg_seat_record, one, arena))
			return rg_fail_memory(err);
	}
	/* Each begins with its agent. */
	qsort(items, count, sizeof *items, rg_str_compare);
	*ret_seats = (struct roger_seat_list){ items, count };
	return ROGER_OK;
}

bool rg_seat_told(const struct rg_workspace *workspace, bool note)
{
	RG_CLEANUP(rg_file_closep) int folder = open_folder(workspace, note);
	const struct rg_worktree *tree = &workspace->tree;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char name[RG_FILE_NAME_BYTES], made[32];

	if (folder == RG_NO_FILE)
		return false;
	rg_workspace_file_name(rg_str(tree->name), ".told", name);
	snprintf(made, sizeof made, "%lld\n", (long long)tree->made_ns);
	if (note)
		return rg_file_replace(folder, name, rg_str(made), false, NULL) == ROGER_OK;
	return rg_file_read_all(folder, name, sizeof made, &text, NULL, NULL) == ROGER_OK &&
	       rg_str_is(rg_buf_str(&text), made);
}
