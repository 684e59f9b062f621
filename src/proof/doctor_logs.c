/* doctor: check the journals, line by line. */
#include "proof/doctor.h"

#include "facts/damage.h"
#include "facts/message.h"

/* Return a breach at the current line of a walk. */
static struct roger_breach breach_here(const struct rg_walk *walk, enum roger_breach_kind kind,
				       enum roger_severity severity)
{
	struct roger_breach breach = rg_breach(kind, severity, walk->file->shown);

	breach.line = walk->number;
	breach.byte = (int64_t)walk->line.offset;
	return breach;
}

void rg_doctor_keep_damaged(struct rg_doctor *doctor, const struct rg_walk *walk,
			    const struct rg_misfit *found)
{
	const struct roger_finding finding = { .kind = (int)found->kind,
					       .file = walk->file->shown,
					       .line = found->line,
					       .byte = (int64_t)found->byte };

	if (rg_finding_is_damage(found->kind))
		rg_findings_add(&doctor->damaged, &finding);
}

static int take_found(void *context, struct rg_walk *walk, const struct rg_misfit *found,
		      struct roger_err *err)
{
	const bool shape = found->by == RG_MISFIT_AT_END || found->kind == ROGER_STRAY;
	const bool gap = found->by == RG_MISFIT_IN_CHAIN && found->kind == ROGER_TORN;
	const bool of_message =
		walk->file->log == RG_LOG_MESSAGES && found->line &&
		(found->by == RG_MISFIT_IN_CHAIN || found->by == RG_MISFIT_BEFORE) &&
		(found->kind == ROGER_ALTERED || found->kind == ROGER_ACCEPTED);
	int64_t line = found->by == RG_MISFIT_IN_CHAIN && walk->finding.from ? walk->finding.from
									     : found->line;
	struct rg_doctor *doctor = context;
	struct roger_breach breach =
		breach_here(walk,
			    found->by == RG_MISFIT_IN_MESSAGE ? ROGER_BREACH_MESSAGE
			    : shape			      ? ROGER_BREACH_SHAPE
							      : ROGER_BREACH_CHAIN,
			    rg_finding_is_damage(found->kind) ? ROGER_DAMAGE : ROGER_NOTE);
	bool fresh;
	int r;

	breach.line = found->line;
	breach.byte = (int64_t)found->byte;
	breach.fixable = gap && !doctor->judge.closed;
	rg_doctor_report(doctor, breach, "%s%s%s",
			 found->kind == ROGER_ACCEPTED ? "accepted: " : "", found->what,
			 of_message ? "; no entry of a send log is made of it" : "");
	rg_doctor_keep_damaged(doctor, walk, found);
	doctor->unreadable |= found->by == RG_MISFIT_IN_LINE && found->kind == ROGER_ALTERED;
	for (; of_message && line <= found->line; line++)
		doctor->failed |= !rg_table_put(&doctor->not_as_sent, (uint64_t)line, &fresh);
	if (!breach.fixable || !doctor->wish->fix)
		return ROGER_OK;
	r = rg_engine_note_gap(doctor->engine, walk->file, found->line, found->byte,
			       RG_STR("doctor"),
			       RG_STR("lines that were not synced yet went with the machine"), err);
	if (r == ROGER_OK)
		rg_doctor_fixed(doctor);
	return r;
}

/* Wrong lines are damage if roger wrote them; other programs' lines are theirs. */
static enum roger_severity severity_of(const struct rg_walk *walk, bool odd)
{
	return walk->own && !odd ? ROGER_DAMAGE : ROGER_NOTE;
}

/* Report each of the faults of a message. */
static void report_faults(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_str id,
			  unsigned faults)
{
	struct roger_breach breach;
	unsigned i;

	for (i = 0; rg_message_fault_texts[i]; i++) {
		if (!(faults >> i & 1))
			continue;
		breach = breach_here(walk, ROGER_BREACH_MESSAGE,
				     severity_of(walk, RG_MESSAGE_ODD >> i & 1));
		/* An earlier state may have been in a line that is gone. */
		if (rg_judge_lost_messages(&doctor->judge, doctor->engine))
			breach.severity = ROGER_NOTE;
		rg_doctor_report(doctor, breach, "message '%.*s': %s",
				 id.length < 80 ? (int)id.length : 80, id.data,
				 rg_message_fault_texts[i]);
	}
}

