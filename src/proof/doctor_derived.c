/* doctor: compare index, message-state.json, archive and control file with the journal. */
#include "proof/doctor.h"

#include "base/clock.h"
#include "facts/damage.h"
#include "facts/message.h"
#include "facts/sequence.h"

/* ----------------------------------------------------------------- index -- */

int rg_doctor_check_index_end(struct rg_doctor *doctor, struct roger_err *err)
{
	const struct rg_log_file *messages = rg_doctor_messages(doctor);
	struct roger_breach breach = rg_breach(ROGER_BREACH_INDEX, ROGER_DAMAGE, messages->shown);

	(void)err;
	breach.byte = (int64_t)messages->size;
	doctor->index_end = rg_index_checking_end(doctor->checking);
	if ((uint64_t)doctor->index_end > messages->size)
		rg_doctor_report(doctor, breach,
				 "lines are missing at the end: the index has read %lld bytes more",
				 (long long)(doctor->index_end - breach.byte));
	return ROGER_OK;
}

static int report_index(void *context, bool table, const char *what, struct roger_err *err)
{
	struct rg_doctor *doctor = context;
	const struct rg_engine *engine = doctor->engine;
	const struct roger_str file = table ? engine->workspace->config->database_file
					    : rg_str(rg_index_name(engine->index));

	(void)err;
	rg_doctor_report(doctor, rg_breach(ROGER_BREACH_INDEX, ROGER_REPAIRABLE, file), "%s", what);
	return ROGER_OK;
}

int rg_doctor_compare_index(struct rg_doctor *doctor, struct roger_err *err)
{
	int r = rg_index_checked(doctor->checking, &doctor->at_index, report_index, doctor, err);

	doctor->checking = rg_index_checking_free(doctor->checking);
	if (r < 0 || !doctor->repairable[ROGER_BREACH_INDEX] || !doctor->wish->fix)
		return r;
	r = rg_index_rebuild(doctor->engine->index, rg_doctor_messages(doctor)->end, NULL, err);
	if (r == ROGER_OK)
		rg_doctor_fixed_all(doctor, ROGER_BREACH_INDEX);
	return r;
}

/* ----------------------------------------------------- message-state.json -- */

/* Compare the document with the numbers that it must have.  *ret_what: what is wrong, or NULL.
 * why: the error if it cannot be read. */
static int look_at_state(struct rg_doctor *doctor, const struct rg_sequence *wanted,
			 struct roger_err *why, const char **ret_what,
			 enum roger_severity *ret_severity, struct roger_err *err)
{
	struct rg_store *store = doctor->engine->store;
	struct rg_shared *shared = rg_store_shared(store);
	struct rg_sequence *state = NULL;
	struct roger_str text;
	int r = store->ops->get(store, RG_DOCUMENT_STATE, RG_STR(""), doctor->arena, &text, why);

	*ret_what = NULL;
	*ret_severity = ROGER_REPAIRABLE;
	if (r == ROGER_OK && text.data)
		r = rg_sequence_read(text, &state, why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0) {
		*ret_what = why->message;
		/* Something else has its name, which is not roger's to remove. */
		*ret_severity = r == ROGER_EREFUSED ? ROGER_DAMAGE : ROGER_REPAIRABLE;
	} else if (!state && shared && atomic_load(&shared->state_written)) {
		*ret_what = "it is missing";
	} else if (state && state->epoch < wanted->epoch) {
		*ret_what = "its epoch has ended";
	} else if (state && state->epoch == wanted->epoch && !rg_sequence_covers(state, wanted)) {
		*ret_severity = ROGER_NOTE;
		*ret_what = "a counter is below the numbers in the journal, or a lastSeen below "
			    "one that was read; the next reader or --fix writes it";
	}
	rg_sequence_free(state);
	return ROGER_OK;
}

