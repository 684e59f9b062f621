/*
 * token - who may come in over TCP: a line for each, in a file of this user's for each
 * workspace.  What is kept is the SHA-256 of a secret; the secret itself is shown once.  It is
 * worth something in the workspace that it was made for, which its .roger/id says, not its path.
 *
 *     token   of a program, for weeks      Authorization: Bearer
 *     key     of `roger ui`, for a minute, and for one use: to get a login
 *     login   of a browser, for days       a cookie
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/sign.h"
#include "host/file.h"
#include "serve/serve.h"

enum { SECRET_BYTES = 32, FILE_BYTES_MAX = 1 << 20, PATH_BYTES = 4200 };

/* How long a secret of each kind is valid by default. */
static const int64_t usual_ms[] = { INT64_C(90) * 24 * 3600 * 1000, 60 * 1000,
				    INT64_C(7) * 24 * 3600 * 1000 };
static const char *const prefixes[] = { "roger-", "", "" };

struct serve_tokens {
	struct rg_arena *arena;
	struct rg_stored_token *items;
	size_t count;
	struct rg_file_facts file; /* as it was when it was read */
	char workspace[RG_WORKSPACE_ID_BYTES];
};

/* ----------------------------------------------------------------- the file -- */

int serve_tokens_path(const char *workspace, char *to, struct roger_err *err)
{
	char folder[4096];
	int r = serve_own_folder(false, folder, err);

	if (r == ROGER_OK)
		snprintf(to, PATH_BYTES, "%s/%016llx.tokens", folder,
			 (unsigned long long)rg_hash(1, workspace, strlen(workspace)));
	return r;
}

static void forget_tokens(struct serve_tokens *tokens)
{
	rg_arena_free(tokens->arena);
	*tokens = (struct serve_tokens){ 0 };
}

static int load_tokens(const char *workspace, const char *path, struct serve_tokens *tokens,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_stored_token *token;
	struct roger_str rest, line;
	int r;

	*tokens = (struct serve_tokens){ .arena = rg_arena_new() };
	if (!tokens->arena)
		return rg_fail_memory(err);
	r = rg_workspace_id(workspace, tokens->workspace, err);
	if (r == ROGER_OK)
		r = rg_file_read_own(AT_FDCWD, path, path, FILE_BYTES_MAX, &text, &tokens->file,
				     err);
	if (r == ROGER_OK)
		r = rg_kept(rg_arena_keep(tokens->arena, &text, &rest), err);
	while (r == ROGER_OK && rg_str_next_line(&rest, &line)) {
		token = rg_arena_push(tokens->arena, &tokens->items, &tokens->count, sizeof *token);
		r = token ? rg_record_read(&rg_stored_token_record, line, token, tokens->arena, err)
			  : rg_fail_memory(err);
	}
	return r;
}

/* Was the token made for another workspace, which stood here before? */
static bool is_foreign(const struct serve_tokens *tokens, const struct rg_stored_token *token)
{
	return !rg_str_is(token->workspace, tokens->workspace);
}

static bool is_expired(const struct rg_stored_token *token)
{
	return token->expires_at_ms <= rg_clock_ms();
}

static bool is_over(const struct serve_tokens *tokens, const struct rg_stored_token *token)
{
	return is_expired(token) || is_foreign(tokens, token);
}

/* Save under the lock, in one rename, so that a server reads the old tokens or the new ones. */
static int save_tokens(int folder, const char *path, const struct serve_tokens *tokens,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = FILE_BYTES_MAX };
	size_t i;

	for (i = 0; i < tokens->count; i++) {
		rg_record_encode(&rg_stored_token_record, &tokens->items[i], &text);
		rg_buf_add_char(&text, '\n');
	}
	if (text.failed)
		return rg_fail(err, ROGER_EREFUSED, 0, "there are too many tokens; revoke some");
	return rg_file_replace(folder, strrchr(path, '/') + 1, rg_buf_str(&text), true, err);
}

