/* Each table is a SELECT of one text a row, and a function that writes the same from the model. */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "index/index_db.h"

enum { ROWS_MAX = 2000, ROW_MAX = 240 };

static char rows[ROWS_MAX][ROW_MAX];
static size_t row_count;
static int64_t now_ms;

RG_PRINTF(1, 2) static void expect(const char *format, ...)
{
	va_list args;

	rg_assert(row_count < ROWS_MAX);
	va_start(args, format);
	vsnprintf(rows[row_count++], ROW_MAX, format, args);
	va_end(args);
}

static bool is_read(const struct mail *mail)
{
	return mail->read_at_ms || mail->in_place_ms;
}

static void expect_messages(const struct model *model)
{
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++)
		expect("%s|%s|%s|%s|%d|%lld|%d", mail->id, mail->issue, mail->from, mail->to,
		       is_read(mail), (long long)mail->at_ms, mail->archived_at_ms != 0);
}

static void expect_numbers(const struct model *model)
{
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++)
		if (!mail->archived_at_ms)
			expect("%s|%lld|%lld", mail->id, (long long)mail->epoch,
			       (long long)mail->seq);
}

static void expect_mailboxes(const struct model *model)
{
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++)
		if (model_waits(mail))
			expect("%s|%s|%s", mail->to, mail->issue, mail->id);
}

/* No history has more lines than a span. */
static void expect_spans(const struct model *model)
{
	const struct mail *mail = model->mails;
	int64_t oldest_ms = INT64_MAX, newest_ms = 0;

	for (; mail < &model->mails[model->mail_count]; mail++) {
		oldest_ms = mail->at_ms < oldest_ms ? mail->at_ms : oldest_ms;
		newest_ms = mail->at_ms > newest_ms ? mail->at_ms : newest_ms;
	}
	if (model->mail_count)
		expect("0|%lld|%lld", (long long)oldest_ms, (long long)newest_ms);
}

static void expect_keys(const struct model *model)
{
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++)
		if (*mail->key)
			expect("%s|%s|%s", mail->from, mail->key, mail->id);
}

static void expect_replies(const struct model *model)
{
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++)
		if (*mail->reply_to)
			expect("%s|%s", mail->reply_to, mail->id);
}

/* Of lines that are no messages there are none. */
static void expect_progress(const struct model *model)
{
	const struct mail *mail = model->mails;
	int archived = 0;

	for (; mail < &model->mails[model->mail_count]; mail++)
		archived += mail->archived_at_ms != 0;
	if (model->mail_count)
		expect("0|%d", archived);
}

static void expect_acks(const struct model *model)
{
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++)
		if (mail->acks)
			expect("%s", mail->id);
}

/* One that is over may stay there: it keeps nobody away.  One that was given back is over from that
 * instant on, which a clock that was set back has before it. */
static void expect_leases(const struct model *model)
{
	const struct mail *mail = model->mails;
	int64_t until_ms;
	bool held;

	for (; mail < &model->mails[model->mail_count]; mail++) {
		until_ms = mail->until_ms ? mail->until_ms : mail->back_at_ms;
		held = until_ms > now_ms && !mail->dead_at_ms;
		if (model_waits(mail) && (held || mail->dead_at_ms || mail->confirm_by_ms))
			expect("%s|%s|%lld|%lld", mail->id, held ? mail->worker : "",
			       mail->dead_at_ms ? (long long)INT64_MAX
			       : held		? (long long)until_ms
						: 0,
			       (long long)mail->confirm_by_ms);
	}
}

static bool is_later(const struct mail *mail, int64_t epoch, int64_t seq)
{
	return mail->epoch > epoch || (mail->epoch == epoch && mail->seq > seq);
}

/* By its recipient. */
static bool was_read(const struct mail *mail)
{
	return mail->read_at_ms && !mail->in_place_ms && !mail->by_heir;
}

static void expect_agent(const struct model *model, const char *name)
{
	int64_t sent = 0, received = 0, unread = 0, epoch = 0, seq = 0, last_ms = 0, read_ms = 0;
	const struct mail *mail = model->mails;

	for (; mail < &model->mails[model->mail_count]; mail++) {
		received += !strcmp(mail->to, name);
		unread += !strcmp(mail->to, name) && model_waits(mail);
		if (!strcmp(mail->to, name) && was_read(mail) && !mail->marked &&
		    mail->read_at_ms > read_ms)
			read_ms = mail->read_at_ms;
		if (strcmp(mail->from, name) != 0)
			continue;
		sent++;
		if (is_later(mail, epoch, seq)) {
			epoch = mail->epoch;
			seq = mail->seq;
		}
		last_ms = mail->at_ms > last_ms ? mail->at_ms : last_ms;
	}
	expect("%s|%lld|%lld|%lld|%lld|%lld|%lld|%lld", name, (long long)sent, (long long)received,
	       (long long)unread, (long long)epoch, (long long)seq, (long long)last_ms,
	       (long long)read_ms);
}

