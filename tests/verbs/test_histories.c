/*
 * Random histories: what one of trace, timeline, status and report calls read, late,
 * dead, expired, lost, failed, full or damaged, the others do, too, and so does the
 * model (model.h), which knows nothing but what the verbs answered.
 *
 * It plays DEFAULT fixed seeds, on files and in memory by turns, MANY with ROGER_TEST_SLOW,
 * and FEW for each mutant.  Named a store, as in `script/postgres build/tests/test_histories
 * postgres`, it plays on that alone; where that needs a server, fewer.  A seed that fails is
 * named: ROGER_SEED=7 plays it alone, and ROGER_SEED=7-90 all of these.
 *
 * runner: timeout 300
 *
 * In PostgreSQL nobody but a server of roger writes.  So there no sender is killed by itself
 * (send_and_die), and no other program appends lines (mark_foreign, send_foreign).
 */
#include "model.h"
#include "scene.h"
#include "tables.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "data/caller.h"
#include "engine/inside.h"
#include "facts/sendlog.h"
#include "ops/runs/run_document.h"
#include "ops/runs/run_process.h"

enum { DEFAULT = 400, MANY = 10000, FEW = 60, SERVED = 40, SERVED_MANY = 1000, BOX = 4 };

static const struct scene_store *alone; /* NULL: files and memory by turns */
static struct scene scene;
static struct model model;
static uint64_t seed, drawn;

/* What this history has: notes of roger's own, agents with a command, a breaker, damage. */
static bool has_notes, has_wakes, has_breaker, is_damaged;
static bool has_set_back; /* its clock is set back now and then */
static int skipped_number;

/* Notices in all histories, and those that found no room. */
static int64_t notices, missing;

/* How often each kind came up, so that nobody agrees about nothing. */
enum { LAST_KIND = ROGER_EVENT_RETIREMENT };
static int64_t came_up[LAST_KIND + 1];
static const char *const concern_kinds[] = { "dead_letters",
					     "blocked",
					     "failed",
					     "alarm",
					     "suspect_delivery_failure",
					     "done_but_not_forwarded",
					     "overdue",
					     "waiting",
					     "lease",
					     "held",
					     "unread",
					     "retired",
					     "full",
					     "skipped",
					     "damage",
					     "breaker" };
enum { CONCERNS = sizeof concern_kinds / sizeof *concern_kinds };
static int64_t concerned[CONCERNS];

/* ---------------------------------------------------------------- drawing -- */

static unsigned draw(unsigned below)
{
	drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(drawn >> 33) % below;
}

/* cleo only knows files. */
static const char *const agents[] = { "amelia", "bobby", "evelyn", "cleo" };
static const char *const issues[] = { "app", "lib" };
static const char *const runs[] = { "r1", "r2", "r3" };

static const char *agent(void)
{
	return agents[draw(3)];
}

/* A message that is there; NULL: none was stored yet. */
static struct mail *any_mail(void)
{
	return model.mail_count ? &model.mails[draw((unsigned)model.mail_count)] : NULL;
}

static const struct mail *mail_at(int which)
{
	return &model.mails[which];
}

/* --------------------------------------------------------------- learning -- */

static int learn_one(const struct roger_message *message)
{
	int which = model_mail(&model, message->id);

	if (which < 0)
		which = model_store(&model, message);
	model.mails[which].confirm_by_ms = message->confirm_by_ms;
	return which;
}

/* The messages that are there: those that no reply named become known. */
static void learn(void)
{
	const struct roger_list_request all = { 0 };
	struct roger_messages_reply list = { 0 };
	struct attempt attempt = { .outcome = ROGER_DELIVERED };
	const int before = model.mail_count;
	const struct mail *mail;
	size_t i;
	int which;

	assert_int_equal(roger_list(scene.roger, &all, &list, NULL), ROGER_OK);
	for (i = 0; i < list.messages.count; i++)
		(void)learn_one(&list.messages.items[i]);
	roger_reply_free(&list);
	for (which = before; which < model.mail_count; which++) {
		mail = &model.mails[which];
		attempt.mail = which;
		attempt.plain = !mail->key[0];
		snprintf(attempt.from, sizeof attempt.from, "%s", mail->from);
		snprintf(attempt.to, sizeof attempt.to, "%s", mail->to);
		if (attempt.plain)
			snprintf(attempt.key, sizeof attempt.key, "%s:send:", mail->issue);
		else
			snprintf(attempt.key, sizeof attempt.key, "%s", mail->key);
		/* What came over an edge, or by another program, was not attempted here. */
		if (!mail->confirm_by_ms && strncmp(mail->key, "bridge:", 7) != 0 &&
		    strncmp(mail->id, "ext-", 4) != 0)
			model_attempt(&model, &attempt);
	}
}

/* What left the mailbox, and how many (-1: nobody said): never anything unread, unless that was
 * asked for or it was handed out. */
static void learn_archived(int64_t count, bool unread_too)
{
	const struct roger_list_request archived = { .archived = true };
	struct roger_messages_reply list = { 0 };
	const struct roger_message *message;
	size_t i;
	int which;

	if (!count)
		return;
	assert_int_equal(roger_list(scene.roger, &archived, &list, NULL), ROGER_OK);
	for (i = 0; i < list.messages.count; i++) {
		message = &list.messages.items[i];
		which = model_mail(&model, message->id);
		assert_true(which >= 0);
		if (model.mails[which].archived_at_ms)
			continue;
		assert_true(unread_too || model.mails[which].read_at_ms ||
			    model.mails[which].in_place_ms || model.mails[which].handed_at_ms);
		model_archive(&model, which, message->archived_at_ms);
		count--;
	}
	assert_true(count <= 0);
	roger_reply_free(&list);
}

/* ------------------------------------------------------------------ sends -- */

struct sending {
	const char *from, *to, *key, *issue; /* to: as asked for */
	bool confirm, plain;
};

static void add_attempt(const struct sending *sending, const char *to, int outcome, int mail)
{
	struct attempt attempt = { .outcome = outcome,
				   .mail = mail,
				   .plain = sending->plain || !*sending->key };

	snprintf(attempt.from, sizeof attempt.from, "%s", sending->from);
	snprintf(attempt.to, sizeof attempt.to, "%s", to);
	if (*sending->key)
		snprintf(attempt.key, sizeof attempt.key, "%s", sending->key);
	else
		snprintf(attempt.key, sizeof attempt.key, "%s:send:", sending->issue);
	model_attempt(&model, &attempt);
}

static bool same_entry(const struct roger_attempt *a, const struct roger_attempt *b)
{
	const size_t plain =
		rg_sendlog_is_plain(a) ? a->key.length - a->message.length : a->key.length;
	const size_t other =
		rg_sendlog_is_plain(b) ? b->key.length - b->message.length : b->key.length;

	return rg_str_equal(a->from, b->from) && rg_str_equal(a->to, b->to) && plain == other &&
	       !memcmp(a->key.data, b->key.data, plain);
}

/* Refused copies that no reply lists: of a group all of whose mailboxes are full, and of what
 * roger sends about a run. */
static void learn_refused(void)
{
	const struct roger_sends_request errors = { .outcome = ROGER_SENDS_ERROR, .limit = 1000 };
	struct roger_sends_reply log = { 0 };
	const struct roger_attempt *entry;
	struct sending sending;
	char from[NAME_MAX_], to[NAME_MAX_], key[96];
	int64_t more;
	size_t i, k;
	int m;

	assert_int_equal(roger_sends(scene.roger, &errors, &log, NULL), ROGER_OK);
	for (i = 0; i < log.attempts.count; i++) {
		entry = &log.attempts.items[i];
		snprintf(from, sizeof from, "%.*s", RG_STR_ARGS(entry->from));
		snprintf(to, sizeof to, "%.*s", RG_STR_ARGS(entry->to));
		snprintf(key, sizeof key, "%.*s",
			 (int)(entry->key.length -
			       (rg_sendlog_is_plain(entry) ? entry->message.length : 0)),
			 entry->key.data);
		for (more = 1, k = 0; k < i; k++)
			more += same_entry(entry, &log.attempts.items[k]);
		for (m = 0; m < model.attempt_count; m++)
			more -= model.attempts[m].outcome == ROGER_ERROR &&
				!model.attempts[m].purged &&
				!strcmp(model.attempts[m].from, from) &&
				!strcmp(model.attempts[m].to, to) &&
				!strcmp(model.attempts[m].key, key);
		sending = (struct sending){ .from = from, .key = key };
		sending.plain = rg_sendlog_is_plain(entry);
		if (more <= 0)
			continue;
		add_attempt(&sending, to, ROGER_ERROR, -1);
		snprintf(model.attempts[model.attempt_count - 1].refused,
			 sizeof model.attempts->refused, "%.*s", RG_STR_ARGS(entry->message));
		/* It is learned of late: what was last then may have been delivered since. */
		model.attempts[model.attempt_count - 1].number = entry->attempt;
	}
	roger_reply_free(&log);
}

static void add_sent(const struct sending *sending, const struct roger_send_reply *reply)
{
	struct roger_message message = { .issue = reply->issue,
					 .from = rg_str(sending->from),
					 .key = rg_str(sending->key),
					 .created_at_ms = reply->created_at_ms,
					 .epoch = reply->epoch,
					 .seq = reply->seq };
	char to[NAME_MAX_];
	size_t i;
	int which;

	model.duplicates += reply->duplicate;
	for (i = 0; i < reply->refused.count; i++) {
		snprintf(to, sizeof to, "%.*s", RG_STR_ARGS(reply->refused.items[i].to));
		add_attempt(sending, to, ROGER_ERROR, -1);
	}
	for (i = 0; i < reply->messages.count && !reply->duplicate; i++) {
		message.id = reply->messages.items[i].id;
		message.to = reply->messages.items[i].to;
		snprintf(to, sizeof to, "%.*s", RG_STR_ARGS(message.to));
		which = model_mail(&model, message.id);
		if (which < 0)
			which = model_store(&model, &message);
		else if (reply->messages.count > 1)
			continue; /* the copy that was stored before */
		model.mails[which].confirm_by_ms = 0;
		add_attempt(sending, to, ROGER_DELIVERED, which);
	}
	learn_archived(reply->archived, false);
}

/* Nobody read it in time, or the breaker kept it from being tried. */
static void add_timeout(const struct sending *sending, const struct roger_err *err)
{
	const struct attempt *last = model_last(&model, sending->from, sending->key, sending->to);
	int which = last ? last->mail : -1;

	if (strstr(err->message, "(circuit breaker)")) {
		learn_refused();
		return;
	}
	learn();
	learn_archived(-1, false);
	if (last && last->outcome != ROGER_TIMEOUT)
		which = -1;
	add_attempt(sending, sending->to, ROGER_TIMEOUT, which >= 0 ? which : model.mail_count - 1);
}

