/* config: show every setting and where it comes from. */
#include "ops/op.h"

int rg_verb_config(struct roger *roger, const struct roger_empty_request *request,
		   struct roger_config_reply *reply, struct roger_err *err)
{
	const struct roger_setting_list *settings = &roger->workspace->config->settings;
	struct roger_setting *copy;
	size_t i;

	(void)request;
	copy = rg_arena_get(reply->memory, settings->count * sizeof *copy);
	if (!copy)
		return rg_fail_memory(err);
	for (i = 0; i < settings->count; i++) {
		struct rg_buf about = { .maximum = SIZE_MAX };

		copy[i] = settings->items[i];
		rg_config_about(i, &about);
		copy[i].about = rg_arena_take(reply->memory, &about);
		if (!rg_record_keep(&rg_setting_record, &copy[i], reply->memory))
			return rg_fail_memory(err);
	}
	reply->workspace = rg_arena_str(reply->memory, rg_str(roger->workspace->root));
	reply->settings = (struct roger_setting_list){ copy, settings->count };
	return ROGER_OK;
}