/* ---------------------------------------------------------------- the server -- */

static bool is_as_read(const char *path, const struct serve_tokens *tokens)
{
	struct rg_file_facts now;

	return tokens && rg_file_look(AT_FDCWD, path, &now, NULL) == ROGER_OK &&
	       now.inode == tokens->file.inode && now.size == tokens->file.size &&
	       now.written_ns == tokens->file.written_ns &&
	       now.changed_ms == tokens->file.changed_ms &&
	       /* Two changes of one instant of the system's clock look alike. */
	       now.open_to_others == tokens->file.open_to_others &&
	       now.open_to_writers == tokens->file.open_to_writers;
}

void serve_tokens_free(struct serve *serve)
{
	if (serve->tokens)
		forget_tokens(serve->tokens);
	free(serve->tokens);
	serve->tokens = NULL;
}

/* The tokens as they are now: a revoked one is worth nothing at once. */
static const struct serve_tokens *current_tokens(struct serve *serve)
{
	char path[PATH_BYTES];

	if (serve_is_elsewhere(serve) || serve_tokens_path(serve->workspace, path, NULL) < 0)
		return NULL;
	if (is_as_read(path, serve->tokens))
		return serve->tokens;
	serve_tokens_free(serve);
	serve->tokens = calloc(1, sizeof *serve->tokens);
	if (serve->tokens && load_tokens(serve->workspace, path, serve->tokens, NULL) < 0)
		serve_tokens_free(serve);
	return serve->tokens;
}

/* Find a secret, expired or not; NULL: it is not known here. */
static struct rg_stored_token *find_any(const struct serve_tokens *tokens, int kind,
					const char *secret)
{
	char hash[RG_DIGEST_DIGITS + 1];
	struct rg_stored_token *found = NULL;
	size_t i;

	rg_sha256_hex(rg_str(secret), hash);
	/* Compare with all of them, so that the time says nothing. */
	for (i = 0; i < tokens->count; i++)
		if (rg_same_secret(tokens->items[i].sha256, rg_str(hash)) &&
		    tokens->items[i].kind == (int)kind && !is_foreign(tokens, &tokens->items[i]))
			found = &tokens->items[i];
	return found;
}

/* Find a secret that is valid now; NULL: none. */
static struct rg_stored_token *find_valid(const struct serve_tokens *tokens, int kind,
					  const char *secret)
{
	struct rg_stored_token *found = find_any(tokens, kind, secret);

	return found && !is_expired(found) ? found : NULL;
}

/* Print "token bob 1a2b3c4d", the name of a secret in notes. */
static void print_label(int kind, struct roger_str name, struct roger_str sha256,
			char to[SERVE_LABEL_BYTES])
{
	snprintf(to, SERVE_LABEL_BYTES, "%s %.*s %.8s", kind ? rg_secret_names[kind] : "token",
		 RG_STR_ARGS(name), sha256.data ? sha256.data : "");
}

static void name_caller(const struct rg_stored_token *token, struct serve_caller *ret)
{
	*ret = (struct serve_caller){ token->kind == SERVE_LOGIN ? RG_BY_LOGIN : RG_BY_TOKEN,
				      token->right == RG_OWN ? RG_ACT : (enum rg_right)token->right,
				      .own = token->right == RG_OWN };
	snprintf(ret->name, sizeof ret->name, "%.*s", RG_STR_ARGS(token->name));
	print_label(token->kind, token->name, token->sha256, ret->login);
}

bool serve_token_find(struct serve *serve, int kind, const char *secret, struct serve_caller *ret)
{
	const struct serve_tokens *tokens = current_tokens(serve);
	const struct rg_stored_token *found = tokens ? find_valid(tokens, kind, secret) : NULL;

	if (found)
		name_caller(found, ret);
	return found;
}

