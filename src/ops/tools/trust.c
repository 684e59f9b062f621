/*
 * trust: show, accept and revoke what a workspace asks to be allowed.
 *
 * Accepting needs the SHA-256 of what was shown, so that no change in between goes
 * unnoticed.
 */
#include "ops/tools/trust.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sign.h"
#include "host/seal_key.h"
#include "host/storage.h"

/* -------------------------------------------------------------- commands -- */

/* Fill in whether a command is trusted with its words and files as they are now. */
static int judge_command(const struct rg_trust *trust, struct roger_strs words,
			 struct rg_arena *arena, struct roger_trust_command *ret_command,
			 struct roger_err *err)
{
	struct rg_trust_named named = { 0 };
	int r = rg_trust_digest(trust->root.data, words, arena, &ret_command->sha256, &named, err);

	ret_command->files = named.files;
	ret_command->in_root = named.files.count || named.folder;
	ret_command->trusted = r == ROGER_OK && rg_trust_has_command(trust, ret_command->sha256);
	return r;
}

/* Set the folder in which a command runs: .roger/, unless it names files of the project, as a
 * program may use files there that a pull brought, like json.py or a Makefile. */
static int place_program(const struct roger *roger, bool in_root, struct rg_arena *arena,
			 struct rg_program *program, struct roger_err *err)
{
	struct roger_str home;

	program->folder = roger->workspace->root;
	if (in_root)
		return ROGER_OK;
	if (!rg_arena_print(arena, &home, "%s/%s", program->folder, RG_WORKSPACE_FOLDER) ||
	    !rg_arena_add(arena, &program->more, RG_STR("PYTHONSAFEPATH=1")))
		return rg_fail_memory(err);
	program->folder = home.data;
	return ROGER_OK;
}

int rg_trust_may_run(struct roger *roger, const char *setting, struct roger_strs words,
		     struct rg_program *program, struct rg_arena *arena, bool *ret_may,
		     struct roger_err *err)
{
	struct roger_trust_command command = { 0 };
	const struct rg_trust *trust;
	int r;

	r = rg_workspace_trust(roger->workspace, &trust, err);
	if (r == ROGER_OK)
		r = judge_command(trust, words, arena, &command, err);
	/* A command in .roger/ may use files there, which must not have come with a pull. */
	*ret_may =
		command.trusted && (command.in_root || !*rg_workspace_distrust(roger->workspace));
	if (r == ROGER_OK && !*ret_may)
		snprintf(roger->untold, sizeof roger->untold,
			 "%.200s was left out: nobody trusted it as it is now; see `roger trust`",
			 setting);
	return r == ROGER_OK && *ret_may && program
		       ? place_program(roger, command.in_root, arena, program, err)
		       : r;
}

int rg_trust_check_filled(struct roger *roger, struct roger_strs trusted,
			  struct rg_program *program, struct rg_arena *arena, struct roger_err *err)
{
	/* Check only filled words: a file that another word names may have been made just now. */
	const struct roger_strs *filled = &program->words;
	struct roger_str unused, *words = rg_arena_get(arena, filled->count * sizeof *words);
	struct rg_trust_named known = { 0 }, named = { 0 };
	struct roger_strs changed = { words, 0 };
	size_t i;
	int r = rg_kept(words, err);

	for (i = 0; r == ROGER_OK && i < filled->count; i++)
		if (!rg_str_equal(filled->items[i], trusted.items[i]))
			words[changed.count++] = filled->items[i];
	if (r == ROGER_OK)
		r = rg_trust_digest(roger->workspace->root, trusted, arena, &unused, &known, err);
	if (r == ROGER_OK)
		r = rg_trust_digest(roger->workspace->root, changed, arena, &unused, &named, err);
	for (i = 0; r == ROGER_OK && i < named.files.count; i++)
		if (!rg_str_among(known.files, named.files.items[i]))
			r = rg_fail(err, ROGER_EREFUSED, 0,
				    "the command names '%.*s' by a placeholder, and nobody trusted "
				    "that file",
				    RG_STR_ARGS(named.files.items[i]));
	return r == ROGER_OK ? place_program(roger, known.files.count || known.folder, arena,
					     program, err)
			     : r;
}

int rg_trust_tell(struct roger *roger, struct rg_arena *arena, struct roger_strs *notes,
		  struct roger_err *err)
{
	if (roger->untold[0] && !rg_arena_add(arena, notes, rg_str(roger->untold)))
		return rg_fail_memory(err);
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
		r = judge_command(trust, words, arena, &command, err);
		if (r == ROGER_OK && !command.trusted && (*ret_count)++ == 0)
			*ret_first = setting;
	}
	return r;
}

/* --------------------------------------------------------------- showing -- */

static int show_commands(struct roger_trust_reply *reply, struct rg_trust *trust,
			 const struct rg_config *config, struct rg_trusted *wish,
			 struct roger_err *err)
{
	struct roger_trust_command command;
	struct roger_str setting;
	struct roger_strs words;
	size_t i = 0, k;
	int r = ROGER_OK;

