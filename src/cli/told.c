#include "cli/told.h"

#include <stdlib.h>

enum { IDS_A_PAGE = 200 }; /* as many as fit into an address, where a server is asked */

static int compare_told(const void *a, const void *b)
{
	const struct cli_told *x = a, *y = b;

	return rg_str_order(x->id, y->id);
}

struct cli_told *cli_told_find(const struct cli_told_list *list, struct roger_str id)
{
	const struct cli_told wanted = { .id = id };

	return list->count && id.length ? bsearch(&wanted, list->items, list->count,
						  sizeof *list->items, compare_told)
					: NULL;
}

/* Collect the messages of the events, each once, sorted by id. */
static void collect_told(struct cli_told_list *list, const struct roger_event *events, size_t count)
{
	struct cli_told *told = list->items;
	size_t i, all = 0;

	for (i = 0; i < count; i++)
		if (events[i].message.length)
			told[all++].id = events[i].message;
	if (all)
		qsort(told, all, sizeof *told, compare_told);
	for (i = 0; i < all; i++)
		if (!list->count || compare_told(&told[i], &told[list->count - 1]) != 0)
			told[list->count++] = told[i];
	for (i = 0; i < count; i++) {
		told = cli_told_find(list, events[i].message);
		if (told && !told->read && events[i].kind == ROGER_EVENT_READ)
			told->read = &events[i];
	}
}

/* Load the messages of a page that are there: one that is gone must not hide the others. */
static int load_page(struct roger *roger, struct cli_told_list *list, size_t at, size_t count,
		     struct roger_err *err)
{
	struct roger_messages_reply *page = &list->pages[list->page_count];
	struct roger_str ids[IDS_A_PAGE];
	struct cli_told *told;
	size_t i;
	int r;

	for (i = 0; i < count; i++)
		ids[i] = list->items[at + i].id;
	r = roger_show(roger, &(struct roger_show_request){ .ids = { ids, count } }, page, err);
	if (r == ROGER_ENOENT && count > 1) {
		r = load_page(roger, list, at, count / 2, err);
		return r < 0 ? r : load_page(roger, list, at + count / 2, count - count / 2, err);
	}
	if (r < 0)
		return r == ROGER_ENOENT ? ROGER_OK : r;
	list->page_count++;
	for (i = 0; i < page->messages.count; i++) {
		told = cli_told_find(list, page->messages.items[i].id);
		if (told)
			told->message = &page->messages.items[i];
	}
	return ROGER_OK;
}

int cli_told_load(struct roger *roger, const struct roger_event *events, size_t count,
		  struct rg_arena *arena, struct cli_told_list *ret_list, struct roger_err *err)
{
	struct cli_told_list list = {
		.items = rg_arena_get(arena, count * sizeof *list.items + 1),
		.pages = rg_arena_get(arena, (count + 1) * sizeof *list.pages),
	};
	size_t at, step;
	int r = ROGER_OK;

	if (!list.items || !list.pages)
		return rg_fail_memory(err);
	collect_told(&list, events, count);
	for (at = 0; at < list.count && r == ROGER_OK; at += step) {
		step = list.count - at < IDS_A_PAGE ? list.count - at : IDS_A_PAGE;
		r = load_page(roger, &list, at, step, err);
	}
	if (r < 0)
		cli_told_free(&list);
	else
		*ret_list = list;
	return r;
}

void cli_told_free(struct cli_told_list *list)
{
	size_t i;

	for (i = 0; i < list->page_count; i++)
		roger_reply_free(&list->pages[i]);
	list->page_count = 0;
}
