#include "model.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static void copy(char *to, size_t size, struct roger_str text)
{
	snprintf(to, size, "%.*s", RG_STR_ARGS(text));
}

/* ------------------------------------------------------------- messages -- */

int model_mail(const struct model *model, struct roger_str id)
{
	int i;

	for (i = 0; i < model->mail_count; i++)
		if (rg_str_is(id, model->mails[i].id))
			return i;
	return -1;
}

int model_store(struct model *model, const struct roger_message *message)
{
	struct mail *mail = &model->mails[model->mail_count];
	int i;

	rg_assert(model->mail_count < MAILS_MAX);
	*mail = (struct mail){ .at_ms = message->created_at_ms,
			       .epoch = message->epoch,
			       .seq = message->seq,
			       .confirm_by_ms = message->confirm_by_ms };
	copy(mail->id, sizeof mail->id, message->id);
	copy(mail->from, sizeof mail->from, message->from);
	copy(mail->to, sizeof mail->to, message->to);
	copy(mail->issue, sizeof mail->issue, message->issue);
	copy(mail->key, sizeof mail->key, message->key);
	copy(mail->reply_to, sizeof mail->reply_to, message->reply_to);
	for (i = 0; i < model->attempt_count; i++)
		if (*mail->id && !strcmp(model->attempts[i].refused, mail->id))
			model->attempts[i].mail = model->mail_count;
	return model->mail_count++;
}

bool model_gets(const struct model *model, const char *agent, const char *to)
{
	const bool handed = model->heir && *model->heir && !strcmp(to, "evelyn");

	return !strcmp(agent, handed ? model->heir : to);
}

void model_end_lease(struct mail *mail, int64_t now_ms)
{
	mail->expired += mail->until_ms && mail->until_ms <= now_ms;
	mail->until_ms = 0;
}

/* The last attempt that was made of it, if that waits, or has timed out; a refusal since then was
 * of none. */
static struct attempt *awaited(struct model *model, int which, int64_t at_ms)
{
	struct attempt *last = &model->attempts[model->attempt_count];

	do {
		if (last == model->attempts)
			return NULL;
		last--;
	} while (last->mail != which || last->plain || last->purged);
	last->timed_out |=
		last->outcome == ATTEMPT_PENDING && at_ms > model->mails[which].confirm_by_ms;
	return last->outcome == ROGER_TIMEOUT || last->outcome == ATTEMPT_PENDING ? last : NULL;
}

void model_read(struct model *model, int which, int64_t at_ms)
{
	struct mail *mail = &model->mails[which];
	struct attempt *last;

	if (mail->read_at_ms || mail->in_place_ms)
		return;
	model_end_lease(mail, at_ms);
	mail->read_at_ms = at_ms;
	last = awaited(model, which, at_ms);
	if (!last)
		return;
	last->outcome = ROGER_DELIVERED;
	last->late_at_ms = last->timed_out ? at_ms : 0;
}

void model_end_in_place(struct model *model, int which, int64_t at_ms)
{
	struct mail *mail = &model->mails[which];
	const bool again = mail->in_place_ms;
	struct attempt *last;

	mail->in_place_ms = at_ms;
	if (again)
		return;
	model_end_lease(mail, at_ms);
	last = awaited(model, which, at_ms);
	if (last)
		last->outcome = ROGER_ERROR;
}

bool model_waits(const struct mail *mail)
{
	return !mail->read_at_ms && !mail->in_place_ms && !mail->archived_at_ms;
}

/* Nobody can read it any more. */
void model_archive(struct model *model, int which, int64_t at_ms)
{
	struct attempt *last = awaited(model, which, at_ms);

	model_end_lease(&model->mails[which], at_ms);
	model->mails[which].archived_at_ms = at_ms;
	if (last && last->outcome == ATTEMPT_PENDING && !last->timed_out)
		last->outcome = ROGER_ERROR;
}

bool model_lease_expired(const struct mail *mail, int64_t now_ms)
{
	return mail->until_ms && mail->until_ms <= now_ms;
}