/* -------------------------------------------------------------- messages -- */

static void count_one(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_str to,
		      int by)
{
	const uint64_t hash = rg_tally_box(walk->message->issue, to);
	bool fresh;
	struct rg_doctor_count *count = rg_table_put(&doctor->counts, hash, &fresh);

	doctor->failed |= !count;
	if (!count)
		return;
	count->count += by;
	if (by > 0) {
		count->line = walk->number;
		count->offset = walk->line.offset;
	}
}

static void check_sizes(struct rg_doctor *doctor, const struct rg_walk *walk)
{
	const struct rg_config *config = doctor->engine->workspace->config;
	const struct {
		const char *member;
		struct roger_str text;
		int64_t most;
	} sizes[] = {
		{ "content", walk->message->content, config->content_chars_max },
		{ "metadata", walk->message->metadata, config->metadata_chars_max },
	};
	const struct roger_breach breach = breach_here(walk, ROGER_BREACH_LIMIT, ROGER_NOTE);
	size_t i, chars;

	for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if ((int64_t)sizes[i].text.length > sizes[i].most &&
		    rg_utf8_count(sizes[i].text, &chars) && (int64_t)chars > sizes[i].most)
			rg_doctor_report(doctor, breach, "%s of %zu characters; the limit is %lld",
					 sizes[i].member, chars, (long long)sizes[i].most);
}

/* A line of another program is archived as roger prints its message. */
static void note_archived(struct rg_doctor *doctor, const struct rg_walk *walk, uint64_t text)
{
	struct rg_doctor_archived *archived;
	struct roger_str line = walk->line.text;
	size_t number_at;
	uint64_t hash;
	bool fresh;

	if (!walk->own) {
		rg_buf_clear(&doctor->text);
		rg_message_print(walk->message, &doctor->text, &number_at);
		doctor->failed |= doctor->text.failed;
		line = rg_buf_str(&doctor->text);
	}
	if (!rg_archive_head(line, &hash))
		return;
	archived = rg_table_put(&doctor->archived, hash, &fresh);
	doctor->failed |= !archived;
	if (!archived)
		return;
	archived->text = text;
	archived->offset = walk->line.offset;
	archived->line = walk->number;
	archived->own = walk->own;
}

static int note_key(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_message *message = walk->message;
	bool demanded = walk->own && walk->line.offset < doctor->logged &&
			!rg_head_lost(&doctor->head, walk->line.offset);
	const bool keyed = message->key.length && message->cycle.length;
	int64_t unused;

	/* After its first line, a message that is sent once has no line about its attempts. */
	if (!keyed ? !message->leases
		   : walk->before.known && !message->confirm_by_ms && message->attempt <= 1 &&
			     rg_sendlog_told(message, &unused) != RG_TOLD_DELIVERED)
		return ROGER_OK;
	return rg_sends_check_message(doctor->sends, message, walk->line.offset, demanded, err);
}

static int take_message(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_message *message = walk->message;
	const struct rg_message_before *before = &walk->before;
	const uint64_t text = rg_message_text_hash(&doctor->text, message);
	const int by = before->known ? -1 : 1;
	unsigned faults;
	bool counts, fresh;
	int r;

	doctor->reply->messages++;
	if (doctor->text.failed)
		return rg_fail_memory(err);
	if (!before->archived)
		walk->known->row = rg_message_row_hash(text, message);
	r = rg_message_rules_take(&doctor->messages, before, message, walk->own, &faults, err);
	if (r < 0)
		return r;
	report_faults(doctor, walk, message->id, faults);
	if (!before->known && walk->own && rg_message_is_later(message))
		doctor->failed |= !rg_table_put(&doctor->not_as_sent, walk->known->id, &fresh);
	/* The message is in a mailbox now, or not any more. */
	counts = !before->known != (message->archived_at_ms > 0) && !before->archived;
	if (counts) {
		count_one(doctor, walk, RG_STR(""), by);
		count_one(doctor, walk, message->to, by);
	}
	doctor->strange += !before->known && !rg_id_is_own(message->id);
	if (!before->known)
		check_sizes(doctor, walk);
	if (message->archived_at_ms && !before->archived)
		note_archived(doctor, walk, text);
	return note_key(doctor, walk, err);
}

