#include "store/file/log.h"

#include <stdio.h>

#include "host/file.h"

/* More than most entries take; a longer end is read in larger pieces. */
enum { TAIL_BYTES = 1024 };

/* The end of a log: its last bytes, and where the first whole line in them starts. */
struct tail {
	struct rg_buf text;
	size_t first;
	bool whole; /* it is the whole file */
};

static int read_tail(int file, uint64_t size, size_t want, struct tail *tail, struct roger_err *err)
{
	uint64_t from = size > want ? size - want : 0;
	size_t got, length = (size_t)(size - from);
	const char *newline;
	char *room;
	int r;

	rg_buf_clear(&tail->text);
	room = rg_buf_room(&tail->text, length + 1);
	if (!room)
		return rg_fail_memory(err);
	r = rg_file_read_at(file, room, length, (int64_t)from, &got, err);
	if (r < 0)
		return r;
	tail->text.length = got;
	tail->whole = from == 0;
	newline = tail->whole ? NULL : memchr(room, '\n', got);
	tail->first = tail->whole ? 0 : newline ? (size_t)(newline - room) + 1 : got;
	return ROGER_OK;
}

/* The next whole line from *at on, or the torn rest; false at the end. */
static bool next_line(const struct tail *tail, size_t *at, struct roger_str *ret_line)
{
	const char *start = tail->text.data + *at, *newline;
	size_t left = tail->text.length - *at;

	if (left == 0)
		return false;
	newline = memchr(start, '\n', left);
	*ret_line = (struct roger_str){ start, newline ? (size_t)(newline - start) : left };
	*at += ret_line->length + (newline != NULL);
	return true;
}

static bool is_torn(const struct tail *tail)
{
	return tail->text.length && tail->text.data[tail->text.length - 1] != '\n';
}

/* The chain after the last byte; a torn rest counts with the newline that will close it off. */
static int head_of(int file, uint64_t size, uint64_t *ret_chain, bool *ret_torn,
		   struct roger_err *err)
{
	size_t want = TAIL_BYTES, behind = 0;
	struct roger_str line, whole;
	struct tail tail = { 0 };
	bool found = false;
	int r;

	*ret_chain = 0;
	rg_buf_init(&tail.text, SIZE_MAX);
	do {
		r = read_tail(file, size, want, &tail, err);
		want *= 8;
		if (r < 0)
			break;
		*ret_torn = is_torn(&tail);
		if (*ret_torn)
			rg_buf_add_char(&tail.text, '\n');
		/* The first line may be the end of one that is too long to have a chain. */
		whole = (struct roger_str){ tail.text.data + tail.first,
					    tail.text.length - tail.first };
		found = rg_chain_find_last(whole, ret_chain, &behind);
	} while (!found && !tail.whole);
	behind = tail.first + (found ? behind : 0);
	if (r == ROGER_OK && tail.text.failed)
		r = rg_fail_memory(err);
	/* A newline follows each line. */
	while (r == ROGER_OK && next_line(&tail, &behind, &line))
		*ret_chain =
			rg_chain_over(*ret_chain, (struct roger_str){ line.data, line.length + 1 });
	rg_buf_deinit(&tail.text);
	return r;
}

static int look_torn(int file, uint64_t size, bool *ret_torn, struct roger_err *err)
{
	char last = '\n';
	size_t got;
	int r = ROGER_OK;

	if (size)
		r = rg_file_read_at(file, &last, 1, (int64_t)size - 1, &got, err);
	*ret_torn = last != '\n';
	return r;
}

static int open_to_append(struct rg_open_log *log, int folder, struct rg_file_facts *ret_facts,
			  struct roger_err *err)
{
	int r;

	r = rg_file_open_facts(folder, log->name, RG_FILE_APPEND, &log->file, ret_facts, err);
	if (r < 0 || log->file != RG_NO_FILE)
		return r;
	r = rg_file_open_facts(folder, log->name, RG_FILE_CREATE_APPEND, &log->file, ret_facts,
			       err);
	log->made = r == ROGER_OK;
	return r < 0 ? r : rg_file_sync_folder(folder, log->name, err);
}