/* ------------------------------------------------------------- attempts -- */

struct attempt *model_last(struct model *model, const char *from, const char *key, const char *to)
{
	struct attempt *attempt = &model->attempts[model->attempt_count];

	while (attempt-- > model->attempts)
		if (!attempt->purged && !attempt->plain && !strcmp(attempt->from, from) &&
		    !strcmp(attempt->to, to) && !strcmp(attempt->key, key))
			return attempt;
	return NULL;
}

/* Of a key, one after the other, up to its last attempt. */
static int64_t timeouts_of(const struct model *model, const struct attempt *last)
{
	const struct attempt *attempt = last + 1;
	int64_t count = 0;

	while (attempt-- > model->attempts) {
		if (attempt->purged || strcmp(attempt->from, last->from) != 0 ||
		    strcmp(attempt->to, last->to) != 0 || strcmp(attempt->key, last->key) != 0)
			continue;
		if (attempt->outcome != ROGER_TIMEOUT)
			break;
		count++;
	}
	return count;
}

bool model_may_try(struct model *model, const char *from, const char *key, const char *to)
{
	const struct attempt *last = model_last(model, from, key, to);

	/* What a person ended in its recipient's place has a message, and is tried no more. */
	if (!last || last->outcome == ROGER_ERROR)
		return !last || last->mail < 0;
	if (last->outcome == ROGER_TIMEOUT)
		return timeouts_of(model, last) < model->attempts_max;
	return strcmp(last->cycle, model->cycle) != 0;
}

static struct dead *letter_of(struct model *model, int which)
{
	int i;

	for (i = 0; i < model->dead_count; i++)
		if (model->deads[i].mail == which)
			return &model->deads[i];
	return NULL;
}

static void give_up(struct model *model, const struct attempt *last)
{
	struct dead *dead = &model->deads[model->dead_count];
	struct mail *mail = &model->mails[last->mail];

	if (mail->dead || letter_of(model, last->mail) ||
	    timeouts_of(model, last) < model->attempts_max)
		return;
	mail->dead = true;
	*dead = (struct dead){ .mail = last->mail,
			       .status = ROGER_UNDELIVERED,
			       .at_ms = rg_clock_ms() };
	memcpy(dead->cycle, last->cycle, sizeof dead->cycle);
	snprintf(dead->task, sizeof dead->task, "%.*s", (int)strcspn(last->key, ":"), last->key);
	model->dead_count++;
}

void model_attempt(struct model *model, const struct attempt *attempt)
{
	const struct attempt *last =
		attempt->plain ? NULL : model_last(model, attempt->from, attempt->key, attempt->to);
	struct attempt *place = &model->attempts[model->attempt_count++];

	rg_assert(model->attempt_count < ATTEMPTS_MAX);
	*place = *attempt;
	snprintf(place->cycle, sizeof place->cycle, "%s", model->cycle);
	place->number =
		last && (last->outcome == ROGER_TIMEOUT || !strcmp(last->cycle, model->cycle))
			? last->number + 1
			: 1;
	if (place->outcome != ROGER_TIMEOUT)
		return;
	place->timed_out = true;
	give_up(model, place);
}

bool model_worn(const struct model *model, const struct mail *mail, int64_t now_ms)
{
	return model->leases_max && mail->leases >= model->leases_max && !mail->dead_at_ms &&
	       model_waits(mail) && model_lease_expired(mail, now_ms);
}

