/* doctor: the journals, line by line. */
#include "proof/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/file.h"
#include "facts/damage.h"
#include "facts/message.h"

/* A breach at the line a walk stands at. */
static struct roger_breach here(const struct rg_walk *walk, enum roger_breach_kind kind,
				enum roger_severity severity)
{
	return (struct roger_breach){ .kind = (int)kind,
				      .severity = (int)severity,
				      .file = walk->journal->shown,
				      .line = walk->number,
				      .byte = (int64_t)walk->line.offset };
}

static int take_finding(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_chain_finding *finding = &walk->finding;
	const char *what = finding->what;
	enum roger_finding_kind kind;
	struct roger_breach breach;
	size_t place;
	int r;

	if (!rg_judge_finding(&doctor->judge, walk, &kind, &what))
		return ROGER_OK;
	breach = here(walk, ROGER_BREACH_CHAIN, kind == ROGER_ALTERED ? ROGER_DAMAGE : ROGER_NOTE);
	breach.line = finding->line;
	breach.byte = (int64_t)finding->byte;
	breach.fixable = kind == ROGER_TORN && !doctor->judge.closed;
	r = rg_doctor_tell(doctor, &breach, &place, err, "%s%s",
			   kind == ROGER_ACCEPTED ? "accepted: " : "", what);
	if (r < 0 || !breach.fixable || !doctor->wish->fix)
		return r;
	r = rg_judge_close(&doctor->judge, walk, doctor->arena, err);
	if (r == ROGER_OK)
		rg_doctor_fixed(doctor, place);
	return r;
}

/* What was noted, and does not show in the lines themselves. */
static int tell_noted(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_damage *damage;
	enum roger_finding_kind kind;
	struct roger_breach breach;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK &&
	       (damage = rg_judge_next(&doctor->judge, walk->journal->shown, &i, &kind))) {
		breach = here(walk, ROGER_BREACH_CHAIN,
			      kind == ROGER_TORN ? ROGER_NOTE : ROGER_DAMAGE);
		breach.line = damage->line;
		breach.byte = damage->byte;
		r = rg_doctor_tell(doctor, &breach, NULL, err, "%s", rg_damage_words(damage));
	}
	return r;
}

static int tell_stray(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	struct roger_breach breach = here(walk, ROGER_BREACH_SHAPE, ROGER_NOTE);
	enum roger_finding_kind kind;
	char what[220];
	int r;

	if (rg_judge_line(&doctor->judge, walk, &kind)) {
		breach.kind = ROGER_BREACH_CHAIN;
		if (kind == ROGER_ALTERED)
			breach.severity = ROGER_DAMAGE;
	}
	r = rg_walk_why_stray(walk, doctor->scratch, what, sizeof what, err);
	return r < 0 ? r : rg_doctor_tell(doctor, &breach, NULL, err, "%s", what);
}

/* What is wrong is damage where roger wrote it; what other programs wrote is theirs. */
static enum roger_severity severity_of(const struct rg_walk *walk, bool odd)
{
	return walk->own && !odd ? ROGER_DAMAGE : ROGER_NOTE;
}

/* -------------------------------------------------------------- messages -- */

static int tell_message(struct rg_doctor *doctor, const struct rg_walk *walk, unsigned faults,
			struct roger_err *err)
{
	struct roger_breach breach;
	unsigned fault;
	int r = ROGER_OK, i;

	for (i = 0; i < RG_MESSAGE_FAULTS && r == ROGER_OK; i++) {
		fault = 1u << i;
		if (!(faults & fault))
			continue;
		breach =
			here(walk, ROGER_BREACH_MESSAGE, severity_of(walk, fault & RG_MESSAGE_ODD));
		/* A state before it may have been in a line that is gone. */
		if (rg_judge_lost_messages(&doctor->judge, doctor->engine))
			breach.severity = ROGER_NOTE;
		r = rg_doctor_tell(doctor, &breach, NULL, err, "message '%.*s': %s",
				   RG_STR_ARGS(walk->message->id),
				   rg_message_fault_text((enum rg_message_fault)fault));
	}
	return r;
}

static int count_one(struct rg_doctor *doctor, const struct rg_walk *walk, uint64_t hash, int by,
		     struct roger_err *err)
{
	struct rg_doctor_count *count;
	bool fresh;