/* The reason says to whom: a name that is wrong, retired, or a mailbox that is full. */
static void add_refusal(const struct sending *sending, int code, const struct roger_err *err)
{
	if (!strcmp(err->member, "key")) {
		model.conflicts += code == ROGER_EREFUSED;
		return;
	}
	assert_true(code == ROGER_EREFUSED || code == ROGER_EDATA);
	if (!strcmp(sending->to, "team") || !strcmp(sending->to, "all")) {
		learn_refused();
		return;
	}
	if (!*sending->key || model_may_try(&model, sending->from, sending->key, sending->to))
		add_attempt(sending, sending->to, ROGER_ERROR, -1);
}

/* That nobody read in time: it is often sent again. */
static struct sending waited_for;

static void send_one(void)
{
	static const char *const keys[] = { "app:a:1", "app:b:1", "lib:c:1", "other:d:1" };
	char long_text[202] = "";
	struct sending sending = { .from = draw(8) ? agent() : "cleo",
				   .to = draw(6) ? agent() : "cleo",
				   .key = draw(5) < 2 ? keys[draw(4)] : "",
				   .issue = issues[draw(2)] };
	struct roger_str to;
	struct roger_send_request request = { .to = { &to, 1 }, .content = RG_STR("x") };
	struct roger_send_reply reply = { 0 };
	struct roger_err err = { 0 };
	int r;

	memset(long_text, 'x', sizeof long_text - 1);
	sending.confirm = *sending.key && draw(2);
	if (!sending.confirm && draw(10) == 0)
		sending.to = draw(2) ? "team" : "all";
	if (draw(14) == 0)
		sending.to = "evelin";
	if (draw(20) == 0 && strcmp(sending.to, "team") && strcmp(sending.to, "all"))
		request.content = rg_str(long_text);
	else if (*sending.key && draw(10) == 0)
		request.content = RG_STR("something else");
	else if (waited_for.from && draw(3))
		sending = waited_for;
	to = rg_str(sending.to);
	request.from = rg_str(sending.from);
	request.issue = rg_str(sending.issue);
	request.key = rg_str(sending.key);
	request.within_ms = sending.confirm;
	request.confirm = sending.confirm ? ROGER_CONFIRM_READ : 0;
	r = roger_send(scene.roger, &request, &reply, &err);
	/* What the text is comes first. */
	if (!strcmp(sending.to, "evelyn") && model.heir && *model.heir && r != ROGER_EDATA)
		sending.to = model.heir;
	if (r == ROGER_OK)
		add_sent(&sending, &reply);
	else if (r == ROGER_ETIMEOUT && !strcmp(err.member, ""))
		add_timeout(&sending, &err);
	else if (r != ROGER_ENOENT)
		add_refusal(&sending, r, &err);
	waited_for = (struct sending){ 0 };
	if (r == ROGER_ETIMEOUT)
		waited_for = sending;
	roger_reply_free(&reply);
}

/* Its sender is killed while it waits: another process, which a store of files is for. */
static void send_and_die(void)
{
	struct roger_str to = RG_STR("bobby");
	const struct roger_send_request request = { .from = RG_STR("amelia"),
						    .to = { &to, 1 },
						    .content = RG_STR("x"),
						    .issue = RG_STR("app"),
						    .key = RG_STR("app:killed:1"),
						    .confirm = ROGER_CONFIRM_READ,
						    .within_ms = 100000 };
	struct sending sending = { .from = "amelia", .to = "bobby", .key = "app:killed:1" };
	struct roger_send_reply reply;
	uint32_t mark;
	pid_t child;

	if (strcmp(scene.store->name, "file") ||
	    model_last(&model, "amelia", "app:killed:1", "bobby"))
		return;
	roger_watch(scene.roger, &mark, 0);
	child = fork();
	if (child == 0)
		_exit(roger_send(scene_handle(&scene), &request, &reply, NULL) < 0);
	while (!roger_watch(scene.roger, &mark, 10) && !waitpid(child, NULL, WNOHANG))
		;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	learn();
	learn_refused();
	/* It may have made room first. */
	learn_archived(-1, false);
	if (model.mail_count && !strcmp(model.mails[model.mail_count - 1].key, sending.key))
		add_attempt(&sending, "bobby", ATTEMPT_PENDING, model.mail_count - 1);
}

/* ---------------------------------------------------------------- readers -- */

static void take_some(void)
{
	const bool by_person = draw(3) == 0, take = draw(2);
	const struct roger_inbox_request request = { .agent = rg_str(agent()),
						     .limit = 1 + draw(3),
						     .person = by_person && !take };
	struct roger_inbox_reply reply = { 0 };
	size_t i;
	int which, r;

	r = take ? roger_receive(scene.roger, &request, &reply, NULL)
		 : roger_inbox(scene.roger, &request, &reply, NULL);
	assert_int_equal(r, ROGER_OK);
	for (i = 0; i < reply.messages.count; i++) {
		which = model_mail(&model, reply.messages.items[i].id);
		assert_true(which >= 0);
		assert_true(model_gets(&model, request.agent.data, model.mails[which].to));
		model.mails[which].looked |= take || (has_notes && !by_person);
		if (!take)
			continue;
		model.mails[which].by_heir = reply.messages.items[i].read_by.length > 0;
		model_read(&model, which, reply.messages.items[i].read_at_ms);
	}
	roger_reply_free(&reply);
}

/* Is its lease that of an agent from which another took over? */
static bool is_handed_over(const struct mail *mail)
{
	return model_gets(&model, "amelia", "evelyn") && !strcmp(mail->to, "evelyn") &&
	       !strcmp(mail->worker, "evelyn");
}

static void claim_one(void)
{
	const struct roger_claim_request request = { .agent = rg_str(agent()),
						     .worker = rg_str(agent()),
						     .lease_ms = draw(2) ? 60000 : 300000 };
	struct roger_messages_reply reply = { 0 };
	struct mail *mail;
	size_t i;

	assert_int_equal(roger_claim(scene.roger, &request, &reply, NULL), ROGER_OK);
	for (i = 0; i < reply.messages.count; i++) {
		mail = &model.mails[model_mail(&model, reply.messages.items[i].id)];
		/* One in force is only taken by whoever took over from its holder. */
		if (mail->until_ms > rg_clock_ms()) {
			assert_true(is_handed_over(mail));
			mail->returned++;
			mail->until_ms = 0;
		}
		model_end_lease(mail, INT64_MAX);
		mail->claimed++;
		mail->leases++;
		mail->looked = true;
		mail->until_ms = reply.messages.items[i].claimed_until_ms;
		snprintf(mail->worker, sizeof mail->worker, "%.*s", RG_STR_ARGS(request.worker));
	}
	roger_reply_free(&reply);
}

/* A person, at a terminal or through a login, in place of whom it is for. */
static void answer_in_place(void)
{
	const struct rg_caller login = { .how = RG_BY_LOGIN,
					 .right = RG_ADMINISTER,
					 .name = RG_STR("human"),
					 .login = RG_STR("login human 1a2b3c4d"),
					 .page = true };
	struct roger_ack_request request = { .outcome = 1 + (int)draw(3),
					     .worker = RG_STR("human") };
	struct roger_messages_reply reply = { 0 };
	struct mail *mail = any_mail();
	struct roger_str id;
	int r;

	if (!mail)
		return;
	id = rg_str(mail->id);
	request.ids = (struct roger_strs){ &id, 1 };
	request.agent = rg_str(mail->to);
	if (draw(2))
		rg_set_caller(scene.roger, &login);
	r = roger_ack(scene.roger, &request, &reply, NULL);
	rg_set_caller(scene.roger, NULL);
	if (r == ROGER_OK && mail->ack_outcome != request.outcome) {
		mail->looked |= !mail->read_at_ms && !strcmp(mail->to, "human");
		if (!mail->read_at_ms && strcmp(mail->to, "human") != 0)
			model_end_in_place(&model, (int)(mail - model.mails),
					   reply.messages.items[0].acked_at_ms);
		else
			model_read(&model, (int)(mail - model.mails),
				   reply.messages.items[0].read_at_ms);
		mail->acks++;
		mail->ack_outcome = request.outcome;
		mail->told |= request.outcome != ROGER_ACK_DONE && strcmp(mail->from, "roger") &&
			      strcmp(mail->from, "run") && strcmp(mail->from, mail->to);
	}
	roger_reply_free(&reply);
}

/* Mostly by whoever has claimed it. */
static void answer_one(void)
{
	struct mail *mail = any_mail();
	struct roger_ack_request request = { .outcome = 1 + (int)draw(3) };
	struct roger_messages_reply reply = { 0 };
	struct roger_str id;
	int r;

	if (!mail)
		return;
	id = rg_str(mail->id);
	request.ids = (struct roger_strs){ &id, 1 };
	request.agent = rg_str(mail->to);
	request.worker = draw(4) ? rg_str(mail->worker) : rg_str(agent());
	if (draw(2)) {
		r = roger_ack(scene.roger, &request, &reply, NULL);
		/* Saying the same again says nothing new. */
		if (r == ROGER_OK && mail->ack_outcome != request.outcome) {
			/* What another program marked as read it need not have looked at. */
			mail->looked |= !mail->read_at_ms && strcmp(mail->to, "cleo") != 0;
			mail->by_heir = reply.messages.items[0].read_by.length > 0;
			model_read(&model, (int)(mail - model.mails),
				   reply.messages.items[0].read_at_ms);
			mail->acks++;
			mail->ack_outcome = request.outcome;
			mail->told |= request.outcome != ROGER_ACK_DONE &&
				      strcmp(mail->from, "roger") && strcmp(mail->from, "run") &&
				      strcmp(mail->from, mail->to);
		}
	} else {
		r = roger_nack(scene.roger, &request, &reply, NULL);
		if (r == ROGER_OK && mail->until_ms > rg_clock_ms()) {
			mail->returned++;
			mail->leases--;
			mail->until_ms = 0;
			mail->back_at_ms = reply.messages.items[0].claimed_until_ms;
		}
	}
	roger_reply_free(&reply);
}

