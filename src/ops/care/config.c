/* config: every setting and where it comes from. */
#include "ops/op.h"

static bool keep(struct rg_arena *memory, const struct roger_setting *setting, size_t i,
		 struct roger_setting *to)
{
	struct rg_buf about = { .maximum = SIZE_MAX };

	rg_config_about(i, &about);
	return rg_arena_keep(memory, &about, &to->about) &&
	       rg_arena_copy(memory, setting->key, &to->key) &&
	       rg_arena_copy(memory, setting->value, &to->value) &&
	       rg_arena_copy(memory, setting->origin, &to->origin);
}

int rg_verb_config(struct roger *roger, const struct roger_empty_request *request,
		   struct roger_config_reply *reply, struct roger_err *err)
{
	const struct roger_setting_list *settings = &roger->workspace->config->settings;
	struct roger_setting *copy;
	size_t i;

	(void)request;
	copy = rg_arena_get(reply->memory, settings->count * sizeof *copy);
	if (!copy ||
	    !rg_arena_copy(reply->memory, rg_str(roger->workspace->root), &reply->workspace))
		return rg_fail_memory(err);
	for (i = 0; i < settings->count; i++)
		if (!keep(reply->memory, &settings->items[i], i, &copy[i]))
			return rg_fail_memory(err);
	reply->settings = (struct roger_setting_list){ copy, settings->count };
	return ROGER_OK;
}
