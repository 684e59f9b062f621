/*
 * For the command line's tests on PostgreSQL: linked into a roger of their own, it keeps every
 * workspace in the database that TEST_POSTGRES names, each under the path of its folder.
 *
 * Many tests look into files.  So what is in the database is shown in files, too, byte for byte:
 * documents when they are put, journals when a command ends.  What a test changed there goes back
 * into the database, as only the owner of the tables could change it: what was shown has the time
 * SHOWN.  A file that is deleted or put under another name is not noticed.
 */
#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "host/file.h"
#include "host/workspace.h"
#include "store/lines.h"
#include "store/postgres/inside.h"

enum { SHOWN = 1000000000, PATH_BYTES = 4600 };

static const char run_folder[] = "state/subagent-delivery-watchdog/";

/* The workspace of the handle at work. */
static struct rg_workspace *shown;
static const struct rg_store_ops *real;
static struct rg_store_ops showing;

/* A folder that was made again is another workspace. */
static char *address_of(const struct rg_workspace *workspace)
{
	char *address = NULL;
	struct statx facts = { 0 };

	statx(AT_FDCWD, workspace->data_path, 0, STATX_INO | STATX_BTIME, &facts);
	return asprintf(&address, "%s#%s %llu %lld.%u", getenv("TEST_POSTGRES"),
			workspace->data_path, (unsigned long long)facts.stx_ino,
			(long long)facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec) > 0
		       ? address
		       : NULL;
}

/* ----------------------------------------------------------------- files -- */

static void make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + strlen(shown->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void show(char *path, struct roger_str text)
{
	const struct timespec times[2] = { { SHOWN, 0 }, { SHOWN, 0 } };
	char fresh[PATH_BYTES + 40];
	int file;

	make_folders(path);
	snprintf(fresh, sizeof fresh, "%s.%d", path, (int)getpid());
	file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	if (write(file, text.data, text.length) == (ssize_t)text.length &&
	    futimens(file, times) == 0)
		rename(fresh, path);
	else
		unlink(fresh);
	close(file);
}

static bool is_edited(const char *path)
{
	struct stat facts;

	return lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_mtime != SHOWN;
}

/* -------------------------------------------------------------- documents -- */

static void document_path(enum rg_document which, struct roger_str name, char path[PATH_BYTES])
{
	char file[RG_FILE_NAME_BYTES] = "message-state.json";

	if (which == RG_DOCUMENT_RUN)
		rg_workspace_file_name(name, ".json", file);
	snprintf(path, PATH_BYTES, "%s/%s%s", shown->data_path,
		 which == RG_DOCUMENT_RUN ? run_folder : "", file);
}

static int put(struct rg_store *store, enum rg_document which, struct roger_str name,
	       const struct roger_str *before, struct roger_str after, bool durable,
	       struct roger_err *err)
{
	char path[PATH_BYTES];
	int r = real->put(store, which, name, before, after, durable, err);

	shown = of(store)->workspace;
	document_path(which, name, path);
	if (r == ROGER_OK)
		show(path, after);
	return r;
}

static void take_back(struct rg_store *store, enum rg_document which, const char *path,
		      struct roger_str name)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_arena *arena = rg_arena_new();
	struct roger_str there = { 0 };
	bool found = false;

	if (!is_edited(path))
		(void)real->get(store, which, name, arena, &there, NULL);
	if (!there.data && rg_file_read_all(path, SIZE_MAX / 2, &text, &found, NULL) == ROGER_OK &&
	    found)
		(void)real->put(store, which, name, NULL, rg_buf_str(&text), true, NULL);
	rg_arena_free(arena);
}

static void take_documents_back(struct rg_store *store)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	document_path(RG_DOCUMENT_STATE, RG_STR(""), path);
	take_back(store, RG_DOCUMENT_STATE, path, RG_STR(""));
	snprintf(path, sizeof path, "%s/%s", shown->data_path, run_folder);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		const size_t length = strlen(entry->d_name);

		if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s%s", shown->data_path, run_folder, entry->d_name);
		take_back(store, RG_DOCUMENT_RUN, path,
			  (struct roger_str){ entry->d_name, length - 5 });
	}
	if (folder)
		closedir(folder);
}

/* --------------------------------------------------------------- journals -- */

static void journal_path(const struct rg_log_file *file, char path[PATH_BYTES])
{
	const struct rg_config *config = shown->config;
	char folder[PATH_BYTES - 300];

	if (file->log == RG_LOG_ACTIVITY) {
		rg_workspace_path(shown, config->activity_file, path, PATH_BYTES);
	} else if (file->log == RG_LOG_SENDS) {
		rg_workspace_path(shown, config->send_log_dir, folder, sizeof folder);
		snprintf(path, PATH_BYTES, "%s/%.*s", folder, RG_STR_ARGS(file->name));
	} else {
		snprintf(path, PATH_BYTES, "%s/%.*s", shown->data_path, RG_STR_ARGS(file->shown));
	}
}

