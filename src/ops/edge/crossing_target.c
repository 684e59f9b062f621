/* crossing: who is meant by the name of a trigger file and by a role. */
#include "ops/edge/crossing.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "base/nearest.h"
#include "host/triggers.h"
#include "ops/mail/agents.h"

/* --------------------------------------------------------------- roles -- */

/* Fold a character to one that a role may have, without regard to case. */
static char fold_char(char c)
{
	if ((c >= '0' && c <= '9') || c == '-')
		return c;
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return (char)tolower((unsigned char)c);
	return '_';
}

static bool is_alike(struct roger_str a, struct roger_str b)
{
	size_t i;

	for (i = 0; i < a.length && i < b.length; i++)
		if (fold_char(a.data[i]) != fold_char(b.data[i]))
			return false;
	return a.length == b.length;
}

struct roger_str rg_crossing_name(struct roger_strs names, struct roger_str written)
{
	struct roger_str found = written;
	size_t i, count = 0;

	for (i = 0; i < names.count; i++) {
		if (rg_str_equal(names.items[i], written))
			return names.items[i];
		if (is_alike(names.items[i], written)) {
			found = names.items[i];
			count++;
		}
	}
	return count == 1 ? found : written;
}

bool rg_crossing_is_group(const struct rg_crossing *crossing, struct roger_str name)
{
	const struct rg_config *config = crossing->roger->workspace->config;
	size_t i;

	if (rg_config_reserves(config, name))
		return true;
	if (rg_names_have(&crossing->known, name))
		return false;
	for (i = 0; i < config->group_count; i++)
		if (is_alike(config->groups[i].name, name))
			return true;
	return is_alike(RG_STR("all"), name);
}

/* ------------------------------------------------------- names of files -- */

bool rg_crossing_is_handed(const struct rg_config *config, struct roger_str file)
{
	size_t i;

	for (i = 0; i < config->file_only.count; i++)
		if (rg_crossing_is_file_of(config->file_only.items[i], rg_trigger_stem(file)))
			return true;
	return false;
}

bool rg_crossing_is_file_of(struct roger_str name, struct roger_str stem)
{
	char file[RG_FILE_NAME_BYTES];

	rg_workspace_file_name(name, "", file);
	return strlen(file) == stem.length && strncasecmp(file, stem.data, stem.length) == 0;
}

struct roger_str rg_crossing_group_of(const struct rg_config *config, struct roger_str stem)
{
	size_t i;

	for (i = 0; i < config->group_count; i++)
		if (rg_crossing_is_file_of(config->groups[i].name, stem))
			return config->groups[i].name;
	return rg_crossing_is_file_of(RG_STR("all"), stem) ? RG_STR("all") : RG_STR("");
}

/* Find the agent whose file has this stem; "": none, or several and none matches exactly. */
static struct roger_str owner_of(struct roger_strs names, struct roger_str stem)
{
	struct roger_str found = { "", 0 };
	char file[RG_FILE_NAME_BYTES];
	size_t i, count = 0;

	for (i = 0; i < names.count; i++) {
		if (!rg_crossing_is_file_of(names.items[i], stem))
			continue;
		rg_workspace_file_name(names.items[i], "", file);
		if (rg_str_is(stem, file))
			return names.items[i];
		found = names.items[i];
		count++;
	}
	return count == 1 ? found : RG_STR("");
}

/* Decode a file name into the agent's name; "": it is not the encoding of one. */
static struct roger_str decode_stem(struct roger_str stem, struct rg_arena *arena)
{
	char name[RG_NAME_CHARS_MAX + 1];
	unsigned byte;
	size_t at, length = 0;

	for (at = 0; at < stem.length; at++) {
		if (length == RG_NAME_CHARS_MAX)
			return RG_STR("");
		name[length] = stem.data[at];
		if (stem.data[at] == '%') {
			if (at + 2 >= stem.length || sscanf(stem.data + at + 1, "%2x", &byte) != 1)
				return RG_STR("");
			name[length] = (char)byte;
			at += 2;
		}
		length++;
	}
	if (!rg_name_valid((struct roger_str){ name, length }))
		return RG_STR("");
	return rg_arena_str(arena, (struct roger_str){ name, length });
}