/* A letter of its own, or the one that it has, unless that is of no use any more. */
static void wear_out(struct model *model, int which, int64_t now_ms)
{
	struct dead *dead = letter_of(model, which);
	struct mail *mail = &model->mails[which];
	const char *cycle = model->cycle;
	int i;

	model_end_lease(mail, now_ms);
	mail->dead_at_ms = now_ms;
	mail->told |= strcmp(mail->from, "roger") && strcmp(mail->from, "run") &&
		      strcmp(mail->from, mail->to);
	if (!dead) {
		for (i = 0; i < model->attempt_count; i++)
			if (model->attempts[i].mail == which && !model->attempts[i].plain)
				cycle = model->attempts[i].cycle;
		dead = &model->deads[model->dead_count++];
		*dead = (struct dead){ .mail = which, .at_ms = now_ms };
		snprintf(dead->cycle, sizeof dead->cycle, "%s", cycle);
	}
	if (dead->status == ROGER_STALE)
		return;
	dead->status = ROGER_UNDELIVERED;
	dead->worn = true;
}

void model_settle(struct model *model, int64_t now_ms)
{
	struct attempt *attempt;
	int i;

	for (i = 0; i < model->mail_count; i++)
		if (model_worn(model, &model->mails[i], now_ms))
			wear_out(model, i, now_ms);
	for (i = 0; i < model->attempt_count; i++) {
		attempt = &model->attempts[i];
		if (attempt->outcome != ATTEMPT_PENDING ||
		    model->mails[attempt->mail].confirm_by_ms > now_ms)
			continue;
		attempt->outcome = ROGER_TIMEOUT;
		attempt->timed_out = true;
		give_up(model, attempt);
	}
}

/* Nothing of this cycle, and nothing that is waited for. */
static bool keeps(const struct model *model, const struct attempt *attempt)
{
	return !strcmp(attempt->cycle, model->cycle) || attempt->outcome == ATTEMPT_PENDING ||
	       (attempt->outcome == ROGER_TIMEOUT &&
		!(attempt->mail >= 0 && model->mails[attempt->mail].dead));
}

static bool same_key(const struct attempt *a, const struct attempt *b)
{
	return !strcmp(a->from, b->from) && !strcmp(a->key, b->key) && a->plain == b->plain &&
	       (!a->plain || a == b);
}

/* All of a key, or nothing. */
void model_purge(struct model *model)
{
	bool kept[ATTEMPTS_MAX] = { false };
	int i, k;

	for (i = 0; i < model->attempt_count; i++)
		for (k = 0; k < model->attempt_count; k++)
			kept[i] |= !model->attempts[k].purged &&
				   same_key(&model->attempts[i], &model->attempts[k]) &&
				   keeps(model, &model->attempts[k]);
	for (i = 0; i < model->attempt_count; i++)
		model->attempts[i].purged |= !kept[i];
}

/* ----------------------------------------------------------------- runs -- */

/* Who has its owner's mail now; of an owner without an heir, a person. */
static bool is_for_owner(const struct model *model, const struct job *job, const char *to)
{
	const bool retired = model->heir && !strcmp(job->owner, "evelyn");

	return !strcmp(to, !retired	  ? job->owner
			   : *model->heir ? model->heir
					  : "human") ||
	       (retired && !strcmp(to, job->owner));
}

int model_status(const struct model *model, const struct job *job, int64_t now_ms)
{
	const struct mail *word = job->result >= 0 ? &model->mails[job->result] : NULL;
	const bool heard =
		job->forwarded || (word && word->read_at_ms && is_for_owner(model, job, word->to));

	if (job->completed_at_ms && heard)
		return job->recoveries ? ROGER_RUN_RECOVERED : ROGER_RUN_COMPLETED;
	if (job->completed_at_ms)
		return ROGER_RUN_NOT_FORWARDED;
	if (job->ended || job->recoveries)
		return ROGER_RUN_BLOCKED;
	return now_ms > job->expected_by_ms ? ROGER_RUN_SUSPECT : ROGER_RUN_ACTIVE;
}

bool model_failed(const struct model *model, const struct job *job, int64_t now_ms)
{
	return model_status(model, job, now_ms) == ROGER_RUN_BLOCKED ||
	       (job->outcome > ROGER_RUN_SUCCEEDED && job->outcome < ROGER_RUN_UNKNOWN);
}