static int check_state(struct rg_doctor *doctor, const struct rg_sequence *wanted,
		       struct roger_err *err)
{
	const bool writable = rg_store_writable(doctor->engine->store);
	enum roger_severity severity;
	struct roger_breach breach;
	struct roger_err why = { 0 };
	const char *what;
	int r;

	/* An open handle may write the document up to a second late. */
	if (writable)
		rg_engine_save_state(doctor->engine, true);
	r = look_at_state(doctor, wanted, &why, &what, &severity, err);
	if (r < 0 || !what)
		return r;
	breach = rg_breach(ROGER_BREACH_STATE, severity, rg_str(doctor->engine->store->state));
	breach.fixable = severity != ROGER_DAMAGE;
	rg_doctor_report(doctor, breach, "%s", what);
	if (!doctor->wish->fix || !writable || !breach.fixable)
		return ROGER_OK;
	rg_engine_want_state(doctor->engine, true);
	rg_engine_save_state(doctor->engine, true);
	r = look_at_state(doctor, wanted, &why, &what, &severity, err);
	if (r == ROGER_OK && !what)
		rg_doctor_fixed(doctor);
	return r;
}

/* The wanted numbers come from the index, which was compared with the journal before. */
int rg_doctor_state(struct rg_doctor *doctor, struct roger_err *err)
{
	struct rg_sequence *wanted;
	int r = rg_engine_refresh(doctor->engine, err);

	if (r == ROGER_OK)
		r = rg_sequence_new(&wanted, err);
	if (r < 0)
		return r;
	wanted->epoch = doctor->messages.epoch;
	r = rg_index_sequence(doctor->engine->index, wanted->epoch, wanted, err);
	if (r == ROGER_OK)
		r = check_state(doctor, wanted, err);
	rg_sequence_free(wanted);
	return r;
}

/* --------------------------------------------------------------- archive -- */

static void report_altered(struct rg_doctor *doctor, const struct rg_log_file *file,
			   const struct rg_misfit *found)
{
	struct roger_breach breach = rg_breach(
		ROGER_BREACH_ARCHIVE, rg_finding_is_damage(found->kind) ? ROGER_DAMAGE : ROGER_NOTE,
		file->shown);
	const struct roger_damage damage = { .kind = ROGER_DAMAGE_REWRITTEN, .file = file->shown };

	breach.line = found->line;
	breach.byte = (int64_t)found->byte;
	rg_doctor_report(doctor, breach, "%s%s", found->kind == ROGER_ACCEPTED ? "accepted: " : "",
			 rg_damage_words(&damage));
}

static bool is_kept(const struct rg_doctor *doctor, struct roger_str file, int64_t line)
{
	size_t i;

	for (i = 0; i < doctor->damaged.count; i++)
		if (doctor->damaged.items[i].line == line &&
		    rg_str_equal(doctor->damaged.items[i].file, file))
			return true;
	return false;
}

/* Compare an archived line with its message.  Where the journal does not archive the message, the
 * writer was killed in between; that of a torn line was archived again, or is missing. */
static int find_archived(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct rg_misfit found = { .line = walk->number, .byte = walk->line.offset };
	struct rg_doctor_archived *archived = NULL;
	struct rg_doctor *doctor = context;
	union rg_log_record record;
	uint64_t hash;
	int r;

	if (!walk->line.too_long && rg_archive_head(walk->line.text, &hash))
		archived = rg_table_find(&doctor->archived, hash);
	if (!archived)
		return ROGER_OK;
	r = rg_log_kind_read(RG_LOG_ARCHIVE, walk->line.text, walk->scratch, &record, NULL);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	archived->found |= r == ROGER_OK;
	if (r < 0 || rg_message_text_hash(&doctor->text, &record.message) == archived->text)
		return ROGER_OK;
	found.kind = rg_judge_rewrite(&doctor->judge, walk);
	report_altered(doctor, walk->file, &found);
	rg_doctor_keep_damaged(doctor, walk, &found);
	return ROGER_OK;
}