/* A client that shows the token itself may know that it was valid. */
bool serve_token_is_expired(struct serve *serve, const char *secret)
{
	const struct serve_tokens *tokens = current_tokens(serve);
	const struct rg_stored_token *found = tokens ? find_any(tokens, SERVE_TOKEN, secret) : NULL;

	return found && is_expired(found);
}

/* ------------------------------------------------------------------- changes -- */

/* Add a secret of this kind.  Its text goes to its owner, and is kept nowhere. */
static int add_token(struct serve_tokens *tokens, struct rg_stored_token what,
		     char secret[SERVE_SECRET_BYTES], struct roger_err *err)
{
	unsigned char random[SECRET_BYTES];
	char hash[RG_DIGEST_DIGITS + 1];
	size_t length = strlen(prefixes[what.kind]);
	int r = rg_random(random, sizeof random, err);

	if (r < 0)
		return r;
	memcpy(secret, prefixes[what.kind], length);
	rg_hex(random, sizeof random, secret + length);
	rg_sha256_hex(rg_str(secret), hash);
	what.created_at_ms = rg_clock_ms();
	what.expires_at_ms += what.created_at_ms + (what.expires_at_ms ? 0 : usual_ms[what.kind]);
	what.name = rg_arena_str(tokens->arena, what.name);
	what.sha256 = rg_arena_str(tokens->arena, rg_str(hash));
	what.workspace = rg_str(tokens->workspace);
	(void)!rg_arena_append(tokens->arena, &tokens->items, &tokens->count, &what, sizeof what);
	return rg_kept(!rg_arena_failed(tokens->arena), err);
}

/* Drop keys and logins that have expired: nobody needs them. */
static void forget_expired(struct serve_tokens *tokens)
{
	size_t i, left = 0;

	for (i = 0; i < tokens->count; i++)
		if (tokens->items[i].kind == SERVE_TOKEN || !is_over(tokens, &tokens->items[i]))
			tokens->items[left++] = tokens->items[i];
	tokens->count = left;
}

/* Tokens that are being changed, under the lock of their folder. */
struct edit {
	struct serve_tokens tokens;
	char path[PATH_BYTES];
	int folder; /* holds the lock; RG_NO_FILE: it was not opened */
};

static int begin_edit(const char *workspace, struct edit *edit, struct roger_err *err)
{
	char folder[4096];
	int r = serve_own_folder(false, folder, err);

	*edit = (struct edit){ .folder = RG_NO_FILE };
	if (r == ROGER_OK)
		r = serve_tokens_path(workspace, edit->path, err);
	if (r < 0)
		return r;
	edit->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (edit->folder < 0 || flock(edit->folder, LOCK_EX) < 0)
		return rg_fail(err, ROGER_EIO, errno, "lock '%s'", folder);
	r = load_tokens(workspace, edit->path, &edit->tokens, err);
	if (r == ROGER_OK)
		forget_expired(&edit->tokens);
	return r;
}

/* Save the tokens, unless r, with which the edit ends, is an error. */
static int end_edit(struct edit *edit, int r, struct roger_err *err)
{
	if (r == ROGER_OK)
		r = save_tokens(edit->folder, edit->path, &edit->tokens, err);
	forget_tokens(&edit->tokens);
	rg_file_close(edit->folder);
	return r;
}

/* -------------------------------------------------------------------- logins -- */

int serve_key_make(const char *workspace, const struct serve_caller *whose,
		   char key[SERVE_SECRET_BYTES], struct roger_err *err)
{
	const struct rg_stored_token what = { .name = rg_str(whose->name),
					      .right = (int)whose->right,
					      .kind = SERVE_KEY };
	struct edit edit;
	int r = begin_edit(workspace, &edit, err);

	if (r == ROGER_OK)
		r = add_token(&edit.tokens, what, key, err);
	return end_edit(&edit, r, err);
}

/* Drop the key before anybody has the login. */
static int trade_key(struct serve_tokens *tokens, const char *given,
		     char secret[SERVE_SECRET_BYTES], struct serve_caller *ret,
		     struct roger_err *err)
{
	struct rg_stored_token *key = find_valid(tokens, SERVE_KEY, given), what;