bool model_settled(const struct model *model, const struct job *job, int64_t now_ms)
{
	const int word = job->result >= 0 ? job->result : job->notice;

	const bool in_place = word >= 0 && model->mails[word].in_place_ms != 0;

	return job->settled ||
	       (word >= 0 && model->mails[word].ack_outcome == ROGER_ACK_DONE &&
		(model_failed(model, job, now_ms) ||
		 (in_place && model_status(model, job, now_ms) == ROGER_RUN_NOT_FORWARDED)));
}

/* ------------------------------------------------------------- subjects -- */

static bool is_task(const char *key, const char *task)
{
	const size_t length = strlen(task);

	return !strncmp(key, task, length) && key[length] == ':';
}

static bool job_in(const struct job *job, const struct subject *subject)
{
	switch (subject->kind) {
	case ROGER_SUBJECT_ISSUE:
	case ROGER_SUBJECT_TASK:
		return subject->kind == ROGER_SUBJECT_ISSUE && !strcmp(job->issue, subject->name);
	case ROGER_SUBJECT_RUN:
		return !strcmp(job->id, subject->name);
	case ROGER_SUBJECT_AGENT:
		break;
	}
	return !strcmp(job->owner, subject->name) || !strcmp(job->child, subject->name);
}

static bool is_result_of(const struct model *model, int mail, const char *run)
{
	int i;

	for (i = 0; i < model->job_count; i++)
		if (!strcmp(model->jobs[i].id, run) && model->jobs[i].result == mail)
			return true;
	return false;
}

/* A message keeps its key when the send log has forgotten it. */
static bool was_attempted(const struct model *model, int mail, const char *task)
{
	int i;

	if (*model->mails[mail].key && is_task(model->mails[mail].key, task))
		return true;
	for (i = 0; i < model->attempt_count; i++)
		if (model->attempts[i].mail == mail && !model->attempts[i].purged &&
		    is_task(model->attempts[i].key, task))
			return true;
	return false;
}

/* From or for it; or for whom it took over from, while that waits, or where it read that. */
bool model_is_of(const struct model *model, int which, const char *agent)
{
	const struct mail *mail = &model->mails[which];

	return !strcmp(mail->from, agent) || !strcmp(mail->to, agent) ||
	       (model_gets(model, agent, mail->to) &&
		((!mail->read_at_ms && !mail->acks) || mail->by_heir));
}

static bool mail_in(const struct model *model, int which, const struct subject *subject)
{
	const struct mail *mail = &model->mails[which];

	switch (subject->kind) {
	case ROGER_SUBJECT_ISSUE:
		return !strcmp(mail->issue, subject->name);
	case ROGER_SUBJECT_TASK:
		return was_attempted(model, which, subject->name);
	case ROGER_SUBJECT_RUN:
		return is_result_of(model, which, subject->name) ||
		       was_attempted(model, which, subject->name);
	case ROGER_SUBJECT_AGENT:
		break;
	}
	return model_is_of(model, which, subject->name);
}

/* The runs of an issue bring what was sent about them. */
static bool task_in(const struct model *model, const char *key, const struct subject *subject)
{
	int i;

	if (is_task(key, subject->name))
		return true;
	for (i = 0; subject->kind == ROGER_SUBJECT_ISSUE && i < model->job_count; i++)
		if (!strcmp(model->jobs[i].issue, subject->name) && is_task(key, model->jobs[i].id))
			return true;
	return false;
}

static bool attempt_in(const struct model *model, const struct attempt *attempt,
		       const struct subject *subject)
{
	if (attempt->purged)
		return false;
	if (subject->kind == ROGER_SUBJECT_AGENT)
		return !strcmp(attempt->from, subject->name) || !strcmp(attempt->to, subject->name);
	return task_in(model, attempt->key, subject) ||
	       (attempt->mail >= 0 && !attempt->plain && mail_in(model, attempt->mail, subject));
}

