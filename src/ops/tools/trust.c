/*
 * trust: what a workspace wants to be allowed, shown, accepted and taken back.
 *
 * To accept it one names the SHA-256 of what was shown, so that no change in between
 * goes unnoticed.
 */
#include "ops/tools/trust.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sign.h"
#include "host/file.h"
#include "host/storage.h"

/* -------------------------------------------------------------- commands -- */

/* Is a command of the workspace in root trusted as its words and files are now? */
static int judge(const struct rg_trust *trust, struct roger_strs words, struct rg_arena *arena,
		 struct roger_trust_command *ret_command, struct roger_err *err)
{
	int r = rg_trust_digest(trust->root.data, words, arena, &ret_command->sha256,
				&ret_command->files, err);

	ret_command->trusted = r == ROGER_OK && rg_trust_has_command(trust, ret_command->sha256);
	return r;
}

int rg_trust_may_run(struct roger *roger, const char *setting, struct roger_strs words,
		     bool *ret_may, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_trust_command command = { 0 };
	const struct rg_trust *trust;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_workspace_trust(roger->workspace, &trust, err);
	if (r == ROGER_OK)
		r = judge(trust, words, arena, &command, err);
	*ret_may = command.trusted;
	if (r == ROGER_OK && !*ret_may)
		snprintf(roger->untold, sizeof roger->untold,
			 "%.200s was left out: nobody trusted it as it is now; see `roger trust`",
			 setting);
	return r;
}

int rg_trust_check_filled(struct roger *roger, struct roger_strs trusted, struct roger_strs filled,
			  struct rg_arena *arena, struct roger_err *err)
{
	/* Only words that were filled: what another one names may have been made just now. */
	struct roger_str unused, *words = rg_arena_get(arena, filled.count * sizeof *words);
	struct roger_strs known, named, changed = { words, 0 };
	size_t i;
	int r = words ? ROGER_OK : rg_fail_memory(err);

	for (i = 0; r == ROGER_OK && i < filled.count; i++)
		if (!rg_str_equal(filled.items[i], trusted.items[i]))
			words[changed.count++] = filled.items[i];
	if (r == ROGER_OK)
		r = rg_trust_digest(roger->workspace->root, trusted, arena, &unused, &known, err);
	if (r == ROGER_OK)
		r = rg_trust_digest(roger->workspace->root, changed, arena, &unused, &named, err);
	for (i = 0; r == ROGER_OK && i < named.count; i++)
		if (!rg_str_among(known, named.items[i]))
			r = rg_fail(err, ROGER_EREFUSED, 0,
				    "the command names '%.*s' by a placeholder, and nobody trusted "
				    "that file",
				    RG_STR_ARGS(named.items[i]));
	return r;
}

int rg_trust_tell(struct roger *roger, struct rg_arena *arena, struct roger_strs *notes,
		  struct roger_err *err)
{
	struct roger_str *items, text;

	if (!roger->untold[0])
		return ROGER_OK;
	items = rg_arena_get(arena, (notes->count + 1) * sizeof *items);
	if (!items || !rg_arena_copy(arena, rg_str(roger->untold), &text))
		return rg_fail_memory(err);
	if (notes->count)
		memcpy(items, notes->items, notes->count * sizeof *items);
	items[notes->count] = text;
	*notes = (struct roger_strs){ items, notes->count + 1 };
	roger->untold[0] = '\0';
	return ROGER_OK;
}

int rg_trust_count_commands(struct roger *roger, struct rg_arena *arena, int64_t *ret_count,
			    struct roger_str *ret_first, struct roger_err *err)
{
	struct roger_trust_command command;
	const struct rg_trust *trust;
	struct roger_str setting;
	struct roger_strs words;
	size_t i = 0;
	int r;

	*ret_count = 0;
	r = rg_workspace_trust(roger->workspace, &trust, err);
	while (r == ROGER_OK &&
	       rg_config_next_command(roger->workspace->config, &i, &setting, &words)) {
		r = judge(trust, words, arena, &command, err);
		if (r == ROGER_OK && !command.trusted && (*ret_count)++ == 0)
			*ret_first = setting;
	}
	return r;
}

/* --------------------------------------------------------------- showing -- */

static int show_commands(struct roger_trust_reply *reply, struct rg_trust *trust,
			 const struct rg_config *config, struct roger_err *err)
{
	struct roger_trust_command *place;
	struct roger_str setting;
	struct roger_strs words;
	size_t i = 0, k;
	int r = ROGER_OK;

	while (r == ROGER_OK && rg_config_next_command(config, &i, &setting, &words)) {
		place = rg_arena_push(reply->memory, &reply->commands.items, &reply->commands.count,
				      sizeof *place);
		if (!place || !rg_arena_copy(reply->memory, setting, &place->setting))
			return rg_fail_memory(err);
		for (k = 0; k < words.count; k++)
			if (!rg_arena_add(reply->memory, &place->words, words.items[k]))
				return rg_fail_memory(err);
		r = judge(trust, words, reply->memory, place, err);
		reply->trusted &= place->trusted;
	}
	return r;
}

