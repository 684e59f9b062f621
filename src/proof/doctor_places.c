/* doctor: folders, files, and who may use them. */
#include "proof/doctor.h"

#include "host/file.h"
#include "store/file/lock.h"

enum { DEPTH_MAX = 8 };

struct place {
	int folder;
	const char *name;
	struct roger_str shown; /* from the data folder */
	int depth;
};

static struct roger_breach at(const struct place *place, enum roger_breach_kind kind,
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

/* What other programs drop there is theirs until it is taken. */
static bool is_dropped(const struct place *place)
{
	return is_below(place, RG_STR("triggers/")) &&
	       place->shown.data[sizeof "triggers/" - 1] != '.';
}

/*
 * The first two may come out of a repository, as it made them; into the third others
 * write, and what is taken from there keeps their mode, in a folder that is closed.
 */
static bool is_shared(const struct place *place)
{
	return rg_str_is(place->shown, "config.yaml") || rg_str_is(place->shown, ".gitignore") ||
	       rg_str_is(place->shown, "triggers") || is_below(place, RG_STR("triggers/.taken/"));
}

static int check_mode(struct rg_doctor *doctor, const struct place *place,
		      const struct rg_file_look *look, struct roger_err *err)
{
	const struct roger_breach breach = at(place, ROGER_BREACH_MODE, ROGER_REPAIRABLE);
	struct roger_err why;
	size_t index;
	int r;

	if (!look->open_to_others || is_shared(place))
		return ROGER_OK;
	r = rg_doctor_tell(doctor, &breach, &index, err,
			   "others than its owner may use it; expected mode %s",
			   look->kind == RG_FILE_FOLDER ? "0700" : "0600");
	if (r == ROGER_OK && doctor->wish->fix &&
	    rg_file_close_to_others(place->folder, place->name, &why) == ROGER_OK)
		rg_doctor_fixed(doctor, index);
	return r;
}

/* What is added to a file is added under all its names: a backup made of links would change, too.
 */
static int check_links(struct rg_doctor *doctor, const struct place *place, struct roger_err *err)
{
	const struct roger_breach breach = at(place, ROGER_BREACH_PLACE, ROGER_NOTE);
	struct rg_file_facts facts;
	bool there;
	int r;

	r = rg_file_look(place->folder, place->name, &there, &facts, err);
	if (r < 0 || !there || facts.links < 2)
		return r;
	return rg_doctor_tell(
		doctor, &breach, NULL, err,
		"%lld names lead to it (hard links, as `cp -al` makes them): what roger "
		"adds is added to all of them; copy the backup instead",
		(long long)facts.links);
}

/* NAME.new-PID: the process, if that is what it is. */
static bool is_leftover(struct roger_str name, int64_t *ret_process)
{
	size_t at = name.length;

	while (at > 0 && name.data[at - 1] >= '0' && name.data[at - 1] <= '9')
		at--;
	return at > 5 && memcmp(name.data + at - 5, ".new-", 5) == 0 &&
	       rg_str_number((struct roger_str){ name.data + at, name.length - at }, ret_process);
}

/* *ret_removed: it is gone, so nothing else is wrong with it. */
static int check_leftover(struct rg_doctor *doctor, const struct place *place, bool *ret_removed,
			  struct roger_err *err)
{
	struct roger_breach breach = at(place, ROGER_BREACH_PLACE, ROGER_NOTE);
	struct roger_err why;
	int64_t process;
	size_t index;
	int r;

	if (!is_leftover(rg_str(place->name), &process) || rg_process_lives(process))
		return ROGER_OK;
	breach.fixable = true;
	r = rg_doctor_tell(doctor, &breach, &index, err, "left by a process that was killed");
	if (r == ROGER_OK && doctor->wish->fix &&
	    rg_file_remove(place->folder, place->name, &why) == ROGER_OK) {
		rg_doctor_fixed(doctor, index);
		*ret_removed = true;
	}
	return r;
}

static int check_folder(struct rg_doctor *doctor, const struct place *place, struct roger_err *err);

static int check_place(struct rg_doctor *doctor, const struct place *place, struct roger_err *err)
{
	const struct roger_breach breach = at(place, ROGER_BREACH_PLACE, ROGER_DAMAGE);
	struct rg_file_look look;
	bool removed = false;
	int r;

	if (is_dropped(place))
		return ROGER_OK;
	r = rg_file_examine(place->folder, place->name, &look, err);
	if (r < 0)
		return r;
	switch (look.kind) {
	case RG_FILE_NONE:
		return ROGER_OK;
	case RG_FILE_LINK:
		return rg_doctor_tell(doctor, &breach, NULL, err,
				      "a symbolic link, which roger does not follow");
	case RG_FILE_OTHER:
		return rg_doctor_tell(doctor, &breach, NULL, err, "neither a file nor a folder");
	case RG_FILE_REGULAR:
		r = check_leftover(doctor, place, &removed, err);
		if (r == ROGER_OK && !removed)
			r = check_links(doctor, place, err);
		break;
	case RG_FILE_FOLDER:
		break;
	}
	if (r == ROGER_OK && !removed)
		r = check_mode(doctor, place, &look, err);
	if (r == ROGER_OK && look.kind == RG_FILE_FOLDER && place->depth < DEPTH_MAX)
		r = check_folder(doctor, place, err);
	return r;
}

static int check_inside(struct rg_doctor *doctor, int folder, const struct place *outer,
			struct roger_str name, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf shown = { .maximum = SIZE_MAX };
	struct place place = { folder, name.data, { "", 0 }, outer->depth + 1 };

	if (outer->depth)
		rg_buf_printf(&shown, "%.*s/", RG_STR_ARGS(outer->shown));
	rg_buf_add_str(&shown, name);
	if (shown.failed)
		return rg_fail_memory(err);
	place.shown = rg_buf_str(&shown);
	return check_place(doctor, &place, err);
}

static int check_folder(struct rg_doctor *doctor, const struct place *place, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct rg_arena *arena = rg_arena_new();
	struct roger_strs names = { 0 };
	size_t i;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_file_open_folder(place->folder, place->name, &folder, err);
	if (r == ROGER_OK && folder != RG_NO_FILE)
		r = rg_file_list_folder(folder, place->name, arena, &names, err);
	for (i = 0; i < names.count && r == ROGER_OK; i++)
		r = check_inside(doctor, folder, place, names.items[i], err);
	rg_arena_free(arena);
	return r;
}

static int check_seal(struct rg_doctor *doctor, struct roger_err *err)
{
	struct roger_breach breach = { .kind = ROGER_BREACH_SEAL,
				       .severity = ROGER_DAMAGE,
				       .file = RG_STR("seal.key") };
	struct rg_seal_key key;
	enum rg_seal_state state;
	size_t index;
	int r;

	r = rg_engine_seal_state(doctor->engine, doctor->scratch, &state, err);
	/* Something else in its place was told. */
	if (r == ROGER_EREFUSED)
		return ROGER_OK;
	if (r < 0 || state == RG_SEAL_NONE || state == RG_SEAL_WHOLE)
		return r;
	if (state == RG_SEAL_WRONG)
		return rg_doctor_tell(doctor, &breach, NULL, err,
				      "it is no key, or 'seal.pub' is not its public half");
	breach.severity = ROGER_REPAIRABLE;
	r = rg_doctor_tell(doctor, &breach, &index, err, "its public half 'seal.pub' is missing");
	if (r == ROGER_OK && doctor->wish->fix &&
	    rg_engine_seal_key(doctor->engine, true, doctor->scratch, &key, err) == ROGER_OK)
		rg_doctor_fixed(doctor, index);
	return r;
}

/* A folder of data that the configuration places elsewhere is not ours alone. */
int rg_doctor_places(struct rg_doctor *doctor, struct roger_err *err)
{
	struct rg_engine *engine = doctor->engine;
	const struct place top = { engine->workspace->data, ".", RG_STR("."), 0 };
	int r;

	r = check_seal(doctor, err);
	if (r < 0 || !rg_str_is(engine->workspace->config->data_dir, RG_WORKSPACE_FOLDER))
		return r;
	return check_place(doctor, &top, err);
}