/* What the line of another program says of a message; it has no chain, and not all members. */
static void append_line(const struct roger_message *message, int64_t read_at_ms,
			const char *outcome)
{
	char path[256], read_at[24] = "null";
	FILE *file;

	if (read_at_ms)
		snprintf(read_at, sizeof read_at, "%lld", (long long)read_at_ms);
	snprintf(path, sizeof path, "%s/.roger/messages.jsonl", scene.root);
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file,
		"{\"id\":\"%.*s\",\"issue_id\":\"%.*s\",\"from_phase\":\"%.*s\",\"to_phase\":"
		"\"%.*s\",\"run_counter\":%lld,\"message_type\":\"context\",\"content\":\"%.*s\","
		"\"metadata\":null,\"read\":%s,\"created_at\":%lld,\"read_at\":%s",
		RG_STR_ARGS(message->id), RG_STR_ARGS(message->issue), RG_STR_ARGS(message->from),
		RG_STR_ARGS(message->to), (long long)message->pass, RG_STR_ARGS(message->content),
		read_at_ms ? "true" : "false", (long long)message->created_at_ms, read_at);
	if (*outcome)
		fprintf(file, ",\"acked_at\":%lld,\"ack_outcome\":\"%s\"", (long long)read_at_ms,
			outcome);
	fprintf(file, "}\n");
	assert_int_equal(fclose(file), 0);
}

/* Another program marks a message as read, or acknowledges it, by a clock that may be an hour slow:
 * its recipient has not looked. */
static void mark_foreign(void)
{
	static const char *const outcomes[] = { "", "done", "blocked", "rejected" };
	struct mail *mail = any_mail();
	const int64_t at_ms = rg_clock_ms() - (draw(3) ? 0 : 3600000);
	const unsigned outcome = draw(2) ? 1 + draw(3) : 0;
	const struct roger_list_request request = { 0 };
	struct roger_messages_reply reply = { 0 };
	bool plain;
	size_t i = 0;

	/* Of what is tried again such a line knows the first attempt only. */
	if (!mail || !model_waits(mail) || mail->confirm_by_ms || strcmp(scene.store->name, "file"))
		return;
	assert_int_equal(roger_list(scene.roger, &request, &reply, NULL), ROGER_OK);
	while (i < reply.messages.count && !rg_str_is(reply.messages.items[i].id, mail->id))
		i++;
	assert_true(i < reply.messages.count);
	plain = rg_str_is(reply.messages.items[i].content, "x");
	if (plain)
		append_line(&reply.messages.items[i], at_ms, outcomes[outcome]);
	/* A reading before the message's own time does not tell what was before it. */
	if (plain && at_ms < reply.messages.items[i].created_at_ms)
		mail->wakes = 0;
	roger_reply_free(&reply);
	if (!plain)
		return;
	mail->marked = !mail->read_at_ms;
	model_read(&model, (int)(mail - model.mails), at_ms);
	mail->ack_outcome = (int)outcome;
	mail->acks += outcome != 0;
	learn();
}

/* Another program sends a message, by the same clock. */
static void send_foreign(void)
{
	char id[32];
	struct roger_message message = { .issue = rg_str(issues[draw(2)]),
					 .from = rg_str(agents[draw(4)]),
					 .to = rg_str(agent()),
					 .pass = 1,
					 .content = RG_STR("x"),
					 .created_at_ms = rg_clock_ms() - (draw(3) ? 0 : 3600000) };

	if (strcmp(scene.store->name, "file") != 0)
		return;
	snprintf(id, sizeof id, "ext-%llu-%d", (unsigned long long)seed, model.mail_count);
	message.id = rg_str(id);
	append_line(&message, 0, "");
	learn();
}

static void archive_some(void)
{
	const struct mail *mail = any_mail();
	struct roger_str id;
	struct roger_archive_request request = { .unread = draw(3) == 0 };
	const struct roger_cleanup_request cleanup = { .keep_per_agent = 1, .max_age_days = -1 };
	struct roger_archive_reply reply = { 0 };
	const unsigned how = draw(4);
	int r;

	if (!mail)
		return;
	id = rg_str(mail->id);
	if (how)
		request.ids = (struct roger_strs){ &id, 1 };
	else
		request.issue = rg_str(issues[draw(2)]);
	request.unread = how == 2;
	r = how == 3 ? roger_cleanup(scene.roger, &cleanup, &reply, NULL)
		     : roger_archive(scene.roger, &request, &reply, NULL);
	if (r == ROGER_OK)
		learn_archived(reply.archived, how != 3);
	/* A cleanup of all purges the send logs. */
	if (r == ROGER_OK && how == 3)
		model_purge(&model);
	roger_reply_free(&reply);
}

/* ------------------------------------------------------------------ edges -- */

/* The latest instant at which cleo said something with a number of its own. */
static int64_t said_by_cleo(void)
{
	int64_t said_ms = 0;
	int i;

	for (i = 0; i < model.mail_count; i++)
		if (!strcmp(model.mails[i].from, "cleo") && model.mails[i].seq &&
		    model.mails[i].at_ms > said_ms)
			said_ms = model.mails[i].at_ms;
	return said_ms;
}

/* What cleo says so shows that it has read its file. */
static void hear(void)
{
	const int64_t said_ms = said_by_cleo();
	int i;

	for (i = 0; i < model.mail_count; i++)
		if (model.mails[i].handed_at_ms && model.mails[i].handed_at_ms < said_ms &&
		    !model.mails[i].archived_at_ms)
			model_read(&model, i, said_ms);
}

static void bridge_once(void)
{
	const struct roger_bridge_request request = { .issue = rg_str(issues[draw(2)]) };
	struct roger_bridge_reply reply = { 0 };
	char text[64];
	size_t i;
	int which;

	if (draw(2)) {
		skipped_number += draw(3) ? 1 : -1;
		snprintf(text, sizeof text, "(cleo #%d): hello\n", 1000 + skipped_number);
		scene_outside(&scene, ".roger/triggers/bobby.txt", rg_str(text));
	}
	assert_int_equal(roger_bridge(scene.roger, &request, &reply, NULL), ROGER_OK);
	learn();
	learn_archived(reply.archived, false);
	hear();
	model.skipped += reply.skipped;
	for (i = 0; i < reply.crossings.count; i++) {
		if (reply.crossings.items[i].kind != ROGER_CROSSING_WRITTEN)
			continue;
		which = model_mail(&model, reply.crossings.items[i].id);
		assert_true(which >= 0);
		model_end_lease(&model.mails[which], rg_clock_ms());
		model.mails[which].handed_at_ms =
			said_by_cleo() > rg_clock_ms() ? said_by_cleo() : rg_clock_ms();
	}
	roger_reply_free(&reply);
	scene_pass(2);
}

static void wake_once(void)
{
	const struct roger_wake_request request = { 0 };
	struct roger_wake_reply reply = { 0 };
	size_t i;
	int k;

	if (has_wakes && roger_wake(scene.roger, &request, &reply, NULL) == ROGER_OK)
		for (i = 0; i < reply.attempts.count; i++) {
			model.wakes++;
			model.failed_wakes += !reply.attempts.items[i].ok;
			for (k = 0; k < model.mail_count; k++)
				model.mails[k].wakes += rg_str_is(reply.attempts.items[i].agent,
								  model.mails[k].to) &&
							model_waits(&model.mails[k]);
		}
	roger_reply_free(&reply);
}

/* ------------------------------------------------------------------- runs -- */

static struct job *job_of(const char *id)
{
	int i;

	for (i = 0; i < model.job_count; i++)
		if (!strcmp(model.jobs[i].id, id))
			return &model.jobs[i];
	return NULL;
}

static struct job *add_job(const struct roger_run *run)
{
	struct job *job = &model.jobs[model.job_count++];

	rg_assert(model.job_count <= RUNS_MAX);
	*job = (struct job){ .result = -1, .notice = -1 };
	snprintf(job->id, sizeof job->id, "%.*s", RG_STR_ARGS(run->run));
	snprintf(job->owner, sizeof job->owner, "%.*s", RG_STR_ARGS(run->owner));
	snprintf(job->child, sizeof job->child, "%.*s", RG_STR_ARGS(run->child));
	snprintf(job->issue, sizeof job->issue, "%.*s", RG_STR_ARGS(run->issue));
	assert_true(rg_clock_read_rfc3339(run->expected_by, &job->expected_by_ms));
	return job;
}

/* What a reply says of a run that cannot be known otherwise: instants, and which messages. */
static void take_run(struct job *job, const struct roger_run *run)
{
	learn();
	learn_archived(-1, false);
	if (run->completed_at.length)
		rg_clock_read_rfc3339(run->completed_at, &job->completed_at_ms);
	rg_clock_read_rfc3339(run->expected_by, &job->expected_by_ms);
	if (run->result_message.length)
		job->result = model_mail(&model, run->result_message);
	if (run->failure_message.length)
		job->notice = model_mail(&model, run->failure_message);
}

static void dispatch_one(const char *id)
{
	const struct roger_dispatch_request request = { .run = rg_str(id),
							.agent = rg_str(agent()),
							.issue = rg_str(issues[draw(2)]),
							.within_ms = 60000 };
	struct roger_runs_reply reply = { 0 };
	int r = roger_dispatch(scene.roger, &request, &reply, NULL);

	/* For somebody who retired, and whose mail nobody gets, there is no run. */
	if (r == ROGER_OK)
		add_job(&reply.runs.items[0]);
	else
		assert_true(r == ROGER_EREFUSED && rg_str_is(request.agent, "evelyn") &&
			    model.heir && !*model.heir);
	roger_reply_free(&reply);
}

static void complete_one(struct job *job)
{
	struct roger_complete_request request = { .run = rg_str(job->id) };
	struct roger_runs_reply reply = { 0 };
	const unsigned how = draw(4);

	if (how < 2)
		request.result = RG_STR("x");
	if (how == 1)
		request.exit = draw(2) ? RG_STR("2") : RG_STR("0");
	if (how == 2)
		request.failed = true;
	if (roger_complete(scene.roger, &request, &reply, NULL) == ROGER_OK) {
		if (reply.changed) {
			job->ended |= how == 2;
			job->outcome = how == 2			     ? ROGER_RUN_FAILED
				       : !request.exit.length	     ? job->outcome
				       : request.exit.data[0] == '2' ? ROGER_RUN_FAILED
								     : ROGER_RUN_SUCCEEDED;
		}
		take_run(job, &reply.runs.items[0]);
		if (job->completed_at_ms && !job->outcome)
			job->outcome = ROGER_RUN_UNKNOWN;
	}
	roger_reply_free(&reply);
}

/* Its owner, or a person, has dealt with a failure. */
static void settle_one(struct job *job)
{
	const struct roger_settle_request request = { .run = rg_str(job->id),
						      .reason = RG_STR("seen") };
	struct roger_runs_reply reply = { 0 };

	job->settled |= roger_settle(scene.roger, &request, &reply, NULL) == ROGER_OK;
	roger_reply_free(&reply);
}

