#include "facts/note.h"

#include "base/clock.h"
#include "facts/log_kinds.h"

/* Names of enum rg_note_failure in an outcome's message: an error code, or that and a member. */
static const char *const failures[] = { "", "retry", "refused: key", NULL };

/* Verbs in the log and their kinds; a note without a verb gets the first of its kind. */
static const struct {
	const char *verb;
	enum rg_note_kind kind;
} words[] = {
	{ "send", RG_NOTE_SENT },	  { "reply", RG_NOTE_SENT },
	{ "send_many", RG_NOTE_SENT },	  { "inbox", RG_NOTE_LOOKED },
	{ "receive", RG_NOTE_READ },	  { "claim", RG_NOTE_CLAIMED },
	{ "ack", RG_NOTE_ACKNOWLEDGED },  { "wake", RG_NOTE_WOKEN },
	{ "arrive", RG_NOTE_ARRIVED },	  { "run", RG_NOTE_RAN },
	{ "nack", RG_NOTE_RECORDED },	  { "archive", RG_NOTE_RECORDED },
	{ "delete", RG_NOTE_RECORDED },	  { "cleanup", RG_NOTE_RECORDED },
	{ "dispatch", RG_NOTE_RECORDED }, { "complete", RG_NOTE_RECORDED },
	{ "forward", RG_NOTE_RECORDED },  { "extend", RG_NOTE_RECORDED },
	{ "recover", RG_NOTE_RECORDED },  { "redeliver", RG_NOTE_RECORDED },
	{ "stale", RG_NOTE_RECORDED },	  { "sweep", RG_NOTE_RECORDED },
	{ "cycle", RG_NOTE_RECORDED },	  { "settle", RG_NOTE_RECORDED }, /* of a run */
};
enum { WORD_COUNT = sizeof words / sizeof *words };

static struct roger_str word_of(enum rg_note_kind kind)
{
	size_t i;

	for (i = 0; i < WORD_COUNT; i++)
		if (words[i].kind == kind)
			return rg_str(words[i].verb);
	return (struct roger_str){ "", 0 };
}

static enum rg_note_kind kind_of(struct roger_str tool, struct roger_str verb, struct roger_str by)
{
	size_t i;

	if (!rg_str_is(tool, "roger") || !verb.length)
		return RG_NOTE_FOREIGN;
	if (rg_str_is(by, RG_BY_PERSON))
		return RG_NOTE_VERB;
	for (i = 0; i < WORD_COUNT; i++)
		if (rg_str_is(verb, words[i].verb))
			return words[i].kind;
	return RG_NOTE_VERB;
}

/* --------------------------------------------------------------- writing -- */

static void add_more(const struct rg_note *note, struct rg_buf *out)
{
	enum { COUNT = sizeof note->more / sizeof *note->more };
	size_t i;

	for (i = 0; i < COUNT && note->more[i].name; i++) {
		rg_json_add_key(out, rg_str(note->more[i].name));
		rg_buf_add_int(out, note->more[i].value);
	}
}

static int print_entry(const struct rg_note *note, struct roger_str details, struct rg_buf *out,
		       struct roger_err *err)
{
	struct roger_activity entry = note->entry;
	char timestamp[32];

	rg_clock_print_utc(entry.at_ms ? entry.at_ms : rg_clock_ms(), timestamp);
	entry.timestamp = rg_str(timestamp);
	if (!entry.task.length)
		entry.task = RG_STR("general");
	entry.type = ROGER_TOOL_EXEC;
	entry.status = entry.status ? entry.status : ROGER_SUCCESS;
	entry.details = details;
	return rg_activity_print(&entry, out, err);
}

int rg_note_print(const struct rg_note *note, struct rg_buf *out, struct roger_err *err)
{
	struct rg_note said = *note;
	struct rg_buf details;
	int r;

	said.tool = RG_STR("roger");
	if (!said.verb.length)
		said.verb = word_of(note->kind);
	rg_buf_init(&details, SIZE_MAX);
	rg_record_encode(&rg_note_record, &said, &details);
	if (note->more[0].name && !details.failed) {
		details.length--;
		add_more(note, &details);
		rg_buf_add_char(&details, '}');
	}
	r = details.failed ? rg_fail_memory(err)
			   : print_entry(note, rg_buf_str(&details), out, err);
	rg_buf_deinit(&details);
	return r;
}

/* --------------------------------------------------------------- reading -- */

/* Details written by other programs may be anything: then nothing is filled in. */
static int read_details(struct roger_str details, struct rg_arena *arena, struct rg_note *note,
			struct roger_err *err)
{
	struct rg_note said = *note;
	int r = rg_record_read(&rg_note_record, details, &said, arena, err);

	if (r == ROGER_EDATA)
		return ROGER_OK;
	if (r == ROGER_OK)
		said.kind = kind_of(said.tool, said.verb, said.by);
	if (r == ROGER_OK && said.kind)
		*note = said;
	else if (r == ROGER_OK && rg_name_valid(said.agent))
		note->agent = said.agent; /* an entry written by `roger log` or another program */
	return r;
}

static enum rg_note_failure failure_of(const struct roger_activity *entry)
{
	int which;

	if (entry->status != ROGER_FAILURE)
		return RG_FAILURE_NONE;
	which = rg_enum_find(failures, entry->message);
	return which < 0 ? RG_FAILURE_OTHER : (enum rg_note_failure)which;
}

int rg_note_of(const struct roger_activity *entry, struct rg_arena *arena, struct rg_note *ret_note,
	       struct roger_err *err)
{
	struct rg_note note = { .entry = *entry, .failure = (int)failure_of(entry) };
	int r = read_details(entry->details, arena, &note, err);

	if (r < 0)
		return r;
	*ret_note = note;
	return ROGER_OK;
}

int rg_note_read(struct roger_str line, struct rg_arena *arena, struct rg_note *ret_note,
		 struct roger_err *err)
{
	struct roger_activity entry = { 0 };
	int r = rg_log_kind_read(RG_LOG_ACTIVITY, line, arena, &entry, err);

	if (r == ROGER_EDATA)
		entry = (struct roger_activity){ 0 };
	return r < 0 && r != ROGER_EDATA ? r : rg_note_of(&entry, arena, ret_note, err);
}

enum rg_note_step rg_note_step(const struct rg_value *details, bool failed)
{
	static const enum rg_note_step steps[] = {
		[RG_NOTE_LOOKED] = RG_STEP_LOOK,   [RG_NOTE_READ] = RG_STEP_LOOK,
		[RG_NOTE_CLAIMED] = RG_STEP_LOOK,  [RG_NOTE_ACKNOWLEDGED] = RG_STEP_ACK,
		[RG_NOTE_WOKEN] = RG_STEP_WAKE,	   [RG_NOTE_ARRIVED] = RG_STEP_SESSION,
		[RG_NOTE_RECORDED] = RG_STEP_NONE,
	};
	enum rg_note_kind kind = kind_of(rg_json_str(rg_json_member(details, "tool")),
					 rg_json_str(rg_json_member(details, "verb")),
					 rg_json_str(rg_json_member(details, "by")));

	return failed && kind != RG_NOTE_WOKEN ? RG_STEP_NONE : steps[kind];
}

struct roger_str rg_note_step_name(enum rg_note_step step)
{
	static const char *const names[] = { "", "look", "ack", "wake", "session" };

	return rg_str(names[step]);
}