	count = rg_table_put(&doctor->counts, hash, &fresh);
	if (!count)
		return rg_fail_memory(err);
	count->count += by;
	if (by > 0) {
		count->line = walk->number;
		count->offset = walk->line.offset;
	}
	return ROGER_OK;
}

static int count_message(struct rg_doctor *doctor, const struct rg_walk *walk, int by,
			 struct roger_err *err)
{
	const struct roger_message *message = walk->message;
	int r;

	r = count_one(doctor, walk, rg_count_hash(RG_COUNT_ISSUE, message->issue_id, RG_STR("")),
		      by, err);
	if (r < 0)
		return r;
	return count_one(doctor, walk,
			 rg_count_hash(RG_COUNT_MAILBOX, message->issue_id, message->to_phase), by,
			 err);
}

static int check_size(struct rg_doctor *doctor, const struct rg_walk *walk, const char *member,
		      struct roger_str text, int64_t chars_max, struct roger_err *err)
{
	const struct roger_breach breach = here(walk, ROGER_BREACH_LIMIT, ROGER_NOTE);
	size_t chars;

	if ((int64_t)text.length <= chars_max || !rg_utf8_count(text, &chars) ||
	    (int64_t)chars <= chars_max)
		return ROGER_OK;
	return rg_doctor_tell(doctor, &breach, NULL, err, "%s of %zu characters; the limit is %lld",
			      member, chars, (long long)chars_max);
}

static int check_sizes(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct rg_config *config = doctor->engine->workspace->config;
	int r;

	r = check_size(doctor, walk, "content", walk->message->content, config->content_chars_max,
		       err);
	return r < 0 ? r
		     : check_size(doctor, walk, "metadata", walk->message->metadata,
				  config->metadata_chars_max, err);
}

static int note_archived(struct rg_doctor *doctor, const struct rg_walk *walk,
			 struct roger_err *err)
{
	struct rg_doctor_archived *archived;
	uint64_t hash;
	bool fresh;

	if (!walk->own || !rg_doctor_head(walk->line.text, &hash))
		return ROGER_OK;
	archived = rg_table_put(&doctor->archived, hash, &fresh);
	if (!archived)
		return rg_fail_memory(err);
	archived->text = rg_message_text(&doctor->messages.scratch, walk->message);
	archived->offset = walk->line.offset;
	archived->line = walk->number;
	return ROGER_OK;
}

static int note_key(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_message *message = walk->message;
	bool demanded = walk->line.offset < doctor->logged &&
			!rg_journal_lost(doctor->engine->journal, walk->line.offset);

	if (!message->idempotent_key.length || !message->cycle_id.length)
		return ROGER_OK;
	return rg_sendlog_history_message(&doctor->sends, message, walk->line.offset, demanded,
					  err);
}

static int take_message(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	const struct roger_message *message = walk->message;
	struct rg_message_step step;
	int r;

	doctor->reply->messages++;
	r = rg_message_history_take(&doctor->messages, message, walk->number, walk->own, &step,
				    err);
	if (r == ROGER_OK && step.faults)
		r = tell_message(doctor, walk, step.faults, err);
	if (r == ROGER_OK && step.added && !message->archived_at_ms)
		r = count_message(doctor, walk, 1, err);
	if (r == ROGER_OK && step.left)
		r = count_message(doctor, walk, -1, err);
	if (r == ROGER_OK && step.added)
		r = check_sizes(doctor, walk, err);
	if (r == ROGER_OK && message->archived_at_ms)
		r = note_archived(doctor, walk, err);
	return r == ROGER_OK ? note_key(doctor, walk, err) : r;
}

/* Where the index ends it must hold what the journal said up to there. */
static void note_sums(struct rg_doctor *doctor, const struct rg_walk *walk)
{
	struct rg_message_sums *sums = &doctor->messages.sums;

	sums->lines = walk->number;
	sums->offset = (int64_t)walk->lines.at;
	sums->strays += !walk->message;
	if (sums->offset == doctor->index_end)
		doctor->at_index = *sums;
}

/* ------------------------------------------------------------------ logs -- */

static int tell_send(struct rg_doctor *doctor, const struct rg_walk *walk,
		     enum roger_breach_kind kind, struct roger_str id, unsigned faults,
		     struct roger_err *err)
{
	struct roger_breach breach;
	unsigned fault;
	int r = ROGER_OK, i;

