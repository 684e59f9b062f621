#include "store/file/log.h"

#include <stdio.h>

#include "host/file.h"

/* Give an unfinished line its newline before anything is appended. */
static int end_line(struct rg_open_log *log, uint64_t *size, struct roger_err *err)
{
	char last = '\n';
	size_t got;
	int r = ROGER_OK;

	if (*size)
		r = rg_file_read_at(log->file, &last, 1, (int64_t)*size - 1, &got, err);
	if (r < 0 || last == '\n')
		return r;
	++*size;
	return rg_file_write(log->file, "\n", 1, log->name, err);
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

/* Open the file of that name, unless it is the one that is open. */
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

static int append_entries(struct rg_open_log *log, uint64_t size, bool chained,
			  struct roger_str entries, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of_file(log->file);
	/* True if nobody appended since this handle did. */
	const bool knows = size && size == log->end;
	struct rg_chain chain = { .value = log->chain };
	struct rg_buf out;
	int r = knows ? ROGER_OK : end_line(log, &size, err);

	if (r == ROGER_OK && chained && !knows)
		r = rg_chain_before(&bytes, size, &chain, err);
	if (r < 0)
		return r;
	log->end = 0;
	rg_buf_init(&out, SIZE_MAX);
	if (chained)
		rg_chain_add_entries(entries, &chain.value, &out);
	else
		rg_buf_add_str(&out, entries);
	r = out.failed ? rg_fail_memory(err) : ROGER_OK;
	if (r == ROGER_OK && out.length)
		r = rg_file_write(log->file, out.data, out.length, log->name, err);
	if (r == ROGER_OK) {
		log->end = size + out.length;
		log->chain = chain.value;
	}
	rg_buf_deinit(&out);
	return r;
}

/* Take the system's lock, too: the record lock belongs to a control file, which may be replaced.
 * Two writers that continue from one line would look like tampering for ever. */
static int append_alone(struct rg_open_log *log, bool chained, struct roger_str entries,
			struct roger_err *err)
{
	uint64_t size;
	int r;

	rg_assert(log->file != RG_NO_FILE);
	r = rg_file_lock(log->file, log->name, RG_LOCK_WAIT_MS, err);
	if (r < 0)
		return r;
	r = rg_file_size(log->file, log->name, &size, err);
	if (r == ROGER_OK)
		r = append_entries(log, size, chained, entries, err);
	rg_file_unlock(log->file);
	return r;
}

int rg_log_append(struct rg_open_log *log, int folder, const char *name, bool chained,
		  struct roger_str entries, bool durable, struct roger_err *err)
{
	int r;

	rg_assert(!entries.length || entries.data[entries.length - 1] == '\n');
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
	struct rg_buf all = { .maximum = SIZE_MAX }, out = { .maximum = SIZE_MAX };
	struct roger_str rest, line;
	uint64_t chain = 0;
	bool found;
	int r;

	rg_assert(folder != RG_NO_FILE);
	*ret_dropped = 0;
	r = rg_file_read_all(folder, name, SIZE_MAX / 2, &all, &found, err);
	rest = rg_buf_str(&all);
	while (r == ROGER_OK && found && rg_str_next_line(&rest, &line))
		if (drop(context, line))
			++*ret_dropped;
		else
			rg_chain_keep_line(line, &chain, &out);
	if (r == ROGER_OK && out.failed)
		r = rg_fail_memory(err);
	if (r == ROGER_OK && *ret_dropped)
		r = rg_file_replace(folder, name, rg_buf_str(&out), true, err);
	rg_buf_deinit(&all);
	rg_buf_deinit(&out);
	return r;
}
