/* The key of the workspace, seal.key, with its public half beside it in seal.pub. */
#include "host/seal_key.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/sign.h"
#include "host/file.h"

static const char key_name[] = "seal.key", public_name[] = "seal.pub";
enum { KEY_FILE_BYTES_MAX = 200 };

/* Read the digits of a key's file; "": it is missing. */
static int read_key(int folder, const char *name, struct rg_arena *arena, struct roger_str *ret_key,
		    struct roger_err *err)
{
	int r = rg_file_read_text(folder, name, KEY_FILE_BYTES_MAX, arena, ret_key, err);

	*ret_key = ret_key->data ? rg_str_without_end(*ret_key, "\n") : RG_STR("");
	return r;
}

static int read_both(int folder, struct rg_arena *arena, struct rg_seal_key *ret_key,
		     struct roger_err *err)
{
	int r = read_key(folder, public_name, arena, &ret_key->public_key, err);

	ret_key->secret = (struct roger_str){ "", 0 };
	return r < 0 ? r : read_key(folder, key_name, arena, &ret_key->secret, err);
}

static int put_key(struct rg_workspace *workspace, const char *name, const char *key,
		   struct roger_err *err)
{
	char line[RG_KEY_DIGITS + 2];

	snprintf(line, sizeof line, "%s\n", key);
	return rg_file_replace(workspace->data, name, rg_str(line), true, err);
}

static int make_secret(struct rg_workspace *workspace, struct rg_arena *arena,
		       struct rg_seal_key *key, struct roger_err *err)
{
	char secret[RG_KEY_DIGITS + 1];
	int r;

	if (key->public_key.length)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%s' is there and '%s' is not; bring the key back, or move the "
			       "other away to begin with a new one",
			       public_name, key_name);
	r = rg_key_new(secret, err);
	if (r == ROGER_OK)
		r = put_key(workspace, key_name, secret, err);
	return r < 0 ? r : rg_kept(rg_arena_copy(arena, rg_str(secret), &key->secret), err);
}

/* Compute the public half where it is missing; one that does not fit the key is an error. */
static int find_public(struct rg_arena *arena, struct rg_seal_key *key, struct roger_err *err)
{
	char public[RG_KEY_DIGITS + 1];

	if (!rg_key_public(key->secret, public))
		return rg_fail(err, ROGER_EDATA, 0, "'%s' holds no key of %d hexadecimal digits",
			       key_name, RG_KEY_DIGITS);
	if (rg_str_is(key->public_key, public))
		return ROGER_OK;
	if (key->public_key.length)
		return rg_fail(err, ROGER_EDATA, 0, "'%s' is not that of '%s'", public_name,
			       key_name);
	return rg_kept(rg_arena_copy(arena, rg_str(public), &key->public_key), err);
}

static int remember_key(struct rg_workspace *workspace, struct roger_str public_key,
			struct roger_err *err)
{
	struct rg_trusted wish = workspace->trust->known;
	int r;

	if (!wish.id.length || rg_str_equal(wish.seal_key, public_key))
		return ROGER_OK;
	wish.seal_key = public_key;
	r = rg_trust_accept(workspace->trust, &wish, err);
	/* The loaded trust now points to a text that it does not own. */
	workspace->trust = rg_trust_free(workspace->trust);
	return r;
}

/* Refuse a key that is not the trusted one.  Where none is recorded, as by an older roger, any key
 * of a trusted workspace counts. */
static int check_trusted(struct rg_workspace *workspace, const struct rg_seal_key *key,
			 struct roger_err *err)
{
	const struct rg_trust *trust;
	int r = rg_workspace_trust(workspace, &trust, err);

	if (r < 0 || !trust->known.seal_key.length || !key->public_key.length ||
	    rg_str_equal(trust->known.seal_key, key->public_key))
		return r;
	return rg_fail(
		err, ROGER_EREFUSED, 0,
		"the key in '%s' is not the one that this workspace was sealed with (%.16s..), "
		"so it may have come with a pull; put yours back, or accept this one with "
		"`roger trust`",
		key_name, trust->known.seal_key.data);
}

int rg_seal_key_make(struct rg_workspace *workspace, struct rg_arena *arena,
		     struct rg_seal_key *ret_key, struct roger_err *err)
{
	const char *why = rg_workspace_distrust(workspace);
	int r = *why ? rg_fail(err, ROGER_EREFUSED, 0, "no seal and no backup is made: %s", why)
		     : read_both(workspace->data, arena, ret_key, err);
	const bool there = r == ROGER_OK && ret_key->secret.length;
	const bool whole = r == ROGER_OK && ret_key->public_key.length;

	if (r == ROGER_OK && there)
		r = find_public(arena, ret_key, err);
	if (r == ROGER_OK)
		r = check_trusted(workspace, ret_key, err);
	if (r == ROGER_OK && !there)
		r = make_secret(workspace, arena, ret_key, err);
	if (r == ROGER_OK && !there)
		r = find_public(arena, ret_key, err);
	if (r == ROGER_OK && !whole)
		r = put_key(workspace, public_name, ret_key->public_key.data, err);
	return r == ROGER_OK ? remember_key(workspace, ret_key->public_key, err) : r;
}

int rg_seal_key_check(struct rg_workspace *workspace, struct rg_arena *arena,
		      const char **ret_wrong, bool *ret_half, struct roger_err *err)
{
	struct rg_seal_key key;
	char public[RG_KEY_DIGITS + 1];
	bool is_key;
	int r = read_both(workspace->data, arena, &key, err);

	*ret_wrong = NULL;
	if (r < 0 || !key.secret.length)
		return r;
	is_key = rg_key_public(key.secret, public);
	*ret_half = is_key && !key.public_key.length;
	if (*ret_half)
		*ret_wrong = "its public half 'seal.pub' is missing";
	else if (!is_key || !rg_str_is(key.public_key, public))
		*ret_wrong = "it is not a key, or 'seal.pub' is not its public half";
	return ROGER_OK;
}

int rg_seal_key_there(const char *folder, struct rg_arena *arena, struct roger_str *ret_public,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int data = RG_NO_FILE;
	char public[RG_KEY_DIGITS + 1];
	struct roger_str secret;
	int r;

	*ret_public = (struct roger_str){ "", 0 };
	if (rg_file_open_folder(AT_FDCWD, folder, &data, NULL) < 0 || data == RG_NO_FILE)
		return ROGER_OK;
	r = read_key(data, key_name, arena, &secret, err);
	if (r == ROGER_OK && secret.length && rg_key_public(secret, public))
		return rg_kept(rg_arena_copy(arena, rg_str(public), ret_public), err);
	return r == ROGER_EREFUSED ? ROGER_OK : r;
}

int rg_seal_key_find(struct rg_workspace *workspace, struct rg_arena *arena,
		     struct rg_seal_key *ret_key, struct roger_err *err)
{
	const struct rg_trust *trust;
	int r;

	*ret_key = (struct rg_seal_key){ { "", 0 }, { "", 0 } };
	r = rg_workspace_trust(workspace, &trust, err);
	if (r < 0)
		return r;
	if (trust->known.seal_key.length)
		return rg_kept(rg_arena_copy(arena, trust->known.seal_key, &ret_key->public_key),
			       err);
	/* An older roger recorded none: a trusted workspace's own file counts. */
	if (*rg_workspace_distrust(workspace))
		return ROGER_OK;
	return read_key(workspace->data, public_name, arena, &ret_key->public_key, err);
}