	while (r == ROGER_OK && rg_config_next_command(config, &i, &setting, &words)) {
		command = (struct roger_trust_command){ .setting = rg_arena_str(reply->memory,
										setting) };
		for (k = 0; k < words.count; k++)
			(void)!rg_arena_add(reply->memory, &command.words, words.items[k]);
		r = judge_command(trust, words, reply->memory, &command, err);
		reply->trusted &= command.trusted;
		(void)!rg_arena_append(reply->memory, &reply->commands.items,
				       &reply->commands.count, &command, sizeof command);
		(void)!rg_arena_add(reply->memory, &wish->commands, command.sha256);
	}
	return r;
}

static int show_places(struct roger_trust_reply *reply, struct rg_trust *trust,
		       const struct rg_config *config, struct rg_trusted *wish,
		       struct roger_err *err)
{
	struct rg_trusted_place_list all = { 0 };
	const struct rg_trusted_place *one;
	struct roger_trust_place place;
	bool asked; /* the place needs trust of its own, as a path */
	size_t i;
	int r = rg_storage_all(config, trust->root.data, reply->memory, &all, err);

	if (r < 0)
		return r;
	rg_trust_compare(trust, all);
	wish->places = all;
	for (i = 0; i < all.count; i++) {
		one = &all.items[i];
		asked = rg_storage_needs_trust(trust->root.data, one);
		if (asked)
			(void)!rg_arena_add(reply->memory, &wish->paths, one->path);
		place = (struct roger_trust_place){
			.setting = one->setting,
			.path = one->path,
			.origin = one->origin,
			.usual = one->usual,
			.trusted = trust->mailbox && rg_trust_has_place(trust, one) &&
				   (!asked || rg_trust_has_path(trust, one->path)),
		};
		reply->trusted &= place.trusted;
		(void)!rg_arena_append(reply->memory, &reply->places.items, &reply->places.count,
				       &place, sizeof place);
	}
	return ROGER_OK;
}

/* Show which files of the mailbox git tracks. */
static int show_git(struct roger_trust_reply *reply, struct rg_trust *trust,
		    const struct rg_config *config, struct rg_trusted *wish, struct roger_err *err)
{
	char why[RG_DISTRUST_BYTES];
	enum rg_git_state state;
	int r;

	r = rg_storage_tracked(config, trust->root.data, trust->places, reply->memory, &state,
			       &reply->tracked, &wish->tracked, err);
	if (r < 0)
		return r;
	state = rg_trust_judge_git(trust, state, wish->tracked);
	rg_trust_say(trust, state, why);
	reply->tracked_trusted = state == RG_GIT_CLEAR;
	reply->mailbox = !why[0];
	reply->trusted &= reply->mailbox && reply->tracked_trusted;
	reply->why = rg_arena_str(reply->memory, rg_str(why));
	return ROGER_OK;
}

/* Show the seal's key.  A key other than the known one may have come with a pull. */
static int show_key(struct roger_trust_reply *reply, const struct rg_trust *trust,
		    struct rg_trusted *wish, struct roger_err *err)
{
	int r = rg_seal_key_there(trust->places.items[0].path.data, reply->memory, &reply->seal_key,
				  err);

	reply->seal_key_trusted = !reply->seal_key.length || !trust->known.seal_key.length ||
				  rg_str_equal(reply->seal_key, trust->known.seal_key);
	reply->trusted &= reply->seal_key_trusted;
	wish->seal_key = reply->seal_key.length ? reply->seal_key : trust->known.seal_key;
	return r;
}

/* Compute the digest of everything that the workspace asks for, in the form in which it is kept. */
static int sum_up(struct roger_trust_reply *reply, const struct rg_trust *trust,
		  struct rg_trusted *wish, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char sha256[RG_DIGEST_DIGITS + 1];

	wish->path = trust->root;
	wish->owner = trust->owner;
	rg_record_encode(&rg_trusted_record, wish, &text);
	rg_sha256_hex(rg_buf_str(&text), sha256);
	reply->sha256 = rg_arena_str(reply->memory, rg_str(sha256));
	/* What is missing in the sum would be accepted unseen. */
	return rg_kept(!text.failed && !rg_arena_failed(reply->memory), err);
}

/* Show what the workspace asks for.  wish: all of it, in the form in which it is accepted. */
static int show_trust(struct roger_trust_reply *reply, struct rg_trust *trust,
		      struct rg_trusted *wish, struct roger_err *err)
{
	struct rg_config *config;
	int r;

	reply->trusted = trust->mailbox;
	reply->owner = trust->owner;
	r = rg_config_load(trust->root.data, &config, err);
	if (r < 0)
		return r;
	/* Places come first: if they are not the trusted ones, no command is trusted. */
	r = show_places(reply, trust, config, wish, err);
	if (r == ROGER_OK)
		r = show_commands(reply, trust, config, wish, err);
	if (r == ROGER_OK)
		r = show_git(reply, trust, config, wish, err);
	if (r == ROGER_OK)
		r = show_key(reply, trust, wish, err);
	if (r == ROGER_OK)
		r = sum_up(reply, trust, wish, err);
	rg_config_free(config);
	reply->workspace = rg_arena_str(reply->memory, trust->root);
	return r;
}