static int show_places(struct roger_trust_reply *reply, struct rg_trust *trust,
		       const struct rg_config *config, struct roger_err *err)
{
	struct rg_storage_places places;
	struct roger_trust_place *place;
	size_t i;
	int r;

	r = rg_storage_find(config, trust->root.data, reply->memory, &places, err);
	for (i = 0; r == ROGER_OK && i < places.count; i++) {
		place = rg_arena_push(reply->memory, &reply->places.items, &reply->places.count,
				      sizeof *place);
		if (!place ||
		    !rg_arena_copy(reply->memory, places.items[i].setting, &place->setting))
			return rg_fail_memory(err);
		place->path = places.items[i].path;
		place->trusted = rg_trust_has_path(trust, place->path);
		reply->trusted &= place->trusted;
	}
	return r;
}

static void add(struct rg_sha256 *sha, const char *what, struct roger_str text)
{
	char head[64];

	snprintf(head, sizeof head, "%s %zu ", what, text.length);
	rg_sha256_add(sha, head, strlen(head));
	rg_sha256_add(sha, text.data, text.length);
}

/* The digest of everything that is asked for, in order. */
static int sum_up(struct roger_trust_reply *reply, struct rg_trust *trust, struct roger_err *err)
{
	char sha256[RG_DIGEST_DIGITS + 1], owner[24];
	struct rg_sha256 sha;
	size_t i;

	rg_sha256_init(&sha);
	add(&sha, "mailbox", trust->root);
	snprintf(owner, sizeof owner, "%lld", (long long)trust->owner);
	add(&sha, "owner", rg_str(owner));
	for (i = 0; i < reply->commands.count; i++) {
		add(&sha, "setting", reply->commands.items[i].setting);
		add(&sha, "command", reply->commands.items[i].sha256);
	}
	for (i = 0; i < reply->places.count; i++) {
		add(&sha, "setting", reply->places.items[i].setting);
		add(&sha, "path", reply->places.items[i].path);
	}
	rg_sha256_peek(&sha, sha256);
	return rg_arena_copy(reply->memory, rg_str(sha256), &reply->sha256) ? ROGER_OK
									    : rg_fail_memory(err);
}

static int show(struct roger_trust_reply *reply, struct rg_trust *trust, struct roger_err *err)
{
	struct rg_config *config;
	int r;

	reply->trusted = reply->mailbox = trust->mailbox;
	reply->owner = trust->owner;
	r = rg_config_load(trust->root.data, &config, err);
	if (r < 0)
		return r;
	r = show_commands(reply, trust, config, err);
	if (r == ROGER_OK)
		r = show_places(reply, trust, config, err);
	if (r == ROGER_OK)
		r = sum_up(reply, trust, err);
	rg_config_free(config);
	return r == ROGER_OK && !rg_arena_copy(reply->memory, trust->root, &reply->workspace)
		       ? rg_fail_memory(err)
		       : r;
}

/* -------------------------------------------------------------- changing -- */

static int accept(struct roger_trust_reply *reply, struct rg_trust *trust, struct roger_str sha256,
		  struct roger_err *err)
{
	struct roger_strs commands = { 0 }, paths = { 0 };
	size_t i;
	int r;

	if (!rg_str_equal(sha256, reply->sha256))
		return rg_fail_member(err, ROGER_EREFUSED, "accept",
				      "accept: this is not what the workspace asks for now; look "
				      "at it again with `roger trust --show`");
	for (i = 0; i < reply->commands.count; i++)
		if (!rg_arena_add(reply->memory, &commands, reply->commands.items[i].sha256))
			return rg_fail_memory(err);
	for (i = 0; i < reply->places.count; i++)
		if (!rg_arena_add(reply->memory, &paths, reply->places.items[i].path))
			return rg_fail_memory(err);
	r = rg_trust_accept(trust, commands, paths, err);
	if (r < 0)
		return r;
	reply->commands.count = reply->places.count = 0;
	reply->changed = true;
	return show(reply, trust, err);
}