/* Open the file of that name, if it is not the one that is open. */
static int open_log(struct rg_open_log *log, int folder, const char *name, struct roger_err *err)
{
	struct rg_file_facts facts = { 0 };
	int r;

	if (log->file != RG_NO_FILE && strcmp(log->name, name) == 0 &&
	    rg_file_is(folder, name, log->device, log->inode))
		return ROGER_OK;
	rg_log_close(log);
	log->end = 0;
	snprintf(log->name, sizeof log->name, "%s", name);
	r = open_to_append(log, folder, &facts, err);
	log->device = facts.device;
	log->inode = facts.inode;
	return r;
}

void rg_log_close(struct rg_open_log *log)
{
	log->file = rg_file_close(log->file);
}

static int append(struct rg_open_log *log, uint64_t size, bool chained, struct roger_str entries,
		  struct roger_err *err)
{
	uint64_t chain = log->chain;
	bool torn = false;
	struct rg_buf out;
	int r = ROGER_OK;

	/* Nobody appended since this handle did. */
	if (!size || size != log->end)
		r = chained ? head_of(log->file, size, &chain, &torn, err)
			    : look_torn(log->file, size, &torn, err);
	if (r < 0)
		return r;
	log->end = 0;
	rg_buf_init(&out, SIZE_MAX);
	if (torn)
		rg_buf_add_char(&out, '\n');
	if (chained)
		rg_chain_add_entries(entries, &chain, &out);
	else
		rg_buf_add_str(&out, entries);
	r = out.failed ? rg_fail_memory(err) : ROGER_OK;
	if (r == ROGER_OK && out.length)
		r = rg_file_write(log->file, out.data, out.length, log->name, err);
	if (r == ROGER_OK) {
		log->end = size + out.length;
		log->chain = chain;
	}
	rg_buf_deinit(&out);
	return r;
}

/* Also take the system's lock: the record lock belongs to a control file, which may be replaced.
 * Two writers continuing from one line would look like tampering for ever. */
static int append_alone(struct rg_open_log *log, bool chained, struct roger_str entries,
			struct roger_err *err)
{
	uint64_t size;
	int r;

	r = rg_file_lock(log->file, log->name, RG_LOCK_WAIT_MS, err);
	if (r < 0)
		return r;
	r = rg_file_size(log->file, log->name, &size, err);
	if (r == ROGER_OK)
		r = append(log, size, chained, entries, err);
	rg_file_unlock(log->file);
	return r;
}

int rg_log_append(struct rg_open_log *log, int folder, const char *name, bool chained,
		  struct roger_str entries, bool durable, struct roger_err *err)
{
	int r;

	log->made = false;
	r = open_log(log, folder, name, err);
	if (r == ROGER_OK)
		r = append_alone(log, chained, entries, err);
	if (r == ROGER_OK && durable)
		r = rg_file_sync(log->file, name, err);
	return r;
}

/* ------------------------------------------------------------- purging -- */

int rg_log_purge(int folder, const char *name, bool (*drop)(void *context, struct roger_str line),
		 void *context, int64_t *ret_dropped, struct roger_err *err)
{
	struct tail all = { .whole = true };
	struct roger_str line;
	struct rg_buf out;
	uint64_t chain = 0;
	size_t at = 0;
	bool found;
	int r;

	*ret_dropped = 0;
	rg_buf_init(&all.text, SIZE_MAX);
	rg_buf_init(&out, SIZE_MAX);
	r = rg_file_read_all_at(folder, name, SIZE_MAX / 2, &all.text, &found, err);
	while (r == ROGER_OK && found && next_line(&all, &at, &line)) {
		if (drop(context, line))
			++*ret_dropped;
		else
			rg_chain_keep_line(line, &chain, &out);
	}
	if (r == ROGER_OK && out.failed)
		r = rg_fail_memory(err);
	if (r == ROGER_OK && *ret_dropped)
		r = rg_file_replace(folder, name, rg_buf_str(&out), true, err);
	rg_buf_deinit(&all.text);
	rg_buf_deinit(&out);
	return r;
}
