/*
 * Any bytes as the document of a run.  What is read prints as a document that
 * reads as the same run and prints the same again, with every member that
 * roger does not know.  Whatever the rules then do to it, it can be read again,
 * and time alone neither completes nor blocks it.  Any error is one line of
 * valid text.
 */
#include "base/limits.h"
#include "fuzz.h"
#include "facts/watchdog.h"

static const struct rg_watchdog_rules rules = { 3, 600000, 2, RG_EXTENSION_MS_MAX };

struct document {
	struct roger_run run;
	struct rg_receipts receipts;
};

static bool read_document(struct roger_str text, struct rg_arena *arena, struct document *to)
{
	struct rg_json *json = NULL;
	struct roger_err err = { 0 };
	int r = rg_run_read(text, &json, arena, &to->run, &to->receipts, &err);

	if (r < 0) {
		rg_assert(r == ROGER_EDATA);
		fuzz_check_error(&err, r);
		return false;
	}
	rg_assert(rg_record_keep(&rg_run_record, &to->run, arena));
	rg_json_free(json);
	return true;
}

static bool same_receipts(const struct rg_receipts *a, const struct rg_receipts *b)
{
	return a->dispatched_ms == b->dispatched_ms && a->expected_by_ms == b->expected_by_ms &&
	       a->completed_ms == b->completed_ms && a->forwarded == b->forwarded &&
	       a->from_recovery == b->from_recovery && a->child_ended == b->child_ended &&
	       a->child_lost == b->child_lost && a->recoveries == b->recoveries &&
	       a->last_recovery_ms == b->last_recovery_ms && a->extensions == b->extensions;
}

/* The document, printed; it must read as the same. */
static struct document print_again(const struct document *document, struct rg_arena *arena)
{
	struct rg_buf once = { .maximum = SIZE_MAX }, twice = { .maximum = SIZE_MAX };
	struct document again = { 0 };

	rg_run_print(&document->run, &once);
	rg_assert(!once.failed && read_document(rg_buf_str(&once), arena, &again));
	rg_assert(same_receipts(&again.receipts, &document->receipts));
	rg_assert(rg_str_equal(again.run.unknown, document->run.unknown));
	rg_assert(rg_str_equal(again.run.processes_unknown, document->run.processes_unknown));
	rg_run_print(&again.run, &twice);
	rg_assert(rg_str_equal(rg_buf_str(&once), rg_buf_str(&twice)));
	rg_buf_deinit(&once);
	rg_buf_deinit(&twice);
	return again;
}

static enum roger_run_status judge(const struct document *document, int64_t now_ms)
{
	struct rg_buf reason = { .maximum = SIZE_MAX };
	enum roger_run_status status = rg_watchdog_judge(&document->receipts, &rules, now_ms);

	rg_watchdog_explain(&document->run, &document->receipts, &rules, status, &reason);
	rg_assert(reason.length && !reason.failed);
	rg_buf_deinit(&reason);
	return status;
}

static void check_time(const struct document *document, int64_t now_ms)
{
	enum roger_run_status early = judge(document, now_ms), late = judge(document, INT64_MAX);

	rg_assert(early == late || (early == ROGER_RUN_ACTIVE && late == ROGER_RUN_SUSPECT));
	rg_assert(document->receipts.completed_ms ||
		  (late != ROGER_RUN_COMPLETED && late != ROGER_RUN_RECOVERED &&
		   late != ROGER_RUN_NOT_FORWARDED));
}

/* One change; what is refused is said, and changes nothing that is written. */
static void change(struct rg_run_edit *edit, int which)
{
	struct roger_err err = { 0 };
	int r = ROGER_OK;

	if (which == 0)
		r = rg_run_extend(edit, 60000, &err);
	else if (which == 1)
		r = rg_run_recover(edit, RG_STR("history_fetch"), &err);
	else if (which == 2)
		r = rg_run_end_child(edit, RG_STR("3"), &err);
	else if (which == 3)
		r = rg_run_complete(edit, RG_STR("history_fetch"), &err);
	else
		r = rg_run_forward(edit, RG_STR("msg-1"), &err);
	if (r < 0)
		fuzz_check_error(&err, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rg_arena *arena = rg_arena_new();
	struct document document = { 0 };
	struct rg_run_edit edit;
	int64_t now_ms;
	int which;

	rg_assert(arena);
	if (read_document((struct roger_str){ (const char *)data, size }, arena, &document)) {
		/* No clock of ours goes beyond what can be written. */
		now_ms = document.receipts.expected_by_ms - 5;
		document = print_again(&document, arena);
		for (which = 0; which < 5; which++) {
			check_time(&document, now_ms);
			edit = (struct rg_run_edit){ .run = &document.run,
						     .receipts = &document.receipts,
						     .rules = rules,
						     .now_ms = ++now_ms,
						     .arena = arena };
			change(&edit, which);
			rg_run_restate(&edit);
			rg_assert(!rg_arena_failed(arena));
			document = print_again(&document, arena);
			rg_assert((int)judge(&document, now_ms) == document.run.status);
		}
	}
	rg_arena_free(arena);
	return 0;
}