	for (i = 0; i < RG_SENDLOG_FAULTS && r == ROGER_OK; i++) {
		fault = 1u << i;
		if (!(faults & fault))
			continue;
		breach = here(walk, kind, severity_of(walk, fault & RG_SENDLOG_ODD));
		/* What was said of lines that are gone has been seen with them. */
		if (rg_judge_lost_messages(&doctor->judge, doctor->engine))
			breach.severity = ROGER_NOTE;
		r = rg_doctor_tell(doctor, &breach, NULL, err, "'%.*s': %s",
				   id.length < 80 ? (int)id.length : 80, id.data,
				   rg_sendlog_fault_text((enum rg_sendlog_fault)fault));
	}
	return r;
}

/* Each sender has a log of its own. */
static int check_owner(struct rg_doctor *doctor, const struct rg_walk *walk,
		       struct roger_str sender, struct roger_err *err)
{
	const struct roger_breach breach =
		here(walk, ROGER_BREACH_SEND_LOG, severity_of(walk, false));
	char name[RG_FILE_NAME_BYTES];

	rg_workspace_file_name(sender, ".jsonl", name);
	if (rg_str_is(walk->journal->name, name))
		return ROGER_OK;
	return rg_doctor_tell(doctor, &breach, NULL, err,
			      "an entry of '%.*s', whose log is another", RG_STR_ARGS(sender));
}

static int take_attempt(struct rg_doctor *doctor, const struct rg_walk *walk,
			const struct roger_attempt *attempt, struct roger_err *err)
{
	uint32_t log = (uint32_t)(walk->journal - doctor->journals.items);
	unsigned faults;
	int r;

	doctor->reply->attempts++;
	r = rg_sendlog_history_entry(&doctor->sends, attempt, log, walk->number, &faults, err);
	if (r == ROGER_OK && faults)
		r = tell_send(doctor, walk, ROGER_BREACH_SEND_LOG, attempt->id, faults, err);
	return r == ROGER_OK ? check_owner(doctor, walk, attempt->sender, err) : r;
}

static int take_letter(struct rg_doctor *doctor, const struct rg_walk *walk,
		       const struct roger_dead_letter *letter, struct roger_err *err)
{
	unsigned faults;
	int r;

	r = rg_sendlog_history_letter(&doctor->sends, letter, &faults, err);
	return r < 0 || !faults
		       ? r
		       : tell_send(doctor, walk, ROGER_BREACH_DEAD_LETTER, letter->id, faults, err);
}

static int take_cycle(struct rg_doctor *doctor, const struct rg_walk *walk,
		      const struct roger_cycle *cycle, struct roger_err *err)
{
	unsigned faults;
	int r;

	r = rg_sendlog_history_cycle(&doctor->sends, cycle, &faults, err);
	return r < 0 || !faults
		       ? r
		       : tell_send(doctor, walk, ROGER_BREACH_CYCLE, cycle->id, faults, err);
}

static int take_entry(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	union rg_log_record record;
	int r;

	r = rg_walk_decode(walk, doctor->scratch, &record, NULL);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		return tell_stray(doctor, walk, err);
	switch ((enum rg_log)walk->journal->log) {
	case RG_LOG_SENDS:
		return take_attempt(doctor, walk, &record.attempt, err);
	case RG_LOG_DEAD_LETTERS:
		return take_letter(doctor, walk, &record.letter, err);
	case RG_LOG_CYCLES:
		return take_cycle(doctor, walk, &record.cycle, err);
	case RG_LOG_ACTIVITY:
	case RG_LOG_DIGESTS:
	case RG_LOG_DAMAGE:
		break;
	}
	return ROGER_OK;
}

/* --------------------------------------------------------------- walking -- */

static int take_line(struct rg_doctor *doctor, const struct rg_walk *walk, struct roger_err *err)
{
	int r;

	rg_arena_reset(doctor->scratch);
	doctor->reply->lines++;
	r = take_finding(doctor, walk, err);
	if (r < 0)
		return r;
	if (walk->journal->log != RG_JOURNAL_MESSAGES)
		return take_entry(doctor, walk, err);
	r = walk->message ? take_message(doctor, walk, err) : tell_stray(doctor, walk, err);
	note_sums(doctor, walk);
	return r;
}