/* Compute what the index must hold at the offset where it ends. */
static void add_up(struct rg_doctor *doctor, const struct rg_walk *walk)
{
	const struct rg_message_rules *rules = &doctor->messages;
	int64_t *sums = doctor->at_index.all;
	const struct rg_walk_message *known;
	uint64_t states = 0;
	uint32_t rows = 0;
	int64_t archived = 0;
	size_t i = 0;

	while ((known = rg_table_next(&walk->messages.table, &i))) {
		states += rg_index_state(known->id, known->line, known->archived ? 0 : known->last,
					 known->read);
		rows += known->archived ? 0 : known->row;
		archived += known->archived;
	}
	doctor->at_index.offset = doctor->index_end;
	sums[RG_RULE_LINES] = walk->number;
	sums[RG_RULE_STRAYS] = doctor->strays;
	sums[RG_RULE_STRANGE] = doctor->strange;
	sums[RG_RULE_MESSAGES] = (int64_t)walk->messages.table.count - archived;
	sums[RG_RULE_KEYS] = rules->keys;
	sums[RG_RULE_REPLIES] = rules->replies;
	sums[RG_RULE_SEEN] = (int64_t)rules->seen.pairs.count + rules->seen.numbers;
	sums[RG_RULE_EDGES] = (int64_t)rules->edges.pairs.count + rules->edges.numbers;
	sums[RG_RULE_STATES] = (int64_t)states;
	sums[RG_RULE_TABLE] = sums[RG_RULE_MESSAGES];
	sums[RG_RULE_TABLE_ROWS] = rows;
}

/* ------------------------------------------------------------------ logs -- */

/* Find the log of a sender.  The last one is kept, since entries of a sender follow each other. */
static int log_of(struct rg_doctor *doctor, struct roger_str sender, struct roger_err *err)
{
	struct rg_store *store = doctor->engine->store;
	struct rg_log_files files = { 0 };
	int r;

	if (doctor->sender.data && rg_str_equal(doctor->sender, sender))
		return ROGER_OK;
	r = store->ops->list(store, RG_LOG_SENDS, sender, doctor->arena, &files, err);
	if (r < 0 || !files.count || !rg_arena_copy(doctor->arena, sender, &doctor->sender))
		return r < 0 ? r : rg_fail_memory(err);
	doctor->sender_log = files.items[0];
	return ROGER_OK;
}

/* Report an entry that is not in its sender's own log. */
static int check_owner(struct rg_doctor *doctor, const struct rg_walk *walk,
		       struct roger_str sender, struct roger_err *err)
{
	int r = log_of(doctor, sender, err);

	if (r == ROGER_OK && !rg_str_equal(walk->file->name, doctor->sender_log.name))
		rg_doctor_report(
			doctor, breach_here(walk, ROGER_BREACH_SEND_LOG, severity_of(walk, false)),
			"an entry of '%.*s' is in another sender's log", RG_STR_ARGS(sender));
	return r;
}

static int take_entry(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const union rg_log_record *record = &walk->record;
	const struct rg_sends_place place = { walk->file - doctor->journals.items, walk->number,
					      (int64_t)walk->line.offset,
					      (int64_t)walk->line.length, walk->own };
	int r;

	switch ((int)walk->file->log) {
	case RG_LOG_SENDS:
		doctor->reply->attempts++;
		r = rg_sends_check_entry(doctor->sends, &record->attempt, &place, err);
		return r < 0 ? r : check_owner(doctor, walk, record->attempt.from, err);
	case RG_LOG_DEAD_LETTERS:
		return rg_sends_check_letter(doctor->sends, &record->letter, &place, err);
	case RG_LOG_CYCLES:
		return rg_sends_check_cycle(doctor->sends, &record->cycle, &place, err);
	default:
		return ROGER_OK;
	}
}

/* --------------------------------------------------------------- walking -- */

