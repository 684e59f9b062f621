#include "host/places.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "facts/log_kinds.h"
#include "host/file.h"
#include "host/process.h"

enum { DEPTH_MAX = 8 };

struct place {
	int folder;
	const char *name;
	struct roger_str shown; /* its path from the data folder */
	int depth;
};

struct checking {
	bool fix;
	rg_place_see *see;
	void *context;
};

RG_PRINTF(5, 6)
static int report_breach(const struct checking *checking, struct roger_breach problem, bool fixed,
			 struct roger_err *err, const char *format, ...)
{
	char what[300];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	problem.what = rg_str(what);
	return checking->see(checking->context, &problem, fixed, err);
}

static struct roger_breach breach_at(const struct place *place, enum roger_breach_kind kind,
				     enum roger_severity severity)
{
	return (struct roger_breach){ .kind = (int)kind,
				      .severity = (int)severity,
				      .file = place->shown };
}

static bool is_below(const struct place *place, struct roger_str folder)
{
	return place->shown.length > folder.length &&
	       !memcmp(place->shown.data, folder.data, folder.length);
}

/* What is of use under a name: anything, a file, or a file whose reader reports what else is there.
 */
enum use { USE_ANY, USE_FILE, USE_READ };

static enum use use_of(struct roger_str shown)
{
	const struct rg_log_kind *kind = rg_log_kinds;
	size_t length;

	if (rg_str_is(shown, "id") || rg_str_is(shown, ".gitignore") ||
	    rg_str_begins(shown, "messages."))
		return USE_FILE;
	if (rg_str_is(shown, "message-state.json") ||
	    (rg_str_begins(shown, "state/") && rg_str_ends(shown, ".json")))
		return USE_READ;
	for (; kind < rg_log_kinds + RG_LOGS; kind++) {
		length = strlen(kind->folder);
		if (!rg_str_begins(shown, kind->folder))
			continue;
		if (kind->file && strcmp(shown.data + length, kind->file) == 0)
			return USE_READ;
		if (!kind->file && rg_str_ends(shown, ".jsonl"))
			return USE_FILE;
	}
	return USE_ANY;
}

static int check_mode(const struct checking *checking, const struct place *place,
		      const struct rg_file_facts *facts, struct roger_err *err)
{
	struct rg_file_facts after;
	bool fixed;

	/* A folder in the place of a file must be moved away.  A repository may have set the mode
	 * of the next two.  Other programs write into triggers/, and files taken from there keep
	 * their mode, in a closed folder. */
	if ((facts->open_to_owner && !facts->open_to_others) ||
	    (facts->kind == RG_FILE_FOLDER && use_of(place->shown) == USE_READ) ||
	    rg_str_is(place->shown, "config.yaml") || rg_str_is(place->shown, ".gitignore") ||
	    rg_str_is(place->shown, "triggers") || is_below(place, RG_STR("triggers/.taken/")))
		return ROGER_OK;
	/* Some file systems keep no modes, and say that they changed one. */
	fixed = checking->fix &&
		rg_file_close_to_others(place->folder, place->name, NULL) == ROGER_OK &&
		rg_file_examine(place->folder, place->name, &after, NULL) == ROGER_OK &&
		!after.open_to_others;
	return report_breach(checking, breach_at(place, ROGER_BREACH_MODE, ROGER_REPAIRABLE), fixed,
			     err, "%s; expected mode %s",
			     facts->open_to_owner ? "others than its owner may use it"
						  : "its owner may not read it",
			     facts->kind == RG_FILE_FOLDER ? "0700" : "0600");
}

/* Is it NAME.new-SPACE-PID, or NAME.new-PID of earlier versions?  Then read its process. */
static bool is_leftover(const char *name, int64_t *ret_space, int64_t *ret_process)
{
	const char *mark = strstr(name, ".new-"), *space = mark ? mark + 5 : "",
		   *pid = strchr(space, '-');

	*ret_space = (int64_t)rg_file_own_namespace();
	return mark && mark > name &&
	       (!pid ||
		rg_str_number((struct roger_str){ space, (size_t)(pid - space) }, ret_space)) &&
	       rg_str_number(rg_str(pid ? pid + 1 : space), ret_process);
}