	if (!key)
		return rg_fail_member(err, ROGER_EREFUSED, "key", "%s", serve_key_fault);
	what = (struct rg_stored_token){ .name = key->name,
					 .right = key->right,
					 .kind = SERVE_LOGIN };
	*key = tokens->items[--tokens->count];
	name_caller(&what, ret);
	return add_token(tokens, what, secret, err);
}

int serve_key_trade(const char *workspace, const char *key, char secret[SERVE_SECRET_BYTES],
		    struct serve_caller *ret, struct roger_err *err)
{
	struct edit edit;
	int r = begin_edit(workspace, &edit, err);

	if (r == ROGER_OK)
		r = trade_key(&edit.tokens, key, secret, ret, err);
	return end_edit(&edit, r, err);
}

int serve_login_end(const char *workspace, const char *secret, struct roger_err *err)
{
	struct edit edit;
	int r = begin_edit(workspace, &edit, err);
	struct rg_stored_token *ended =
		r == ROGER_OK ? find_valid(&edit.tokens, SERVE_LOGIN, secret) : NULL;

	if (ended)
		*ended = edit.tokens.items[--edit.tokens.count];
	return end_edit(&edit, r, err);
}

/* --------------------------------------------------------------- the command -- */

/* Take out the tokens of this name, and those that are not valid any more. */
static size_t take_out(struct serve_tokens *tokens, struct roger_str name)
{
	size_t i, left = 0, found = 0;

	for (i = 0; i < tokens->count; i++) {
		bool named = rg_str_equal(tokens->items[i].name, name);

		found += named;
		if (!named && !is_over(tokens, &tokens->items[i]))
			tokens->items[left++] = tokens->items[i];
	}
	tokens->count = left;
	return found;
}

/* Add a token to the answer; the secret of a new one is in no file.  That memory ran out, the
 * answer's remembers. */
static void show_token(const struct serve_tokens *tokens, const struct rg_stored_token *token,
		       const char *secret, struct rg_token_reply *reply)
{
	struct rg_token shown = { .right = token->right,
				  .kind = token->kind,
				  .foreign = is_foreign(tokens, token),
				  .created_at_ms = token->created_at_ms,
				  .expires_at_ms = token->expires_at_ms };

	shown.name = rg_arena_str(reply->memory, token->name);
	shown.sha256 = rg_arena_str(reply->memory, token->sha256);
	shown.secret = rg_arena_str(reply->memory, rg_str(secret));
	(void)!rg_arena_append(reply->memory, &reply->tokens.items, &reply->tokens.count, &shown,
			       sizeof shown);
}

/* Show the tokens of a name; "": all. */
static void show_all(const struct serve_tokens *tokens, struct roger_str name,
		     struct rg_token_reply *reply)
{
	size_t i;

	for (i = 0; i < tokens->count; i++)
		if (!name.length || rg_str_equal(tokens->items[i].name, name))
			show_token(tokens, &tokens->items[i], "", reply);
}

/* Check for a name, or the beginning of names and an asterisk. */
static int check_name(struct roger_str name, struct roger_err *err)
{
	const struct roger_str begin = { name.data, name.length - 1 };

	if (rg_name_valid(rg_name_is_pattern(name) ? begin : name))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, "name",
			      "name: expected the name of an agent, or its beginning and '*', as "
			      "in 'ci-*'");
}

static int change_tokens(struct serve_tokens *tokens, const struct rg_token_request *request,
			 struct rg_token_reply *reply, struct roger_err *err)
{
	const struct rg_stored_token what = { .name = request->name,
					      .right = request->right ? request->right : RG_LOOK,
					      .expires_at_ms = request->expires_ms };
	char secret[SERVE_SECRET_BYTES];
	int r = ROGER_OK;