static void read_journal(struct rg_store *store, const struct rg_log_file *file,
			 struct rg_buf *text)
{
	size_t got = 1;

	while (got && text->length < file->size && rg_buf_room(text, file->size - text->length) &&
	       real->read(store, file, text->length, text->data + text->length,
			  file->size - text->length, &got, NULL) == ROGER_OK)
		text->length += got;
}

static void show_journal(struct rg_store *store, struct rg_log_file *file)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char path[PATH_BYTES];
	struct stat facts;
	bool there;

	journal_path(file, path);
	if (real->stat(store, file, &there, NULL) < 0 || !there || !file->size || is_edited(path) ||
	    (stat(path, &facts) == 0 && facts.st_size == (off_t)file->size))
		return;
	read_journal(store, file, &text);
	show(path, rg_buf_str(&text));
}

static void show_journals(struct rg_store *store)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	uint64_t end;
	size_t i;

	if (real->settle(store, &end, NULL) == ROGER_OK)
		for (i = 0; i < RG_LOGS; i++)
			(void)real->list(store, (enum rg_log)i, RG_STR(""), arena, &files, NULL);
	for (i = 0; i < files.count; i++)
		show_journal(store, &files.items[i]);
	rg_arena_free(arena);
}

static struct rg_store *close_store(struct rg_store *store)
{
	int folder;

	shown = of(store)->workspace;
	folder = open(shown->data_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	flock(folder, LOCK_EX);
	show_journals(store);
	close(folder);
	store->ops = real;
	return real->close(store);
}

/* ------------------------------------------------- what a test changed there -- */

static void run_sql(const char *sql)
{
	PGconn *connection = PQconnectdb(getenv("TEST_POSTGRES"));

	PQclear(PQexec(connection, sql));
	PQfinish(connection);
}

static void ask(PGconn *connection, const char *sql, int64_t number, int64_t second,
		struct roger_str text)
{
	char numbers[2][24];
	const char *values[] = { numbers[0], numbers[1], text.data };
	const int lengths[] = { 0, 0, (int)text.length }, formats[] = { 0, 0, 1 };

	snprintf(numbers[0], sizeof numbers[0], "%lld", (long long)number);
	snprintf(numbers[1], sizeof numbers[1], "%lld", (long long)second);
	PQclear(PQexecParams(connection, sql, 3, NULL, values, lengths, formats, 0));
}

/* All lines of a journal, without a word to its end. */
static void replace_lines(PGconn *connection, int64_t journal, struct roger_str text)
{
	struct roger_str line = { text.data, 0 };
	const char *newline;

	PQclear(PQexec(connection, "BEGIN; SET session_replication_role = replica"));
	ask(connection,
	    "DELETE FROM roger.line WHERE journal = $1 AND $2::int = 0 AND $3::bytea = ''", journal,
	    0, RG_STR(""));
	for (; line.data < text.data + text.length; line.data += line.length) {
		newline = memchr(line.data, '\n', (size_t)(text.data + text.length - line.data));
		line.length =
			(size_t)((newline ? newline + 1 : text.data + text.length) - line.data);
		ask(connection,
		    "INSERT INTO roger.line(journal, start, text, token) VALUES ($1, $2, $3, 0)",
		    journal, line.data - text.data, line);
	}
	PQclear(PQexec(connection, "COMMIT"));
}

/* What was added counts, as in files. */
static void move_end(PGconn *connection, struct rg_store *store, const struct rg_log_file *file,
		     struct roger_str text)
{
	uint64_t chain = 0, big;

	rg_chain_follow(text, &chain);
	big = htobe64(chain);
	if (file->log == RG_LOG_MESSAGES)
		ask(connection,
		    "UPDATE roger.workspace SET bytes = $2, chain = $3::bytea WHERE messages = $1",
		    (int64_t)file->inode, (int64_t)text.length,
		    (struct roger_str){ (char *)&big, sizeof big });
	else
		ask(connection,
		    "UPDATE roger.journal SET bytes = $2, chain = $3::bytea WHERE journal = $1",
		    (int64_t)file->inode, (int64_t)text.length,
		    (struct roger_str){ (char *)&big, sizeof big });
	if (file->log == RG_LOG_MESSAGES)
		real->keep(store, RG_KEEP_NOTHING);
}

/* A journal that the database does not have yet. */
static bool add_journal(struct rg_store *store, struct rg_log_file *file)
{
	char *address = address_of(shown), sql[5000];
	bool there = false;

	snprintf(sql, sizeof sql,
		 "INSERT INTO roger.journal(ws, log, name) SELECT ws, %d, '%.*s' FROM "
		 "roger.workspace WHERE name = '%s' ON CONFLICT DO NOTHING",
		 file->log, RG_STR_ARGS(file->name), strrchr(address, '#') + 1);
	run_sql(sql);
	free(address);
	return real->stat(store, file, &there, NULL) == ROGER_OK && there;
}

static bool take_journal_back(struct rg_store *store, struct rg_log_file *file)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf was = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf now = { .maximum = SIZE_MAX };
	char path[PATH_BYTES];
	PGconn *connection;
	bool there, added;

