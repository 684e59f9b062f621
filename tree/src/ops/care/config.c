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

static int run(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	const struct roger_settings *settings = &roger->workspace->config->settings;
	struct roger_config_reply *reply = reply_;
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
	reply->settings = (struct roger_settings){ copy, settings->count };
	return ROGER_OK;
}

#define AT(member) offsetof(struct roger_setting, member)
static const struct roger_field setting_fields[] = {
	{ "key", ROGER_TEXT, AT(key), ROGER_REQUIRED, NULL, NULL, "as in config.yaml" },
	{ "value", ROGER_TEXT, AT(value), 0, NULL, NULL, "in force" },
	{ "origin", ROGER_TEXT, AT(origin), 0, NULL, NULL, "default, file:line, or a variable" },
	{ "about", ROGER_TEXT, AT(about), 0, NULL, NULL, "what it may be, and what it is for" },
	RG_END,
};
#undef AT
static const struct roger_record setting_record = { "setting", sizeof(struct roger_setting),
						    setting_fields };

static const struct roger_field fields[] = {
	{ "workspace", ROGER_TEXT, offsetof(struct roger_config_reply, workspace), 0, NULL, NULL,
	  "its path" },
	{ "settings", ROGER_RECORDS, offsetof(struct roger_config_reply, settings), 0, NULL,
	  &setting_record, "all" },
	RG_END,
};
static const struct roger_record reply_record = { "config", sizeof(struct roger_config_reply),
						  fields };

const struct roger_op rg_op_config = {
	.name = "config",
	.summary = "show every setting and where it comes from",
	.examples = "roger config show\nroger config show --json\n",
	.request = &rg_empty_request_record,
	.reply = &reply_record,
	.run = run,
};