static void change_run(void)
{
	const char *const id = runs[draw(3)];
	struct job *job = job_of(id);
	const struct roger_extend_request longer = { .run = rg_str(id), .by_ms = 60000 };
	const struct roger_recover_request recover = { .run = rg_str(id) };
	const struct roger_forward_request forward = { .run = rg_str(id) };
	struct roger_runs_reply reply = { 0 };

	if (!job) {
		dispatch_one(id);
		return;
	}
	switch (draw(6)) {
	case 0:
		if (roger_extend(scene.roger, &longer, &reply, NULL) == ROGER_OK)
			take_run(job, &reply.runs.items[0]);
		break;
	case 1:
		if (roger_recover(scene.roger, &recover, &reply, NULL) == ROGER_OK) {
			job->recoveries++;
			take_run(job, &reply.runs.items[0]);
		}
		break;
	case 2:
		settle_one(job);
		break;
	case 3:
		if (roger_forward(scene.roger, &forward, &reply, NULL) == ROGER_OK)
			job->forwarded = true;
		break;
	default:
		complete_one(job);
	}
	learn_refused();
	roger_reply_free(&reply);
}

/* Its program runs, or ran, elsewhere: context is true where it is gone for certain. */
static int start_elsewhere(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	const bool *gone = context;
	struct rg_process child;

	rg_process_find(getpid(), &child);
	if (*gone)
		memcpy(child.boot_id, "another-boot", sizeof "another-boot");
	else
		child.space++;
	edit->changed = true;
	edit->run->runner_pid = edit->run->child_pid = child.id;
	edit->run->runner_start = edit->run->child_start = child.start;
	edit->run->pid_space = child.space;
	return rg_arena_copy(edit->arena, rg_str(child.boot_id), &edit->run->boot_id)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

/* Of another boot it is lost; in another pid namespace, or on another machine, nobody here knows.
 */
static void move_run(void)
{
	struct job *job = job_of(runs[draw(3)]);
	struct rg_arena *arena = rg_arena_new();
	struct rg_run_document document;
	bool gone = draw(2), changed;

	if (job && !job->completed_at_ms && !job->ended && !job->recoveries && !job->outcome) {
		assert_int_equal(rg_run_update(scene.roger, rg_str(job->id), start_elsewhere, &gone,
					       arena, &document, &changed, NULL),
				 ROGER_OK);
		if (gone) {
			job->ended = true;
			job->outcome = ROGER_RUN_UNKNOWN;
		}
	}
	rg_arena_free(arena);
}

static void sweep_all(void)
{
	const struct roger_sweep_request request = { 0 };
	const struct roger_runs_request all = { 0 };
	struct roger_sweep_reply reply = { 0 };
	struct roger_runs_reply now = { 0 };
	struct job *job;
	size_t i;

	assert_int_equal(roger_sweep(scene.roger, &request, &reply, NULL), ROGER_OK);
	assert_int_equal(roger_runs(scene.roger, &all, &now, NULL), ROGER_OK);
	for (i = 0; i < now.runs.count; i++) {
		job = NULL;
		for (int k = 0; k < model.job_count; k++)
			if (rg_str_is(now.runs.items[i].run, model.jobs[k].id))
				job = &model.jobs[k];
		assert_non_null(job);
		reply.recoveries -= now.runs.items[i].recovery_attempts - job->recoveries;
		job->recoveries = now.runs.items[i].recovery_attempts;
		take_run(job, &now.runs.items[i]);
	}
	assert_int_equal(reply.recoveries, 0);
	learn_refused();
	roger_reply_free(&reply);
	roger_reply_free(&now);
}

/* A program: it ends well, fails, is killed, or runs out of time. */
static void run_program(void)
{
	static const char *const scripts[] = { "echo x", "echo x; exit 2", "kill -9 $$",
					       "echo x; sleep 100" };
	static const int outcomes[] = { ROGER_RUN_SUCCEEDED, ROGER_RUN_FAILED, ROGER_RUN_KILLED,
					ROGER_RUN_TIMED_OUT };
	const unsigned how = draw(4);
	struct roger_str words[] = { RG_STR("/bin/sh"), RG_STR("-c"), rg_str(scripts[how]) };
	const struct roger_run_request request = { .command = { words, 3 },
						   .agent = RG_STR("amelia"),
						   .run = RG_STR("p1"),
						   .issue = RG_STR("app"),
						   .timeout_ms = how == 3 };
	struct roger_run_reply reply = { 0 };
	struct job *job;

	if (job_of("p1"))
		return;
	if (roger_run(scene.roger, &request, &reply, NULL) == ROGER_OK) {
		job = add_job(&reply.runs.items[0]);
		take_run(job, &reply.runs.items[0]);
		job->ended = !job->completed_at_ms;
		job->outcome = outcomes[how];
	}
	learn_refused();
	roger_reply_free(&reply);
}

/* ------------------------------------------------------------------- logs -- */

static void learn_letters(void)
{
	const struct roger_dead_letters_request all = { 0 };
	struct roger_dead_letters_reply letters = { 0 };
	size_t i;
	int k;

	assert_int_equal(roger_dead_letters(scene.roger, &all, &letters, NULL), ROGER_OK);
	for (i = 0; i < letters.dead_letters.count; i++)
		for (k = 0; k < model.dead_count; k++)
			if (rg_str_is(letters.dead_letters.items[i].message,
				      model.mails[model.deads[k].mail].id))
				snprintf(model.deads[k].id, sizeof model.deads[k].id, "%.*s",
					 RG_STR_ARGS(letters.dead_letters.items[i].id));
	roger_reply_free(&letters);
}

static void count_on(struct attempt *last)
{
	const struct attempt *attempt;

	for (attempt = model.attempts; attempt < last; attempt++)
		if (attempt->mail == last->mail && attempt->number >= last->number)
			last->number = attempt->number + 1;
}

static void redeliver(struct dead *dead)
{
	const struct roger_redeliver_request again = { .id = rg_str(dead->id), .within_ms = 1 };
	struct mail *mail = &model.mails[dead->mail];
	const struct sending sending = { .from = mail->from, .key = mail->key };
	struct roger_dead_letters_reply reply = { 0 };
	int r = roger_redeliver(scene.roger, &again, &reply, NULL);

	assert_true(r != ROGER_OK || dead->worn || mail->dead_at_ms);
	if (r == ROGER_OK) {
		dead->status = ROGER_REDELIVERED;
		dead->redelivered++;
		mail->leases = mail->dead_at_ms ? 0 : mail->leases;
		mail->dead_at_ms = 0;
	}
	if (r == ROGER_ETIMEOUT) {
		learn();
		dead->status = ROGER_REDELIVERED;
		dead->redelivered++;
		add_attempt(&sending, mail->to, ROGER_TIMEOUT, dead->mail);
		/* The message knows of attempts that were purged. */
		count_on(&model.attempts[model.attempt_count - 1]);
	}
	roger_reply_free(&reply);
}

static void change_letter(void)
{
	struct dead *dead =
		model.dead_count ? &model.deads[draw((unsigned)model.dead_count)] : NULL;
	struct roger_stale_request stale = { 0 };
	struct roger_dead_letters_reply reply = { 0 };

	if (!dead)
		return;
	learn_letters();
	if (draw(2)) {
		redeliver(dead);
		return;
	}
	stale.id = rg_str(dead->id);
	if (roger_stale(scene.roger, &stale, &reply, NULL) == ROGER_OK &&
	    dead->status != ROGER_STALE && !mail_at(dead->mail)->in_place_ms) {
		dead->status = ROGER_STALE;
		dead->stale++;
	}
	roger_reply_free(&reply);
}

static void turn_over(void)
{
	const struct roger_session_request session = { .new_ = true };
	const struct roger_cycle_request cycle = { .new_ = true };
	const struct roger_purge_request purge = { 0 };
	struct roger_session_reply opened = { 0 };
	struct roger_cycle_reply cycles = { 0 };
	struct roger_purge_reply purged = { 0 };
	const struct roger_sends_request sends = { .limit = 1 };
	struct roger_sends_reply log = { 0 };

	scene_pass(2);
	/* An attempt without a key is of the cycle that its time says. */
	switch (has_set_back ? 0 : draw(3)) {
	case 0:
		assert_int_equal(roger_session(scene.roger, &session, &opened, NULL), ROGER_OK);
		break;
	case 1:
		/* Until somebody reads a send log, what has no key is in the journal alone. */
		assert_int_equal(roger_sends(scene.roger, &sends, &log, NULL), ROGER_OK);
		assert_int_equal(roger_cycle(scene.roger, &cycle, &cycles, NULL), ROGER_OK);
		snprintf(model.cycle, sizeof model.cycle, "%.*s", RG_STR_ARGS(cycles.current));
		break;
	default:
		assert_int_equal(roger_purge(scene.roger, &purge, &purged, NULL), ROGER_OK);
		model_settle(&model, rg_clock_ms());
		model_purge(&model);
	}
	scene_pass(2);
	roger_reply_free(&opened);
	roger_reply_free(&cycles);
	roger_reply_free(&log);
	roger_reply_free(&purged);
}

static void retire_one(void)
{
	const struct roger_retire_request request = { .name = RG_STR("evelyn"),
						      .to = draw(2) ? RG_STR("amelia")
								    : RG_STR("") };
	const struct roger_retire_request undo = { .name = RG_STR("evelyn"), .undo = true };
	struct roger_retire_reply reply = { 0 };

	if (roger_retire(scene.roger, model.heir ? &undo : &request, &reply, NULL) == ROGER_OK)
		model.heir = model.heir ? NULL : request.to.length ? "amelia" : "";
	roger_reply_free(&reply);
}

/* ---------------------------------------------------------------- a history -- */

/* What died for its leases is noticed by any verb that shows what came of sends. */
static void settle_worn(void)
{
	const int64_t now_ms = rg_clock_ms();
	bool any = false;
	int i;

	for (i = 0; i < model.mail_count; i++)
		any |= model_worn(&model, &model.mails[i], now_ms) || model.mails[i].told;
	if (!any)
		return;
	learn_letters();
	learn();
	learn_archived(-1, false);
	model_settle(&model, now_ms);
}

/* One notice of each message whose sender is to be told, where there is room, and none of others.
 */
static void check_notices(void)
{
	struct roger_str to;
	struct roger_send_request request = { .from = RG_STR("bobby"),
					      .to = { &to, 1 },
					      .content = RG_STR("x"),
					      .new_ = true,
					      .dry_run = true };
	struct roger_send_reply reply;
	char key[80];
	int i, k, count;

	for (i = 0; i < model.mail_count; i++) {
		snprintf(key, sizeof key, "%s:notice:1", model.mails[i].id);
		for (count = 0, k = 0; k < model.mail_count; k++)
			count += !strcmp(model.mails[k].key, key);
		assert_true(count <= model.mails[i].told);
		notices += count;
		if (count || !model.mails[i].told || model.mails[i].archived_at_ms)
			continue;
		missing++;
		to = rg_str(model.mails[i].from);
		if (rg_str_is(to, "evelyn") && model.heir)
			to = rg_str(*model.heir ? model.heir : "human");
		request.issue = rg_str(model.mails[i].issue);
		assert_int_equal(roger_send(scene.roger, &request, &reply, NULL), ROGER_EREFUSED);
	}
}

static void step(void)
{
	scene_pass(2);
	settle_worn();
	static const struct {
		unsigned weight;
		void (*take)(void);
	} steps[] = { { 30, send_one },	    { 9, take_some },	    { 8, claim_one },
		      { 8, answer_one },    { 3, answer_in_place }, { 3, archive_some },
		      { 5, bridge_once },   { 4, wake_once },	    { 14, change_run },
		      { 2, sweep_all },	    { 1, run_program },	    { 2, move_run },
		      { 8, change_letter }, { 4, turn_over },	    { 2, retire_one },
		      { 1, send_and_die },  { 4, mark_foreign },    { 2, send_foreign } };
	unsigned total = 0, at;
	size_t i;

	for (i = 0; i < sizeof steps / sizeof *steps; i++)
		total += steps[i].weight;
	at = draw(total + 14);
	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (at < steps[i].weight) {
			steps[i].take();
			return;
		}
		at -= steps[i].weight;
	}
	scene_pass(has_set_back && draw(4) == 0 ? -20000 : draw(3) ? 47000 : 671000);
}