static bool came_over_edge(const struct mail *mail)
{
	return !strncmp(mail->key, "bridge:", 7);
}

/* The highest number of each pair of sender and reader. */
static void expect_highest(const struct model *model, bool (*counts)(const struct mail *mail))
{
	const struct mail *mail, *other;
	bool highest;

	for (mail = model->mails; mail < &model->mails[model->mail_count]; mail++) {
		highest = mail->seq && counts(mail);
		for (other = model->mails; other < &model->mails[model->mail_count]; other++)
			highest &= !counts(other) || strcmp(other->to, mail->to) != 0 ||
				   strcmp(other->from, mail->from) != 0 ||
				   !is_later(other, mail->epoch, mail->seq);
		if (highest)
			expect("%s|%s|%lld|%lld", mail->to, mail->from, (long long)mail->epoch,
			       (long long)mail->seq);
	}
}

static void expect_last_seen(const struct model *model)
{
	expect_highest(model, was_read);
}

static void expect_edges(const struct model *model)
{
	expect_highest(model, came_over_edge);
}

static void expect_agents(const struct model *model)
{
	const char *name;
	int i, k;

	for (i = 0; i < 2 * model->mail_count; i++) {
		name = i % 2 ? model->mails[i / 2].to : model->mails[i / 2].from;
		for (k = 0; k < i; k++)
			if (!strcmp(k % 2 ? model->mails[k / 2].to : model->mails[k / 2].from,
				    name))
				break;
		if (k == i)
			expect_agent(model, name);
	}
}

static void expect_issues(const struct model *model)
{
	const struct mail *mail;
	int living, unread, i, k;

	for (i = 0; i < model->mail_count; i++) {
		for (k = 0; strcmp(model->mails[k].issue, model->mails[i].issue) != 0;)
			k++;
		if (k < i)
			continue;
		living = unread = 0;
		for (mail = model->mails; mail < &model->mails[model->mail_count]; mail++) {
			if (strcmp(mail->issue, model->mails[i].issue) != 0)
				continue;
			living += !mail->archived_at_ms;
			unread += model_waits(mail);
		}
		expect("%s|%d|%d", model->mails[i].issue, living, unread);
	}
}

/* What is of one instant, and not repeated; a claim is open while its lease is not ended.  When the
 * bridge wrote a message no reply says. */
static void expect_events(const struct model *model)
{
	const struct mail *mail = model->mails;
	int64_t i;

	for (; mail < &model->mails[model->mail_count]; mail++) {
		expect("%s|%d|%lld|%s|%s|%s", mail->id, ROGER_EVENT_SENT, (long long)mail->at_ms,
		       mail->from, mail->to, mail->key);
		if (mail->handed_at_ms)
			expect("%s|%d|0|||", mail->id, ROGER_EVENT_HANDED);
		if (mail->read_at_ms)
			expect("%s|%d|%lld|||", mail->id, ROGER_EVENT_READ,
			       (long long)mail->read_at_ms);
		if (mail->archived_at_ms)
			expect("%s|%d|%lld|||", mail->id, ROGER_EVENT_ARCHIVED,
			       (long long)mail->archived_at_ms);
		if (model_waits(mail) && mail->confirm_by_ms)
			expect("%s|%d|%lld|||", mail->id, ROGER_EVENT_DUE,
			       (long long)mail->confirm_by_ms);
		for (i = 0; i < mail->claimed; i++)
			expect("%s|%d|%d|||", mail->id, ROGER_EVENT_CLAIMED,
			       mail->until_ms && i == 0);
	}
}

static void expect_letters(const struct model *model)
{
	const struct dead *dead = model->deads;

	for (; dead < &model->deads[model->dead_count]; dead++)
		expect("%s|%s", model->mails[dead->mail].id, model->mails[dead->mail].from);
}

#define NAMED "(SELECT id, position FROM messages UNION ALL SELECT id, position FROM archived) n"