static int take_line(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct rg_doctor *doctor = context;
	int r = ROGER_OK;

	doctor->reply->lines++;
	if (walk->is_entry)
		r = take_entry(doctor, walk, err);
	if (walk->message)
		r = take_message(doctor, walk, err);
	if (walk->file->log != RG_LOG_MESSAGES)
		return r;
	doctor->strays += !walk->message && !walk->altered &&
			  (walk->line.too_long || !rg_line_is_torn(walk->line.text));
	if ((int64_t)walk->lines.at == doctor->index_end)
		add_up(doctor, walk);
	return r;
}

int rg_doctor_count_bytes(void *context, struct rg_walk *walk, struct roger_err *err)
{
	struct rg_doctor *doctor = context;
	const struct rg_walk_message *known;
	bool fresh;
	size_t i = 0;

	(void)err;
	doctor->reply->bytes += (int64_t)walk->lines.at;
	while (doctor->not_as_sent.count && walk->file->log == RG_LOG_MESSAGES &&
	       (known = rg_table_next(&walk->messages.table, &i)))
		if (rg_table_find(&doctor->not_as_sent, known->line))
			doctor->failed |= !rg_table_put(&doctor->not_as_sent, known->id, &fresh);
	/* Look for the messages that documents of runs name. */
	for (i = 0; i < doctor->wish->wanted_count && walk->file->log == RG_LOG_MESSAGES; i++) {
		known = rg_walk_find(walk, doctor->wish->wanted[i].id);
		doctor->wish->wanted[i].found = known != NULL;
		doctor->wish->wanted[i].read = known && known->read;
	}
	return ROGER_OK;
}

/* Report a file that cannot be read; rules that need all journals are not checked then. */
static int take_unreadable(void *context, const struct rg_log_file *file, const char *why,
			   struct roger_err *err)
{
	struct rg_doctor *doctor = context;

	(void)err;
	doctor->incomplete = true;
	rg_doctor_report(doctor, rg_breach(ROGER_BREACH_PLACE, ROGER_DAMAGE, file->shown), "%s",
			 why);
	return ROGER_OK;
}

static int take_journals(struct rg_doctor *doctor, struct roger_err *err)
{
	static const struct rg_visitor visitor = { .name = "doctor",
						   .line = take_line,
						   .found = take_found,
						   .end = rg_doctor_count_bytes,
						   .unreadable = take_unreadable };
	struct rg_log_file *file;
	bool there;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < doctor->journals.count && r == ROGER_OK; i++) {
		file = &doctor->journals.items[i];
		r = rg_walk(doctor->engine, file, &visitor, &doctor->judge, doctor, &there, err);
		if (r < 0 || there || !file->inode)
			continue;
		doctor->incomplete = true;
		rg_doctor_report(doctor, rg_breach(ROGER_BREACH_PLACE, ROGER_NOTE, file->shown),
				 "it was purged during the check; run doctor again");
	}
	return r;
}

int rg_doctor_removed(struct rg_doctor *doctor, struct roger_err *err)
{
	const struct roger_damage *removed;
	struct roger_damage_list damages;
	size_t i = 0;
	int r = rg_engine_find_removed(doctor->engine, err);

	if (r == ROGER_OK)
		r = rg_engine_damages(doctor->engine, doctor->arena, &damages, err);
	while (r == ROGER_OK && (removed = rg_damage_next_removed(&damages, &doctor->journals, &i)))
		rg_doctor_report(doctor, rg_breach(ROGER_BREACH_PLACE, ROGER_DAMAGE, removed->file),
				 "%s", rg_damage_words(removed));
	return r;
}

/* ------------------------------------------------------- what is missing -- */

/* Read the message of a journal line, to describe it. */
static int read_line(struct rg_doctor *doctor, uint64_t offset, struct roger_message *ret_message,
		     struct roger_err *err)
{
	struct roger_str unused;

	rg_arena_reset(doctor->scratch);
	return rg_engine_line_at(doctor->engine, offset, doctor->scratch, &unused, ret_message,
				 err);
}

