#include "facts/sentence.h"

#include "base/clock.h"
#include "facts/damage.h"
#include "facts/note.h"
#include "facts/retirement.h"

/* Words from free text are cut to this. */
enum { FREE_BYTES_MAX = 240 };

static void add_value(struct rg_buf *out, const char *before, struct roger_str value)
{
	if (value.length)
		rg_buf_printf(out, "%s%.*s", before, RG_STR_ARGS(value));
}

/* Add text of a person or another program, cut, without a broken character at its end. */
static void add_free(struct rg_buf *out, const char *before, struct roger_str text)
{
	add_value(out, before, rg_str_first(text, FREE_BYTES_MAX));
}

static void add_span(struct rg_buf *out, const char *before, int64_t from_ms, int64_t to_ms)
{
	char span[32];

	rg_clock_print_span(to_ms > from_ms ? to_ms - from_ms : 0, span);
	rg_buf_printf(out, "%s%s", before, span);
}

/* ------------------------------------------------------------------ logs -- */

/* A redelivery gives a dead letter one attempt more than max_attempts. */
void rg_say_attempt(const struct roger_attempt *attempt, enum roger_event_kind kind,
		    struct rg_buf *out)
{
	rg_buf_printf(out,
		      attempt->attempt > attempt->max_attempts ? "attempt %lld, after %lld"
							       : "attempt %lld of %lld",
		      (long long)attempt->attempt, (long long)attempt->max_attempts);
	if (kind == ROGER_EVENT_LATE)
		rg_buf_add_text(out, ", after its timeout");
	add_free(out, ": ", attempt->cause);
	add_value(out, ", key ", attempt->key);
}

void rg_say_letter(const struct roger_dead_letter *letter, struct rg_buf *out)
{
	if (letter->status == ROGER_UNDELIVERED) {
		rg_buf_printf(out, "given up after %lld attempt%s", (long long)letter->attempts,
			      rg_plural(letter->attempts));
		add_free(out, ": ", letter->cause);
		add_free(out, ", filed as ", letter->filed_as);
	} else {
		rg_buf_add_text(out, letter->status == ROGER_STALE ? "no longer of use"
								   : "one more attempt");
		add_free(out, ": ", letter->note);
	}
}

void rg_say_note(const struct rg_note *note, struct rg_buf *out)
{
	if (note->kind == RG_NOTE_WOKEN) {
		rg_buf_printf(out, "to report %lld unread, attempt %lld", (long long)note->count,
			      (long long)note->attempt);
		add_free(out, ": ", note->entry.message);
	} else if (note->kind == RG_NOTE_LOOKED) {
		rg_buf_printf(out, "looked at %lld new message%s", (long long)note->count,
			      rg_plural(note->count));
	} else {
		if (note->kind)
			add_free(out, "roger ", note->verb);
		else
			rg_buf_add_text(out, rg_action_names[note->entry.type]);
		if (note->duplicates)
			rg_buf_add_text(out, ": skipped as a duplicate");
		else
			rg_buf_printf(out, " %s", rg_status_names[note->entry.status]);
		add_free(out, ": ", note->entry.message);
		add_free(out, ", because of ", note->entry.evidence);
	}
}

void rg_say_retirement(const struct roger_retirement *line, struct rg_buf *out)
{
	const struct roger_retired *now = rg_retired_find(&line->retired, line->id);

	if (!now) {
		rg_buf_add_text(out, "ended: it gets mail again");
		return;
	}
	add_value(out, "", now->to);
	rg_buf_add_text(out, now->to.length ? " gets its mail" : "its mail is refused");
	add_value(out, ", says ", now->by);
	add_free(out, ": ", now->reason);
}

void rg_say_damage(const struct roger_damage *damage, bool accepted, struct rg_buf *out)
{
	if (accepted)
		add_free(out, "accepted: ", damage->reason);
	else
		rg_buf_add_text(out, rg_damage_words(damage));
}

/* -------------------------------------------------------------- messages -- */

static void say_sent(const struct rg_event *event, struct rg_buf *out)
{
	rg_buf_printf(out, "%s, %lld bytes", rg_type_names[event->said.type],
		      (long long)event->said.bytes);
	if (event->outcome > 1)
		rg_buf_printf(out, ", run %d", event->outcome);
	add_value(out, ", in reply to ", event->text);
}