/* Report what a killed process left.  *ret_removed: it was removed; nothing else is checked. */
static int check_leftover(const struct checking *checking, const struct place *place,
			  int64_t changed_ms, bool *ret_removed, struct roger_err *err)
{
	enum { TOO_NEW_MS = 60000 };
	struct roger_breach breach = breach_at(place, ROGER_BREACH_PLACE, ROGER_NOTE);
	int64_t space, process;

	if (!is_leftover(place->name, &space, &process))
		return ROGER_OK;
	/* The process is, or was, in another container. */
	if (space != (int64_t)rg_file_own_namespace())
		return rg_clock_ms() - changed_ms < TOO_NEW_MS
			       ? ROGER_OK
			       : report_breach(checking, breach, false, err,
					       "its process cannot be seen from here (another "
					       "container?): "
					       "remove it where that does not run any more");
	if (rg_process_lives(process))
		return ROGER_OK;
	breach.fixable = true;
	*ret_removed =
		checking->fix && rg_file_remove(place->folder, place->name, NULL) == ROGER_OK;
	return report_breach(checking, breach, *ret_removed, err,
			     "left by a process that was killed");
}

static int check_folder(const struct checking *checking, const struct place *place,
			struct roger_err *err);

static int check_place(const struct checking *checking, const struct place *place,
		       struct roger_err *err)
{
	static const char *const odd[] = {
		[RG_FILE_LINK] = "a symbolic link, which roger does not follow",
		[RG_FILE_OTHER] = "neither a file nor a folder",
		[RG_FILE_FOLDER] = "a folder, where roger has a file",
		[RG_FILE_REGULAR] = NULL,
	};
	struct rg_file_facts facts;
	bool removed = false;
	int r;

	/* Files that other programs drop there are theirs until they are taken. */
	if (is_below(place, RG_STR("triggers/")) &&
	    place->shown.data[sizeof "triggers/" - 1] != '.')
		return ROGER_OK;
	r = rg_file_examine(place->folder, place->name, &facts, err);
	if (r < 0 || facts.kind == RG_FILE_NONE)
		return r;
	if (odd[facts.kind] && (facts.kind != RG_FILE_FOLDER || use_of(place->shown) == USE_FILE))
		return report_breach(checking, breach_at(place, ROGER_BREACH_PLACE, ROGER_DAMAGE),
				     false, err, "%s; move it away", odd[facts.kind]);
	if (facts.kind == RG_FILE_REGULAR)
		r = check_leftover(checking, place, facts.changed_ms, &removed, err);
	/* An append goes to all names of a file, so that a backup made of links would change. */
	if (r == ROGER_OK && facts.kind == RG_FILE_REGULAR && !removed && facts.links > 1)
		r = report_breach(
			checking, breach_at(place, ROGER_BREACH_PLACE, ROGER_NOTE), false, err,
			"%lld names lead to it (hard links, as `cp -al` makes them): what "
			"roger adds is added to all of them; copy the backup instead",
			(long long)facts.links);
	if (r == ROGER_OK && !removed)
		r = check_mode(checking, place, &facts, err);
	if (r == ROGER_OK && facts.kind == RG_FILE_FOLDER && place->depth < DEPTH_MAX)
		r = check_folder(checking, place, err);
	return r;
}

static int check_folder(const struct checking *checking, const struct place *place,
			struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct place inner = { .depth = place->depth + 1 };
	struct roger_strs names = { 0 };
	size_t i;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_file_open_folder(place->folder, place->name, &folder, err);
	if (r == ROGER_OK && folder != RG_NO_FILE)
		r = rg_file_list_folder(folder, place->name, arena, &names, err);
	inner.folder = folder;
	for (i = 0; i < names.count && r == ROGER_OK; i++) {
		inner.name = names.items[i].data;
		r = rg_kept(rg_arena_print(arena, &inner.shown, "%.*s%s%s",
					   place->depth ? (int)place->shown.length : 0,
					   place->shown.data, place->depth ? "/" : "", inner.name),
			    err);
		if (r == ROGER_OK)
			r = check_place(checking, &inner, err);
	}
	return r;
}

int rg_places_check(int folder, bool fix, rg_place_see *seen, void *context, struct roger_err *err)
{
	const struct checking checking = { fix, seen, context };
	const struct place top = { folder, ".", RG_STR("."), 0 };

	return check_place(&checking, &top, err);
}