/* ------------------------------------------------------------ the accounts -- */

static struct roger_status_reply status;
static struct roger_report_reply report;

/* What trace says of it. */
static void print_steps(const struct mail *mail)
{
	struct roger_str id = rg_str(mail->id);
	const struct roger_trace_request request = { .ids = { &id, 1 } };
	struct roger_trace_reply reply = { 0 };
	size_t i;

	if (roger_trace(scene.roger, &request, &reply, NULL) < 0)
		return;
	for (i = 0; i < reply.traces.items[0].steps.count; i++) {
		const struct roger_trace_step *step = &reply.traces.items[0].steps.items[i];

		printf("#    %d at %lld by %.*s: %.*s\n", step->step, (long long)step->at_ms,
		       RG_STR_ARGS(step->who), RG_STR_ARGS(step->words));
	}
	roger_reply_free(&reply);
}

/* What the model says, for whoever looks for the reason. */
static void print_model(void)
{
	const struct roger_list_request every = { 0 };
	struct roger_messages_reply list = { 0 };
	const struct roger_sends_request all = { 0 };
	struct roger_sends_reply log = { 0 };
	const struct attempt *attempt;
	const struct mail *mail;
	int i;

	for (i = 0; i < model.mail_count; i++) {
		mail = &model.mails[i];
		printf("# %d: %s %s -> %s in %s, key '%s', until %lld, confirm %lld, handed %lld, "
		       "read %lld, archived %lld, acks %lld%s\n",
		       i, mail->id, mail->from, mail->to, mail->issue, mail->key,
		       (long long)mail->until_ms, (long long)mail->confirm_by_ms,
		       (long long)mail->handed_at_ms, (long long)mail->read_at_ms,
		       (long long)mail->archived_at_ms, (long long)mail->acks,
		       mail->looked ? ", looked" : "");
		print_steps(mail);
	}
	for (i = 0; i < model.attempt_count; i++) {
		attempt = &model.attempts[i];
		printf("# attempt %lld of %d, %s -> %s, key '%s', cycle %s: %d%s%s\n",
		       (long long)attempt->number, attempt->mail, attempt->from, attempt->to,
		       attempt->key, attempt->cycle, attempt->outcome,
		       attempt->timed_out ? ", timed out" : "", attempt->purged ? ", purged" : "");
	}
	for (i = 0; i < model.job_count; i++)
		printf("# run %s of %s, completed %lld, ended %d, outcome %d, settled %d, told by "
		       "%d, "
		       "result %d\n",
		       model.jobs[i].id, model.jobs[i].owner,
		       (long long)model.jobs[i].completed_at_ms, model.jobs[i].ended,
		       model.jobs[i].outcome, model.jobs[i].settled, model.jobs[i].notice,
		       model.jobs[i].result);
	assert_int_equal(roger_list(scene.roger, &every, &list, NULL), ROGER_OK);
	for (size_t k = 0; k < list.messages.count; k++)
		if (model_mail(&model, list.messages.items[k].id) < 0)
			printf("# not known: %.*s, %.*s -> %.*s, key '%.*s'\n",
			       RG_STR_ARGS(list.messages.items[k].id),
			       RG_STR_ARGS(list.messages.items[k].from),
			       RG_STR_ARGS(list.messages.items[k].to),
			       RG_STR_ARGS(list.messages.items[k].key));
	roger_reply_free(&list);
	assert_int_equal(roger_sends(scene.roger, &all, &log, NULL), ROGER_OK);
	for (size_t k = 0; k < log.attempts.count; k++)
		printf("# logged: attempt %lld of %.*s, %.*s -> %.*s, key '%.*s', cycle %.*s: "
		       "%d%s\n",
		       (long long)log.attempts.items[k].attempt,
		       RG_STR_ARGS(log.attempts.items[k].message),
		       RG_STR_ARGS(log.attempts.items[k].from),
		       RG_STR_ARGS(log.attempts.items[k].to),
		       RG_STR_ARGS(log.attempts.items[k].key),
		       RG_STR_ARGS(log.attempts.items[k].cycle), log.attempts.items[k].outcome,
		       log.attempts.items[k].pending ? ", pending" : "");
	roger_reply_free(&log);
}

static void agree(const char *what, const char *of, int64_t is, int64_t should)
{
	if (is == should)
		return;
	print_model();
	if (is != should)
		fail_msg("seed %llu: %s of %s: %lld, and should be %lld", (unsigned long long)seed,
			 what, of, (long long)is, (long long)should);
}

static bool concerns_agree(void)
{
	const struct roger_concern *told = report.concerns.items, *is = status.concerns.items;
	size_t i;

	for (i = 0; i < report.concerns.count && i < status.concerns.count; i++)
		if (!rg_str_equal(told[i].subject, is[i].subject) || told[i].count != is[i].count)
			return false;
	return report.concerns.count == status.concerns.count;
}

/* Time may pass between the two, and move a concern; a true contradiction stays. */
static void read_all(void)
{
	const struct roger_report_request whole = { 0 };
	const struct roger_empty_request nothing = { 0 };
	struct roger_err err;
	int looks = 3;

	do {
		roger_reply_free(&report);
		roger_reply_free(&status);
		/* It settles what is overdue, so it comes first. */
		if (roger_report(scene.roger, &whole, &report, &err) < 0)
			fail_msg("seed %llu: report: %s", (unsigned long long)seed, err.message);
		if (roger_status(scene.roger, &nothing, &status, &err) < 0)
			fail_msg("seed %llu: status: %s", (unsigned long long)seed, err.message);
	} while (!concerns_agree() && --looks);
}

/* How many of a kind, as concerns of their own or as parts of an agent's mail. */
static int64_t concerns(const char *kind)
{
	const struct roger_concern *concern;
	int64_t count = 0;
	size_t i, k;

	for (i = 0; i < status.concerns.count; i++) {
		concern = &status.concerns.items[i];
		/* That an issue is full is one thing, however much is in it. */
		if (rg_str_is(concern->kind, kind))
			count += strcmp(kind, "full") == 0 ? 1 : concern->count;
		for (k = 0; k < concern->parts.count; k++)
			if (rg_str_is(concern->parts.items[k].name, kind))
				count += concern->parts.items[k].count;
	}
	return count;
}

/* ------------------------------------------------------------------ report -- */

static void check_messages(void)
{
	int64_t read = 0, unread = 0, looked = 0, acks = 0, waiting = 0;
	size_t k;
	int i;

	for (i = 0; i < model.mail_count; i++) {
		read += mail_at(i)->read_at_ms != 0;
		unread += !mail_at(i)->read_at_ms;
		waiting += model_waits(mail_at(i));
		looked += mail_at(i)->looked;
		acks += mail_at(i)->acks > 0;
	}
	agree("messages", "report", report.messages, model.mail_count);
	agree("read", "report", report.read, read);
	agree("unread", "report", report.unread, waiting);
	agree("unread", "status", status.unread, waiting);
	agree("looked", "report", report.looked, looked);
	agree("acknowledged", "report", report.acknowledged, acks);
	agree("wakes", "report", report.wakes, model.wakes);
	agree("failed wakes", "report", report.failed_wakes, model.failed_wakes);
	for (k = 0; k < report.agents.count; k++) {
		read -= report.agents.items[k].read;
		unread -= report.agents.items[k].received - report.agents.items[k].read;
	}
	agree("read by somebody", "report", read, 0);
	agree("unread by somebody", "report", unread, 0);
}

static void check_attempts(void)
{
	int64_t count = 0, retries = 0, late = 0, outcomes[5] = { 0 };
	const struct attempt *attempt;
	int i;

	for (i = 0; i < model.attempt_count; i++) {
		attempt = &model.attempts[i];
		if (attempt->purged)
			continue;
		count++;
		outcomes[attempt->outcome]++;
		retries += attempt->number > 1;
		late += attempt->timed_out && attempt->outcome == ROGER_DELIVERED;
	}
	agree("attempts", "report", report.attempts, count);
	agree("delivered", "report", report.delivered, outcomes[ROGER_DELIVERED]);
	agree("timeouts", "report", report.timeouts, outcomes[ROGER_TIMEOUT]);
	agree("errors", "report", report.errors, outcomes[ROGER_ERROR]);
	agree("pending", "report", report.pending, outcomes[ATTEMPT_PENDING]);
	agree("retries", "report", report.retries, retries);
	agree("late", "report", report.late, late);
	if (has_notes) {
		agree("duplicates", "report", report.duplicates, model.duplicates);
		agree("conflicts", "report", report.conflicts, model.conflicts);
	}
}