/* File a lost dead letter again as its sender would; later states of the lost one are unknown. */
static int file_letter(struct rg_doctor *doctor, const struct roger_attempt *attempt,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_dead_letter letter;
	int r;

	r = rg_sendlog_letter(attempt, attempt->attempt, doctor->arena, &letter, err);
	if (r < 0)
		return r;
	rg_record_encode(&rg_dead_letter_record, &letter, &text);
	rg_buf_add_char(&text, '\n');
	r = text.failed ? rg_fail_memory(err) : rg_engine_records_begin(doctor->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_log_append(doctor->engine, RG_LOG_DEAD_LETTERS, RG_STR(""), rg_buf_str(&text),
				 true, err);
	rg_engine_records_end(doctor->engine);
	return r;
}

static int report_lost_letter(struct rg_doctor *doctor, const struct roger_attempt *attempt,
			      struct roger_breach breach, bool own, struct roger_err *err)
{
	int r;

	breach.kind = ROGER_BREACH_DEAD_LETTER;
	breach.severity = own ? ROGER_REPAIRABLE : ROGER_NOTE;
	rg_doctor_report(doctor, breach, "dead letter '%.*s' of '%.*s' is gone",
			 RG_STR_ARGS(attempt->dead_letter_task), RG_STR_ARGS(attempt->key));
	if (!own || !doctor->wish->fix)
		return ROGER_OK;
	r = file_letter(doctor, attempt, err);
	if (r == ROGER_OK)
		rg_doctor_fixed(doctor);
	return r;
}

/* Missing entries that follow from the journal are written again. */
static int report_missing(struct rg_doctor *doctor, int64_t offset, struct roger_err *err)
{
	struct roger_message message;
	int r = read_line(doctor, (uint64_t)offset, &message, err);

	if (r == ROGER_OK)
		r = log_of(doctor, message.from, err);
	if (r == ROGER_OK)
		rg_doctor_report(doctor,
				 rg_breach(ROGER_BREACH_SEND_LOG, ROGER_REPAIRABLE,
					   doctor->sender_log.shown),
				 "there is no entry that says message '%.*s' was delivered",
				 RG_STR_ARGS(message.id));
	return r;
}

static int mend_missing(struct rg_doctor *doctor, struct roger_err *err)
{
	uint64_t reached;
	int r;

	if (!doctor->repairable[ROGER_BREACH_SEND_LOG] || !doctor->wish->fix)
		return ROGER_OK;
	/* The index may still have entries that the logs no longer have. */
	r = rg_index_rebuild(doctor->engine->index, rg_doctor_messages(doctor)->end, NULL, err);
	if (r == ROGER_OK)
		r = rg_engine_records_begin(doctor->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_carry(doctor->engine, true, &reached, err);
	rg_engine_records_end(doctor->engine);
	if (r == ROGER_OK && reached >= doctor->logged)
		rg_doctor_fixed_all(doctor, ROGER_BREACH_SEND_LOG);
	return r;
}

/* Read the record of a log line, to describe it. */
static int read_entry(struct rg_doctor *doctor, const struct rg_sends_place *place,
		      union rg_log_record *ret_record, struct roger_err *err)
{
	const struct rg_log_file *file = &doctor->journals.items[place->log];
	size_t got;
	char *text;
	int r;

	if (file->log == RG_LOG_MESSAGES)
		return read_line(doctor, (uint64_t)place->byte, &ret_record->message, err);
	rg_arena_reset(doctor->scratch);
	text = rg_arena_get(doctor->scratch, (size_t)place->length + 1);
	if (!text)
		return rg_fail_memory(err);
	r = rg_engine_copy(doctor->engine, file, (uint64_t)place->byte, text, (size_t)place->length,
			   &got, err);
	return r < 0 ? r
		     : rg_log_kind_read(file->log, (struct roger_str){ text, got }, doctor->scratch,
					ret_record, err);
}

static int take_broken(void *context, enum rg_sends_rule rule, const struct rg_sends_place *place,
		       struct roger_err *err)
{
	static const enum roger_breach_kind kinds[RG_LOGS] = {
		[RG_LOG_MESSAGES] = ROGER_BREACH_MESSAGE,
		[RG_LOG_SENDS] = ROGER_BREACH_SEND_LOG,
		[RG_LOG_DEAD_LETTERS] = ROGER_BREACH_DEAD_LETTER,
		[RG_LOG_CYCLES] = ROGER_BREACH_CYCLE,
	};
	struct rg_doctor *doctor = context;
	const struct rg_log_file *file = &doctor->journals.items[place->log];
	const bool unknown = rule == RG_SENDS_NO_MESSAGE && doctor->unreadable;
	const char *what = unknown ? "its message may be one that cannot be read any more"
				   : rg_sends_rule(rule);
	const bool damage = rule == RG_SENDS_GIVEN_UP ||
			    (place->own && rule != RG_SENDS_UNSETTLED && !unknown &&
			     !rg_judge_lost_messages(&doctor->judge, doctor->engine));
	struct roger_breach breach =
		rg_breach(kinds[file->log], damage ? ROGER_DAMAGE : ROGER_NOTE, file->shown);
	struct roger_str id = RG_STR("");
	union rg_log_record record;
	int r;

	breach.line = place->line;
	breach.byte = place->byte;
	if (rule == RG_SENDS_MISSING)
		return report_missing(doctor, place->byte, err);
	if (rule == RG_SENDS_GIVEN_UP)
		breach.kind = ROGER_BREACH_DEAD_LETTER;
	r = rule == RG_SENDS_GIVEN_UP ? ROGER_EDATA : read_entry(doctor, place, &record, err);
	if (r == ROGER_OK && rule == RG_SENDS_LETTER_LOST)
		return report_lost_letter(doctor, &record.attempt, breach, place->own, err);
	if (r == ROGER_OK && file->log == RG_LOG_SENDS)
		id = record.attempt.message;
	if (r == ROGER_OK && file->log == RG_LOG_DEAD_LETTERS)
		id = record.letter.message;
	/* The line of the message is reported, and not what was copied from it before. */
	if (rg_table_find(&doctor->not_as_sent, rg_hash(doctor->judge.key, id.data, id.length)))
		return ROGER_OK;
	/* Each of these records begins with its id; the line may have been purged meanwhile. */
	id = r == ROGER_OK ? record.attempt.id : RG_STR("");
	rg_doctor_report(doctor, breach, id.length ? "'%.*s': %s" : "%.*s%s",
			 id.length < 80 ? (int)id.length : 80, id.data, what);
	return r == ROGER_ENOMEM ? r : ROGER_OK;
}

static int report_limits(struct rg_doctor *doctor, struct roger_err *err)
{
	const struct rg_config *config = doctor->engine->workspace->config;
	struct roger_breach breach =
		rg_breach(ROGER_BREACH_LIMIT, ROGER_NOTE, rg_doctor_messages(doctor)->shown);
	const struct rg_doctor_count *count;
	struct roger_message message;
	int64_t limit;
	bool issue;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && (count = rg_table_next(&doctor->counts, &i))) {
		if (count->count <= config->messages_per_issue_phase_max &&
		    count->count <= config->messages_per_issue_max)
			continue;
		r = read_line(doctor, count->offset, &message, err);
		if (r < 0)
			return r;
		issue = count->hash == rg_tally_box(message.issue, RG_STR(""));
		limit = issue ? config->messages_per_issue_max
			      : config->messages_per_issue_phase_max;
		breach.line = count->line;
		breach.byte = (int64_t)count->offset;
		if (count->count > limit)
			rg_doctor_report(doctor, breach,
					 "issue '%.*s'%s%.*s holds %lld messages, but the limit "
					 "is %lld; the next send makes room",
					 RG_STR_ARGS(message.issue), issue ? "" : " to ",
					 issue ? 0 : (int)message.to.length, message.to.data,
					 (long long)count->count, (long long)limit);
	}
	return r;
}

int rg_doctor_journals(struct rg_doctor *doctor, struct roger_err *err)
{
	int r = take_journals(doctor, err);

	if (r == ROGER_OK)
		r = rg_sends_check_all(doctor->sends, !doctor->incomplete, take_broken, doctor,
				       err);
	if (r == ROGER_OK)
		r = mend_missing(doctor, err);
	return r == ROGER_OK ? report_limits(doctor, err) : r;
}
