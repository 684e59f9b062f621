#include "facts/retirement.h"

#define AT(member) offsetof(struct roger_retired, member)
static const struct roger_field retired_fields[] = {
	{ "name", ROGER_NAME, AT(name), ROGER_REQUIRED, NULL, NULL, "the agent" },
	{ "to", ROGER_NAME, AT(to), ROGER_SPARE, NULL, NULL, "who gets its mail" },
	{ "reason", ROGER_TEXT, AT(reason), ROGER_SPARE, NULL, NULL, "why" },
	{ "at", ROGER_INSTANT, AT(at_ms), ROGER_REQUIRED, NULL, NULL, "since when" },
	{ "by", ROGER_NAME, AT(by), ROGER_SPARE, NULL, NULL, "who said so" },
	{ "", ROGER_MEMBERS, AT(unknown), 0, NULL, NULL, "members of other programs" },
	{ 0 },
};
#undef AT
const struct roger_record rg_retired_record = { "retired", sizeof(struct roger_retired),
						retired_fields };

#define AT(member) offsetof(struct roger_retirement, member)
static const struct roger_field retirement_fields[] = {
	{ "id", ROGER_NAME, AT(id), ROGER_REQUIRED, NULL, NULL, "the agent it is about" },
	{ "timestamp", ROGER_INSTANT, AT(at_ms), ROGER_REQUIRED, NULL, NULL, "when" },
	{ "retired", ROGER_RECORDS, AT(retired), 0, NULL, &rg_retired_record, "all, from then on" },
	{ "", ROGER_MEMBERS, AT(unknown), 0, NULL, NULL, "members of other programs" },
	{ "chain", ROGER_TEXT, AT(chain), ROGER_DERIVED, NULL, NULL, "see FORMAT.md" },
	{ 0 },
};
#undef AT
const struct roger_record rg_retirement_record = { "retirement", sizeof(struct roger_retirement),
						   retirement_fields };

const struct roger_retired *rg_retired_find(const struct roger_retired_list *list,
					    struct roger_str name)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (rg_str_equal(list->items[i].name, name))
			return &list->items[i];
	return NULL;
}

struct roger_str rg_retired_heir(const struct roger_retired_list *list, struct roger_str name)
{
	const struct roger_retired *retired = rg_retired_find(list, name);
	size_t steps = 0;

	/* Another program may have written a cycle. */
	for (; retired && steps <= list->count; steps++) {
		name = retired->to;
		retired = rg_retired_find(list, name);
	}
	return retired ? (struct roger_str){ "", 0 } : name;
}
