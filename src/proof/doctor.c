/*
 * doctor: run all checks.  Derived files are compared after the journals.  All journals are
 * measured under the record lock, and then read only that far, so that lines that others
 * append meanwhile are not reported as wrong.
 */
#include "proof/doctor.h"

#include <stdarg.h>
#include <stdio.h>

enum { TOLD_MAX = 1000 };

void rg_doctor_report(struct rg_doctor *doctor, struct roger_breach breach, const char *format, ...)
{
	struct roger_breach_list *list = &doctor->reply->breaches;
	const bool repairable = breach.severity == ROGER_REPAIRABLE;
	char what[300];
	va_list args;

	doctor->repairable[breach.kind] += repairable;
	doctor->reply->left += breach.severity != ROGER_NOTE;
	doctor->severity = breach.severity;
	doctor->last = SIZE_MAX;
	if (doctor->told[breach.severity]++ >= TOLD_MAX)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	breach.fixable |= repairable;
	if (rg_arena_copy(doctor->arena, rg_str(what), &breach.what) &&
	    rg_arena_copy(doctor->arena, breach.file, &breach.file) &&
	    rg_arena_append(doctor->arena, &list->items, &list->count, &breach, sizeof breach))
		doctor->last = list->count - 1;
	else
		doctor->failed = true;
}

static struct roger_breach *breaches_of(struct rg_doctor *doctor)
{
	return (struct roger_breach *)(uintptr_t)doctor->reply->breaches.items;
}

void rg_doctor_fixed(struct rg_doctor *doctor)
{
	doctor->reply->fixed++;
	doctor->reply->left -= doctor->severity == ROGER_REPAIRABLE;
	if (doctor->last != SIZE_MAX)
		breaches_of(doctor)[doctor->last].fixed = true;
}

void rg_doctor_fixed_all(struct rg_doctor *doctor, enum roger_breach_kind kind)
{
	struct roger_breach *breach = breaches_of(doctor);
	size_t i;

	doctor->reply->fixed += (int64_t)doctor->repairable[kind];
	doctor->reply->left -= (int64_t)doctor->repairable[kind];
	for (i = 0; i < doctor->reply->breaches.count; i++, breach++)
		breach->fixed |= breach->kind == (int)kind && breach->severity == ROGER_REPAIRABLE;
}

/* ------------------------------------------------------------------ all -- */

/* Measure all journals: lines beyond these ends are not checked. */
static int measure_journals(struct rg_doctor *doctor, struct roger_err *err)
{
	uint64_t end;
	int r = rg_engine_settle(doctor->engine, &end, err);

	doctor->head = rg_store_head(doctor->engine->store);
	return r < 0 ? r
		     : rg_engine_measure(doctor->engine, RG_MEASURED_CHAINED, doctor->arena,
					 &doctor->journals, &doctor->logged, err);
}

static int examine_all(struct rg_doctor *doctor, struct roger_err *err)
{
	static int (*const steps[])(struct rg_doctor *, struct roger_err *) = {
		measure_journals,	 rg_doctor_check_index_end, rg_doctor_journals,
		rg_doctor_compare_index, rg_doctor_state,	    rg_doctor_removed,
		rg_doctor_archive,	 rg_doctor_control,	    rg_doctor_leases,
		rg_doctor_places,
	};
	uint64_t end;
	size_t i;
	int r;

	/* Check the index first: a query would repair it. */
	rg_index_bring_seed_up(doctor->engine->index);
	r = rg_engine_settle(doctor->engine, &end, err);
	if (r == ROGER_OK)
		r = rg_judge_init(&doctor->judge, doctor->engine, doctor->arena, err);
	if (r == ROGER_OK)
		r = rg_index_check(doctor->engine->index, doctor->judge.key, &doctor->checking,
				   err);
	for (i = 0; r == ROGER_OK && i < sizeof steps / sizeof *steps; i++)
		r = steps[i](doctor, err);
	return r < 0 ? r : rg_kept(!doctor->failed && !doctor->damaged.failed, err);
}

int rg_engine_doctor(struct rg_engine *engine, const struct rg_doctor_wish *wish,
		     struct rg_arena *arena, struct roger_doctor_reply *reply,
		     struct roger_err *err)
{
	struct rg_doctor doctor = { .engine = engine,
				    .wish = wish,
				    .arena = arena,
				    .scratch = rg_arena_new(),
				    .text = { .maximum = SIZE_MAX },
				    .damaged.arena = arena,
				    .reply = reply };
	int r;

	rg_message_rules_init(&doctor.messages);
	rg_table_init(&doctor.counts, sizeof(struct rg_doctor_count));
	rg_table_init(&doctor.archived, sizeof(struct rg_doctor_archived));
	rg_table_init(&doctor.not_as_sent, sizeof(uint64_t));
	r = rg_sends_check_new(engine->workspace->config->cycles_kept, &doctor.sends, err);
	if (r == ROGER_OK && !doctor.scratch)
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = examine_all(&doctor, err);
	if (r == ROGER_OK && doctor.damaged.count)
		(void)rg_engine_note_findings(
			engine,
			&(struct roger_finding_list){ doctor.damaged.items, doctor.damaged.count },
			arena);
	reply->damaged = (int64_t)doctor.told[ROGER_DAMAGE];
	reply->repairable = (int64_t)doctor.told[ROGER_REPAIRABLE];
	reply->notes = (int64_t)doctor.told[ROGER_NOTE];
	rg_index_checking_free(doctor.checking);
	rg_message_rules_deinit(&doctor.messages);
	rg_buf_deinit(&doctor.text);
	rg_sends_check_free(doctor.sends);
	rg_table_deinit(&doctor.counts);
	rg_table_deinit(&doctor.archived);
	rg_table_deinit(&doctor.not_as_sent);
	rg_arena_free(doctor.scratch);
	engine->stored += r == ROGER_OK && reply->fixed > 0;
	return r;
}
