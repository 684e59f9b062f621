/* shield: the .gitignore of a folder is read, judged line by line, and replaced or added to. */
#include "host/shield.h"

#include <fcntl.h>
#include <stdio.h>

#include "host/file.h"
#include "host/storage.h"
#include "host/triggers.h"

enum { SHIELD_BYTES_MAX = 1 << 16 };

static const char ignore_file[] = ".gitignore", header[] = "# roger's own files\n";

/* ------------------------------------------------------------- judging -- */

/* Does "!PATTERN" take back a file of roger's?  One with wildcards or a slash is taken to. */
static bool takes_back(const struct rg_config *config, struct roger_str pattern)
{
	size_t i;

	if (pattern.length && pattern.data[0] == '/')
		pattern = (struct roger_str){ pattern.data + 1, pattern.length - 1 };
	for (i = 0; i < pattern.length; i++)
		if (strchr("*?[\\/", pattern.data[i]))
			return true;
	return rg_config_uses(pattern) || rg_str_equal(pattern, config->jsonl_file) ||
	       rg_str_equal(pattern, config->database_file) || rg_trigger_is_name(pattern);
}

/* Does the text hide roger's files?  It does from a line "*" or the block on, until a line takes
 * one back; lines before the last block do not matter. */
static bool hides_all(const struct rg_config *config, struct roger_str text, struct roger_str block)
{
	const char *end = text.data + text.length, *at = NULL;
	struct roger_str line;
	bool hidden = false;

	while (block.length && (at = rg_str_find_part(text, block))) {
		text.data = at + block.length;
		text.length = (size_t)(end - text.data);
		hidden = true;
	}
	while (rg_str_next_line(&text, &line))
		if (rg_str_is(line, "*"))
			hidden = true;
		else if (line.length && line.data[0] == '!' &&
			 takes_back(config, (struct roger_str){ line.data + 1, line.length - 1 }))
			hidden = false;
	return hidden;
}

/* ------------------------------------------------------------- writing -- */

/* Add the pattern of all names that begin with a name; others have files in the folder, too. */
static void add_name(struct rg_buf *block, struct roger_str name)
{
	size_t i;

	rg_buf_add_char(block, '/');
	for (i = 0; i < name.length; i++) {
		if (strchr("*?[\\ ", name.data[i]))
			rg_buf_add_char(block, '\\');
		rg_buf_add_char(block, name.data[i]);
	}
	rg_buf_add_text(block, "*\n");
}

/* Add the names in a data folder.  Each also covers NAME.new-PID and the files that SQLite makes,
 * the journal's without its extension the control file. */
static void add_data_names(struct rg_buf *block, const struct rg_config *config)
{
	struct roger_str stem = config->jsonl_file;
	const char *dot = memrchr(stem.data, '.', stem.length);
	size_t i;

	if (dot && dot > stem.data)
		stem.length = (size_t)(dot - stem.data);
	add_name(block, stem);
	add_name(block, config->database_file);
	for (i = 0; i < RG_LOGS; i++)
		if (*rg_log_kinds[i].folder)
			rg_buf_printf(block, "/%s\n", rg_log_kinds[i].folder);
		else if (i != RG_LOG_MESSAGES)
			rg_buf_printf(block, "/%s*\n", rg_log_kinds[i].file);
	rg_buf_add_text(block,
			"/message-state.json*\n/state/\n/wake.lock\n/triggers/\n/id*\n/seal.*\n"
			"/setup.json*\n/move*\n/worktrees/\n/tried*\n");
}

/* Make the .gitignore hide roger's files; one that is a link, or no file, is replaced.  This and
 * the next ones return false when out of memory. */
static bool shield_folder(struct rg_workspace *workspace, int folder, struct roger_str block)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = 2 * SHIELD_BYTES_MAX };
	int r;

	r = rg_file_read_all(folder, ignore_file, SHIELD_BYTES_MAX, &text, NULL, NULL);
	if (r == ROGER_ENOMEM)
		return false;
	if (r < 0)
		rg_buf_clear(&text);
	if (r == ROGER_OK && hides_all(workspace->config, rg_buf_str(&text), block))
		return true;
	if (text.length && text.data[text.length - 1] != '\n')
		rg_buf_add_char(&text, '\n');
	if (!block.length)
		rg_buf_clear(&text);
	rg_buf_add_str(&text, block.length ? block : RG_STR(RG_SHIELD_TEXT));
	/* A failure is fine: a process that cannot write this writes no mail there either. */
	if (!text.failed &&
	    rg_file_replace(folder, ignore_file, rg_buf_str(&text), true, NULL) == ROGER_OK)
		workspace->shielded = true;
	return !text.failed;
}

/* ------------------------------------------------------------- folders -- */

static bool shield_path(struct rg_workspace *workspace, const char *path, struct roger_str block)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;

	return rg_file_open_folder(AT_FDCWD, path, &folder, NULL) < 0 || folder == RG_NO_FILE ||
	       shield_folder(workspace, folder, block);
}

/* Shield the folder of a place; it is made where it is missing, as it is about to be written to. */
static bool shield_place(struct rg_workspace *workspace, const struct rg_trusted_place *place,
			 bool file, struct roger_str block)
{
	char folder[4900], *slash;
	const char *inside;
	bool made = false;

	snprintf(folder, sizeof folder, "%s", place->path.data);
	slash = strrchr(folder, '/');
	if (file)
		*slash = '\0';
	inside = rg_workspace_below(workspace->root, folder);
	if (!inside || !*inside || strncmp(inside, ".roger", 6) == 0 ||
	    rg_file_make_folder(AT_FDCWD, folder, &made, NULL) < 0)
		return true;
	return shield_path(workspace, folder, made ? RG_STR("") : block);
}

static bool shield_places(struct rg_workspace *workspace, const struct rg_trust *trust)
{
	static const char *const patterns[RG_PLACES] = {
		[RG_PLACE_SEND_LOGS] = "/*.jsonl*\n",
		[RG_PLACE_TRIGGERS] = "/*.txt\n/.taken/\n/.skipped/\n/.handing/\n",
	};
	const struct rg_trusted_place *place = trust->places.items;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf block = { .maximum = SHIELD_BYTES_MAX };
	size_t i;

	for (i = 0; i < trust->places.count; i++, place++) {
		rg_buf_clear(&block);
		rg_buf_add_text(&block, header);
		if (i == RG_PLACE_DATA)
			add_data_names(&block, workspace->config);
		else if (i == RG_PLACE_ACTIVITY)
			add_name(&block, rg_str(strrchr(place->path.data, '/') + 1));
		else if (patterns[i])
			rg_buf_add_text(&block, patterns[i]);
		else
			continue;
		if (block.failed ||
		    !shield_place(workspace, place, i == RG_PLACE_ACTIVITY, rg_buf_str(&block)))
			return false;
	}
	return true;
}

int rg_shield(struct rg_workspace *workspace, struct roger_err *err)
{
	const struct rg_trust *trust;
	char home[4200];
	int r;

	/* Where no configuration moves it, the data folder is .roger/. */
	if (!workspace->config->places_configured)
		return rg_kept(shield_folder(workspace, workspace->data, RG_STR("")), err);
	snprintf(home, sizeof home, "%s/%s", workspace->root, RG_WORKSPACE_FOLDER);
	if (!shield_path(workspace, home, RG_STR("")))
		return rg_fail_memory(err);
	r = rg_workspace_trust(workspace, &trust, err);
	/* A person who accepted that git tracks its files wants them there. */
	return r < 0 ? r
		     : rg_kept(trust->known.tracked.length || shield_places(workspace, trust), err);
}