/* Ignore a file that cannot be read, since rg_doctor_places() reports it. */
static int pass_over(void *context, const struct rg_log_file *file, const char *why,
		     struct roger_err *err)
{
	(void)context, (void)file, (void)why, (void)err;
	return ROGER_OK;
}

static int read_archives(struct rg_doctor *doctor, struct roger_err *err)
{
	static const struct rg_visitor visitor = { .name = "doctor",
						   .line = find_archived,
						   .end = rg_doctor_count_bytes,
						   .unreadable = pass_over };
	struct rg_log_files files = { 0 };
	struct rg_misfit noted;
	bool there;
	size_t i, k;
	int r;

	r = doctor->engine->store->ops->list(doctor->engine->store, RG_LOG_ARCHIVE, RG_STR(""),
					     doctor->arena, &files, err);
	/* The folder's name may be a file, which rg_doctor_places() reports, too. */
	if (r == ROGER_EREFUSED)
		return ROGER_OK;
	for (i = 0; i < files.count && r == ROGER_OK; i++) {
		r = rg_walk(doctor->engine, &files.items[i], &visitor, NULL, doctor, &there, err);
		/* Report noted lines whose bytes were changed.  rg_doctor_removed() reports a file
		 * that was removed. */
		for (k = 0; r == ROGER_OK &&
			    rg_judge_next(&doctor->judge, files.items[i].shown, &k, &noted);)
			if (noted.line && !is_kept(doctor, files.items[i].shown, noted.line))
				report_altered(doctor, &files.items[i], &noted);
	}
	return r;
}

int rg_doctor_archive(struct rg_doctor *doctor, struct roger_err *err)
{
	struct roger_breach breach;
	const struct rg_doctor_archived *archived;
	size_t i = 0;
	int r;

	if (!doctor->archived.count)
		return ROGER_OK;
	r = read_archives(doctor, err);
	while (r == ROGER_OK && (archived = rg_table_next(&doctor->archived, &i))) {
		if (archived->found)
			continue;
		breach = rg_breach(ROGER_BREACH_ARCHIVE,
				   archived->own ? ROGER_REPAIRABLE : ROGER_NOTE,
				   rg_doctor_messages(doctor)->shown);
		breach.line = archived->line;
		breach.byte = (int64_t)archived->offset;
		breach.fixable = true;
		rg_doctor_report(doctor, breach,
				 "archived by this line%s, but missing in messages_archive/",
				 archived->own ? "" : " of another program");
		if (!doctor->wish->fix)
			continue;
		r = rg_engine_archive_again(doctor->engine, archived->offset, archived->own, err);
		if (r == ROGER_OK)
			rg_doctor_fixed(doctor);
	}
	return r;
}

/* --------------------------------------------------------------- control -- */

static void report_control(struct rg_doctor *doctor, const char *what, struct roger_str name)
{
	rg_doctor_report(doctor,
			 rg_breach(ROGER_BREACH_CONTROL, ROGER_REPAIRABLE,
				   rg_str(doctor->engine->store->figures)),
			 "%s%s%.*s%s", what, name.length ? " '" : "", RG_STR_ARGS(name),
			 name.length ? "'" : "");
}

/* Report figures of agents that are lower than the journal's. */
static void check_agents(struct rg_doctor *doctor)
{
	struct rg_store *store = doctor->engine->store;
	const struct rg_message_agent *agent;
	const struct rg_figure *figure;
	struct rg_named_figure named;
	struct roger_str name;
	size_t i = 0;

	while (store->ops->next_figure(store, &i, &named)) {
		name = (struct roger_str){ named.name, named.length };
		figure = &named.figure;
		agent = rg_message_rules_agent(&doctor->messages, name);
		if (!agent)
			continue;
		if (agent->epoch > figure->epoch ||
		    (agent->epoch == figure->epoch && agent->seq > figure->seq))
			report_control(doctor, "the last number is too low for agent", name);
		if (agent->unread > (int64_t)figure->count)
			report_control(doctor, "the count of unread messages is too low for agent",
				       name);
	}
}

