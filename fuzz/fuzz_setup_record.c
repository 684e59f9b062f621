/*
 * Any bytes as the record of setup, beside a file that it may tell of.  Without
 * being removed, what it says is written down again as the same record; to be
 * removed, each edit that is found is undone in that file, and nothing else of it changes.
 * Any error is one line of valid text.
 */
#include "fuzz.h"
#include "ops/tools/setup.h"

static const char file_text[] = "{\"a\":1,\"roger\":2,\"roger\":3}\n";

static void make_plan(struct rg_setup_plan *plan, const struct roger_setup_request *request)
{
	struct rg_setup_target *target;

	*plan = (struct rg_setup_plan){ .arena = rg_arena_new(),
					.request = request,
					.tools = (1u << RG_SETUP_TOOLS_END) - 1 };
	snprintf(plan->root, sizeof plan->root, "%s", fuzz_folder());
	rg_assert(plan->arena);
	target = rg_arena_push(plan->arena, &plan->targets, &plan->target_count, sizeof *target);
	rg_assert(target);
	target->changed.file = RG_STR("f");
	target->there = true;
	target->before = target->text = RG_STR(file_text);
}

/* False: it is no record. */
static bool plan_from_record(struct rg_setup_plan *plan, const struct roger_setup_request *request)
{
	struct roger_err err = { 0 };
	int lock = -1, r;

	make_plan(plan, request);
	r = rg_setup_record_open(plan, &lock, &err);
	rg_assert(lock == -1);
	if (r < 0)
		fuzz_check_error(&err, r);
	return r == ROGER_OK;
}

/* What would be written; "" where the record goes. */
static struct roger_str write_record(struct rg_setup_plan *plan)
{
	struct roger_err err;
	struct roger_str text = { "", 0 };
	char *read;
	int r = rg_setup_record_write(plan, &err);

	rg_assert(r == ROGER_OK);
	if (access(plan->record_path, F_OK) < 0)
		return text;
	read = fuzz_get(AT_FDCWD, plan->record_path, &text.length);
	rg_assert(rg_arena_copy(plan->arena, (struct roger_str){ read, text.length }, &text));
	free(read);
	return text;
}

static void check_carried(const struct roger_setup_request *request)
{
	struct rg_setup_plan plan, again;
	struct roger_str once;

	if (plan_from_record(&plan, request)) {
		rg_assert(rg_str_is(plan.targets[0].text, file_text));
		once = write_record(&plan);
		rg_assert(plan_from_record(&again, request));
		rg_assert(rg_str_equal(once, write_record(&again)));
		rg_arena_free(again.arena);
	}
	rg_arena_free(plan.arena);
}

static void check_undone(const struct roger_setup_request *request)
{
	struct rg_setup_plan plan;

	if (plan_from_record(&plan, request) && plan.targets[0].settled)
		rg_assert(plan.targets[0].changed.edits.count == 0);
	rg_arena_free(plan.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct roger_setup_request keep = { .scope = ROGER_SETUP_USER, .dry_run = true };
	const struct roger_setup_request remove = { .scope = ROGER_SETUP_USER,
						    .dry_run = true,
						    .remove = true };
	char path[300];

	setenv("XDG_STATE_HOME", fuzz_folder(), 1);
	snprintf(path, sizeof path, "%s/roger", fuzz_folder());
	(void)!mkdir(path, 0700);
	/* The record may say that the folders it is in were made for it. */
	snprintf(path, sizeof path, "%s/roger/stays", fuzz_folder());
	fuzz_put(AT_FDCWD, path, "", 0);
	snprintf(path, sizeof path, "%s/roger/setup.json", fuzz_folder());
	fuzz_put(AT_FDCWD, path, data, size);
	check_undone(&remove);
	check_carried(&keep);
	return 0;
}
