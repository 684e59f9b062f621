/*
 * run_list - all runs of a workspace, each judged now.
 */
#ifndef RG_RUN_LIST_H
#define RG_RUN_LIST_H

#include "ops/reading.h"
#include "ops/runs/run_document.h"

/* Members of a run by which it is looked for, as bits. */
enum {
	RG_RUN_ITSELF = 1 << 0,
	RG_RUN_TASK = 1 << 1,
	RG_RUN_ISSUE = 1 << 2,
	RG_RUN_OWNER = 1 << 3,
	RG_RUN_CHILD = 1 << 4,
};
bool rg_run_has(const struct roger_run *run, unsigned members, struct roger_str name);

/* What is asked of documents. */
struct rg_run_wish {
	bool readers;	  /* look whether results were read, which asks the index */
	bool whole;	  /* read every document; else those of closed runs may be brief, */
	unsigned members; /* except where one of these has this name */
	struct roger_str name;
};

struct rg_run_list {
	struct rg_run_document *documents; /* valid ones, oldest dispatch first */
	size_t count;
	struct roger_run_trouble_list troubles;
};

RG_CHECKED int rg_run_list_load(struct roger *roger, struct rg_run_wish wish,
				struct rg_arena *arena, struct rg_run_list *ret_list,
				struct roger_err *err);
struct rg_run_list rg_read_runs(struct rg_reading *reading, struct rg_run_wish wish);

/* The files of whole documents of which the index says otherwise. */
RG_CHECKED int rg_run_list_check_index(struct roger *roger, const struct rg_run_list *list,
				       struct rg_arena *arena, struct roger_strs *ret_files,
				       struct roger_err *err);

/* Add it, with a copy of what is wrong. */
void rg_run_add_trouble(struct roger_run_trouble_list *list,
			const struct roger_run_trouble *trouble, struct rg_arena *arena);

/* Where the document of a trouble stands, as status and accept name it, and a sum of what is wrong
 * with it. */
void rg_run_trouble_identify(const struct roger_run_trouble *trouble, struct rg_arena *arena,
			     struct roger_str *ret_file, struct roger_str *ret_sha256);

/* The id of a run that is near one that is not there; "": none. */
struct roger_str rg_run_near(struct roger *roger, struct roger_str run_id, struct rg_arena *arena);

/* Judge documents by what was read since, and by whom, which nobody may have written down yet. */
RG_CHECKED int rg_run_look_for_readers(struct roger *roger, struct rg_run_document *documents,
				       size_t count, struct rg_arena *arena, struct roger_err *err);

#endif