static void check_counts(struct rg_doctor *doctor)
{
	const struct rg_doctor_count *count;
	size_t i = 0;

	while ((count = rg_table_next(&doctor->counts, &i)))
		if (count->count > 0 &&
		    (int64_t)rg_tally_count(doctor->engine->store, count->hash) < count->count)
			report_control(doctor,
				       "the count of messages is too low for an issue or mailbox",
				       RG_STR(""));
}

static void check_offsets(struct rg_doctor *doctor)
{
	const struct rg_head head = rg_store_head(doctor->engine->store);

	if (head.synced > head.end || atomic_load(&head.shared->logged) > head.end)
		rg_doctor_report(doctor,
				 rg_breach(ROGER_BREACH_CONTROL, ROGER_DAMAGE,
					   rg_str(doctor->engine->store->figures)),
				 "it has more bytes synced than appended; remove it while "
				 "no roger process is running");
}

/* Check the figures only if nothing was written since the journal was measured, as writing changes
 * them.  --fix mends all at once: the next writer computes all figures again. */
int rg_doctor_control(struct rg_doctor *doctor, struct roger_err *err)
{
	const struct rg_figure_key key = { .kind = RG_FIGURE_DAMAGED };
	struct rg_store *store = doctor->engine->store;
	struct rg_figure damaged;

	(void)err;
	if (!rg_store_writable(store) || !rg_store_begin_soon(store, 0))
		return ROGER_OK;
	if (rg_store_head(store).end == rg_doctor_messages(doctor)->end) {
		check_offsets(doctor);
		/* If the tables are damaged, nothing else can be checked. */
		if (store->ops->figure(store, &key, &damaged) && damaged.count) {
			report_control(doctor, "its tables are damaged; it will be rebuilt",
				       RG_STR(""));
		} else {
			check_agents(doctor);
			check_counts(doctor);
		}
	}
	if (doctor->repairable[ROGER_BREACH_CONTROL] && doctor->wish->fix) {
		(void)store->ops->keep(store, RG_KEEP_NOTHING);
		rg_doctor_fixed_all(doctor, ROGER_BREACH_CONTROL);
	}
	rg_store_release(store, RG_LOCK_APPEND);
	return ROGER_OK;
}

/* -------------------------------------------------------------- leases -- */

enum { LEASES_MAX = 256 };

/* Report leases beyond the limit, taken with a clock that was ahead or another configuration. */
int rg_doctor_leases(struct rg_doctor *doctor, struct roger_err *err)
{
	const struct roger_breach breach =
		rg_breach(ROGER_BREACH_MESSAGE, ROGER_NOTE, rg_doctor_messages(doctor)->shown);
	struct rg_engine *engine = doctor->engine;
	const int64_t last_ms = rg_clock_ms() + engine->workspace->config->lease_ms_max;
	struct rg_query query = { .anywhere = true };
	struct roger_message_list found = { 0 };
	const struct roger_message *message;
	struct roger_strs ids;
	char until[32];
	size_t i;
	int r;

	r = rg_engine_overdue(engine, INT64_MAX, false, LEASES_MAX, doctor->arena, &ids, err);
	query.ids = ids.items;
	query.id_count = ids.count;
	if (r == ROGER_OK && ids.count)
		r = rg_index_messages(engine->index, &query, doctor->arena, &found, NULL, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		message = &found.items[i];
		if (!message->claimed_by.length || message->claimed_until_ms <= last_ms)
			continue;
		rg_clock_print_utc(message->claimed_until_ms, until);
		rg_doctor_report(doctor, breach,
				 "the lease of '%.*s' on message '%.*s' says %s, beyond "
				 "claims.max_lease: it counts as expired",
				 RG_STR_ARGS(message->claimed_by), RG_STR_ARGS(message->id), until);
	}
	return r;
}
