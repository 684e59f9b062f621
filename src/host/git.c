/*
 * An index is a header, entries sorted by name, and extensions (git's own document of it is
 * gitformat-index).  It is read in pieces, whatever its size: versions 2, 3 and 4, with SHA-1
 * or SHA-256, and split in two.  While git changes files, index.lock stands beside it: empty,
 * until the new index is written there.
 */
#include "host/git.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "host/file.h"
#include "host/outside.h"
#include "host/workspace.h"

enum {
	PATH_BYTES = 4096,
	PIECE_BYTES = 1 << 18,
	NAME_BYTES_MAX = 1 << 14,
	STAT_BYTES = 40, /* facts in an entry, before the hash of its text */
	SHA1_BYTES = 20,
	SHA256_BYTES = 32,
	WATCHES_MAX = 8,
	BASES_MAX = 64,	     /* folders with a .git */
	BUSY_WAIT_MS = 1000, /* for git to end what it does */
	BUSY_PAUSE_MS = 20,
};

/* ------------------------------------------------------------- an index -- */

struct reading {
	int file;
	int64_t offset; /* of the first byte after the piece */
	char *piece;
	size_t at, length; /* bytes of the piece that were taken; all of them */
	bool over;	   /* the file ends with the piece */
	char name[NAME_BYTES_MAX];
	size_t named;			   /* length of name */
	char shared[2 * SHA256_BYTES + 1]; /* the hash of the other half of a split index */
};

/* Read until the piece has that many bytes to take, or the file ends; returns how many it has. */
static size_t fill_piece(struct reading *reading, size_t want)
{
	size_t got;

	if (reading->over || reading->length - reading->at >= want)
		return reading->length - reading->at;
	memmove(reading->piece, reading->piece + reading->at, reading->length - reading->at);
	reading->length -= reading->at;
	reading->at = 0;
	while (!reading->over && reading->length < want) {
		if (rg_file_read_at(reading->file, reading->piece + reading->length,
				    PIECE_BYTES - reading->length, reading->offset, &got, NULL) < 0)
			got = 0;
		reading->over = !got;
		reading->offset += (int64_t)got;
		reading->length += got;
	}
	return reading->length;
}

/* Take the next bytes; NULL: the file has fewer. */
static const unsigned char *take_bytes(struct reading *reading, size_t length)
{
	if (fill_piece(reading, length) < length)
		return NULL;
	reading->at += length;
	return (unsigned char *)reading->piece + reading->at - length;
}