	journal_path(file, path);
	if (real->stat(store, file, &there, NULL) < 0 || (file->size && !is_edited(path)) ||
	    rg_file_read_all(path, SIZE_MAX / 2, &now, &there, NULL) < 0 || !there || !now.length)
		return false;
	if (!file->inode && !add_journal(store, file))
		return false;
	read_journal(store, file, &was);
	added = now.length > was.length && (!was.length || !memcmp(now.data, was.data, was.length));
	/* What a crash leaves of a line is nothing that a database has. */
	while (added && now.length > was.length && now.data[now.length - 1] != '\n')
		now.length--;
	connection = PQconnectdb(getenv("TEST_POSTGRES"));
	replace_lines(connection, (int64_t)file->inode, rg_buf_str(&now));
	if (added)
		move_end(connection, store, file, rg_buf_str(&now));
	PQfinish(connection);
	show(path, rg_buf_str(&now));
	return true;
}

/* The files of a journal for each owner. */
static void list_folder(enum rg_log log, struct rg_arena *arena, struct rg_log_files *files)
{
	struct rg_log_file file = { .log = log, .name = RG_STR("x"), .shown = RG_STR("x") };
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	(void)!rg_arena_print(arena, &file.shown, "%sx", rg_kinds[log].folder);
	journal_path(&file, path);
	*strrchr(path, '/') = '\0';
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		struct rg_log_file *found;

		if (!strstr(entry->d_name, ".jsonl") || strstr(entry->d_name, ".jsonl."))
			continue;
		found = rg_arena_push(arena, &files->items, &files->count, sizeof *found);
		*found = (struct rg_log_file){ .log = log };
		(void)!rg_arena_print(arena, &found->name, "%s", entry->d_name);
		(void)!rg_arena_print(arena, &found->shown, "%s%s", rg_kinds[log].folder,
				      entry->d_name);
	}
	if (folder)
		closedir(folder);
}

static bool take_back_all(struct rg_store *store)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_log_files files = { 0 };
	bool changed = false;
	size_t i;

	take_documents_back(store);
	for (i = 0; i < RG_LOGS; i++)
		if (rg_kinds[i].file)
			(void)real->list(store, (enum rg_log)i, RG_STR(""), arena, &files, NULL);
		else
			list_folder((enum rg_log)i, arena, &files);
	for (i = 0; i < files.count; i++)
		changed |= take_journal_back(store, &files.items[i]);
	rg_arena_free(arena);
	return changed;
}

/* ---------------------------------------------------------------- opening -- */

/* Tests make a workspace also by a mere mkdir, which in files is enough. */
static int open_or_add(struct rg_workspace *workspace, const struct rg_store_above *above,
		       struct rg_store **ret_store, struct roger_err *err)
{
	int r = rg_postgres_store_open(workspace, above, ret_store, err), steps;

	if (r != ROGER_ECONFIG)
		return r;
	r = rg_postgres_prepare(workspace, &steps, err);
	return r < 0 ? r : rg_postgres_store_open(workspace, above, ret_store, err);
}

static int open_shown(struct rg_workspace *workspace, const struct rg_store_above *above,
		      struct rg_store **ret_store, struct roger_err *err)
{
	int r = open_or_add(workspace, above, ret_store, err);

	if (r < 0)
		return r;
	shown = workspace;
	real = (*ret_store)->ops;
	if (take_back_all(*ret_store)) {
		real->close(*ret_store);
		r = open_or_add(workspace, above, ret_store, err);
		if (r < 0)
			return r;
	}
	showing = *real;
	showing.put = put;
	showing.close = close_store;
	(*ret_store)->ops = &showing;
	return r;
}

__attribute__((constructor)) static void use_postgres(void)
{
	if (!getenv("TEST_POSTGRES"))
		return;
	setenv("ROGER_STORE", getenv("TEST_POSTGRES"), 1);
	rg_postgres_address = address_of;
	rg_store_open = open_shown;
}
