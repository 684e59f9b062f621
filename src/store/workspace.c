#include "store/workspace.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/id.h"
#include "store/file.h"

static const char config_template[] =
	"# roger's settings; what is not set here has its default, see `roger config show`.\n"
	"#\n"
	"# size_limits:\n"
	"#   max_content_length: 10000\n"
	"# cleanup:\n"
	"#   default_max_age_days: 90\n"
	"# recipients: near        # refuse likely slips of the hand; open: none, strict: all "
	"names never seen\n"
	"# groups:\n"
	"#   workers: [implement, test]\n";

/* What is derived or private need not be in anyone's repository. */
static const char gitignore[] = "*\n!.gitignore\n!config.yaml\n";

static int absolute(const char *path, char to[4096], struct roger_err *err)
{
	char *real = realpath(path, NULL);
	size_t length = real ? strlen(real) : 0;

	if (!real)
		return rg_fail(err, errno == ENOENT ? ROGER_ENOENT : ROGER_EIO, errno,
			       "look for '%s'", path);
	if (length > 3800) {
		free(real);
		return rg_fail(err, ROGER_EDATA, 0,
			       "the path of the workspace is longer than 3800 bytes");
	}
	memcpy(to, real, length + 1);
	free(real);
	return ROGER_OK;
}

/* From to upwards until a folder holds .roger/; to becomes that folder. */
static int climb(char to[4096], bool *ret_found, struct roger_err *err)
{
	char home[4200], *slash;
	int folder, r;

	for (;;) {
		snprintf(home, sizeof home, "%s/%s", strcmp(to, "/") == 0 ? "" : to,
			 RG_WORKSPACE_FOLDER);
		r = rg_file_open_folder(AT_FDCWD, home, &folder, err);
		if (r < 0)
			return r;
		*ret_found = folder != RG_NO_FILE;
		rg_file_close(folder);
		if (*ret_found || strcmp(to, "/") == 0)
			return ROGER_OK;
		slash = strrchr(to, '/');
		slash[slash == to] = '\0';
	}
}

static int find_root(const char *path, char to[4096], struct roger_err *err)
{
	const char *from = path ? path : getenv("ROGER_WORKSPACE");
	bool found;
	int r;

	if (!from || !*from)
		from = ".";
	r = absolute(from, to, err);
	if (r < 0)
		return r;
	r = climb(to, &found, err);
	if (r < 0 || found)
		return r;
	return rg_fail(
		err, ROGER_ENOENT, 0,
		"no workspace here: no folder from '%s' up holds %s/; make one with `roger init`",
		from, RG_WORKSPACE_FOLDER);
}

void rg_workspace_path(const struct rg_workspace *workspace, struct roger_str path, char *to,
		       size_t size)
{
	if (path.data[0] == '/')
		snprintf(to, size, "%.*s", RG_STR_ARGS(path));
	else
		snprintf(to, size, "%.3800s/%.*s", workspace->root, RG_STR_ARGS(path));
}

/* The data folder; one that is configured elsewhere is made when missing. */
static int open_data(struct rg_workspace *workspace, struct roger_err *err)
{
	struct roger_str dir = workspace->config->data_dir;
	bool made;
	int r;

	if (dir.length > 200)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "storage.data_dir: expected a path of at most 200 bytes");
	rg_workspace_path(workspace, dir, workspace->data_path, sizeof workspace->data_path);
	r = rg_file_open_folder(AT_FDCWD, workspace->data_path, &workspace->data, err);
	if (r < 0 || workspace->data != RG_NO_FILE)
		return r;
	r = rg_file_make_folder(AT_FDCWD, workspace->data_path, &made, err);
	if (r < 0)
		return r;
	r = rg_file_open_folder(AT_FDCWD, workspace->data_path, &workspace->data, err);
	if (r == ROGER_OK && workspace->data == RG_NO_FILE)
		return rg_fail(err, ROGER_ECREATE, 0, "'%s' went away", workspace->data_path);
	return r;
}

