/*
 * token - who may come in over TCP: a line for each, in a file of this user's for each
 * workspace.  What is kept is the SHA-256 of a token; the token itself is shown once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/sign.h"
#include "cli/term.h"
#include "serve/serve.h"

enum { SECRET_BYTES = 32, FILE_BYTES_MAX = 1 << 20, PATH_BYTES = 4200 };

static const int64_t usual_ms = INT64_C(90) * 24 * 3600 * 1000;
static const char prefix[] = "roger-";

struct token {
	struct roger_str sha256, name;
	int right; /* enum serve_right */
	int64_t created_at_ms, expires_at_ms;
};

#define AT(member) offsetof(struct token, member)
static const struct roger_field stored_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_REQUIRED, NULL, NULL, "" },
	{ "right", ROGER_ENUM, AT(right), ROGER_REQUIRED, serve_rights, NULL, "" },
	{ "created_at", ROGER_TIME, AT(created_at_ms), ROGER_REQUIRED, NULL, NULL, "" },
	{ "expires_at", ROGER_TIME, AT(expires_at_ms), ROGER_REQUIRED, NULL, NULL, "" },
	{ "sha256", ROGER_TEXT, AT(sha256), ROGER_REQUIRED, NULL, NULL, "" },
	{ 0 },
};
#undef AT
static const struct roger_record stored_record = { "token", sizeof(struct token), stored_fields };

struct serve_tokens {
	struct rg_arena *arena;
	struct token *items;
	size_t count;
	struct stat file; /* as it was read */
};

/* ----------------------------------------------------------------- the file -- */

static int path_of(const char *workspace, char to[PATH_BYTES], struct roger_err *err)
{
	char folder[4096];
	int r = serve_own_folder(false, folder, err);

	if (r == ROGER_OK)
		snprintf(to, PATH_BYTES, "%s/%016llx.tokens", folder,
			 (unsigned long long)rg_hash(1, workspace, strlen(workspace)));
	return r;
}

static int add_line(struct serve_tokens *tokens, struct roger_str line, struct roger_err *err)
{
	const struct rg_json *json;
	struct token *token;
	struct roger_str kept;
	int r;

	token = rg_arena_push(tokens->arena, &tokens->items, &tokens->count, sizeof *token);
	if (!token || !rg_arena_copy(tokens->arena, line, &kept))
		return rg_fail_memory(err);
	r = rg_json_read_within(kept, tokens->arena, &json, err);
	return r < 0 ? r
		     : rg_record_decode(&stored_record, rg_json_root(json), token, tokens->arena,
					err);
}

static int read_lines(struct serve_tokens *tokens, struct roger_str text, struct roger_err *err)
{
	const char *end;
	int r = ROGER_OK;

	while (r == ROGER_OK && (end = rg_str_newline(text))) {
		r = add_line(tokens, (struct roger_str){ text.data, (size_t)(end - text.data) },
			     err);
		text.length -= (size_t)(end + 1 - text.data);
		text.data = end + 1;
	}
	return r;
}

/* A file that others may read or write is not believed. */
static int read_file(const char *path, struct serve_tokens *tokens, struct roger_err *err)
{
	char *text;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), r;

	if (fd < 0 && errno == ENOENT)
		return ROGER_OK;
	if (fd < 0 || fstat(fd, &tokens->file) < 0 || tokens->file.st_uid != geteuid() ||
	    (tokens->file.st_mode & 077) || tokens->file.st_size > FILE_BYTES_MAX) {
		r = rg_fail(err, ROGER_EREFUSED, fd < 0 ? errno : 0,
			    "'%s' is not a file that is yours alone; expected mode 0600", path);
		if (fd >= 0)
			close(fd);
		return r;
	}
	text = rg_arena_get(tokens->arena, (size_t)tokens->file.st_size + 1);
	if (text)
		got = read(fd, text, (size_t)tokens->file.st_size);
	close(fd);
	if (!text)
		return rg_fail_memory(err);
	if (got != tokens->file.st_size)
		return rg_fail(err, ROGER_EIO, errno, "read '%s'", path);
	return read_lines(tokens, (struct roger_str){ text, (size_t)got }, err);
}

