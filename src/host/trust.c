#include "host/trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "data/caller.h"
#include "base/sign.h"
#include "data/record.h"
#include "host/file.h"
#include "host/outside.h"
#include "host/session.h"
#include "host/workspace.h"

enum {
	ID_BYTES = 16,
	DOCUMENT_BYTES_MAX = 1 << 18,
	PATH_BYTES = 4096,
	PIECE_BYTES = 8192,
	WORD_BYTES_MAX = 3000, /* of a piece of a word that may name a file */
};

/* -------------------------------------------------------------- identity -- */

bool rg_trust_is_ours(int64_t owner)
{
	const char *sudo = getenv("SUDO_UID");
	int64_t caller;

	if (owner == (int64_t)geteuid())
		return true;
	return geteuid() == 0 && sudo && rg_str_number(rg_str(sudo), &caller) && caller == owner;
}

/* Read .roger/id; "": it is missing or not valid. */
static void read_id(const char *root, char to[RG_WORKSPACE_ID_BYTES])
{
	char path[PATH_BYTES + 16], text[2 * ID_BYTES + 2];
	struct rg_file_facts facts;
	struct roger_str line;

	_Static_assert(2 * ID_BYTES < RG_WORKSPACE_ID_BYTES, "all of the id");
	to[0] = '\0';
	snprintf(path, sizeof path, "%.4000s/.roger/id", root);
	if (rg_file_read_lines(AT_FDCWD, path, text, sizeof text, &line, 1, &facts) &&
	    facts.size == 2 * ID_BYTES + 1 && line.length == 2 * ID_BYTES &&
	    strspn(line.data, "0123456789abcdef") == line.length)
		memcpy(to, line.data, line.length + 1);
}

static int make_id(const char *root, char to[RG_WORKSPACE_ID_BYTES], struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char home[PATH_BYTES + 16], text[2 * ID_BYTES + 2];
	uint64_t bits[2];
	int r;

	_Static_assert(sizeof bits == ID_BYTES, "all of the id");
	r = rg_random(bits, sizeof bits, err);
	snprintf(text, sizeof text, "%016llx%016llx\n", (unsigned long long)bits[0],
		 (unsigned long long)bits[1]);
	snprintf(home, sizeof home, "%.4000s/.roger", root);
	if (r == ROGER_OK)
		r = rg_file_open_folder(AT_FDCWD, home, &folder, err);
	if (r == ROGER_OK && folder == RG_NO_FILE)
		r = rg_fail(err, ROGER_ENOENT, 0, "'%s' went away", home);
	if (r == ROGER_OK)
		r = rg_file_replace(folder, "id", rg_str(text), true, err);
	if (r == ROGER_OK)
		read_id(root, to);
	return r;
}

int rg_workspace_id(const char *root, char to[RG_WORKSPACE_ID_BYTES], struct roger_err *err)
{
	read_id(root, to);
	return to[0] ? ROGER_OK : make_id(root, to, err);
}

/* ------------------------------------------------------------- documents -- */

/* The folder of all documents; false: neither HOME nor XDG_STATE_HOME is usable. */
static bool state_folder(char to[PATH_BYTES])
{
	char state[PATH_BYTES];

	return rg_session_folder(false, state, NULL) == ROGER_OK &&
	       snprintf(to, PATH_BYTES, "%s/trust", state) < PATH_BYTES - 90;
}

static bool document_path(const char *root, char to[PATH_BYTES])
{
	char folder[PATH_BYTES];
	size_t length = strlen(root);

	/* Every command asks for it, so the hash is a quick one; the document holds the path. */
	return state_folder(folder) &&
	       snprintf(to, PATH_BYTES, "%s/%016llx%016llx.json", folder,
			(unsigned long long)rg_hash(1, root, length),
			(unsigned long long)rg_hash(2, root, length)) < PATH_BYTES;
}

/* One of another user, or that others may write, counts as missing.  False: out of memory. */
static bool read_document(const char *path, struct rg_arena *memory,
			  struct rg_trusted *ret_document, bool *ret_found)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_trusted document = { 0 };
	struct rg_file_facts facts;
	int r;

	r = rg_file_read_first(path, DOCUMENT_BYTES_MAX, &text, &facts, ret_found, NULL);
	*ret_found = r == ROGER_OK && *ret_found && !facts.open_to_writers &&
		     rg_trust_is_ours(facts.owner) &&
		     rg_record_read(&rg_trusted_record, rg_buf_str(&text), &document, memory,
				    NULL) == ROGER_OK;
	if (*ret_found)
		*ret_document = document;
	return r != ROGER_ENOMEM;
}