int rg_trust_add_command(const char *root, struct roger_strs words, struct rg_arena *arena,
			 bool *ret_trusted, struct roger_err *err)
{
	struct roger_trust_command command = { 0 };
	struct rg_trust *trust = NULL;
	struct roger_strs commands = { 0 };
	char found[4096];
	int64_t owner;
	size_t i;
	int r;

	r = rg_workspace_find(root, found, &owner, err);
	if (r == ROGER_OK)
		r = rg_trust_load(found, owner, &trust, err);
	if (r == ROGER_OK)
		r = judge(trust, words, arena, &command, err);
	if (r == ROGER_OK && !command.trusted && trust->known.id.length) {
		for (i = 0; i <= trust->known.commands.count && r == ROGER_OK; i++)
			if (!rg_arena_add(arena, &commands,
					  i < trust->known.commands.count
						  ? trust->known.commands.items[i]
						  : command.sha256))
				r = rg_fail_memory(err);
		if (r == ROGER_OK)
			r = rg_trust_accept(trust, commands, trust->known.paths, err);
		command.trusted = r == ROGER_OK;
	}
	*ret_trusted = command.trusted;
	rg_trust_free(trust);
	return r;
}

int rg_trust_add_place(const char *root, struct roger_str place, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_trust *trust = NULL;
	struct roger_strs paths = { 0 };
	char found[4096];
	int64_t owner;
	size_t i;
	int r = arena ? rg_workspace_find(root, found, &owner, err) : rg_fail_memory(err);

	if (r == ROGER_OK)
		r = rg_trust_load(found, owner, &trust, err);
	if (r == ROGER_OK && trust->known.id.length && !rg_trust_has_path(trust, place)) {
		for (i = 0; i <= trust->known.paths.count && r == ROGER_OK; i++)
			if (!rg_arena_add(arena, &paths,
					  i < trust->known.paths.count ? trust->known.paths.items[i]
								       : place))
				r = rg_fail_memory(err);
		if (r == ROGER_OK)
			r = rg_trust_accept(trust, trust->known.commands, paths, err);
	}
	rg_trust_free(trust);
	return r;
}

/* ------------------------------------------------------------------ list -- */

/* Does the folder still hold the mailbox of the document? */
static bool is_there(const struct rg_trusted *known)
{
	struct rg_trust *trust;
	char path[4200];
	int64_t owner;
	bool there;

	snprintf(path, sizeof path, "%.*s/" RG_WORKSPACE_FOLDER, RG_STR_ARGS(known->path));
	if (!rg_file_owner(path, &owner) ||
	    rg_trust_load(known->path.data, owner, &trust, NULL) < 0)
		return false;
	there = trust->known.id.length > 0;
	rg_trust_free(trust);
	return there;
}

static int compare(const void *a, const void *b)
{
	const struct roger_trust_workspace *x = a, *y = b;

	return strcmp(x->workspace.data, y->workspace.data);
}

static int list(struct roger_trust_reply *reply, struct roger_err *err)
{
	struct roger_trust_workspace *items;
	struct rg_trusted_list known;
	size_t i;
	int r;

	r = rg_trust_list(reply->memory, &known, err);
	if (r < 0)
		return r;
	items = rg_arena_get(reply->memory, (known.count + 1) * sizeof *items);
	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < known.count; i++) {
		items[i] = (struct roger_trust_workspace){
			.there = is_there(&known.items[i]),
			.commands = (int64_t)known.items[i].commands.count,
			.accepted_at_ms = known.items[i].accepted_at_ms
		};
		/* A copy ends with a NUL; a decoded text may not. */
		if (!rg_arena_copy(reply->memory, known.items[i].path, &items[i].workspace))
			return rg_fail_memory(err);
	}
	qsort(items, known.count, sizeof *items, compare);
	reply->workspaces = (struct roger_trust_workspaces){ items, known.count };
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

static int check(const struct roger_trust_request *request, struct roger_err *err)
{
	if ((request->accept.length > 0) + request->revoke + request->list > 1)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected one of --accept, --revoke and --list");
	if (request->path.length >= 4096)
		return rg_fail_member(err, ROGER_EDATA, "path",
				      "path: expected at most 4095 bytes");
	return ROGER_OK;
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_trust_request *request = request_;
	struct roger_trust_reply *reply = reply_;
	struct rg_trust *trust = NULL;
	char path[4096], root[4096];
	int64_t owner;
	int r;

	(void)roger;
	r = check(request, err);
	if (r < 0 || request->list)
		return r < 0 ? r : list(reply, err);
	snprintf(path, sizeof path, "%.*s", RG_STR_ARGS(request->path));
	r = rg_workspace_find(path[0] ? path : NULL, root, &owner, err);
	if (r < 0)
		return r;
	if (request->revoke) {
		r = rg_trust_revoke(root, &reply->changed, err);
		return r == ROGER_OK && !rg_arena_copy(reply->memory, rg_str(root),
						       &reply->workspace)
			       ? rg_fail_memory(err)
			       : r;
	}
	r = rg_trust_load(root, owner, &trust, err);
	if (r == ROGER_OK)
		r = show(reply, trust, err);
	if (r == ROGER_OK && request->accept.length)
		r = accept(reply, trust, request->accept, err);
	rg_trust_free(trust);
	return r;
}