static uint32_t number_at(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* In version 4, read how many bytes at the end of the previous name are replaced. */
static bool take_cut(struct reading *reading, size_t *ret_cut)
{
	const unsigned char *byte = take_bytes(reading, 1);
	size_t cut = byte ? *byte & 127 : 0;

	while (byte && *byte & 128 && cut < NAME_BYTES_MAX) {
		byte = take_bytes(reading, 1);
		cut = byte ? (cut + 1) << 7 | (*byte & 127) : 0;
	}
	*ret_cut = cut;
	return byte && !(*byte & 128);
}

/* Read the rest of an entry, from its flags on; its name ends with a NUL. */
static bool read_name(struct reading *reading, uint32_t version, size_t before_flags)
{
	const unsigned char *flags = take_bytes(reading, 2);
	size_t stated, head = before_flags + 2, cut = 0, kept = 0, there, length, padding;
	const char *end;

	if (!flags)
		return false;
	stated = (size_t)(flags[0] & 15) << 8 | flags[1];
	if (version >= 3 && flags[0] & 0x40) {
		if (!take_bytes(reading, 2))
			return false;
		head += 2;
	}
	if (version == 4) {
		kept = reading->named;
		if (!take_cut(reading, &cut) || cut > kept)
			return false;
		kept -= cut;
	}
	there = fill_piece(reading, NAME_BYTES_MAX); /* which may move the piece */
	end = memchr(reading->piece + reading->at, '\0', there);
	length = end ? (size_t)(end - reading->piece) - reading->at : NAME_BYTES_MAX;
	if (kept + length >= NAME_BYTES_MAX)
		return false;
	memcpy(reading->name + kept, take_bytes(reading, length + 1), length + 1);
	reading->named = kept + length;
	/* Each entry is padded to a multiple of eight, and its name ends with a NUL at least. */
	padding = version == 4 ? 0 : 7 - (head + length) % 8;
	return take_bytes(reading, padding) &&
	       stated == (reading->named < 4095 ? reading->named : 4095);
}

/* Skip the extensions but "link", which has the hash of the other half of a split index. */
static bool read_extensions(struct reading *reading, size_t hash)
{
	const unsigned char *head, *text;
	size_t length, i;

	while (fill_piece(reading, hash + 1) > hash) {
		head = take_bytes(reading, 8);
		if (!head)
			return false;
		length = number_at(head + 4);
		if (!memcmp(head, "link", 4)) {
			text = length >= hash ? take_bytes(reading, hash) : NULL;
			for (i = 0; text && i < hash; i++)
				snprintf(reading->shared + 2 * i, 3, "%02x", text[i]);
			if (!text)
				return false;
			length -= hash;
		}
		for (; length > PIECE_BYTES; length -= PIECE_BYTES)
			if (!take_bytes(reading, PIECE_BYTES))
				return false;
		if (!take_bytes(reading, length))
			return false;
	}
	return fill_piece(reading, hash) == hash;
}

/* ------------------------------------------------------------ what counts -- */

struct looking {
	const char *root;
	const struct rg_git_watch *watches;
	size_t count;
	const void *context;
	struct rg_arena *arena;
	const char *base;		      /* working tree of the repository */
	struct roger_str inside[WATCHES_MAX]; /* each watched path below base; NULL: elsewhere */
	struct roger_strs tracked;
	bool failed; /* out of memory */
};

/* Does roger use the first part of a path, in whatever case? */
static bool is_used(const struct looking *looking, rg_git_uses *uses, const char *path)
{
	struct roger_str name = { path, strcspn(path, "/") };
	char low[256];
	size_t i;

	if (uses(looking->context, name) || name.length >= sizeof low)
		return name.length < sizeof low;
	for (i = 0; i < name.length; i++)
		low[i] = (char)(path[i] | (path[i] >= 'A' && path[i] <= 'Z') << 5);
	return uses(looking->context, (struct roger_str){ low, name.length });
}

/* Is the tracked path the watched one, a link or submodule above it, or below it? */
static bool is_concerned(const struct looking *looking, size_t watch, const char *name,
			 size_t named)
{
	const struct roger_str inside = looking->inside[watch];
	rg_git_uses *uses = looking->watches[watch].uses;
	const char *rest = name + inside.length + (inside.length > 0);

	/* Most names differ in their first byte, whatever its case. */
	if (!inside.data || (inside.length && (*name ^ *inside.data) & ~('a' - 'A')) ||
	    strncasecmp(name, inside.data, inside.length < named ? inside.length : named) != 0)
		return false;
	if (named <= inside.length)
		/* The workspace itself may be in a submodule. */
		return (named == inside.length || inside.data[named] == '/') &&
		       strlen(looking->base) + 1 + named > strlen(looking->root);
	return (!inside.length || name[inside.length] == '/') && *rest &&
	       (!uses || is_used(looking, uses, rest));
}

/* Keep the path of an entry if it concerns a watched one. */
static void see_name(struct looking *looking, const char *name, size_t length)
{
	struct roger_str path;
	size_t i;

	for (i = 0; i < looking->count && !is_concerned(looking, i, name, length); i++)
		;
	if (i < looking->count)
		looking->failed |=
			!rg_arena_print(looking->arena, &path, "%s/%s", looking->base, name) ||
			(!rg_str_among(looking->tracked, path) &&
			 !rg_arena_add(looking->arena, &looking->tracked, path));
}

/* Read a whole index; hash: bytes of a hash.  false: no index with such hashes. */
static bool read_entries(struct reading *reading, size_t hash, struct looking *looking)
{
	const unsigned char *head = take_bytes(reading, 12);
	uint32_t version, count;

	if (!head || memcmp(head, "DIRC", 4) != 0)
		return false;
	version = number_at(head + 4);
	reading->name[0] = '\0';
	for (count = number_at(head + 8); count; count--) {
		if (version < 2 || version > 4 || !take_bytes(reading, STAT_BYTES + hash) ||
		    !read_name(reading, version, STAT_BYTES + hash))
			return false;
		see_name(looking, reading->name, reading->named);
	}
	return read_extensions(reading, hash);
}

/* Read an index.  *ret_size: 0: it is missing.  shared: the hash of its other half, or "". */
static enum rg_git_state read_index(struct looking *looking, const char *path, size_t *ret_size,
				    char shared[2 * SHA256_BYTES + 1])
{
	static const size_t hashes[] = { SHA1_BYTES, SHA256_BYTES };
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct reading *reading = malloc(sizeof *reading);
	char *piece = malloc(PIECE_BYTES), real[PATH_BYTES];
	size_t before = looking->tracked.count, i;
	struct rg_file_facts facts = { 0 };
	bool whole = false;
	int r = ROGER_OK;

	shared[0] = '\0';
	looking->failed |= !reading || !piece;
	if (realpath(path, real))
		r = rg_file_open_facts(AT_FDCWD, real, RG_FILE_READ, &file, &facts, NULL);
	*ret_size = (size_t)facts.size;
	for (i = 0; reading && piece && file != RG_NO_FILE && !whole && i < 2; i++) {
		looking->tracked.count = before;
		*reading = (struct reading){ .file = file, .piece = piece };
		whole = read_entries(reading, hashes[i], looking);
		if (whole)
			memcpy(shared, reading->shared, sizeof reading->shared);
	}
	whole |= r == ROGER_OK && file == RG_NO_FILE;
	free(reading);
	free(piece);
	return !whole ? RG_GIT_UNKNOWN : looking->tracked.count ? RG_GIT_TRACKS : RG_GIT_CLEAR;
}

/* ----------------------------------------------------------- repositories -- */

/* Read an index and, if it is split, its other half beside it. */
static enum rg_git_state read_both(struct looking *looking, const char *git, const char *name,
				   size_t *ret_size)
{
	char path[2 * PATH_BYTES], shared[2 * SHA256_BYTES + 1], none[sizeof shared];
	enum rg_git_state state, other;
	size_t size;

	snprintf(path, sizeof path, "%s/%s", git, name);
	state = read_index(looking, path, ret_size, shared);
	/* "" or zeros: the index is not split. */
	if (state == RG_GIT_UNKNOWN || !shared[strspn(shared, "0")])
		return state;
	snprintf(path, sizeof path, "%s/sharedindex.%s", git, shared);
	other = read_index(looking, path, &size, none);
	return !size ? RG_GIT_UNKNOWN : other;
}

/*
 * Read index.lock first: git renames it to index, so nothing is missed between the two.  Its
 * entries count, too, since it becomes the index.
 */
static enum rg_git_state read_repository(struct looking *looking, const char *git)
{
	int64_t until_ns = rg_clock_monotonic_ns() + BUSY_WAIT_MS * INT64_C(1000000);
	size_t before = looking->tracked.count, size;
	enum rg_git_state coming, state;
	char path[2 * PATH_BYTES];

	snprintf(path, sizeof path, "%s/index.lock", git);
	for (;; rg_clock_sleep(BUSY_PAUSE_MS)) {
		looking->tracked.count = before;
		coming = rg_outside_is_there(path) ? read_both(looking, git, "index.lock", &size)
						   : RG_GIT_CLEAR;
		if (coming == RG_GIT_UNKNOWN &&
		    (looking->failed || rg_clock_monotonic_ns() >= until_ns))
			return RG_GIT_BUSY;
		if (coming == RG_GIT_UNKNOWN)
			continue;
		state = read_both(looking, git, "index", &size);
		return state == RG_GIT_CLEAR ? coming : state;
	}
}

/* Add a path and the folders above it, each once: most paths share them. */
static int add_folders(struct looking *looking, const char *path, struct roger_strs *folders)
{
	char folder[PATH_BYTES];

	snprintf(folder, sizeof folder, "%s", path);
	do {
		if (rg_str_among(*folders, rg_str(folder)))
			return ROGER_OK;
		if (!rg_arena_add(looking->arena, folders, rg_str(folder)))
			return ROGER_ENOMEM;
	} while (rg_outside_cut(folder));
	return ROGER_OK;
}

int rg_git_look(const char *root, const struct rg_git_watch *watches, size_t count,
		const void *context, struct rg_arena *arena, enum rg_git_state *ret_state,
		struct roger_strs *ret_tracked, struct roger_err *err)
{
	struct looking looking = {
		.root = root, .watches = watches, .count = count, .context = context, .arena = arena
	};
	struct roger_strs folders = { 0 };
	enum rg_git_state state;
	char git[PATH_BYTES + 8];
	size_t i, watch, bases = 0;
	int64_t owner;

	rg_assert(count <= WATCHES_MAX);
	*ret_state = RG_GIT_CLEAR;
	for (i = 0; i < count; i++)
		if (add_folders(&looking, watches[i].path, &folders) < 0)
			return rg_fail_memory(err);
	for (i = 0; i < folders.count && bases < BASES_MAX; i++) {
		looking.base = folders.items[i].data;
		snprintf(git, sizeof git, "%s/.git", looking.base);
		/* Another user's repository would say what that user wants. */
		if (!rg_file_owner(git, &owner) || !rg_trust_is_ours(owner) ||
		    !rg_outside_git_own(looking.base, git))
			continue;
		bases++;
		for (watch = 0; watch < count; watch++)
			looking.inside[watch] =
				rg_str(rg_workspace_below(looking.base, watches[watch].path));
		state = read_repository(&looking, git);
		if (state > *ret_state)
			*ret_state = state;
	}
	*ret_tracked = looking.tracked;
	return rg_kept(!looking.failed, err);
}
