/* What events say, in a line for people. */
#include "facts/damage.h"
#include "facts/message.h"
#include "facts/note.h"
#include "ops/proof/stream.h"

/* Words from free text are cut to this. */
enum { FREE_BYTES_MAX = 240 };

static void add(struct rg_buf *out, const char *before, struct roger_str value)
{
	if (value.length)
		rg_buf_printf(out, "%s%.*s", before, RG_STR_ARGS(value));
}

/* What a person or another program wrote: cut, without a broken character at its end. */
static void add_free(struct rg_buf *out, const char *before, struct roger_str text)
{
	add(out, before, rg_str_first(text, FREE_BYTES_MAX));
}

static void add_span(struct rg_buf *out, const char *before, int64_t from_ms, int64_t to_ms)
{
	char span[32];

	rg_clock_print_span(to_ms > from_ms ? to_ms - from_ms : 0, span);
	rg_buf_printf(out, "%s%s", before, span);
}

/* -------------------------------------------------------------- messages -- */

static void print_sent(const struct rg_event *event, struct rg_buf *out)
{
	const struct roger_message *message = event->message;

	rg_buf_printf(out, "%s, %lld bytes", rg_type_names[message->type],
		      (long long)event->said.bytes);
	if (message->pass > 1)
		rg_buf_printf(out, ", run %lld", (long long)message->pass);
	add(out, ", in reply to ", message->reply_to);
}

static void print_lease(const struct rg_event *event, struct rg_buf *out)
{
	char until[32];

	if (event->said.kind == ROGER_EVENT_RETURNED) {
		if (!event->said.words.length)
			add(out, "given back by ", event->said.actor);
		return;
	}
	rg_clock_print_utc(event->before_ms, until);
	rg_buf_printf(out, "until %s%s", until, event->undated ? ", when is not known" : "");
}

static void print_due(const struct rg_event *event, struct rg_buf *out)
{
	if (event->document)
		rg_buf_add_text(out, event->open && event->document->run.status == ROGER_RUN_ACTIVE
					     ? "is expected by then"
					     : "expected by then, and nothing came");
	else if (event->before_ms)
		rg_buf_printf(out, "claimed by %.*s, until then",
			      RG_STR_ARGS(event->message->claimed_by));
	else
		rg_buf_printf(out, "to be read by then, attempt %lld",
			      (long long)(event->message->attempt ? event->message->attempt : 1));
}

/* -------------------------------------------------------------- attempts -- */

/* One that a dead letter was given once more is beyond those that are made by themselves. */
static void print_attempt(const struct rg_event *event, struct rg_buf *out)
{
	const struct roger_attempt *attempt = event->attempt;

	rg_buf_printf(out,
		      attempt->attempt > attempt->max_attempts ? "attempt %lld, after %lld"
							       : "attempt %lld of %lld",
		      (long long)attempt->attempt, (long long)attempt->max_attempts);
	if (event->said.kind == ROGER_EVENT_LATE)
		rg_buf_add_text(out, ", after its timeout");
	add_free(out, ": ", attempt->cause);
	add(out, ", key ", attempt->key);
}

static void print_letter(const struct rg_event *event, struct rg_buf *out)
{
	const struct roger_dead_letter *letter = event->letter;

	if (event->said.kind == ROGER_EVENT_DEAD_LETTER) {
		rg_buf_printf(out, "given up after %lld attempt%s", (long long)letter->attempts,
			      rg_plural(letter->attempts));
		add_free(out, ": ", letter->cause);
		add_free(out, ", filed as ", letter->filed_as);
	} else {
		rg_buf_add_text(out, event->said.kind == ROGER_EVENT_STALE ? "no longer of use"
									   : "one more attempt");
		add_free(out, ": ", letter->note);
	}
}

/* ------------------------------------------------------------------ runs -- */

static void print_completed(const struct rg_event *event, struct rg_buf *out)
{
	add_span(out, "after ", event->before_ms, event->said.at_ms);
	add(out, ", by ", event->document->run.source);
	add(out, "; child: ", rg_str(rg_run_outcome_names[event->document->run.outcome]));
	if (event->document->run.outcome > ROGER_RUN_SUCCEEDED)
		add(out, ", exit ", event->document->run.exit);
}

static void print_failed(const struct rg_event *event, struct rg_buf *out)
{
	const struct roger_run *run = &event->document->run;

	rg_buf_add_text(out, rg_run_outcome_names[run->outcome]);
	if (!rg_str_is(run->exit, rg_run_outcome_names[run->outcome]))
		add(out, ": exit ", run->exit);
}