static bool dead_in(const struct model *model, const struct dead *dead,
		    const struct subject *subject)
{
	const struct mail *mail = &model->mails[dead->mail];

	if (subject->kind == ROGER_SUBJECT_AGENT)
		return !strcmp(mail->from, subject->name) || !strcmp(mail->to, subject->name);
	return task_in(model, mail->key, subject) || mail_in(model, dead->mail, subject);
}

/* --------------------------------------------------------------- events -- */

static int64_t of_mail(const struct mail *mail, enum roger_event_kind kind, int64_t now_ms)
{
	switch ((int)kind) {
	case ROGER_EVENT_SENT:
		return 1;
	case ROGER_EVENT_READ:
		return mail->read_at_ms != 0;
	case ROGER_EVENT_ARCHIVED:
		return mail->archived_at_ms != 0;
	case ROGER_EVENT_HANDED:
		return mail->handed_at_ms != 0;
	case ROGER_EVENT_CLAIMED:
		return mail->claimed;
	case ROGER_EVENT_RETURNED:
		return mail->returned;
	case ROGER_EVENT_LEASE_EXPIRED:
		return mail->expired + model_lease_expired(mail, now_ms);
	case ROGER_EVENT_ACKNOWLEDGED:
		return mail->acks;
	default:
		return 0;
	}
}

static int64_t of_attempt(const struct attempt *attempt, enum roger_event_kind kind)
{
	switch ((int)kind) {
	case ROGER_EVENT_DELIVERED:
		return attempt->outcome == ROGER_DELIVERED && !attempt->timed_out &&
		       !attempt->plain;
	case ROGER_EVENT_LATE:
		return attempt->outcome == ROGER_DELIVERED && attempt->timed_out;
	case ROGER_EVENT_TIMEOUT:
		return attempt->timed_out;
	case ROGER_EVENT_REFUSED:
		return attempt->outcome == ROGER_ERROR;
	default:
		return 0;
	}
}

static int64_t of_dead(const struct dead *dead, enum roger_event_kind kind)
{
	switch ((int)kind) {
	case ROGER_EVENT_DEAD_LETTER:
		return 1;
	case ROGER_EVENT_REDELIVERED:
		return dead->redelivered;
	case ROGER_EVENT_STALE:
		return dead->stale;
	default:
		return 0;
	}
}

static int64_t of_job(const struct model *model, const struct job *job, enum roger_event_kind kind,
		      int64_t now_ms)
{
	const int status = model_status(model, job, now_ms);

	switch ((int)kind) {
	case ROGER_EVENT_DISPATCHED:
		return 1;
	case ROGER_EVENT_COMPLETED:
		return job->completed_at_ms != 0;
	case ROGER_EVENT_FORWARDED:
		return status == ROGER_RUN_COMPLETED || status == ROGER_RUN_RECOVERED;
	case ROGER_EVENT_LOST:
		return status == ROGER_RUN_BLOCKED;
	case ROGER_EVENT_FAILED:
		return job->outcome > ROGER_RUN_SUCCEEDED && job->outcome < ROGER_RUN_UNKNOWN;
	case ROGER_EVENT_SETTLED:
		return model_settled(model, job, now_ms);
	case ROGER_EVENT_RECOVERY:
		return job->recoveries;
	default:
		return 0;
	}
}

int64_t model_events(const struct model *model, const struct subject *subject,
		     enum roger_event_kind kind, int64_t now_ms)
{
	int64_t count = 0;
	int i;

	for (i = 0; i < model->mail_count; i++)
		if (mail_in(model, i, subject))
			count += of_mail(&model->mails[i], kind, now_ms);
	for (i = 0; i < model->attempt_count; i++)
		if (attempt_in(model, &model->attempts[i], subject))
			count += of_attempt(&model->attempts[i], kind);
	for (i = 0; i < model->dead_count; i++)
		if (dead_in(model, &model->deads[i], subject))
			count += of_dead(&model->deads[i], kind);
	for (i = 0; i < model->job_count; i++)
		if (job_in(&model->jobs[i], subject))
			count += of_job(model, &model->jobs[i], kind, now_ms);
	return count;
}