	if (!request->name.length)
		return rg_fail_member(err, ROGER_EUSAGE, "name", "name: whose is it?");
	if (request->fresh)
		r = check_name(request->name, err);
	if (r == ROGER_OK && request->revoke)
		show_all(tokens, request->name, reply);
	if (r == ROGER_OK && request->revoke && !take_out(tokens, request->name))
		r = rg_fail_member(err, ROGER_ENOENT, "name", "name: no token of '%.*s'",
				   RG_STR_ARGS(request->name));
	if (r == ROGER_OK && request->fresh)
		r = add_token(tokens, what, secret, err);
	if (r == ROGER_OK && request->fresh)
		show_token(tokens, &tokens->items[tokens->count - 1], secret, reply);
	return r < 0 ? r : rg_kept(!rg_arena_failed(reply->memory), err);
}

/* Show when each was last used, as far as a server has saved that. */
static int show_uses(const char *workspace, struct rg_token_reply *reply, struct roger_err *err)
{
	struct serve_uses *uses = serve_uses_read(workspace);
	struct rg_token *token;
	const struct rg_use *use;
	char label[SERVE_LABEL_BYTES];
	const bool known = uses;
	size_t i;

	for (i = 0; i < reply->tokens.count; i++) {
		token = (struct rg_token *)(uintptr_t)&reply->tokens.items[i];
		print_label(token->kind, token->name, token->sha256, label);
		use = serve_use_find(uses, label);
		if (!use)
			continue;
		token->used_at_ms = use->at_ms;
		token->used_from = rg_arena_str(reply->memory, use->from);
	}
	serve_uses_free(uses);
	return rg_kept(known && !rg_arena_failed(reply->memory), err);
}

static int list_tokens(const char *workspace, struct rg_token_reply *reply, struct roger_err *err)
{
	char path[PATH_BYTES];
	struct serve_tokens tokens;
	int r = serve_tokens_path(workspace, path, err);

	if (r < 0)
		return r;
	r = load_tokens(workspace, path, &tokens, err);
	if (r == ROGER_OK)
		show_all(&tokens, RG_STR(""), reply);
	forget_tokens(&tokens);
	return r < 0 ? r : show_uses(workspace, reply, err);
}

/* Find the workspace.  A name that no agent may have is refused as that agent would be. */
static int ask_workspace(struct roger *roger, const struct rg_token_request *request,
			 struct roger_config_reply *reply, struct roger_err *err)
{
	const struct roger_empty_request none = { 0 };
	const struct rg_caller bearer = { .how = RG_BY_TOKEN,
					  .right = RG_ACT,
					  .name = request->name };
	int r;

	if (request->fresh && request->name.length)
		rg_set_caller(roger, &bearer);
	r = roger_config(roger, &none, reply, err);
	rg_set_caller(roger, NULL);
	return r;
}

int serve_token_run(struct cli_run *run, struct roger_err *err)
{
	RG_CLEANUP(roger_reply_free) struct roger_config_reply config = { 0 };
	struct rg_token_reply reply = { .memory = rg_arena_new() };
	const struct rg_token_request *request = run->request;
	struct edit edit;
	int r = reply.memory ? ask_workspace(run->roger, request, &config, err)
			     : rg_fail_memory(err);

	if (r == ROGER_OK && (request->fresh || request->revoke)) {
		r = begin_edit(config.workspace.data, &edit, err);
		if (r == ROGER_OK)
			r = change_tokens(&edit.tokens, request, &reply, err);
		r = end_edit(&edit, r, err);
	} else if (r == ROGER_OK && request->name.length) {
		r = rg_fail(err, ROGER_EUSAGE, 0,
			    "expected `roger token new NAME`, `roger token revoke NAME` or `roger "
			    "token list`");
	} else if (r == ROGER_OK) {
		r = list_tokens(config.workspace.data, &reply, err);
	}
	/* The text of a new token is shown only now. */
	run->quiet &= !request->fresh;
	if (r == ROGER_OK)
		cli_answer(run, &reply);
	else
		rg_arena_free(reply.memory);
	return r;
}