static void say_read(const struct rg_event *event, struct rg_buf *out)
{
	if (event->flags & RG_ROW_FOREIGN)
		rg_buf_add_text(out, "marked read by another program");
	else if (event->flags & RG_ROW_HANDED)
		rg_buf_add_text(out, "spoke again after the hand-out");
	else if (event->said.at_ms < event->since_ms)
		rg_buf_add_text(out, "read, by a clock behind that of its sender");
	else
		add_span(out, "read after ", event->since_ms, event->said.at_ms);
}

static void say_claimed(const struct rg_event *event, struct rg_buf *out)
{
	char until[32];

	rg_clock_print_utc(event->number, until);
	rg_buf_printf(out, "until %s%s%s", until,
		      event->flags & RG_ROW_UNDATED ? ", when is not known" : "",
		      event->flags & RG_ROW_FOREIGN ? ", written by another program" : "");
}

void rg_say_message(const struct rg_event *event, struct rg_buf *out)
{
	switch ((enum roger_event_kind)event->said.kind) {
	case ROGER_EVENT_SENT:
		say_sent(event, out);
		break;
	case ROGER_EVENT_READ:
		say_read(event, out);
		break;
	case ROGER_EVENT_CLAIMED:
		say_claimed(event, out);
		break;
	case ROGER_EVENT_RETURNED:
		add_free(out, "", event->text);
		if (!event->text.length)
			add_value(out, "given back by ", event->said.actor);
		break;
	case ROGER_EVENT_LEASE_EXPIRED:
		rg_buf_printf(out, "the lease of %.*s expired", RG_STR_ARGS(event->text));
		break;
	case ROGER_EVENT_DUE:
		if (event->flags & RG_ROW_BY_LEASE)
			rg_buf_printf(out, "claimed by %.*s, until then", RG_STR_ARGS(event->text));
		else
			rg_buf_printf(out, "to be read by then, attempt %lld",
				      (long long)event->number);
		break;
	case ROGER_EVENT_HANDED:
		rg_buf_add_text(out, "into its file");
		break;
	case ROGER_EVENT_ARCHIVED:
		add_free(out, "archived: ", event->text);
		break;
	case ROGER_EVENT_SESSION:
		rg_buf_printf(out, "session %lld", (long long)event->before);
		break;
	default:
		add_free(out, "", event->text);
	}
	add_free(out, ", run by ", event->ran);
}

/* ------------------------------------------------------------------ runs -- */

static void say_completed(const struct rg_event *event, const struct roger_run *run,
			  struct rg_buf *out)
{
	add_span(out, "after ", event->since_ms, event->said.at_ms);
	add_value(out, ", by ", run->source);
	add_value(out, "; child: ", rg_str(rg_run_outcome_names[run->outcome]));
	if (run->outcome > ROGER_RUN_SUCCEEDED)
		add_value(out, ", exit ", run->exit);
}

void rg_say_run(const struct rg_event *event, const struct roger_run *run, struct rg_buf *out)
{
	switch ((enum roger_event_kind)event->said.kind) {
	case ROGER_EVENT_DISPATCHED:
		add_span(out, "expected within ", event->said.at_ms, event->number);
		break;
	case ROGER_EVENT_DUE:
		rg_buf_add_text(out, event->open && run->status == ROGER_RUN_ACTIVE
					     ? "is expected by then"
					     : "expected by then, and nothing came");
		break;
	case ROGER_EVENT_COMPLETED:
		say_completed(event, run, out);
		break;
	case ROGER_EVENT_RECOVERY:
		add_free(out, "", event->text);
		if (event->text.length)
			break;
		rg_buf_printf(out, "attempt %lld", (long long)run->recovery_attempts);
		add_free(out, ": ", run->recovery_action);
		break;
	case ROGER_EVENT_FAILED:
		rg_buf_add_text(out, rg_run_outcome_names[run->outcome]);
		if (!rg_str_is(run->exit, rg_run_outcome_names[run->outcome]))
			add_value(out, ": exit ", run->exit);
		break;
	case ROGER_EVENT_LOST:
		add_free(out, "", run->status_reason);
		break;
	default:
		add_free(out, "", event->text);
	}
}