/* ---------------------------------------------------------------- steps -- */

int64_t model_steps(const struct model *model, int which, enum roger_step step, int64_t now_ms)
{
	static const int kinds[] = {
		[ROGER_STEP_STORED] = ROGER_EVENT_SENT,
		[ROGER_STEP_CLAIMED] = ROGER_EVENT_CLAIMED,
		[ROGER_STEP_RETURNED] = ROGER_EVENT_RETURNED,
		[ROGER_STEP_READ] = ROGER_EVENT_READ,
		[ROGER_STEP_ACKNOWLEDGED] = ROGER_EVENT_ACKNOWLEDGED,
		[ROGER_STEP_TIMEOUT] = ROGER_EVENT_TIMEOUT,
		[ROGER_STEP_REFUSED] = ROGER_EVENT_REFUSED,
		[ROGER_STEP_DEAD] = ROGER_EVENT_DEAD_LETTER,
		[ROGER_STEP_REDELIVERED] = ROGER_EVENT_REDELIVERED,
		[ROGER_STEP_STALE] = ROGER_EVENT_STALE,
		[ROGER_STEP_ARCHIVED] = ROGER_EVENT_ARCHIVED,
		[ROGER_STEP_HANDED] = ROGER_EVENT_HANDED,
		[ROGER_STEP_LEASE_EXPIRED] = ROGER_EVENT_LEASE_EXPIRED,
	};
	const enum roger_event_kind kind = (enum roger_event_kind)kinds[step];
	const struct mail *mail = &model->mails[which];
	const struct attempt *attempt;
	int64_t count;
	int i;

	if (step == ROGER_STEP_LOOKED)
		return mail->looked;
	if (step == ROGER_STEP_WAKE)
		return mail->wakes;
	count = step == ROGER_STEP_DELIVERED ? 0 : of_mail(mail, kind, now_ms);
	for (i = 0; i < model->attempt_count; i++) {
		attempt = &model->attempts[i];
		if (attempt->mail != which || attempt->purged)
			continue;
		count += step == ROGER_STEP_DELIVERED
				 ? attempt->outcome == ROGER_DELIVERED && !attempt->plain
				 : of_attempt(attempt, kind);
	}
	for (i = 0; i < model->dead_count; i++)
		if (model->deads[i].mail == which)
			count += of_dead(&model->deads[i], kind);
	return count;
}

/* Can it still be read in time?  What the clock said while it was ahead says nothing. */
bool model_under_way(const struct mail *mail, int64_t now_ms)
{
	return !mail->archived_at_ms && mail->confirm_by_ms > now_ms && mail->at_ms <= now_ms;
}

bool model_letter_open(const struct model *model, const struct dead *dead, int64_t now_ms)
{
	const struct mail *mail = &model->mails[dead->mail];

	return !mail->read_at_ms && !mail->in_place_ms &&
	       (dead->status == ROGER_UNDELIVERED ||
		(dead->status == ROGER_REDELIVERED && !mail->archived_at_ms &&
		 (dead->worn ? mail->dead_at_ms > 0 : !model_under_way(mail, now_ms))));
}

enum roger_step model_reached(const struct model *model, int which, int64_t now_ms)
{
	const struct mail *mail = &model->mails[which];
	int i;

	if (mail->acks)
		return ROGER_STEP_ACKNOWLEDGED;
	if (mail->read_at_ms)
		return ROGER_STEP_READ;
	for (i = 0; i < model->dead_count; i++)
		if (model->deads[i].mail == which &&
		    model_letter_open(model, &model->deads[i], now_ms))
			return ROGER_STEP_DEAD;
	return mail->claimed	    ? ROGER_STEP_CLAIMED
	       : mail->looked	    ? ROGER_STEP_LOOKED
	       : mail->handed_at_ms ? ROGER_STEP_HANDED
	       : mail->wakes	    ? ROGER_STEP_WAKE
				    : ROGER_STEP_STORED;
}