bool rg_trust_has_document(const char *root)
{
	char path[PATH_BYTES];
	int64_t owner;

	return document_path(root, path) && rg_file_owner(path, &owner);
}

static int write_document(const char *root, const struct roger_str *before,
			  const struct rg_trusted *document, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = DOCUMENT_BYTES_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf pretty = { .maximum = 2 * DOCUMENT_BYTES_MAX };
	char path[PATH_BYTES], folder[PATH_BYTES];
	int r;

	if (!document_path(root, path) || !state_folder(folder))
		return rg_fail(err, ROGER_ECREATE, 0,
			       "neither HOME nor XDG_STATE_HOME names a folder, so there is no "
			       "place to remember what you trust");
	rg_record_encode(&rg_trusted_record, document, &text);
	rg_json_add_pretty(&pretty, rg_buf_str(&text));
	if (text.failed || pretty.failed)
		return rg_fail_memory(err);
	r = rg_outside_put(path, before, rg_buf_str(&pretty), err);
	return r == ROGER_OK ? rg_file_close_to_others(AT_FDCWD, folder, err) : r;
}

/* --------------------------------------------------------------- sources -- */

/* Is it the workspace's folder, with links resolved? */
static bool is_root(const struct rg_trust *trust, const char *path)
{
	char real[PATH_BYTES];

	return path[0] == '/' && realpath(path, real) && rg_str_is(trust->root, real);
}

/* "mailbox PATH", "commands PATH" or "path PATH". */
static int read_machine_line(struct rg_trust *trust, struct roger_str line, struct roger_err *err)
{
	const char *blank = memchr(line.data, ' ', line.length);
	struct roger_str word = { line.data, blank ? (size_t)(blank - line.data) : 0 }, path;

	if (!blank || blank[1] != '/')
		return ROGER_OK; /* a comment, or unknown */
	path = (struct roger_str){ blank + 1, line.length - word.length - 1 };
	if (!rg_arena_copy(trust->memory, path, &path) ||
	    (rg_str_is(word, "path") && !rg_arena_add(trust->memory, &trust->machine_paths, path)))
		return rg_fail_memory(err);
	if ((rg_str_is(word, "commands") || rg_str_is(word, "mailbox")) &&
	    is_root(trust, path.data)) {
		trust->mailbox = trust->named = true;
		trust->all_commands |= rg_str_is(word, "commands");
	}
	return ROGER_OK;
}

int rg_trust_read_machine(struct rg_trust *trust, const char *path, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_file_facts facts;
	struct roger_str rest, line;
	size_t mark;
	bool found;
	int r;

	r = rg_file_read_first(path, DOCUMENT_BYTES_MAX, &text, &facts, &found, NULL);
	if (r < 0 || !found || facts.owner != 0 || facts.open_to_writers)
		return r == ROGER_ENOMEM ? rg_fail_memory(err) : ROGER_OK;
	mark = rg_str_mark(rg_buf_str(&text));
	rest = (struct roger_str){ text.data + mark, text.length - mark };
	while (r == ROGER_OK && rg_str_next_line(&rest, &line))
		r = read_machine_line(trust, line, err);
	return r;
}

/* False: out of memory. */
static bool read_known(struct rg_trust *trust)
{
	struct rg_trusted known;
	char path[PATH_BYTES];
	bool found = false;

	if (document_path(trust->root.data, path) &&
	    !read_document(path, trust->memory, &known, &found))
		return false;
	/* A document about another mailbox does not count. */
	if (found && trust->id.length && rg_str_equal(known.id, trust->id) &&
	    rg_str_equal(known.path, trust->root) && known.owner == trust->owner) {
		trust->known = known;
		trust->mailbox = true;
	}
	return true;
}

int rg_trust_load(const char *root, int64_t owner, struct rg_trust **ret_trust,
		  struct roger_err *err)
{
	const char *named = getenv("ROGER_TRUST"), *commands = getenv("ROGER_TRUST_COMMANDS");
	struct rg_arena *memory = rg_arena_new();
	char id[RG_WORKSPACE_ID_BYTES];
	RG_CLEANUP(rg_trust_freep) struct rg_trust *trust = NULL;