static void print_recovery(const struct rg_event *event, struct rg_buf *out)
{
	const struct roger_run *run = &event->document->run;

	rg_buf_printf(out, "attempt %lld", (long long)run->recovery_attempts);
	add_free(out, ": ", run->recovery_action);
}

/* ----------------------------------------------------------------- notes -- */

static void print_activity(const struct rg_event *event, struct rg_buf *out)
{
	const struct rg_note *note = event->note;

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

static void print_note(const struct rg_event *event, struct rg_buf *out)
{
	const struct rg_note *note = event->note;

	if (event->said.kind == ROGER_EVENT_WAKE) {
		rg_buf_printf(out, "to report %lld unread, attempt %lld", (long long)note->count,
			      (long long)note->attempt);
		add_free(out, ": ", note->entry.message);
	} else if (event->said.kind == ROGER_EVENT_LOOKED) {
		rg_buf_printf(out, "looked at %lld new message%s", (long long)note->count,
			      rg_plural(note->count));
	} else {
		print_activity(event, out);
	}
}

/* ------------------------------------------------------------------- all -- */

static void print_damage(const struct rg_event *event, struct rg_buf *out)
{
	if (event->said.kind == ROGER_EVENT_ACCEPTED)
		add_free(out, "accepted: ", event->damage->reason);
	else
		rg_buf_add_text(out, rg_damage_words(event->damage));
}

void rg_event_print(const struct rg_event *event, struct rg_buf *out)
{
	const struct roger_message *message = event->message;

	/* Words that the event came with: of a document, or of a log. */
	add_free(out, "", event->said.words);
	switch ((enum roger_event_kind)event->said.kind) {
	case ROGER_EVENT_SENT:
		print_sent(event, out);
		break;
	case ROGER_EVENT_READ:
		if (event->foreign)
			rg_buf_add_text(out, "marked read by another program");
		else if (event->handed)
			rg_buf_add_text(out, "spoke again after the hand-out");
		else if (event->said.at_ms < message->created_at_ms)
			rg_buf_add_text(out, "read, by a clock behind that of its sender");
		else
			add_span(out, "read after ", message->created_at_ms, event->said.at_ms);
		break;
	case ROGER_EVENT_ARCHIVED:
		add_free(out, "archived: ", message->archive_reason);
		break;
	case ROGER_EVENT_CLAIMED:
	case ROGER_EVENT_RETURNED:
		print_lease(event, out);
		break;
	case ROGER_EVENT_DUE:
		print_due(event, out);
		break;
	case ROGER_EVENT_ATTEMPTED:
	case ROGER_EVENT_DELIVERED:
	case ROGER_EVENT_LATE:
	case ROGER_EVENT_TIMEOUT:
	case ROGER_EVENT_REFUSED:
		print_attempt(event, out);
		break;
	case ROGER_EVENT_DEAD_LETTER:
	case ROGER_EVENT_REDELIVERED:
	case ROGER_EVENT_STALE:
		print_letter(event, out);
		break;
	case ROGER_EVENT_DISPATCHED:
		add_span(out, "expected within ", event->said.at_ms, event->before_ms);
		break;
	case ROGER_EVENT_COMPLETED:
		print_completed(event, out);
		break;
	case ROGER_EVENT_RECOVERY:
		if (!event->said.words.length)
			print_recovery(event, out);
		break;
	case ROGER_EVENT_FAILED:
		print_failed(event, out);
		break;
	case ROGER_EVENT_LOST:
		add_free(out, "", event->document->run.status_reason);
		break;
	case ROGER_EVENT_WAKE:
	case ROGER_EVENT_LOOKED:
	case ROGER_EVENT_ACTIVITY:
		if (event->note)
			print_note(event, out);
		break;
	case ROGER_EVENT_DAMAGED:
	case ROGER_EVENT_ACCEPTED:
		print_damage(event, out);
		break;
	case ROGER_EVENT_CYCLE:
	case ROGER_EVENT_SESSION:
	case ROGER_EVENT_ACKNOWLEDGED:
	case ROGER_EVENT_LEASE_EXPIRED:
	case ROGER_EVENT_FORWARDED:
	case ROGER_EVENT_RUN_NOTE:
	case ROGER_EVENT_HANDED:
	case ROGER_EVENT_SETTLED:
		break;
	}
	add_free(out, ", run by ", event->ran);
}