static void forget(struct serve_tokens *tokens)
{
	rg_arena_free(tokens->arena);
	*tokens = (struct serve_tokens){ 0 };
}

static int load(const char *path, struct serve_tokens *tokens, struct roger_err *err)
{
	*tokens = (struct serve_tokens){ .arena = rg_arena_new() };
	return tokens->arena ? read_file(path, tokens, err) : rg_fail_memory(err);
}

/* Under the lock; in one rename, so that a server reads the old ones or the new ones. */
static int save(const char *path, const struct serve_tokens *tokens, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = FILE_BYTES_MAX };
	char beside[PATH_BYTES + 8];
	bool good;
	size_t i;
	int fd;

	for (i = 0; i < tokens->count; i++) {
		rg_record_encode(&stored_record, &tokens->items[i], &text);
		rg_buf_add_char(&text, '\n');
	}
	if (text.failed)
		return rg_fail(err, ROGER_EREFUSED, 0, "there are too many tokens; revoke some");
	snprintf(beside, sizeof beside, "%s.new", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	good = fd >= 0 && write(fd, text.data, text.length) == (ssize_t)text.length &&
	       fsync(fd) == 0;
	if (fd >= 0 && close(fd) < 0)
		good = false;
	if (good && rename(beside, path) == 0)
		return ROGER_OK;
	return rg_fail(err, ROGER_ECREATE, errno, "write '%s'", path);
}

/* ---------------------------------------------------------------- the server -- */

static bool is_as_read(const char *path, const struct serve_tokens *tokens)
{
	struct stat now;

	return tokens && stat(path, &now) == 0 && now.st_ino == tokens->file.st_ino &&
	       now.st_size == tokens->file.st_size &&
	       now.st_ctim.tv_sec == tokens->file.st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == tokens->file.st_ctim.tv_nsec;
}

void serve_tokens_free(struct serve *serve)
{
	if (serve->tokens)
		forget(serve->tokens);
	free(serve->tokens);
	serve->tokens = NULL;
}

/* The tokens of now, so that one that was revoked is worth nothing at once. */
static const struct serve_tokens *current(struct serve *serve)
{
	char path[PATH_BYTES];

	if (path_of(serve->workspace, path, NULL) < 0)
		return NULL;
	if (is_as_read(path, serve->tokens))
		return serve->tokens;
	serve_tokens_free(serve);
	serve->tokens = calloc(1, sizeof *serve->tokens);
	if (serve->tokens && load(path, serve->tokens, NULL) < 0)
		serve_tokens_free(serve);
	return serve->tokens;
}

bool serve_token_find(struct serve *serve, const char *secret, struct serve_caller *ret)
{
	const struct serve_tokens *tokens = current(serve);
	const struct token *found = NULL;
	char hash[RG_DIGEST_DIGITS + 1];
	int64_t now = rg_clock_ms();
	size_t i;

	rg_sha256_hex(rg_str(secret), hash);
	/* All of them, so that the time it takes says nothing. */
	for (i = 0; tokens && i < tokens->count; i++)
		if (rg_same_secret(tokens->items[i].sha256, rg_str(hash)) &&
		    tokens->items[i].expires_at_ms > now)
			found = &tokens->items[i];
	if (!found)
		return false;
	*ret = (struct serve_caller){ .right = (enum serve_right)found->right };
	snprintf(ret->name, sizeof ret->name, "%.*s", RG_STR_ARGS(found->name));
	if (found->right == SERVE_ACT)
		snprintf(ret->agent, sizeof ret->agent, "%.*s", RG_STR_ARGS(found->name));
	return true;
}

/* --------------------------------------------------------------- the command -- */