static void check_letters(int64_t now_ms)
{
	int64_t by_status[4] = { 0 }, open = 0, read = 0, of_cycle = 0;
	const struct dead *dead;
	int i;

	for (i = 0; i < model.dead_count; i++) {
		dead = &model.deads[i];
		of_cycle += !strcmp(dead->cycle, model.cycle);
		if (model_letter_open(&model, dead, now_ms))
			open++;
		else if (mail_at(dead->mail)->in_place_ms && !mail_at(dead->mail)->read_at_ms)
			by_status[ROGER_STALE]++;
		else if (dead->status != ROGER_STALE && mail_at(dead->mail)->read_at_ms)
			read++;
		else
			by_status[dead->status]++;
	}
	agree("dead letters", "report", report.dead_letters, model.dead_count);
	agree("undelivered", "report", report.undelivered, open);
	agree("dead and read", "report", report.dead_read, read);
	agree("redelivered", "report", report.redelivered, by_status[ROGER_REDELIVERED]);
	agree("stale", "report", report.stale, by_status[ROGER_STALE]);
	agree("dead letters", "status", concerns("dead_letters"), open);
	agree("alarm", "status", concerns("alarm"), of_cycle > 1 && open ? of_cycle : 0);
}

static void check_runs(int64_t now_ms)
{
	int64_t by_status[7] = { 0 }, by_outcome[6] = { 0 }, late = 0, recoveries = 0, lost = 0,
		failed = 0, unheard = 0;
	const struct job *job;
	int i, s;

	for (i = 0; i < model.job_count; i++) {
		job = &model.jobs[i];
		s = model_status(&model, job, now_ms);
		by_status[s]++;
		by_outcome[job->outcome]++;
		late += job->completed_at_ms > job->expected_by_ms;
		recoveries += job->recoveries;
		/* Settled, and there is no result that its owner could still read. */
		unheard += s == ROGER_RUN_NOT_FORWARDED &&
			   !(model_settled(&model, job, now_ms) &&
			     (job->result < 0 || mail_at(job->result)->archived_at_ms ||
			      mail_at(job->result)->in_place_ms));
		if (model_failed(&model, job, now_ms) && !model_settled(&model, job, now_ms))
			++*(s == ROGER_RUN_BLOCKED ? &lost : &failed);
	}
	agree("runs", "report", report.runs, model.job_count);
	agree("active", "report", report.active, by_status[ROGER_RUN_ACTIVE]);
	agree("active", "status", status.active_runs, by_status[ROGER_RUN_ACTIVE]);
	agree("suspect", "report", report.suspect, by_status[ROGER_RUN_SUSPECT]);
	agree("suspect", "status", concerns("suspect_delivery_failure"), report.suspect);
	agree("not forwarded", "report", report.not_forwarded, by_status[ROGER_RUN_NOT_FORWARDED]);
	agree("not forwarded", "status", concerns("done_but_not_forwarded"), unheard);
	agree("completed", "report", report.completed, by_status[ROGER_RUN_COMPLETED]);
	agree("recovered", "report", report.recovered, by_status[ROGER_RUN_RECOVERED]);
	agree("blocked", "report", report.blocked, by_status[ROGER_RUN_BLOCKED]);
	agree("lost", "report", report.lost_runs, lost);
	agree("blocked", "status", concerns("blocked"), lost);
	agree("failed", "status", concerns("failed"), failed);
	agree("late runs", "report", report.late_runs, late);
	agree("recoveries", "report", report.recoveries, recoveries);
	agree("succeeded", "report", report.succeeded_runs, by_outcome[ROGER_RUN_SUCCEEDED]);
	agree("failed", "report", report.failed_runs, by_outcome[ROGER_RUN_FAILED]);
	agree("killed", "report", report.killed_runs, by_outcome[ROGER_RUN_KILLED]);
	agree("timed out", "report", report.timed_out_runs, by_outcome[ROGER_RUN_TIMED_OUT]);
	agree("unknown", "report", report.unknown_runs, by_outcome[ROGER_RUN_UNKNOWN]);
}

/* ------------------------------------------------------------------ status -- */

static void check_waiting(int64_t now_ms)
{
	int64_t held = 0, expired = 0, overdue = 0, waiting = 0;
	const struct mail *mail;
	int i;

	for (i = 0; i < model.mail_count; i++) {
		mail = mail_at(i);
		if (!model_waits(mail))
			continue;
		held += mail->until_ms > now_ms && !is_handed_over(mail);
		if (model_lease_expired(mail, now_ms))
			expired += mail->leases ? mail->leases : 1;
		else if (mail->until_ms && mail->leases)
			expired += mail->leases - 1;
		else if (!mail->dead_at_ms)
			expired += mail->leases;
		overdue += mail->confirm_by_ms && !model_under_way(mail, now_ms);
		waiting += model_under_way(mail, now_ms);
	}
	agree("held", "status", concerns("held"), held);
	agree("expired", "status", concerns("lease"), expired);
	agree("overdue", "status", concerns("overdue"), overdue);
	agree("waiting", "status", concerns("waiting"), waiting);
	agree("skipped", "status", concerns("skipped"), model.skipped);
}

/* Full is what a send would be refused for. */
static void check_boxes(void)
{
	struct roger_str to;
	struct roger_send_request request = {
		.from = RG_STR("amelia"), .to = { &to, 1 }, .content = RG_STR("x"), .dry_run = true
	};
	struct roger_send_reply reply = { 0 };
	struct roger_err err;
	int64_t full = 0;
	bool whole;
	size_t i, k;
	int r;

	for (k = 0; k < 2; k++)
		for (whole = false, i = 0; i < 4; i++) {
			to = rg_str(agents[i]);
			request.issue = rg_str(issues[k]);
			r = roger_send(scene.roger, &request, &reply, &err);
			roger_reply_free(&reply);
			if (r != ROGER_EREFUSED || err.member[0])
				continue;
			/* The issue is full, or the mailbox; not that of an heir. */
			full += strstr(err.message, "issue") == err.message
					? !whole
					: !!strstr(err.message, agents[i]);
			whole |= strstr(err.message, "issue") == err.message;
		}
	agree("full", "status", concerns("full"), full);
}

static void check_figures(void)
{
	const struct roger_concern_list *told = &report.concerns;
	size_t i;

	for (i = 0; i < CONCERNS; i++)
		concerned[i] += concerns(concern_kinds[i]);
	agree("concerns", "report and status", (int64_t)told->count,
	      (int64_t)status.concerns.count);
	for (i = 0; i < told->count; i++)
		if (!rg_str_equal(told->items[i].subject, status.concerns.items[i].subject) ||
		    told->items[i].count != status.concerns.items[i].count)
			fail_msg("seed %llu: report says '%.*s', %lld, and status '%.*s', %lld",
				 (unsigned long long)seed, RG_STR_ARGS(told->items[i].words),
				 (long long)told->items[i].count,
				 RG_STR_ARGS(status.concerns.items[i].words),
				 (long long)status.concerns.items[i].count);
	agree("breakers", "report and status", report.breakers, concerns("breaker"));
	agree("quiet", "status", status.quiet, status.concerns.count == 0);
}

/* ---------------------------------------------------------------- timelines -- */

static void check_timeline(const struct subject *subject, int64_t now_ms)
{
	static const enum roger_event_kind kinds[] = {
		ROGER_EVENT_SENT,     ROGER_EVENT_DELIVERED,	ROGER_EVENT_READ,
		ROGER_EVENT_LATE,     ROGER_EVENT_TIMEOUT,	ROGER_EVENT_REFUSED,
		ROGER_EVENT_CLAIMED,  ROGER_EVENT_DEAD_LETTER,	ROGER_EVENT_REDELIVERED,
		ROGER_EVENT_STALE,    ROGER_EVENT_RECOVERY,	ROGER_EVENT_COMPLETED,
		ROGER_EVENT_RETURNED, ROGER_EVENT_FORWARDED,	ROGER_EVENT_ARCHIVED,
		ROGER_EVENT_FAILED,   ROGER_EVENT_ACKNOWLEDGED, ROGER_EVENT_LEASE_EXPIRED,
		ROGER_EVENT_LOST,     ROGER_EVENT_DISPATCHED,	ROGER_EVENT_HANDED,
		ROGER_EVENT_SETTLED,
	};
	struct roger_timeline_request request = { .limit = 10000 };
	struct roger_timeline_reply reply = { 0 };
	int64_t counts[LAST_KIND + 1] = { 0 };
	char what[64];
	size_t i;
	int r;

	*(subject->kind == ROGER_SUBJECT_ISSUE	? &request.issue
	  : subject->kind == ROGER_SUBJECT_TASK ? &request.task
	  : subject->kind == ROGER_SUBJECT_RUN	? &request.run
						: &request.agent) = rg_str(subject->name);
	r = roger_timeline(scene.roger, &request, &reply, NULL);
	assert_true(r == ROGER_OK || r == ROGER_ENOENT);
	for (i = 0; i < reply.events.count; i++) {
		counts[reply.events.items[i].kind]++;
		came_up[reply.events.items[i].kind]++;
	}
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(what, sizeof what, "the timeline of %s, kind %d", subject->name, kinds[i]);
		agree("events", what, counts[kinds[i]],
		      model_events(&model, subject, kinds[i], now_ms));
	}
	roger_reply_free(&reply);
}

static void check_timelines(int64_t now_ms)
{
	struct subject subject = { ROGER_SUBJECT_ISSUE, NULL };
	size_t i;

	for (i = 0; i < 2; i++) {
		subject.name = issues[i];
		check_timeline(&subject, now_ms);
	}
	subject.kind = ROGER_SUBJECT_TASK;
	subject.name = "other";
	check_timeline(&subject, now_ms);
	subject.kind = ROGER_SUBJECT_RUN;
	for (i = 0; i < (size_t)model.job_count; i++) {
		subject.name = model.jobs[i].id;
		check_timeline(&subject, now_ms);
	}
	subject.kind = ROGER_SUBJECT_AGENT;
	subject.name = agents[draw(4)];
	check_timeline(&subject, now_ms);
}

/* --------------------------------------------------------------------- since -- */

/* An instant within the history, and what roger's notes had told by then. */
static int64_t middle_ms, wakes_before, duplicates_before;

static void remember_middle(void)
{
	scene_pass(2);
	middle_ms = rg_clock_ms();
	scene_pass(2);
	wakes_before = model.wakes;
	duplicates_before = model.duplicates;
}

