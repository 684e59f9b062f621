/*
 * run_list - all runs of a workspace, each judged now.
 */
#ifndef RG_RUN_LIST_H
#define RG_RUN_LIST_H

#include "ops/runs/run_document.h"

struct rg_run_list {
	struct rg_run_document *documents; /* valid ones, oldest dispatch first */
	size_t count;
	struct {
		struct roger_run_trouble *items;
		size_t count;
	} troubles;
};

/* readers: look whether results were read, which asks the index. */
RG_CHECKED int rg_run_list_load(struct roger *roger, bool readers, struct rg_arena *arena,
				struct rg_run_list *ret_list, struct roger_err *err);

/* Where the document of a trouble stands, as status and accept name it, and a sum of what is wrong
 * with it; false: out of memory. */
RG_CHECKED bool rg_run_trouble_seen(const struct roger_run_trouble *trouble, struct rg_arena *arena,
				    struct roger_str *ret_file, struct roger_str *ret_sha256);

/* The id of a run that is near one that is not there; "": none. */
struct roger_str rg_run_near(struct roger *roger, struct roger_str run_id, struct rg_arena *arena);

/* Judge documents by what was read since, and by whom, which nobody may have written down yet. */
RG_CHECKED int rg_run_look_for_readers(struct roger *roger, struct rg_run_document *documents,
				       size_t count, struct rg_arena *arena, struct roger_err *err);

#endif
