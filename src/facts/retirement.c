#include "facts/retirement.h"

#include "base/names.h"

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

struct roger_str rg_retired_owner(const struct roger_retired_list *list, struct roger_str name)
{
	const struct roger_str heir = rg_retired_heir(list, name);

	return heir.length ? heir : name;
}

bool rg_retired_boxes(const struct roger_retired_list *list, struct roger_str agent,
		      struct rg_arena *arena, struct roger_strs *ret_boxes)
{
	struct rg_names names = { .arena = arena };
	bool added = true;
	size_t i;

	if (rg_str_equal(rg_retired_owner(list, agent), agent))
		added = rg_names_add(&names, agent);
	for (i = 0; added && i < list->count; i++)
		if (rg_str_equal(rg_retired_owner(list, list->items[i].name), agent))
			added = rg_names_add(&names, list->items[i].name);
	*ret_boxes = rg_names_list(&names);
	return added;
}