	trust = memory ? rg_arena_get(memory, sizeof *trust) : NULL;
	if (!trust) {
		rg_arena_free(memory);
		return rg_fail_memory(err);
	}
	trust->memory = memory;
	trust->root = rg_arena_str(memory, rg_str(root));
	trust->owner = owner;
	read_id(root, id);
	trust->id = rg_arena_str(memory, rg_str(id));
	if (rg_arena_failed(memory) || !read_known(trust) ||
	    rg_trust_read_machine(trust, RG_TRUST_MACHINE_FILE, NULL) < 0)
		return rg_fail_memory(err);
	if (named && is_root(trust, named))
		trust->mailbox = trust->named = true;
	trust->all_commands |= trust->mailbox && commands && strcmp(commands, "1") == 0;
	*ret_trust = trust;
	trust = NULL;
	return ROGER_OK;
}

int rg_trust_load_there(const char *root, struct rg_trust **ret_trust, struct roger_err *err)
{
	char home[PATH_BYTES + 16];
	int64_t owner;

	snprintf(home, sizeof home, "%s/%s", root, RG_WORKSPACE_FOLDER);
	return rg_file_owner(home, &owner) ? rg_trust_load(root, owner, ret_trust, err)
					   : rg_fail(err, ROGER_EIO, 0, "'%s' went away", home);
}

struct rg_trust *rg_trust_free(struct rg_trust *trust)
{
	if (trust)
		rg_arena_free(trust->memory);
	return NULL;
}

/* --------------------------------------------------------------- digests -- */

struct digesting {
	struct rg_sha256 sha;
	const char *root; /* without a slash at its end */
	struct rg_arena *arena;
	struct rg_trust_named named;
};

static void add_part(struct rg_sha256 *sha, const char *what, struct roger_str text)
{
	char head[64];
	int length = snprintf(head, sizeof head, "%s %zu\n", what, text.length);

	rg_sha256_add(sha, head, (size_t)length);
	rg_sha256_add(sha, text.data, text.length);
	rg_sha256_add(sha, "\n", 1);
}

static void digest_file(const char *path, char to[RG_DIGEST_DIGITS + 1])
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	char piece[PIECE_BYTES];
	struct rg_sha256 sha;
	size_t got = PIECE_BYTES;
	int64_t offset = 0;

	snprintf(to, RG_DIGEST_DIGITS + 1, "cannot be read");
	if (rg_file_open(AT_FDCWD, path, RG_FILE_READ, &file, NULL) < 0 || file == RG_NO_FILE)
		return;
	rg_sha256_init(&sha);
	for (; got == PIECE_BYTES; offset += (int64_t)got) {
		if (rg_file_read_at(file, piece, PIECE_BYTES, offset, &got, NULL) < 0)
			return;
		rg_sha256_add(&sha, piece, got);
	}
	rg_sha256_peek(&sha, to);
}

/*
 * Add the name and text of a file that is named below the workspace or lies there; of a
 * link, those of the file it leads to.  This and the next ones return false when out of memory.
 */
static bool add_file(struct digesting *digesting, const char *path)
{
	char to[PATH_BYTES], sha256[RG_DIGEST_DIGITS + 1];
	const char *real = realpath(path, to),
		   *name = real ? rg_workspace_below(digesting->root, real) : NULL;

	if (!name && !strstr(path, "/../") && rg_workspace_below(digesting->root, path))
		name = real;
	if (name && !rg_str_among(digesting->named.files, rg_str(name)) &&
	    rg_file_kind(AT_FDCWD, real) == RG_FILE_REGULAR) {
		if (!rg_arena_add(digesting->arena, &digesting->named.files, rg_str(name)))
			return false;
		digest_file(real, sha256);
		add_part(&digesting->sha, "file", rg_str(name));
		add_part(&digesting->sha, "sha256", rg_str(sha256));
	}
	return true;
}

static bool add_named(struct digesting *digesting, struct roger_str name)
{
	char path[2 * PATH_BYTES];

	if (!name.length || name.length > WORD_BYTES_MAX)
		return true;
	if (name.data[0] == '/')
		snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(name));
	else
		snprintf(path, sizeof path, "%s/%.*s", digesting->root, RG_STR_ARGS(name));
	return add_file(digesting, path);
}

/* Add the files that a word, or a part of it between separators of a shell or an option, names. */
static bool add_files_of(struct digesting *digesting, struct roger_str word)
{
	static const char dividers[] = " \t\n'\"=,;:()<>|&`$[]{}!@#*?\\";
	const char *at = word.data, *end = word.data + word.length;
	size_t length;
	bool added = add_named(digesting, word);

	for (; added && at < end; at += length + 1) {
		for (length = 0; at + length < end && at[length] && !strchr(dividers, at[length]);)
			length++;
		if (length < word.length)
			added = add_named(digesting, (struct roger_str){ at, length });
		/* "-Itools": an option and what it names. */
		if (added && length > 2 && at[0] == '-')
			added = add_named(digesting, (struct roger_str){ at + 2, length - 2 });
	}
	return added;
}