int rg_workspace_open(const char *path, struct rg_workspace **ret_workspace, struct roger_err *err)
{
	struct rg_workspace *workspace = calloc(1, sizeof *workspace);
	int r;

	if (!workspace)
		return rg_fail_memory(err);
	workspace->data = RG_NO_FILE;
	r = find_root(path, workspace->root, err);
	if (r == ROGER_OK)
		r = rg_config_load(workspace->root, &workspace->config, err);
	if (r == ROGER_OK)
		r = open_data(workspace, err);
	if (r < 0) {
		rg_workspace_close(workspace);
		return r;
	}
	*ret_workspace = workspace;
	return ROGER_OK;
}

struct rg_workspace *rg_workspace_close(struct rg_workspace *workspace)
{
	if (!workspace)
		return NULL;
	rg_file_close(workspace->data);
	rg_config_free(workspace->config);
	free(workspace);
	return NULL;
}

static int make_root(const char *path, struct roger_err *err)
{
	char parent[4096], *slash;
	bool made;
	int r;

	r = rg_file_make_folder(AT_FDCWD, path, &made, err);
	if (r == ROGER_OK || strlen(path) >= sizeof parent)
		return r;
	/* Perhaps only folders above it are missing. */
	snprintf(parent, sizeof parent, "%s", path);
	slash = strrchr(parent, '/');
	if (!slash || slash == parent || (err && err->system_errno != ENOENT))
		return r;
	*slash = '\0';
	r = make_root(parent, err);
	return r < 0 ? r : rg_file_make_folder(AT_FDCWD, path, &made, err);
}

/* A file of fixed text, unless one is there. */
static int make_file(int folder, const char *name, const char *text, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	r = rg_file_open(folder, name, RG_FILE_READ, &file, err);
	if (r < 0 || file != RG_NO_FILE)
		return r;
	return rg_file_replace(folder, name, rg_str(text), true, err);
}

int rg_workspace_make(const char *path, bool *ret_made, char root[4096], struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int top = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int home = RG_NO_FILE;
	struct roger_err local;
	int r;

	r = make_root(path, err ? err : &local);
	if (r == ROGER_OK)
		r = absolute(path, root, err);
	if (r == ROGER_OK)
		r = rg_file_open_folder(AT_FDCWD, root, &top, err);
	if (r == ROGER_OK)
		r = rg_file_make_folder(top, RG_WORKSPACE_FOLDER, ret_made, err);
	if (r == ROGER_OK)
		r = rg_file_open_folder(top, RG_WORKSPACE_FOLDER, &home, err);
	if (r == ROGER_OK && home == RG_NO_FILE)
		r = rg_fail(err, ROGER_ECREATE, 0, "'%s' went away", RG_WORKSPACE_FOLDER);
	if (r == ROGER_OK)
		r = make_file(home, ".gitignore", gitignore, err);
	return r == ROGER_OK ? make_file(home, "config.yaml", config_template, err) : r;
}

bool rg_workspace_above(const char *root, char to[4096])
{
	bool found;
	char *slash;

	snprintf(to, 4096, "%s", root);
	slash = strrchr(to, '/');
	if (!slash || !slash[1])
		return false;
	slash[slash == to] = '\0';
	return climb(to, &found, NULL) == ROGER_OK && found;
}

void rg_workspace_file_name(struct roger_str name, const char *suffix, char to[RG_FILE_NAME_BYTES])
{
	char encoded[3 * 256 + 1];
	size_t length = 0, i;
	unsigned char c;

	for (i = 0; i < name.length && i < 256; i++) {
		c = (unsigned char)name.data[i];
		if ((isalnum(c) && c < 0x80) || c == '_' || c == '-' || (c == '.' && i > 0))
			encoded[length++] = (char)c;
		else
			length += (size_t)snprintf(encoded + length, 4, "%%%02X", c);
	}
	encoded[length] = '\0';
	if (length <= 200)
		snprintf(to, RG_FILE_NAME_BYTES, "%.200s%s", encoded, suffix);
	else
		snprintf(to, RG_FILE_NAME_BYTES, "%.150s%%~%016llx%016llx%s", encoded,
			 (unsigned long long)rg_hash(1, name.data, name.length),
			 (unsigned long long)rg_hash(2, name.data, name.length), suffix);
}