static const struct {
	const char *name, *select;
	void (*expect)(const struct model *model);
} tables[] = {
	{ "messages and archived",
	  "SELECT id||'|'||issue_id||'|'||from_phase||'|'||to_phase||'|'||read||'|'||created_at"
	  "||'|0' FROM messages UNION ALL SELECT id||'|'||issue_id||'|'"
	  "||from_phase||'|'||to_phase||'|'||read||'|'||created_at||'|1' FROM archived",
	  expect_messages },
	{ "numbers", "SELECT id||'|'||epoch||'|'||seq FROM messages", expect_numbers },
	{ "mailbox",
	  "SELECT to_phase||'|'||issue_id||'|'||id FROM messages INDEXED BY messages_mailbox"
	  " WHERE read = 0",
	  expect_mailboxes },
	{ "spans", "SELECT first||'|'||oldest||'|'||newest FROM spans", expect_spans },
	{ "keys", "SELECT sender||'|'||key||'|'||n.id FROM keys JOIN " NAMED " USING(position)",
	  expect_keys },
	{ "replies", "SELECT parent||'|'||id FROM replies", expect_replies },
	{ "progress", "SELECT strays||'|'||archived FROM progress WHERE lines", expect_progress },
	{ "acks", "SELECT n.id FROM acks JOIN " NAMED " USING(position)", expect_acks },
	{ "leases",
	  "SELECT n.id||'|'||iif(until > ?9 AND until <> ?10, claimed_by, '')||'|'"
	  "||iif(until > ?9, until, 0)||'|'||confirm_by FROM leases JOIN messages n"
	  " USING(position) WHERE read = 0 AND (until > ?9 OR confirm_by)",
	  expect_leases },
	{ "agents",
	  "SELECT name||'|'||sent||'|'||received||'|'||unread||'|'||epoch||'|'||seq||'|'"
	  "||last_sent_at||'|'||last_read_at FROM agents",
	  expect_agents },
	{ "last_seen", "SELECT reader||'|'||sender||'|'||epoch||'|'||seq FROM last_seen",
	  expect_last_seen },
	{ "edges", "SELECT reader||'|'||sender||'|'||epoch||'|'||seq FROM edges", expect_edges },
	{ "issues",
	  "SELECT issue_id||'|'||(context + result + decision + data)||'|'||unread FROM issues",
	  expect_issues },
	{ "event, of messages",
	  "SELECT n.id||'|'||kind||'|'||CASE kind WHEN ?1 THEN coalesce(open, 0)"
	  " WHEN ?5 THEN 0 ELSE at END"
	  "||'|'||CASE WHEN kind = ?2 THEN actor||'|'||peer||'|'||coalesce(key, '') ELSE '||' END"
	  " FROM event e JOIN " NAMED " ON n.position = e.of WHERE e.flags & ?4 = 0"
	  " AND kind IN (?1, ?2, ?5, ?6, ?7, ?8)",
	  expect_events },
	{ "event, of dead letters",
	  "SELECT DISTINCT message||'|'||actor FROM event WHERE kind = ?3", expect_letters },
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool differs(sqlite3_stmt *get, const char *name, char *what, size_t size)
{
	const char *is, *should;
	size_t i;

	for (i = 0; i <= row_count; i++) {
		should = i < row_count ? rows[i] : "no more row";
		is = sqlite3_step(get) == SQLITE_ROW ? (const char *)sqlite3_column_text(get, 0)
						     : "no more row";
		if (!strcmp(is, should))
			continue;
		snprintf(what, size, "table %s: %.239s, and should be %.239s", name, is, should);
		return true;
	}
	return false;
}

const char *tables_differ(const struct model *model, struct rg_index *index)
{
	static char what[3 * ROW_MAX];
	bool different = false;
	sqlite3_stmt *get;
	char sql[1200];
	size_t i;

	now_ms = rg_clock_ms();
	for (i = 0; i < sizeof tables / sizeof *tables && !different; i++) {
		row_count = 0;
		tables[i].expect(model);
		qsort(rows, row_count, sizeof *rows, compare);
		snprintf(sql, sizeof sql, "SELECT * FROM (%s) ORDER BY 1", tables[i].select);
		if (sqlite3_prepare_v2(index->db, sql, -1, &get, NULL) != SQLITE_OK)
			return sqlite3_errmsg(index->db);
		sqlite3_bind_int(get, 1, ROGER_EVENT_CLAIMED);
		sqlite3_bind_int(get, 2, ROGER_EVENT_SENT);
		sqlite3_bind_int(get, 3, ROGER_EVENT_DEAD_LETTER);
		sqlite3_bind_int(get, 4, RG_ROW_REPEAT);
		sqlite3_bind_int(get, 5, ROGER_EVENT_HANDED);
		sqlite3_bind_int(get, 6, ROGER_EVENT_READ);
		sqlite3_bind_int(get, 7, ROGER_EVENT_ARCHIVED);
		sqlite3_bind_int(get, 8, ROGER_EVENT_DUE);
		sqlite3_bind_int64(get, 9, now_ms);
		sqlite3_bind_int64(get, 10, INT64_MAX);
		different = differs(get, tables[i].name, what, sizeof what);
		sqlite3_finalize(get);
	}
	return different ? what : NULL;
}