/* "tools", "-Ctools", "--directory=tools": but no part of a list, as in "PATH=tools:/bin". */
static bool names_folder(const char *root, struct roger_str word)
{
	char path[2 * PATH_BYTES];
	const char *equals = memchr(word.data, '=', word.length);
	size_t skip = 0;

	if (word.length > 2 && word.data[0] == '-')
		skip = word.data[1] != '-' ? 2 : equals ? (size_t)(equals - word.data) + 1 : 0;
	if (word.length == skip || word.length > WORD_BYTES_MAX || word.data[skip] == '/')
		return false;
	snprintf(path, sizeof path, "%s/%.*s", root, (int)(word.length - skip), word.data + skip);
	return rg_file_kind(AT_FDCWD, path) == RG_FILE_FOLDER;
}

/* A program named without a '/' is looked for along PATH, which may lead into the workspace. */
static bool add_program(struct digesting *digesting, struct roger_str name)
{
	char word[WORD_BYTES_MAX + 1], path[PATH_BYTES];

	if (memchr(name.data, '/', name.length) || name.length > WORD_BYTES_MAX)
		return true;
	snprintf(word, sizeof word, "%.*s", RG_STR_ARGS(name));
	return !rg_outside_along_path(word, digesting->root, path) || add_file(digesting, path);
}

int rg_trust_digest(const char *root, struct roger_strs words, struct rg_arena *arena,
		    struct roger_str *ret_sha256, struct rg_trust_named *ret_named,
		    struct roger_err *err)
{
	struct digesting digesting = { .root = root, .arena = arena };
	char sha256[RG_DIGEST_DIGITS + 1];
	size_t i;

	rg_sha256_init(&digesting.sha);
	for (i = 0; i < words.count; i++)
		add_part(&digesting.sha, "word", words.items[i]);
	for (i = 0; i < words.count; i++) {
		if (!add_files_of(&digesting, words.items[i]))
			return rg_fail_memory(err);
		/* The first one is looked for along PATH, unless it is a path. */
		if (i > 0 || memchr(words.items[i].data, '/', words.items[i].length))
			digesting.named.folder |= names_folder(root, words.items[i]);
	}
	if (words.count && !add_program(&digesting, words.items[0]))
		return rg_fail_memory(err);
	rg_sha256_peek(&digesting.sha, sha256);
	*ret_named = digesting.named;
	return rg_kept(rg_arena_copy(arena, rg_str(sha256), ret_sha256), err);
}

/* --------------------------------------------------------------- answers -- */

bool rg_trust_has_place(const struct rg_trust *trust, const struct rg_trusted_place *place)
{
	const struct rg_trusted_place_list *known = &trust->known.places;
	size_t i;

	if (rg_str_is(place->origin, "ROGER_STORE") ||
	    rg_str_among(trust->machine_paths, place->path))
		return true;
	for (i = 0; i < known->count; i++)
		if (rg_str_equal(known->items[i].setting, place->setting))
			return rg_str_equal(known->items[i].path, place->path);
	return !known->count && (place->usual || rg_str_among(trust->known.paths, place->path));
}

void rg_trust_compare(struct rg_trust *trust, struct rg_trusted_place_list places)
{
	size_t i;

	trust->places = places;
	trust->moved = NULL;
	for (i = 0; i < places.count && !trust->moved; i++)
		if (!rg_trust_has_place(trust, &places.items[i]))
			trust->moved = &places.items[i];
}

enum rg_git_state rg_trust_judge_git(const struct rg_trust *trust, enum rg_git_state state,
				     struct roger_str sha256)
{
	bool accepted = state == RG_GIT_TRACKS && rg_str_equal(sha256, trust->known.tracked);

	return trust->named || accepted ? RG_GIT_CLEAR : state;
}

