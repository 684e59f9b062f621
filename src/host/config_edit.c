/* config: write the only setting that roger itself changes: the store, after a move. */
#include <fcntl.h>
#include <stdio.h>

#include "base/limits.h"
#include "host/config.h"
#include "host/file.h"
#include "host/workspace.h"

static const char name[] = "config.yaml", key[] = "store:";

/* Copy all lines but the setting's, and add that at the end. */
static void compose_text(struct roger_str text, struct roger_str address, struct rg_buf *out)
{
	struct roger_str line;

	while (rg_str_next_line(&text, &line)) {
		line.length = (size_t)(text.data - line.data); /* with its newline */
		if (!rg_str_begins(line, key))
			rg_buf_add_str(out, line);
	}
	if (!address.length)
		return;
	if (out->length && out->data[out->length - 1] != '\n')
		rg_buf_add_char(out, '\n');
	rg_buf_printf(out, "%s %.*s\n", key, RG_STR_ARGS(address));
}

/* Check that the changed text sets the store to the address. */
static int check_text(struct roger_str text, struct roger_str address, struct roger_err *err)
{
	struct rg_config *config = NULL;
	int r = rg_config_new(&config, err);

	if (r < 0)
		return r;
	r = rg_config_read(config, text, name, false, NULL);
	if (r != ROGER_ENOMEM && (r < 0 || !rg_str_equal(config->store, address)))
		r = rg_fail(err, ROGER_ECONFIG, 0,
			    "config.yaml: the setting `store` is on no line of its own: take it "
			    "out, then try again");
	rg_config_free(config);
	return r;
}

int rg_config_set_store(const char *root, struct roger_str address, bool only_check,
			struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf changed = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char path[4200];
	int r;

	snprintf(path, sizeof path, "%s/" RG_WORKSPACE_FOLDER, root);
	r = rg_file_open_folder(AT_FDCWD, path, &folder, err);
	if (r == ROGER_OK)
		r = rg_file_read_all(folder, name, RG_CONFIG_BYTES_MAX, &text, NULL, err);
	if (r < 0)
		return r;
	compose_text(rg_buf_str(&text), address, &changed);
	r = changed.failed ? rg_fail_memory(err) : check_text(rg_buf_str(&changed), address, err);
	if (r < 0 || only_check || rg_str_equal(rg_buf_str(&text), rg_buf_str(&changed)))
		return r;
	return rg_file_replace(folder, name, rg_buf_str(&changed), true, err);
}