/* Messages count by when they were sent, whatever became of them; all else by when it happened. */
static void check_since(void)
{
	const struct roger_report_request request = { .since_ms = middle_ms };
	struct roger_report_reply reply = { 0 };
	int64_t messages = 0, read = 0, looked = 0, acked = 0, late = 0, dead = 0;
	int i;

	assert_int_equal(roger_report(scene.roger, &request, &reply, NULL), ROGER_OK);
	for (i = 0; i < model.mail_count; i++) {
		if (mail_at(i)->at_ms < middle_ms)
			continue;
		messages++;
		read += mail_at(i)->read_at_ms != 0;
		looked += mail_at(i)->looked;
		acked += mail_at(i)->acks > 0;
	}
	for (i = 0; i < model.attempt_count; i++)
		late += !model.attempts[i].purged && model.attempts[i].late_at_ms >= middle_ms;
	for (i = 0; i < model.dead_count; i++)
		dead += model.deads[i].at_ms >= middle_ms;
	agree("messages", "report since", reply.messages, messages);
	agree("read", "report since", reply.read, read);
	agree("looked", "report since", reply.looked, looked);
	agree("acknowledged", "report since", reply.acknowledged, acked);
	agree("late", "report since", reply.late, late);
	agree("dead letters", "report since", reply.dead_letters, dead);
	agree("wakes", "report since", reply.wakes, model.wakes - wakes_before);
	if (has_notes)
		agree("duplicates", "report since", reply.duplicates,
		      model.duplicates - duplicates_before);
	roger_reply_free(&reply);
}

static int64_t shown_since(const struct roger_timeline_reply *reply, enum roger_event_kind kind)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < reply->events.count; i++)
		count += reply->events.items[i].kind == (int)kind;
	return count;
}

static void check_timeline_since(void)
{
	const char *const name = agents[draw(4)];
	const struct roger_timeline_request request = { .agent = rg_str(name),
							.since_ms = middle_ms,
							.limit = 10000 };
	struct roger_timeline_reply reply = { 0 };
	int64_t sent = 0, read = 0, late = 0;
	int i, r;

	r = roger_timeline(scene.roger, &request, &reply, NULL);
	assert_true(r == ROGER_OK || r == ROGER_ENOENT);
	for (i = 0; i < model.mail_count; i++) {
		if (!model_is_of(&model, i, name))
			continue;
		sent += mail_at(i)->at_ms >= middle_ms;
		read += mail_at(i)->read_at_ms >= middle_ms;
	}
	for (i = 0; i < model.attempt_count; i++)
		late += !model.attempts[i].purged && model.attempts[i].late_at_ms >= middle_ms &&
			(!strcmp(model.attempts[i].from, name) ||
			 !strcmp(model.attempts[i].to, name));
	agree("sent", "timeline since", shown_since(&reply, ROGER_EVENT_SENT), sent);
	agree("read", "timeline since", shown_since(&reply, ROGER_EVENT_READ), read);
	agree("late", "timeline since", shown_since(&reply, ROGER_EVENT_LATE), late);
	roger_reply_free(&reply);
}

/* ------------------------------------------------------------------- cycles -- */

/* What the cycles had, added up. */
static void check_cycles(void)
{
	const struct roger_cycle_request all = { 0 };
	struct roger_report_request request = { 0 };
	struct roger_cycle_reply cycles = { 0 };
	struct roger_report_reply reply = { 0 };
	int64_t messages = 0, attempts = 0, timeouts = 0, errors = 0, late = 0, dead = 0;
	size_t i;

	assert_int_equal(roger_cycle(scene.roger, &all, &cycles, NULL), ROGER_OK);
	for (i = 0; i < cycles.cycles.count; i++) {
		request.cycle = cycles.cycles.items[i].id;
		assert_int_equal(roger_report(scene.roger, &request, &reply, NULL), ROGER_OK);
		messages += reply.messages;
		attempts += reply.attempts;
		timeouts += reply.timeouts;
		errors += reply.errors;
		late += reply.late;
		dead += reply.dead_letters;
		roger_reply_free(&reply);
	}
	agree("messages", "the cycles", messages, report.messages);
	agree("attempts", "the cycles", attempts, report.attempts);
	agree("timeouts", "the cycles", timeouts, report.timeouts);
	agree("errors", "the cycles", errors, report.errors);
	agree("late", "the cycles", late, report.late);
	agree("dead letters", "the cycles", dead, report.dead_letters);
	roger_reply_free(&cycles);
}

/* ------------------------------------------------------------------- traces -- */

static void check_trace(const struct roger_trace *trace, int64_t now_ms)
{
	int64_t counts[ROGER_STEP_ARCHIVED + 1] = { 0 };
	const int which = model_mail(&model, trace->id);
	char what[96];
	size_t i;
	int k;

	assert_true(which >= 0);
	for (i = 0; i < trace->steps.count; i++)
		counts[trace->steps.items[i].step]++;
	for (k = 0; k <= ROGER_STEP_ARCHIVED; k++) {
		snprintf(what, sizeof what, "the trace of %s, step %d", mail_at(which)->id, k);
		agree("steps", what, counts[k],
		      model_steps(&model, which, (enum roger_step)k, now_ms));
	}
	agree("how far", mail_at(which)->id, trace->reached,
	      (int)model_reached(&model, which, now_ms));
}

static void trace_some(const struct roger_str *ids, size_t count, int64_t now_ms)
{
	const struct roger_trace_request request = { .ids = { ids, count } };
	struct roger_trace_reply reply = { 0 };
	size_t i;

	if (!count)
		return;
	assert_int_equal(roger_trace(scene.roger, &request, &reply, NULL), ROGER_OK);
	assert_true(reply.traces.count >= 1);
	for (i = 0; i < reply.traces.count; i++)
		check_trace(&reply.traces.items[i], now_ms);
	roger_reply_free(&reply);
}

/* By ids, twenty at a time, and by a key. */
static void check_traces(int64_t now_ms)
{
	struct roger_str ids[20], key = { 0 };
	size_t count = 0;
	int i;

	for (i = 0; i < model.mail_count; i++) {
		ids[count++] = rg_str(mail_at(i)->id);
		if (mail_at(i)->key[0])
			key = rg_str(mail_at(i)->key);
		if (count < 20)
			continue;
		trace_some(ids, count, now_ms);
		count = 0;
	}
	trace_some(ids, count, now_ms);
	trace_some(&key, key.length > 0, now_ms);
}

/* As on another machine, or where somebody took it for rubbish. */
static void drop_index(void)
{
	static const char *const files[] = { "index", "index-journal", "index-recent" };
	char path[256];
	size_t i;

	for (i = 0; seed % 5 == 0 && i < 3; i++) {
		snprintf(path, sizeof path, "%s/.roger/messages.db-%s", scene.root, files[i]);
		unlink(path);
	}
}

/* Whoever comes next knows only what is kept; in memory that is nothing. */
static void restart(void)
{
	if (scene.store->follow && seed % 3 == 0) {
		if (!scene.next)
			scene.store->follow(&scene);
		scene.store->follow(&scene);
		drop_index();
	} else if (seed / 2 % 2 && strcmp(scene.store->name, "memory") != 0) {
		scene.roger = roger_close(scene.roger);
		drop_index();
		scene.roger = scene_handle(&scene);
	}
}

/* ------------------------------------------------------------------- damage -- */

/* A letter of some line is another one, or the end of the journal is gone. */
static void damage_some(void)
{
	const struct roger_stats_request all = { 0 };
	struct roger_stats_reply stats = { 0 };

	assert_int_equal(roger_stats(scene.roger, &all, &stats, NULL), ROGER_OK);
	if (scene.store->cut && stats.journal_bytes > 600 && draw(3) == 0)
		scene.store->cut(&scene, 1 + (long)draw(600));
	else
		scene.store->damage(&scene, 1 + (long)draw((unsigned)stats.journal_lines));
	roger_reply_free(&stats);
}

static void accept_all(void)
{
	struct roger_accept_request request = { .reason = RG_STR("seen") };
	struct roger_accept_reply reply = { 0 };
	int places = 0;
	size_t i;

	/* All places are one concern, which names the next. */
	for (i = 0; i < status.concerns.count && places < 50; i++) {
		if (!rg_str_is(status.concerns.items[i].kind, "damage"))
			continue;
		request.place = status.concerns.items[i].subject;
		assert_int_equal(roger_accept(scene.roger, &request, &reply, NULL), ROGER_OK);
		roger_reply_free(&reply);
		roger_reply_free(&report);
		roger_reply_free(&status);
		read_all();
		i = SIZE_MAX;
		places++;
	}
}

/* What is lost the model does not know; the verbs agree about it. */
static void check_damage(int64_t *noticed_ms)
{
	struct roger_timeline_request request = { .limit = 10000 };
	struct roger_timeline_reply reply;
	int64_t sent = 0, read = 0, open;
	size_t i, k;
	int r;

	read_all();
	for (i = 0; i < status.concerns.count; i++)
		if (rg_str_is(status.concerns.items[i].kind, "damage") &&
		    status.concerns.items[i].since_ms < *noticed_ms)
			*noticed_ms = status.concerns.items[i].since_ms;
	for (i = 0; i < 2; i++) {
		open = 0;
		reply = (struct roger_timeline_reply){ 0 };
		request.issue = rg_str(issues[i]);
		r = roger_timeline(scene.roger, &request, &reply, NULL);
		assert_true(r == ROGER_OK || r == ROGER_ENOENT);
		for (k = 0; k < reply.events.count; k++) {
			came_up[reply.events.items[k].kind]++;
			sent += reply.events.items[k].kind == ROGER_EVENT_SENT;
			read += reply.events.items[k].kind == ROGER_EVENT_READ;
			open += reply.events.items[k].kind == ROGER_EVENT_DAMAGED;
			open -= reply.events.items[k].kind == ROGER_EVENT_ACCEPTED;
		}
		/* What was noticed before the first that is left of it is not of its time. */
		if (r == ROGER_OK && reply.events.items[0].at_ms <= *noticed_ms)
			agree("damage", issues[i], open, concerns("damage"));
		roger_reply_free(&reply);
	}
	agree("messages", "the timelines", sent, report.messages);
	agree("read", "the timelines", read, report.read);
	check_figures();
}