void rg_trust_say(const struct rg_trust *trust, enum rg_git_state git, char to[RG_DISTRUST_BYTES])
{
	static const char *const words[] = {
		[RG_GIT_CLEAR] = "",
		[RG_GIT_TRACKS] =
			"git tracks files of this mailbox, so anybody who can push could write its "
			"mail, and it is not shown; see `roger trust`",
		[RG_GIT_BUSY] = "git is changing this workspace (its index.lock is there), so the "
				"mail is not shown before it has ended",
		[RG_GIT_UNKNOWN] = "git's index cannot be read, so it may track files of this "
				   "mailbox, whose mail is not shown; see `git status`",
	};

	if (!trust->mailbox)
		snprintf(to, RG_DISTRUST_BYTES,
			 "this workspace is not trusted, so its mail is not shown; if it is yours, "
			 "run `roger trust`");
	else if (trust->moved)
		/* The place itself is shown by `roger trust`, which escapes what a file may say.
		 */
		snprintf(to, RG_DISTRUST_BYTES,
			 "this workspace keeps its files in another place than you trusted (%.*s: "
			 "%.*s), so its mail is not shown; if that is yours, run `roger trust`",
			 trust->moved->origin.length < 80 ? (int)trust->moved->origin.length : 80,
			 trust->moved->origin.data, RG_STR_ARGS(trust->moved->setting));
	else
		snprintf(to, RG_DISTRUST_BYTES, "%s", words[git]);
}

bool rg_trust_has_command(const struct rg_trust *trust, struct roger_str sha256)
{
	return trust->mailbox && !trust->moved &&
	       (trust->all_commands || rg_str_among(trust->known.commands, sha256));
}

bool rg_trust_has_path(const struct rg_trust *trust, struct roger_str path)
{
	return trust->mailbox &&
	       (rg_str_among(trust->known.paths, path) || rg_str_among(trust->machine_paths, path));
}

/* -------------------------------------------------------------- changing -- */

int rg_trust_accept(struct rg_trust *trust, const struct rg_trusted *wish, struct roger_err *err)
{
	struct rg_trusted document = *wish;
	char id[RG_WORKSPACE_ID_BYTES];
	int r = ROGER_OK;

	/*
	 * An id that came with the folder is known to whoever made it, who could use it for
	 * another workspace at this path.  Only the owner can replace it.
	 */
	if (!trust->id.length || (!trust->known.id.length && trust->owner == (int64_t)geteuid())) {
		r = make_id(trust->root.data, id, err);
		if (r == ROGER_OK)
			r = rg_kept(rg_arena_copy(trust->memory, rg_str(id), &trust->id), err);
	}
	document.version = 1;
	document.path = trust->root;
	document.owner = trust->owner;
	document.accepted_at_ms = rg_clock_ms();
	document.id = trust->id;
	if (r == ROGER_OK)
		r = write_document(trust->root.data, NULL, &document, err);
	if (r < 0)
		return r;
	trust->known = document;
	trust->mailbox = true;
	rg_trust_compare(trust, trust->places);
	return ROGER_OK;
}

void rg_trust_note_warned(const struct rg_trust *trust)
{
	const struct rg_trusted document = {
		.version = 1, .path = trust->root, .owner = trust->owner, .id = { "", 0 }
	};

	/* It must not replace that of `roger init`, which may be at work here right now. */
	(void)!write_document(trust->root.data, &(struct roger_str){ NULL, 0 }, &document, NULL);
}

int rg_trust_revoke(const char *root, bool *ret_was, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *memory = rg_arena_new();
	struct rg_trusted known = { 0 };
	char path[PATH_BYTES];
	bool found = false;

	*ret_was = false;
	if (!memory || (document_path(root, path) && !read_document(path, memory, &known, &found)))
		return rg_fail_memory(err);
	*ret_was = found && known.id.length;
	return *ret_was ? rg_outside_remove(path, 0, err) : ROGER_OK;
}

int rg_trust_list(struct rg_arena *arena, struct rg_trusted_list *ret_list, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct rg_trusted *items = NULL, known;
	char name[PATH_BYTES], path[PATH_BYTES + 256];
	struct roger_strs names = { 0 };
	size_t count = 0, i;
	bool found;
	int r;

	*ret_list = (struct rg_trusted_list){ NULL, 0 };
	if (!state_folder(name))
		return ROGER_OK;
	r = rg_file_open_folder(AT_FDCWD, name, &folder, err);
	if (r == ROGER_OK && folder != RG_NO_FILE)
		r = rg_file_list_folder(folder, name, arena, &names, err);
	for (i = 0; r == ROGER_OK && i < names.count; i++) {
		snprintf(path, sizeof path, "%s/%.*s", name, RG_STR_ARGS(names.items[i]));
		if (!read_document(path, arena, &known, &found) ||
		    (found && known.id.length &&
		     !rg_arena_append(arena, &items, &count, &known, sizeof known)))
			return rg_fail_memory(err);
	}
	*ret_list = (struct rg_trusted_list){ items, count };
	return r;
}