static int check_end(struct rg_doctor *doctor, struct rg_walk *walk, struct roger_err *err)
{
	struct roger_breach breach = here(walk, ROGER_BREACH_SHAPE, ROGER_NOTE);
	bool torn = false;
	int r;

	r = take_finding(doctor, walk, err);
	if (r == ROGER_OK)
		r = tell_noted(doctor, walk, err);
	if (r == ROGER_OK)
		r = rg_walk_torn(walk, &torn, err);
	if (r < 0 || !torn)
		return r;
	breach.line = walk->number + 1;
	breach.byte = (int64_t)walk->lines.at;
	return rg_doctor_tell(doctor, &breach, NULL, err,
			      "unfinished; the next writer closes it off");
}

static int walk_through(struct rg_doctor *doctor, const struct rg_engine_journal *journal,
			struct roger_err *err)
{
	struct rg_walk walk;
	bool found = true;
	int r;

	r = rg_walk_open(&walk, doctor->engine, journal, "doctor", err);
	while (r == ROGER_OK && found) {
		r = rg_walk_next(&walk, &found, err);
		if (r == ROGER_OK && found)
			r = take_line(doctor, &walk, err);
	}
	if (r == ROGER_OK)
		r = check_end(doctor, &walk, err);
	doctor->reply->bytes += (int64_t)walk.lines.at;
	rg_walk_close(&walk);
	return r;
}

/* What refers to it is not judged. */
static int tell_unread(struct rg_doctor *doctor, const struct rg_engine_journal *journal,
		       enum roger_severity severity, const char *why, struct roger_err *err)
{
	const struct roger_breach breach = { .kind = ROGER_BREACH_PLACE,
					     .severity = (int)severity,
					     .file = journal->shown };

	doctor->incomplete = true;
	return rg_doctor_tell(doctor, &breach, NULL, err, "%s", why);
}

static int take_journal(struct rg_doctor *doctor, struct rg_engine_journal *journal,
			struct roger_err *err)
{
	struct roger_err why = { 0 };
	bool there;
	int r;

	r = rg_engine_journal_open(doctor->engine, journal, &there, &why);
	if (r == ROGER_EREFUSED)
		return tell_unread(doctor, journal, ROGER_DAMAGE, why.message, err);
	if (r < 0 && err)
		*err = why;
	if (r == ROGER_OK && !there && !journal->inode)
		return ROGER_OK;
	if (r == ROGER_OK && !there)
		return tell_unread(doctor, journal, ROGER_NOTE,
				   "it was purged meanwhile; run doctor again", err);
	if (r == ROGER_OK)
		r = walk_through(doctor, journal, err);
	rg_engine_journal_close(journal);
	return r;
}

static int take_journals(struct rg_doctor *doctor, int log, struct roger_err *err)
{
	struct rg_engine_journal *journal;
	size_t i;
	int r = ROGER_OK;

	for (i = 1; i < doctor->journals.count && r == ROGER_OK; i++) {
		journal = &doctor->journals.items[i];
		if ((journal->log == RG_LOG_CYCLES) == (log == RG_LOG_CYCLES))
			r = take_journal(doctor, journal, err);
	}
	return r;
}

/* ------------------------------------------------------- what is missing -- */

/* The message of a line of the journal, for words about it. */
static int read_line(struct rg_doctor *doctor, uint64_t offset, struct roger_message *ret_message,
		     struct roger_err *err)
{
	const struct rg_engine_journal *messages = rg_doctor_messages(doctor);
	struct roger_str text;
	struct rg_lines lines;
	struct rg_line line;
	bool found;
	int r;

	rg_arena_reset(doctor->scratch);
	rg_lines_init(&lines, rg_journal_file(doctor->engine->journal), offset, messages->end);
	r = rg_lines_next(&lines, &line, &found, err);
	if (r == ROGER_OK && !found)
		r = rg_fail(err, ROGER_EIO, 0, "the journal became shorter while it was read");
	/* A message keeps pointing into its text. */
	if (r == ROGER_OK && !rg_arena_copy(doctor->scratch, line.text, &text))
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_message_read_within(text, doctor->scratch, ret_message, err);
	rg_lines_deinit(&lines);
	return r;
}