/* A line that is not the last, and that no verb shows, is noticed by nobody else (STEPS.md). */
static void verify_finds_it(void)
{
	const struct roger_verify_request request = { 0 };
	struct roger_verify_reply reply = { 0 };

	assert_int_equal(roger_verify(scene.roger, &request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	roger_reply_free(&report);
	roger_reply_free(&status);
	read_all();
	if (!concerns("damage"))
		fail_msg("seed %llu: verify found no damage", (unsigned long long)seed);
	roger_reply_free(&report);
	roger_reply_free(&status);
}

static void play_damage(void)
{
	int64_t noticed_ms = INT64_MAX;
	int rounds = 0;

	if (!model.mail_count)
		return;
	damage_some();
	scene_pass(5000);
	check_damage(&noticed_ms);
	restart();
	roger_reply_free(&report);
	roger_reply_free(&status);
	check_damage(&noticed_ms);
	verify_finds_it();
	check_damage(&noticed_ms);
	/* What was accepted lets others be found. */
	for (rounds = draw(2) ? 0 : 9; rounds < 5 && concerns("damage"); rounds++) {
		accept_all();
		roger_reply_free(&report);
		roger_reply_free(&status);
		check_damage(&noticed_ms);
	}
	if (rounds < 9)
		agree("damage", "status", concerns("damage"), 0);
	roger_reply_free(&report);
	roger_reply_free(&status);
}

/* ---------------------------------------------------------------------- one -- */

/* The newest few are the first of all, newest first. */
static void check_newest_sends(void)
{
	const struct roger_sends_request all = { .newest = true, .limit = RG_BATCH_MAX };
	const struct roger_sends_request few = { .newest = true, .limit = 1 + draw(9) };
	struct roger_sends_reply whole = { 0 }, first = { 0 };
	size_t i;

	assert_int_equal(roger_sends(scene.roger, &all, &whole, NULL), ROGER_OK);
	assert_int_equal(roger_sends(scene.roger, &few, &first, NULL), ROGER_OK);
	agree("more", "sends", first.more, (int64_t)whole.attempts.count > few.limit);
	for (i = 0; i < first.attempts.count; i++)
		assert_true(same_entry(&first.attempts.items[i], &whole.attempts.items[i]));
	agree("the newest", "sends", (int64_t)first.attempts.count,
	      first.more ? few.limit : (int64_t)whole.attempts.count);
	roger_reply_free(&whole);
	roger_reply_free(&first);
}

/* The code that makes the tables has no other one beside it, so the model is the second opinion. */
static void check_tables(void)
{
	const char *what = tables_differ(&model, scene.roger->engine->index);

	if (!what)
		return;
	print_model();
	fail_msg("seed %llu: %s", (unsigned long long)seed, what);
}

static void check_all(void)
{
	const int64_t now_ms = rg_clock_ms();

	model_settle(&model, now_ms);
	settle_worn();
	read_all();
	check_notices();
	check_messages();
	check_attempts();
	check_letters(now_ms);
	check_runs(now_ms);
	check_waiting(now_ms);
	check_boxes();
	check_figures();
	check_timelines(now_ms);
	check_traces(now_ms);
	check_newest_sends();
	/* What happened since is what is of a later time, unless the clock went back. */
	if (!has_set_back) {
		check_since();
		check_timeline_since();
	}
	check_cycles();
	check_tables();
	roger_reply_free(&report);
	roger_reply_free(&status);
}

static void trust_commands(void)
{
	struct roger_trust_request request = { .path = rg_str(scene.root) };
	struct roger_trust_reply shown = { 0 }, accepted = { 0 };

	assert_int_equal(roger_trust(&request, &shown, NULL), ROGER_OK);
	request.accept = shown.sha256;
	assert_int_equal(roger_trust(&request, &accepted, NULL), ROGER_OK);
	roger_reply_free(&shown);
	roger_reply_free(&accepted);
}

static void begin(uint64_t number)
{
	char config[1024];

	seed = number;
	drawn = number * UINT64_C(0x9e3779b97f4a7c15);
	has_notes = draw(8);
	has_wakes = has_notes && draw(4) == 0;
	has_breaker = draw(4) == 0;
	has_set_back = draw(4) == 0 && !has_wakes; /* a wake names no message: it goes by time */
	is_damaged = draw(10) == 0;
	skipped_number = 0;
	waited_for = (struct sending){ 0 };
	model = (struct model){ .cycle = "1", .attempts_max = 2, .leases_max = draw(3) ? 2 : 0 };
	snprintf(config, sizeof config,
		 "retries: {max_attempts: 2, after: 0}\n"
		 "claims: {max_attempts: %d}\n"
		 "breaker: {failures: %d}\n"
		 "size_limits: {max_messages_per_issue_phase: %d, max_messages_per_issue: %d, "
		 "max_content_length: 200}\n"
		 "dead_letters: {alarm: 1}\n"
		 "cycles: {keep: 1}\n"
		 "watchdog: {max_recoveries: 1, recovery_cooldown: 0}\n"
		 "groups: {team: [amelia, bobby, evelyn]}\n"
		 "bridge: {file_only: [cleo]}\n"
		 "activity: {own: %s}\n%s",
		 model.leases_max, has_breaker ? 2 : 0, BOX, draw(4) ? 500 : 9,
		 has_notes ? "true" : "false",
		 has_wakes ? "wake: {after: 10m, backoff: 10m, agents: {bobby: [\"true\"], "
			     "evelyn: [\"false\"]}}\n"
			   : "");
	scene_open(&scene, alone ? alone : &scene_stores[number % 2], config);
	if (has_wakes)
		trust_commands();
}

/* ------------------------------------------------------------- two ways -- */

/* How many questions the end of the journal answered, of how many. */
static int64_t answered, questions;

static void print_messages(const struct roger_message_list *messages, int64_t total,
			   struct rg_buf *out)
{
	size_t i;

	rg_buf_printf(out, "%lld\n", (long long)total);
	for (i = 0; i < messages->count; i++) {
		rg_buf_printf(out, "%lld %lld %lld ", (long long)messages->items[i].position,
			      (long long)messages->items[i].line,
			      (long long)messages->items[i].byte);
		rg_record_encode(&rg_message_record, &messages->items[i], out);
		rg_buf_add_char(out, '\n');
	}
}

static void ask(struct roger *roger, const struct rg_query *query, struct rg_buf *out)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_message_list found;
	int64_t total = 0;

	assert_int_equal(query->id_count ? rg_engine_find(roger->engine, query, arena, &found, NULL)
					 : rg_engine_find_page(roger->engine, query, arena, &found,
							       &total, NULL),
			 ROGER_OK);
	print_messages(&found, total, out);
	rg_arena_free(arena);
}

/* A handle that has not opened the index, then one that has, as if they had to tell the same. */
static void compare_ways(const struct rg_query *query)
{
	const struct roger_stats_request all = { 0 };
	struct roger *handles[] = { scene_handle(&scene), scene_handle(&scene) };
	struct rg_buf told[] = { { .maximum = 1 << 20 }, { .maximum = 1 << 20 } };
	struct roger_stats_reply stats;
	size_t i;

	assert_int_equal(roger_stats(handles[1], &all, &stats, NULL), ROGER_OK);
	roger_reply_free(&stats);
	for (i = 0; i < 2; i++)
		ask(handles[i], query, &told[i]);
	if (!rg_str_equal(rg_buf_str(&told[0]), rg_buf_str(&told[1])))
		fail_msg("seed %llu: from the end of the journal: %.*s from the index: %.*s",
			 (unsigned long long)seed, RG_STR_ARGS(rg_buf_str(&told[0])),
			 RG_STR_ARGS(rg_buf_str(&told[1])));
	questions++;
	answered += !rg_index_end(handles[0]->engine->index);
	for (i = 0; i < 2; i++) {
		rg_buf_deinit(&told[i]);
		roger_close(handles[i]);
	}
}

static void ask_both_ways(void)
{
	struct rg_query query = { .unread = true,
				  .to = rg_str(agents[draw(4)]),
				  .gets = draw(2),
				  .issue = draw(3) ? RG_STR("") : rg_str(issues[draw(2)]),
				  .from = draw(3) ? RG_STR("") : rg_str(agents[draw(4)]),
				  .free_at_ms = draw(2) ? rg_clock_ms() : 0,
				  .limit = 1 + draw(5) };
	struct roger_str ids[2];

	compare_ways(&query);
	if (!model.mail_count)
		return;
	ids[0] = rg_str(mail_at((int)draw((unsigned)model.mail_count))->id);
	ids[1] = rg_str(mail_at(model.mail_count - 1)->id);
	query = (struct rg_query){ .ids = ids, .id_count = 2, .anywhere = true };
	compare_ways(&query);
}

static void play_one(uint64_t number)
{
	unsigned steps, middle;

	begin(number);
	if (scene.store->follow && seed % 3 == 0)
		scene.store->follow(&scene);
	steps = 6 + draw(24);
	for (middle = draw(steps); steps; steps--) {
		if (steps == middle + 1) {
			remember_middle();
			restart();
		}
		if (scene.store->forget && seed % 4 == 0)
			scene.store->forget(&scene);
		step();
		if (draw(8) == 0)
			ask_both_ways();
	}
	check_all();
	if (is_damaged && scene.store->damage)
		play_damage();
	scene_close(&scene);
}

/* These found a contradiction once. */
static const uint64_t once_wrong[] = { 1232, 1718, 1730, 2293, 3527, 3898, 5980,
				       6266, 6522, 7546, 9386, 9746, 9966 };

static uint64_t how_many(void)
{
	const char *slow = getenv("ROGER_TEST_SLOW");
	const bool many = slow && *slow && strcmp(slow, "0") != 0;

	if (getenv("MUTANT_CHOSEN"))
		return FEW;
	if (alone && alone->needs)
		return many ? SERVED_MANY : SERVED;
	return many ? MANY : DEFAULT;
}

/* Of those few that somebody asks for, nothing follows. */
static void play_asked(const char *asked)
{
	char *end;
	uint64_t number = strtoull(asked, &end, 10);
	const uint64_t last = *end == '-' ? strtoull(end + 1, NULL, 10) : number;

	for (; number <= last; number++)
		play_one(number);
}

static void histories_have_no_contradiction(void **state)
{
	const char *asked = getenv("ROGER_SEED");
	const uint64_t count = how_many();
	uint64_t number;
	size_t i;

	(void)state;
	if (asked) {
		play_asked(asked);
		return;
	}
	for (number = 1; number <= count; number++)
		play_one(number);
	for (i = 0; i < sizeof once_wrong / sizeof *once_wrong; i++)
		play_one(once_wrong[i]);
	assert_true(notices && notices > missing);
	/* In a database the tables are always asked. */
	assert_true(answered < questions && (answered > questions / 4 || (alone && alone->needs)));
	for (i = ROGER_EVENT_CYCLE; count >= DEFAULT && i <= LAST_KIND; i++)
		if (!came_up[i] && i != ROGER_EVENT_ATTEMPTED)
			fail_msg("kind %d never came up", (int)i);
	for (i = 0; count >= DEFAULT && i < CONCERNS; i++)
		if (!concerned[i])
			fail_msg("no concern of kind '%s' came up", concern_kinds[i]);
}

static int close_scene(void **state)
{
	(void)state;
	scene_close(&scene);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(histories_have_no_contradiction, close_scene),
	};
	const struct scene_store *store;

	for (store = scene_stores; argc > 1 && store->name; store++)
		if (!strcmp(store->name, argv[1]) && (!store->needs || getenv(store->needs)))
			alone = store;
	rg_assert(argc < 2 || alone);

	unsetenv("ROGER_WORKSPACE");
	setenv("ROGER_AGENT", "tester", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