/* ------------------------------------------------------------- targets -- */

/* A name was never seen: note that, or refuse it where recipients are strict. */
static void note_unknown(struct rg_crossing *crossing, struct roger_str name,
			 struct rg_crossing_target *target)
{
	struct roger_bridge_reply *reply = crossing->reply;
	const struct roger_str near = rg_nearest_of(rg_names_list(&crossing->known), name);

	if (crossing->roger->workspace->config->recipients == RG_RECIPIENTS_STRICT)
		target->refused = rg_arena_text(crossing->arena,
						"'%.*s' has never been seen here (recipients: "
						"strict)" RG_MEANT,
						RG_STR_ARGS(name), RG_MEANT_ARGS(near));
	else
		rg_arena_note(reply->memory, &reply->notes,
			      "'%.*s' has never been seen here" RG_MEANT, RG_STR_ARGS(name),
			      RG_MEANT_ARGS(near));
}

/* The target is one agent.  Its successor gets its mail if it retired, or nobody. */
static int find_agent(struct rg_crossing *crossing, struct roger_str name,
		      struct rg_crossing_target *target, struct roger_err *err)
{
	struct rg_arena *arena = crossing->arena;
	struct roger_retired_list retired;
	struct roger_str heir, why;
	int r;

	if (rg_config_is_roger(name)) {
		target->refused = RG_STR("roger itself reads no mail; name an agent");
		return ROGER_OK;
	}
	r = rg_engine_retired(crossing->roger->engine, arena, &retired, err);
	if (r < 0)
		return r;
	heir = rg_retired_heir(&retired, name);
	if (!heir.length) {
		why = rg_agents_why_retired(rg_retired_find(&retired, name), arena);
		target->refused =
			rg_arena_text(arena, "'%.*s' %.*s", RG_STR_ARGS(name), RG_STR_ARGS(why));
		return ROGER_OK;
	}
	target->shown = heir;
	rg_arena_note(arena, &target->names, "%.*s", RG_STR_ARGS(heir));
	if (!rg_names_have(&crossing->known, heir))
		note_unknown(crossing, heir, target);
	return ROGER_OK;
}

/* The target is a group, or all. */
static int find_several(struct rg_crossing *crossing, struct roger_str name,
			struct rg_crossing_target *ret_target, struct roger_err *err)
{
	struct rg_everyone everyone;
	int r = rg_agents_of(crossing->roger, name, crossing->arena, &everyone, err);

	if (r < 0)
		return r;
	rg_agents_note_skipped(crossing->reply->memory, &crossing->reply->notes, &everyone.skipped);
	*ret_target = (struct rg_crossing_target){ .names = everyone.names,
						   .group = true,
						   .shown = name };
	return ROGER_OK;
}

int rg_crossing_target(struct rg_crossing *crossing, struct roger_str written,
		       struct rg_crossing_target *ret_target, struct roger_err *err)
{
	struct roger_str group = rg_crossing_group_of(crossing->roger->workspace->config, written);
	struct roger_str name = owner_of(rg_names_list(&crossing->known), written);
	int r = ROGER_OK;

	*ret_target = (struct rg_crossing_target){ .shown = written };
	if (group.length)
		return find_several(crossing, group, ret_target, err);
	if (!name.length && is_alike(written, RG_STR("workers"))) {
		ret_target->refused = RG_STR("no group 'workers' is configured; name its agents "
					     "under groups: in config.yaml");
		return ROGER_OK;
	}
	if (!name.length)
		name = decode_stem(written, crossing->arena);
	if (name.length)
		r = find_agent(crossing, name, ret_target, err);
	else
		ret_target->refused = RG_STR("this is no name of an agent: letters, digits and "
					     ". _ -, others as %XX");
	return r < 0 ? r : rg_kept(!rg_arena_failed(crossing->arena), err);
}