/* Entries that the journal makes are made again from there. */
static int tell_missing(struct rg_doctor *doctor, struct roger_err *err)
{
	struct roger_breach breach = { .kind = ROGER_BREACH_SEND_LOG,
				       .severity = ROGER_REPAIRABLE };
	char file[RG_FILE_NAME_BYTES + 20], name[RG_FILE_NAME_BYTES];
	size_t first = doctor->breaches.count, i = 0;
	int64_t missing = 0;
	struct roger_message message;
	uint64_t offset, reached;
	int r = ROGER_OK;

	while (r == ROGER_OK && rg_sendlog_history_next_missing(&doctor->sends, &i, &offset)) {
		r = read_line(doctor, offset, &message, err);
		if (r < 0)
			return r;
		rg_workspace_file_name(message.from_phase, ".jsonl", name);
		snprintf(file, sizeof file, "send-log/%s", name);
		breach.file = rg_str(file);
		r = rg_doctor_tell(doctor, &breach, NULL, err,
				   "the entry is missing that says that message '%.*s' was "
				   "delivered",
				   RG_STR_ARGS(message.id));
		missing++;
	}
	if (r < 0 || !missing || !doctor->wish->fix)
		return r;
	r = rg_engine_records_begin(doctor->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_carry(doctor->engine, true, &reached, err);
	rg_engine_records_end(doctor->engine);
	if (r < 0 || reached < doctor->logged)
		return r;
	doctor->reply->fixed += missing;
	for (; first < doctor->breaches.count; first++)
		doctor->breaches.items[first].fixed = true;
	return ROGER_OK;
}

static int tell_given_up(struct rg_doctor *doctor, struct roger_err *err)
{
	struct roger_breach breach = { .kind = ROGER_BREACH_DEAD_LETTER, .severity = ROGER_DAMAGE };
	uint32_t log;
	size_t i = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK &&
	       rg_sendlog_history_next_given_up(&doctor->sends, &i, &log, &breach.line)) {
		breach.file = doctor->journals.items[log].shown;
		r = rg_doctor_tell(doctor, &breach, NULL, err,
				   "the last attempt that was allowed timed out, and there is no "
				   "dead letter");
	}
	return r;
}

static int tell_limits(struct rg_doctor *doctor, struct roger_err *err)
{
	const struct rg_config *config = doctor->engine->workspace->config;
	struct roger_breach breach = { .kind = ROGER_BREACH_LIMIT,
				       .severity = ROGER_NOTE,
				       .file = rg_doctor_messages(doctor)->shown };
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
		issue = count->hash == rg_count_hash(RG_COUNT_ISSUE, message.issue_id, RG_STR(""));
		limit = issue ? config->messages_per_issue_max
			      : config->messages_per_issue_phase_max;
		breach.line = count->line;
		breach.byte = (int64_t)count->offset;
		if (count->count > limit)
			r = rg_doctor_tell(doctor, &breach, NULL, err,
					   "issue '%.*s'%s%.*s holds %lld messages, and the limit "
					   "is %lld; the next send makes room",
					   RG_STR_ARGS(message.issue_id), issue ? "" : " to ",
					   issue ? 0 : (int)message.to_phase.length,
					   message.to_phase.data, (long long)count->count,
					   (long long)limit);
	}
	return r;
}

int rg_doctor_journals(struct rg_doctor *doctor, struct roger_err *err)
{
	int r;

	/* A guess at how many lines there are saves growing. */
	if (!rg_table_reserve(&doctor->messages.messages, rg_doctor_messages(doctor)->end / 512))
		return rg_fail_memory(err);
	r = take_journals(doctor, RG_LOG_CYCLES, err);
	if (r == ROGER_OK && rg_doctor_messages(doctor)->file != RG_NO_FILE)
		r = walk_through(doctor, rg_doctor_messages(doctor), err);
	if (r == ROGER_OK)
		r = take_journals(doctor, RG_JOURNAL_MESSAGES, err);
	if (r == ROGER_OK && !doctor->incomplete)
		r = tell_missing(doctor, err);
	if (r == ROGER_OK && !doctor->incomplete)
		r = tell_given_up(doctor, err);
	return r == ROGER_OK ? tell_limits(doctor, err) : r;
}