#define AT(member) offsetof(struct roger_trust_request, member)
static const struct roger_field request_fields[] = {
	{ "path", ROGER_TEXT, AT(path), ROGER_PLACE, NULL, NULL,
	  "at or below the workspace (default: as for every command)" },
	{ "accept", ROGER_TEXT, AT(accept), 0, NULL, NULL,
	  "the SHA-256 that --show printed: trust what it showed" },
	{ "revoke", ROGER_BOOL, AT(revoke), 0, NULL, NULL, "withdraw the trust" },
	{ "list", ROGER_BOOL, AT(list), 0, NULL, NULL, "show every workspace that is trusted" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "request", sizeof(struct roger_trust_request),
						    request_fields };

#define AT(member) offsetof(struct roger_trust_command, member)
static const struct roger_field command_fields[] = {
	{ "setting", ROGER_TEXT, AT(setting), 0, NULL, NULL, "where it is configured" },
	{ "words", ROGER_TEXTS, AT(words), 0, NULL, NULL, "a program and its arguments" },
	{ "files", ROGER_TEXTS, AT(files), ROGER_SPARE, NULL, NULL,
	  "files of the workspace that they name" },
	{ "sha256", ROGER_TEXT, AT(sha256), 0, NULL, NULL, "of the words and these files" },
	{ "trusted", ROGER_BOOL, AT(trusted), 0, NULL, NULL, "it may run" },
	RG_END,
};
#undef AT
static const struct roger_record command_record = { "trust command",
						    sizeof(struct roger_trust_command),
						    command_fields };

#define AT(member) offsetof(struct roger_trust_place, member)
static const struct roger_field place_fields[] = {
	{ "setting", ROGER_TEXT, AT(setting), 0, NULL, NULL, "where it is configured" },
	{ "path", ROGER_TEXT, AT(path), 0, NULL, NULL, "absolute, links resolved" },
	{ "trusted", ROGER_BOOL, AT(trusted), 0, NULL, NULL, "roger may write there" },
	RG_END,
};
#undef AT
static const struct roger_record place_record = { "trust place", sizeof(struct roger_trust_place),
						  place_fields };

#define AT(member) offsetof(struct roger_trust_workspace, member)
static const struct roger_field workspace_fields[] = {
	{ "workspace", ROGER_TEXT, AT(workspace), 0, NULL, NULL, "its path" },
	{ "there", ROGER_BOOL, AT(there), 0, NULL, NULL, "it still stands there" },
	{ "commands", ROGER_INT, AT(commands), 0, NULL, NULL, "that are trusted" },
	{ "accepted_at", ROGER_TIME, AT(accepted_at_ms), 0, NULL, NULL, "when" },
	RG_END,
};
#undef AT
static const struct roger_record workspace_record = { "trust workspace",
						      sizeof(struct roger_trust_workspace),
						      workspace_fields };

#define AT(member) offsetof(struct roger_trust_reply, member)
static const struct roger_field reply_fields[] = {
	{ "workspace", ROGER_TEXT, AT(workspace), ROGER_SPARE, NULL, NULL,
	  "the folder that holds .roger" },
	{ "owner", ROGER_INT, AT(owner), ROGER_SPARE, NULL, NULL, "user id of .roger" },
	{ "mailbox", ROGER_BOOL, AT(mailbox), 0, NULL, NULL,
	  "its mail may be shown to an agent unasked" },
	{ "commands", ROGER_RECORDS, AT(commands), 0, NULL, &command_record,
	  "that are configured" },
	{ "places", ROGER_RECORDS, AT(places), 0, NULL, &place_record,
	  "outside the folders for messages" },
	{ "sha256", ROGER_TEXT, AT(sha256), ROGER_SPARE, NULL, NULL, "of all of it, for accept" },
	{ "trusted", ROGER_BOOL, AT(trusted), 0, NULL, NULL, "all of it is" },
	{ "changed", ROGER_BOOL, AT(changed), 0, NULL, NULL, "by this call" },
	{ "workspaces", ROGER_RECORDS, AT(workspaces), ROGER_SPARE, NULL, &workspace_record,
	  "with list" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "trust", sizeof(struct roger_trust_reply),
						  reply_fields };

const struct roger_op rg_op_trust = {
	.name = "trust",
	.summary = "show, accept or revoke what this workspace may run by itself",
	.examples = "roger trust\n"
		    "roger trust --show\n"
		    "roger trust --accept SHA256\n"
		    "roger trust --revoke\n"
		    "roger trust --list\n",
	.flags = ROGER_WRITES | ROGER_NO_WORKSPACE,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