/* The new one's text is shown, and kept nowhere. */
static int make(struct serve_tokens *tokens, const struct cli_token_request *request,
		char secret[80], struct roger_err *err)
{
	unsigned char random[SECRET_BYTES];
	char hash[RG_DIGEST_DIGITS + 1];
	struct token *token;
	size_t i;
	int r = rg_random(random, sizeof random, err);

	if (r < 0)
		return r;
	memcpy(secret, prefix, sizeof prefix);
	for (i = 0; i < sizeof random; i++)
		snprintf(secret + sizeof prefix - 1 + 2 * i, 3, "%02x", random[i]);
	rg_sha256_hex(rg_str(secret), hash);
	token = rg_arena_push(tokens->arena, &tokens->items, &tokens->count, sizeof *token);
	if (!token || !rg_arena_copy(tokens->arena, rg_str(hash), &token->sha256))
		return rg_fail_memory(err);
	token->name = request->name;
	token->right = request->right;
	token->created_at_ms = rg_clock_ms();
	token->expires_at_ms =
		token->created_at_ms + (request->expires_ms ? request->expires_ms : usual_ms);
	return ROGER_OK;
}

/* Those of the name, and those that are worth nothing any more, are taken out. */
static size_t take_out(struct serve_tokens *tokens, struct roger_str name)
{
	size_t i, left = 0, found = 0;
	int64_t now = rg_clock_ms();

	for (i = 0; i < tokens->count; i++) {
		bool named = rg_str_equal(tokens->items[i].name, name);

		found += named;
		if (!named && tokens->items[i].expires_at_ms > now)
			tokens->items[left++] = tokens->items[i];
	}
	tokens->count = left;
	return found;
}

static void print_line(const struct token *token)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };

	rg_record_encode(&stored_record, token, &line);
	cli_print_json(cli_out, &line);
}

static void print_tokens(const struct serve_tokens *tokens, const struct cli_run *run)
{
	const struct token *token;

	for (token = tokens->items; token < tokens->items + tokens->count; token++)
		if (run->form != CLI_HUMAN)
			print_line(token);
		else
			cli_say("%t  %s  %s %w  %t\n", token->name, serve_rights[token->right],
				token->expires_at_ms > rg_clock_ms() ? "until" : "expired",
				token->expires_at_ms, (struct roger_str){ token->sha256.data, 8 });
}

static int change(const char *path, struct serve_tokens *tokens,
		  const struct cli_token_request *request, struct roger_err *err)
{
	char secret[80] = "";
	int r = ROGER_OK;

	if (!request->name.length)
		return rg_fail_member(err, ROGER_EUSAGE, "name", "name: whose is it?");
	if (request->revoke && !take_out(tokens, request->name))
		return rg_fail_member(err, ROGER_ENOENT, "name", "name: no token of '%.*s'",
				      RG_STR_ARGS(request->name));
	if (request->fresh)
		r = make(tokens, request, secret, err);
	if (r == ROGER_OK)
		r = save(path, tokens, err);
	if (r == ROGER_OK && *secret)
		cli_say("%s\n", secret);
	return r;
}

static int run_locked(const char *path, struct cli_run *run, struct roger_err *err)
{
	const struct cli_token_request *request = run->request;
	struct serve_tokens tokens;
	int r = load(path, &tokens, err);

	if (r == ROGER_OK && request->name.length && !request->fresh && !request->revoke)
		r = rg_fail(err, ROGER_EUSAGE, 0,
			    "expected `roger token new NAME`, `roger token revoke NAME` or `roger "
			    "token list`");
	else if (r == ROGER_OK && (request->fresh || request->revoke))
		r = change(path, &tokens, request, err);
	else if (r == ROGER_OK)
		print_tokens(&tokens, run);
	forget(&tokens);
	return r;
}

int serve_token_run(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	const struct roger_empty_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_config_reply config = { 0 };
	char path[PATH_BYTES], folder[4096];
	int lock, r;

	*ret_exit = CLI_DONE;
	r = roger_config(run->roger, &request, &config, err);
	if (r == ROGER_OK)
		r = serve_own_folder(false, folder, err);
	if (r == ROGER_OK)
		r = path_of(config.workspace.data, path, err);
	if (r < 0)
		return r;
	lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		r = rg_fail(err, ROGER_EIO, errno, "lock '%s'", folder);
	else
		r = run_locked(path, run, err);
	if (lock >= 0)
		close(lock);
	return r;
}
