#include "facts/retirement.h"

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