/* -------------------------------------------------------------- changing -- */

static int accept_shown(struct roger_trust_reply *reply, struct rg_trust *trust,
			struct roger_str sha256, const struct rg_trusted *shown,
			struct roger_err *err)
{
	struct rg_trusted again = { 0 };
	int r;

	if (!rg_str_equal(sha256, reply->sha256))
		return rg_fail_member(err, ROGER_EREFUSED, "accept",
				      "accept: this is not what the workspace asks for now; look "
				      "at it again with `roger trust --show`");
	r = rg_trust_accept(trust, shown, err);
	if (r < 0)
		return r;
	reply->commands.count = reply->places.count = 0;
	reply->changed = true;
	return show_trust(reply, trust, &again, err);
}

int rg_trust_add_command(const char *root, struct roger_strs words, struct rg_arena *arena,
			 struct roger_err *err)
{
	struct roger_trust_command command = { 0 };
	RG_CLEANUP(rg_trust_freep) struct rg_trust *trust = NULL;
	struct rg_trusted wish;
	int r = rg_trust_load_there(root, &trust, err);

	if (r == ROGER_OK)
		r = judge_command(trust, words, arena, &command, err);
	if (r < 0 || command.trusted || !trust->known.id.length)
		return r;
	wish = trust->known;
	r = rg_kept(rg_arena_add(arena, &wish.commands, command.sha256), err);
	return r < 0 ? r : rg_trust_accept(trust, &wish, err);
}

int rg_trust_set_store(const char *root, struct roger_str address, struct roger_err *err)
{
	RG_CLEANUP(rg_trust_freep) struct rg_trust *trust = NULL;
	struct rg_trusted_place *place;
	struct rg_trusted wish;
	size_t i;
	int r = rg_trust_load_there(root, &trust, err);

	if (r < 0 || !trust->known.id.length)
		return r;
	wish = trust->known;
	if (address.length && !rg_str_among(wish.paths, address))
		r = rg_kept(rg_arena_add(trust->memory, &wish.paths, address), err);
	for (i = 0; i < wish.places.count; i++) {
		place = (struct rg_trusted_place *)(uintptr_t)&wish.places.items[i];
		if (rg_str_is(place->setting, "store"))
			place->path = address;
	}
	return r < 0 ? r : rg_trust_accept(trust, &wish, err);
}

/* ------------------------------------------------------------------ list -- */

/* True if the folder still holds the mailbox that its document is about. */
static bool is_there(const char *root)
{
	RG_CLEANUP(rg_trust_freep) struct rg_trust *trust = NULL;

	return rg_trust_load_there(root, &trust, NULL) == ROGER_OK && trust->known.id.length;
}

static int list_trusted(struct roger_trust_reply *reply, struct roger_err *err)
{
	struct roger_trust_workspace one;
	struct rg_trusted_list known;
	size_t i;
	int r = rg_trust_list(reply->memory, &known, err);

	if (r < 0)
		return r;
	for (i = 0; i < known.count; i++) {
		/* A copy ends with a NUL; a decoded text may not. */
		one = (struct roger_trust_workspace){
			.workspace = rg_arena_str(reply->memory, known.items[i].path),
			.commands = (int64_t)known.items[i].commands.count,
			.accepted_at_ms = known.items[i].accepted_at_ms,
		};
		one.there = is_there(one.workspace.data);
		(void)!rg_arena_append(reply->memory, &reply->workspaces.items,
				       &reply->workspaces.count, &one, sizeof one);
	}
	/* rg_str_compare() orders by path, since each begins with its path. */
	if (reply->workspaces.count)
		qsort((void *)(uintptr_t)reply->workspaces.items, reply->workspaces.count,
		      sizeof one, rg_str_compare);
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

int rg_verb_trust(struct roger *roger, const struct roger_trust_request *request,
		  struct roger_trust_reply *reply, struct roger_err *err)
{
	RG_CLEANUP(rg_trust_freep) struct rg_trust *trust = NULL;
	struct rg_trusted shown = { 0 };
	char path[4096], root[4096];
	int r;

	(void)roger;
	if ((request->accept.length > 0) + request->revoke + request->list > 1)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "expected one of --accept, --revoke and --list");
	r = rg_op_path(request->path, "path", path, err);
	if (r < 0 || request->list)
		return r < 0 ? r : list_trusted(reply, err);
	r = rg_workspace_find(path[0] ? path : NULL, root, err);
	if (r < 0)
		return r;
	if (request->revoke) {
		reply->workspace = rg_arena_str(reply->memory, rg_str(root));
		return rg_trust_revoke(root, &reply->changed, err);
	}
	r = rg_trust_load_there(root, &trust, err);
	if (r == ROGER_OK)
		r = show_trust(reply, trust, &shown, err);
	if (r == ROGER_OK && request->accept.length)
		r = accept_shown(reply, trust, request->accept, &shown, err);
	return r;
}
