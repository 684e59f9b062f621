/*
 * concerns: group what needs attention: mail by its agent (concerns_mail.c), runs by name and
 * end, and problems of the workspace itself.
 */
#include "ops/proof/concerns.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"
#include "facts/damage.h"
#include "facts/history.h"
#include "host/chore.h"
#include "host/triggers.h"
#include "ops/edge/crossing.h"
#include "ops/tools/trust.h"

/* A concern begins when a text has waited TEXT_MS in a trigger file, a chore was last done CHORE_MS
 * ago, or a message or note is CLOCK_MS ahead of the clock.  SAID_BYTES: the most that is quoted
 * of what a run said last. */
enum { TEXT_MS = 10000, CHORE_MS = 600000, CLOCK_MS = 60000, SAID_BYTES = 40 };
static const int64_t day_ms = INT64_C(86400) * 1000;

/* ------------------------------------------------------------- concerns -- */

void rg_concerns_add(struct rg_concerns *concerns, enum roger_urgency urgency, const char *kind,
		     struct roger_concern concern, const char *format, ...)
{
	va_list arguments;

	concern.urgency = (int)urgency;
	concern.kind = rg_str(kind);
	va_start(arguments, format);
	(void)!rg_arena_vprint(concerns->arena, &concern.words, format, arguments);
	va_end(arguments);
	(void)!rg_arena_append(concerns->arena, &concerns->found.items, &concerns->found.count,
			       &concern, sizeof concern);
}

struct roger_str rg_concerns_quote(struct rg_concerns *concerns, struct roger_str word)
{
	struct rg_buf out = { .maximum = SIZE_MAX };

	rg_buf_add_typed_word(&out, word);
	return rg_arena_take(concerns->arena, &out);
}

struct roger_str rg_concerns_command(struct rg_concerns *concerns, const char *command,
				     struct roger_str word, const char *more)
{
	return rg_arena_text(concerns->arena, "roger %s %.*s%s", command,
			     RG_STR_ARGS(rg_concerns_quote(concerns, word)), more);
}

/* ------------------------------------------------------------------ runs -- */

enum run_kind { RUN_FINE, RUN_BLOCKED, RUN_FAILED, RUN_OVERDUE, RUN_UNREAD };

/* For each kind its word for programs, its urgency, and the commands that show and that end it. */
static const struct {
	const char *kind;
	enum roger_urgency urgency;
	const char *show, *end, *more;
} run_kinds[] = {
	[RUN_BLOCKED] = { "blocked", ROGER_URGENT, "runs", "dismiss", " --reason TEXT" },
	[RUN_FAILED] = { "failed", ROGER_SOON, "runs", "dismiss", " --reason TEXT" },
	[RUN_OVERDUE] = { "suspect_delivery_failure", ROGER_SOON, "runs", "runs recover", "" },
	[RUN_UNREAD] = { "done_but_not_forwarded", ROGER_SOON, "runs forward", "runs forward", "" },
};

/* Runs of one owner that ended alike, and whose names differ only in the number at the end. */
struct run_group {
	enum run_kind kind;
	struct roger_str stem;
	const struct rg_run_document *newest;
	int64_t count, since_ms;
};
struct run_groups {
	struct run_group *items;
	size_t count;
	struct rg_counter stems; /* how many runs each stem has */
};

static struct roger_str stem_of(struct roger_str run)
{
	size_t length = run.length;

	while (length && isdigit((unsigned char)run.data[length - 1]))
		length--;
	return length ? (struct roger_str){ run.data, length } : run;
}

/* A run of another kind than RUN_UNREAD may have an unread result, too. */
static enum run_kind kind_of(const struct rg_run_document *document)
{
	const struct roger_run *run = &document->run;

	if (run->status == ROGER_RUN_SUSPECT)
		return RUN_OVERDUE;
	if (rg_run_wants_settling(run))
		return run->status == ROGER_RUN_BLOCKED ? RUN_BLOCKED : RUN_FAILED;
	return rg_run_is_unheard(document) ? RUN_UNREAD : RUN_FINE;
}

static bool ended_alike(const struct run_group *group, enum run_kind kind,
			const struct roger_run *run)
{
	const struct roger_run *other = &group->newest->run;

	return group->kind == kind && rg_str_equal(group->stem, stem_of(run->run)) &&
	       rg_str_equal(other->owner, run->owner) && rg_str_equal(other->exit, run->exit) &&
	       other->outcome == run->outcome && !group->newest->way_out.length;
}

static int64_t time_of(const struct rg_run_document *document, enum run_kind kind, int64_t now_ms)
{
	int64_t at_ms = kind == RUN_OVERDUE ? document->receipts.expected_by_ms
					    : document->receipts.completed_ms;

	if (at_ms || rg_clock_read_rfc3339(document->run.ended_at, &at_ms) ||
	    rg_clock_read_rfc3339(document->run.status_updated_at, &at_ms))
		return at_ms;
	return now_ms;
}

static void add_to_group(struct rg_concerns *concerns, struct run_groups *groups,
			 const struct rg_run_document *document, enum run_kind kind)
{
	const int64_t at_ms = time_of(document, kind, concerns->now_ms);
	struct run_group *group = NULL;
	size_t i;

	for (i = 0; i < groups->count && !group && !document->way_out.length; i++)
		if (ended_alike(&groups->items[i], kind, &document->run))
			group = &groups->items[i];
	if (!group)
		group = rg_arena_push(concerns->arena, &groups->items, &groups->count,
				      sizeof *group);
	if (!group)
		return;
	if (!group->count++ || at_ms < group->since_ms)
		group->since_ms = at_ms;
	group->kind = kind;
	group->stem = stem_of(document->run.run);
	group->newest = document;
}

/* Count a run and put it into its groups.  An unread result that is a message counts in the mail of
 * the run's owner instead. */
static void group_run(struct rg_concerns *concerns, struct run_groups *groups,
		      const struct rg_run_document *document)
{
	const enum run_kind kind = kind_of(document);
	const bool in_mail = document->run.result_message.length && !document->way_out.length;

	++*rg_counter_of(&groups->stems, stem_of(document->run.run));
	if (rg_run_is_unheard(document) && in_mail)
		rg_concerns_mail(concerns, document->run.owner, RG_PART_RESULTS, 1,
				 document->receipts.completed_ms);
	else if (rg_run_is_unheard(document))
		add_to_group(concerns, groups, document, RUN_UNREAD);
	if (kind != RUN_FINE && kind != RUN_UNREAD)
		add_to_group(concerns, groups, document, kind);
}

/* Add the beginning of a line without its escape sequences, and with blanks for tabs. */
static void add_plain(struct rg_buf *out, struct roger_str line)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf plain = { .maximum = SIZE_MAX };
	size_t i, end;

	for (i = 0; i < line.length; i++) {
		end = i;
		if (line.data[i] == '\033' && i + 1 < line.length && line.data[i + 1] == '[') {
			end += 2;
			while (end < line.length && line.data[end] >= ' ' && line.data[end] < '@')
				end++;
		}
		if (end > i && end < line.length && line.data[end] >= '@' && line.data[end] <= '~')
			i = end;
		else
			rg_buf_add_char(&plain, line.data[i] == '\t' ? ' ' : line.data[i]);
	}
	out->failed |= plain.failed;
	rg_buf_add_str(out, rg_str_first(rg_buf_str(&plain), SAID_BYTES));
}

/* Print how the newest run of a group is, the last line of its output, and its "why". */
static struct roger_str print_end(struct rg_concerns *concerns, const struct run_group *group)
{
	struct rg_buf out = { .maximum = 4096 };
	struct roger_run run = group->newest->run;
	const struct roger_strs *said;

	rg_reading_got(&concerns->reading, rg_run_add_output(concerns->roger, &run, concerns->arena,
							     concerns->reading.err));
	rg_run_add_words(&run, concerns->arena);
	said = run.stderr_lines.count ? &run.stderr_lines : &run.stdout_lines;
	rg_buf_add_str(&out, run.words);
	if (group->kind != RUN_OVERDUE && group->kind != RUN_UNREAD && said->count &&
	    said->items[said->count - 1].length) {
		rg_buf_add_text(&out, ", last line \"");
		add_plain(&out, said->items[said->count - 1]);
		rg_buf_add_char(&out, '"');
	}
	if (run.why.length)
		rg_buf_printf(&out, "; %.*s", RG_STR_ARGS(run.why));
	return rg_arena_take(concerns->arena, &out);
}

static void say_runs(struct rg_concerns *concerns, struct run_groups *groups,
		     const struct run_group *group)
{
	const struct roger_str end = print_end(concerns, group);
	struct roger_concern concern = { .subject = group->newest->run.run,
					 .count = group->count,
					 .since_ms = group->since_ms,
					 .next = group->newest->way_out };
	const enum roger_urgency urgency = run_kinds[group->kind].urgency;
	const char *kind = run_kinds[group->kind].kind;

	if (!concern.next.length)
		concern.next = rg_concerns_command(concerns, run_kinds[group->kind].show,
						   concern.subject, "");
	if (group->count == 1)
		rg_concerns_add(concerns, urgency, kind, concern, "run %.*s: %.*s",
				RG_STR_ARGS(concern.subject), RG_STR_ARGS(end));
	else
		rg_concerns_add(concerns, urgency, kind, concern, "%lld of %lld runs %.*s*: %.*s",
				(long long)group->count,
				(long long)*rg_counter_of(&groups->stems, group->stem),
				RG_STR_ARGS(group->stem), RG_STR_ARGS(end));
}

/* Count the accepted damages of this kind in a file.  line 0 and sha256 "" match any. */
static int64_t count_accepted(const struct rg_concerns *concerns, enum roger_damage_kind kind,
			      struct roger_str file, int64_t line, struct roger_str sha256)
{
	const struct roger_damage *damage;
	int64_t count = 0;
	size_t i;

	for (i = 0; i < concerns->damages.count; i++) {
		damage = &concerns->damages.items[i];
		count += damage->accepted_at_ms && damage->kind == (int)kind &&
			 rg_str_equal(damage->file, file) && (!line || damage->line == line) &&
			 (!sha256.length || rg_str_equal(damage->sha256, sha256));
	}
	return count;
}

static void say_documents(struct rg_concerns *concerns, const struct rg_run_list *list)
{
	struct roger_concern concern = { .count = 0 };
	struct roger_str file, sha256;
	size_t i;

	for (i = 0; i < list->troubles.count; i++) {
		rg_run_trouble_identify(&list->troubles.items[i], concerns->arena, &file, &sha256);
		if (!count_accepted(concerns, ROGER_DAMAGE_INVALID, file, 0, sha256) &&
		    !concern.count++)
			concern.subject = file;
	}
	if (!concern.count)
		return;
	concern.next = rg_concerns_command(concerns, "dismiss", concern.subject, " --reason TEXT");
	rg_concerns_add(concerns, ROGER_SOON, "run_documents", concern,
			"%lld run document%s with errors; `roger runs` says which",
			(long long)concern.count, rg_plural(concern.count));
}

static void look_at_runs(struct rg_concerns *concerns)
{
	const struct rg_run_list list =
		rg_read_runs(&concerns->reading, (struct rg_run_wish){ .readers = true });
	struct run_groups groups = { .stems.names.arena = concerns->arena };
	size_t i;

	for (i = 0; i < list.count; i++) {
		concerns->reply->active_runs += list.documents[i].run.status == ROGER_RUN_ACTIVE;
		group_run(concerns, &groups, &list.documents[i]);
	}
	for (i = 0; i < groups.count; i++)
		say_runs(concerns, &groups, &groups.items[i]);
	say_documents(concerns, &list);
}

void rg_concerns_run(struct rg_concerns *concerns, struct roger_str run,
		     struct roger_str *ret_words, struct roger_str *ret_next)
{
	struct rg_reading *reading = &concerns->reading;
	struct run_group group = { .count = 1 };
	const struct rg_agent_mail *box;
	struct rg_run_document document;

	if (!rg_reading_got(reading, rg_run_load(concerns->roger, run, concerns->arena, &document,
						 reading->err)) ||
	    !rg_reading_got(reading, rg_run_look_for_readers(concerns->roger, &document, 1,
							     concerns->arena, reading->err)))
		return;
	group.kind = kind_of(&document);
	group.newest = &document;
	*ret_words = print_end(concerns, &group);
	*ret_words = rg_arena_text(concerns->arena, "run %.*s of %.*s: %.*s", RG_STR_ARGS(run),
				   RG_STR_ARGS(document.run.owner), RG_STR_ARGS(*ret_words));
	box = rg_concerns_box(concerns, document.run.owner);
	*ret_next = document.way_out;
	if (document.way_out.length) {
		/* A full mailbox needs room first; until then nothing reaches the owner. */
		if (box && box->parts[RG_PART_FULL])
			*ret_next = rg_agent_mail_next(concerns, box);
	} else if (group.kind == RUN_UNREAD && document.run.result_message.length)
		*ret_next = box && box->retired
				    ? rg_agent_mail_next(concerns, box)
				    : rg_arena_text(concerns->arena, "roger trace %.*s",
						    RG_STR_ARGS(document.run.result_message));
	else if (group.kind &&
		 (group.kind != RUN_OVERDUE || rg_run_recovery_is_due(concerns->roger, &document)))
		*ret_next = rg_concerns_command(concerns, run_kinds[group.kind].end, run,
						run_kinds[group.kind].more);
}

/* -------------------------------------------------------- trigger files -- */

/* Add a concern for skipped trigger texts, which a person ingests or removes; it names a refused
 * one only if there is no other. */
static void look_at_skipped(struct rg_concerns *concerns)
{
	const struct rg_config *config = concerns->roger->workspace->config;
	struct roger_str to = RG_STR("NAME"), stem = { "", 0 }, file, name, heir;
	const struct rg_agent_mail *box = NULL;
	const char *what;
	struct roger_concern concern = { 0 };
	struct roger_strs names;
	const char *dot;
	char folder[4200];
	bool refused;
	size_t i = 0;

	if (!rg_reading_got(&concerns->reading,
			    rg_triggers_skipped(concerns->roger->workspace, concerns->arena, &names,
						concerns->reading.err)) ||
	    !names.count)
		return;
	do {
		name = names.items[i];
		refused = rg_str_begins(name, RG_TRIGGER_REFUSED);
	} while (refused && ++i < names.count);
	/* The command may be typed in any folder, so its path is absolute. */
	rg_workspace_path(concerns->roger->workspace->root, config->trigger_dir, folder,
			  sizeof folder);
	file = rg_concerns_quote(concerns, rg_arena_text(concerns->arena, "%s/.skipped/%.*s",
							 folder, RG_STR_ARGS(name)));
	/* The name ends with the trigger file's name, which names the recipient.  A group's text
	 * was refused for all of it, but may be stale for one of several: the bridge said which. */
	dot = memchr(name.data, '.', name.length);
	if (dot && rg_trigger_is_name(rg_str(dot + 1)))
		stem = rg_trigger_stem(rg_str(dot + 1));
	what = refused ? "see why" : names.count == 1 ? "let it in" : "let them in";
	if (rg_name_valid(stem) && (refused || !rg_config_reserves(config, stem))) {
		heir = rg_retired_heir(&concerns->retired, stem);
		box = rg_concerns_box(concerns, heir);
		to = heir.length ? stem : to;
		what = heir.length ? what : "its agent retired: name one";
	}
	concern.subject = name;
	concern.count = (int64_t)names.count;
	concern.next =
		rg_arena_text(concerns->arena,
			      "roger bridge ingest --to %.*s --unnumbered --file %.*s && rm %.*s",
			      RG_STR_ARGS(to), RG_STR_ARGS(file), RG_STR_ARGS(file));
	if (box && box->parts[RG_PART_FULL]) {
		what = "no room; see its agent's mail";
		concern.next = rg_agent_mail_next(concerns, box);
	}
	rg_concerns_add(concerns, ROGER_SOON, "skipped", concern,
			"%zu trigger text%s %s: %s, or remove the file", names.count,
			names.count == 1 ? " was" : "s were", refused ? "refused" : "skipped",
			what);
}

static void look_at_triggers(struct rg_concerns *concerns)
{
	const struct rg_workspace *workspace = concerns->roger->workspace;
	struct roger_concern concern = { .next = RG_STR("roger bridge --once") };
	const struct roger_str folder = workspace->config->trigger_dir;
	struct roger_concern odd = { .count = 1, .next = concern.next };
	struct rg_taken_list list;
	char span[32];
	size_t i;

	if (!rg_reading_got(&concerns->reading, rg_triggers_waiting(workspace, concerns->arena,
								    &list, concerns->reading.err)))
		return;
	for (i = 0; i < list.count; i++) {
		if (list.items[i].ms > concerns->now_ms - TEXT_MS ||
		    rg_crossing_is_handed(workspace->config, list.items[i].file))
			continue;
		if (!concern.count++ || list.items[i].ms < concern.since_ms) {
			concern.since_ms = list.items[i].ms;
			concern.subject = list.items[i].file;
		}
	}
	odd.subject = list.odd;
	if (odd.subject.length)
		rg_concerns_add(concerns, ROGER_SOON, "triggers", odd,
				"%.*s in %.*s/ is not a regular file: move it away",
				RG_STR_ARGS(list.odd), RG_STR_ARGS(folder));
	rg_clock_print_span(concerns->now_ms - concern.since_ms, span);
	if (concern.count)
		rg_concerns_add(concerns, ROGER_SOON, "triggers", concern,
				"%lld text%s in %.*s/ for %s and %s not taken in",
				(long long)concern.count,
				concern.count == 1 ? " has waited" : "s have waited",
				RG_STR_ARGS(folder), span, concern.count == 1 ? "was" : "were");
}

/* List the chores that somebody does now; add a concern for a configured one that nobody does. */
static void look_at_chores(struct rg_concerns *concerns)
{
	const struct rg_config *config = concerns->roger->workspace->config;
	const struct {
		const char *verb, *what;
		bool wanted;
	} chores[] = { { "wake", "nobody wakes agents: neither `roger serve` nor `roger wake` does",
			 config->wake_agent_count > 0 },
		       { "bridge",
			 "nobody exchanges files: neither `roger serve` nor `roger bridge` does",
			 config->file_only.count > 0 },
		       { "sweep", NULL, false } };
	struct roger_chore_list *list = &concerns->reply->chores;
	struct roger_concern concern;
	struct roger_chore chore;
	size_t i;
	bool found;

	for (i = 0; i < sizeof chores / sizeof *chores; i++) {
		concern = (struct roger_concern){ .subject = rg_str(chores[i].verb), .count = 1 };
		chore = (struct roger_chore){ .last_ms = 0 };
		found = rg_chore_find(concerns->roger->workspace, chores[i].verb, concerns->arena,
				      &chore);
		/* A time in the future was written before the clock was set back; a live process
		 * renews it soon. */
		if (chore.last_ms > concerns->now_ms + CHORE_MS)
			chore.last_ms = 0;
		found = found && chore.last_ms > concerns->now_ms - CHORE_MS;
		if (found)
			(void)!rg_arena_append(concerns->arena, &list->items, &list->count, &chore,
					       sizeof chore);
		concern.since_ms = chore.last_ms;
		concern.next = rg_arena_text(concerns->arena, "roger %s --once", chores[i].verb);
		if (chores[i].wanted && !found)
			rg_concerns_add(concerns, ROGER_NOTICE, "chores", concern, "%s",
					chores[i].what);
	}
}

/* --------------------------------------------------------- keys, clocks -- */

/* Add a concern for a sender whose sends were refused because their key had another text or was
 * used up; the first text stands.  No concern if it has sent anything since. */
static void say_conflicts(struct rg_concerns *concerns, const struct rg_history *rows,
			  struct roger_str sender)
{
	struct rg_query later = { .from = sender, .anywhere = true, .limit = 1 };
	struct roger_concern concern = { .subject = sender };
	const struct rg_event *row = rows->items;
	char times[40] = "";

	for (; row < rows->items + rows->count; row++) {
		if (!(row->flags & RG_ROW_CONFLICT) || !rg_str_equal(row->said.actor, sender))
			continue;
		if (!concern.count++ || row->said.at_ms < concern.since_ms)
			concern.since_ms = row->said.at_ms;
		if (row->said.at_ms >= later.since_ms)
			later.since_ms = row->said.at_ms + 1;
	}
	if (rg_read_messages(&concerns->reading, &later).count)
		return;
	if (concern.count > 1)
		snprintf(times, sizeof times, ", %lld times", (long long)concern.count);
	concern.next = rg_concerns_command(concerns, "log sends --from", sender, " --newest");
	rg_concerns_add(concerns, ROGER_NOTICE, "keys", concern,
			"%.*s used a key again and was refused%s: its first result stands",
			RG_STR_ARGS(sender), times);
}

static void look_at_keys(struct rg_concerns *concerns)
{
	const struct rg_log_query counted = { .log = RG_LOG_ACTIVITY,
					      .counted = true,
					      .since_ms = concerns->now_ms - day_ms };
	const struct rg_history rows = rg_read_rows(&concerns->reading, &counted);
	struct roger_concern skipped = { .next = RG_STR("roger log activity --status FAILURE") };
	struct rg_names senders = { .arena = concerns->arena };
	size_t i;

	for (i = 0; i < rows.count; i++) {
		if (rows.items[i].flags & RG_ROW_CONFLICT)
			(void)!rg_names_add(&senders, rows.items[i].said.actor);
		if (rows.items[i].flags & RG_ROW_SKIPPED && !skipped.count++)
			skipped.since_ms = rows.items[i].said.at_ms;
	}
	if (skipped.count)
		rg_concerns_add(concerns, ROGER_NOTICE, "skipped", skipped,
				"%lld text%s not taken in by ingest within a day",
				(long long)skipped.count, skipped.count == 1 ? " was" : "s were");
	for (i = 0; i < senders.count; i++)
		say_conflicts(concerns, &rows, senders.items[i]);
}

/* Add a concern if a message or note is of a time to come: this clock went back, or another is
 * ahead. */
static void look_at_clock(struct rg_concerns *concerns)
{
	const struct rg_query sent = { .since_ms = concerns->now_ms + CLOCK_MS, .limit = 1 };
	const struct roger_message_list found = rg_read_messages(&concerns->reading, &sent);
	struct roger_concern concern = { .count = 1,
					 .since_ms = concerns->now_ms,
					 .next = RG_STR("roger log activity --newest") };
	struct roger_str whose = RG_STR("another");
	int64_t until_ms = concerns->noted_ms;
	char span[32];

	if (found.count) {
		whose = found.items[0].from;
		concern.subject = found.items[0].id;
		concern.next = rg_concerns_command(concerns, "trace", concern.subject, "");
		if (until_ms < found.items[0].created_at_ms)
			until_ms = found.items[0].created_at_ms;
	}
	if (!until_ms)
		return;
	rg_clock_print_span(until_ms - concerns->now_ms, span);
	rg_concerns_add(concerns, ROGER_SOON, "clock", concern,
			"the clock went back, or %.*s's is %s ahead: times are wrong until then",
			RG_STR_ARGS(whose), span);
}

/* ----------------------------------------------------------------- files -- */

static void say_strays(struct rg_concerns *concerns, enum roger_urgency urgency,
		       struct roger_str file, int64_t count, int64_t line)
{
	struct roger_concern concern = { .subject = file,
					 .count = count,
					 .next = RG_STR("roger verify") };
	char first[40] = "";

	if (line)
		snprintf(first, sizeof first, ", first line %lld", (long long)line);
	if (line)
		concern.next = rg_arena_text(
			concerns->arena, "roger dismiss %.*s:%lld --reason TEXT",
			RG_STR_ARGS(rg_concerns_quote(concerns, file)), (long long)line);
	rg_concerns_add(concerns, urgency, "strays", concern, "%lld stray line%s in %.*s%s",
			(long long)count, rg_plural(count), RG_STR_ARGS(file), first);
}

/* Add a concern for the stray lines of a log that nobody has accepted; it names the first.  For
 * look_at_clock(), find the last note of a time to come, too. */
static void look_for_strays_of(struct rg_concerns *concerns, enum rg_log log)
{
	const int64_t ahead_ms = log == RG_LOG_ACTIVITY ? concerns->now_ms + CLOCK_MS : 0;
	const struct rg_log_query query = {
		.log = log, .since_ms = ahead_ms, .newest = true, .limit = 1, .strays = true
	};
	const struct rg_log_entries found = rg_read_entries(&concerns->reading, &query);
	const struct rg_log_entry *first = NULL, *stray;
	int64_t count = 0;
	size_t i;

	if (ahead_ms && found.count)
		concerns->noted_ms = found.items[0].at_ms;
	for (i = 0; i < found.stray_count; i++) {
		stray = &found.strays[i];
		if (!count_accepted(concerns, ROGER_DAMAGE_STRAY, stray->file, stray->line,
				    RG_STR("")) &&
		    !count++)
			first = stray;
	}
	if (first)
		say_strays(concerns, ROGER_NOTICE, first->file, count, first->line);
}

static void look_for_strays(struct rg_concerns *concerns)
{
	const struct roger_str file = concerns->roger->workspace->config->jsonl_file;
	int64_t count = 0;
	size_t i;

	rg_reading_got(&concerns->reading,
		       rg_engine_strays(concerns->roger->engine, &count, concerns->reading.err));
	count -= count_accepted(concerns, ROGER_DAMAGE_STRAY, file, 0, RG_STR(""));
	if (count > 0)
		say_strays(concerns, ROGER_SOON, file, count, 0);
	for (i = RG_LOG_MESSAGES + 1; i < RG_LOGS; i++)
		if (rg_log_kinds[i].chained)
			look_for_strays_of(concerns, (enum rg_log)i);
}

static void look_at_trust(struct rg_concerns *concerns)
{
	const char *why = rg_workspace_distrust(concerns->roger->workspace);
	struct roger_concern concern = { .count = 1, .next = RG_STR("roger trust") };

	if (*why && !concerns->roger->workspace->git_busy) {
		rg_concerns_add(concerns, ROGER_SOON, "untrusted", concern, "%s", why);
		return;
	}
	if (rg_reading_got(&concerns->reading,
			   rg_trust_count_commands(concerns->roger, concerns->arena, &concern.count,
						   &concern.subject, concerns->reading.err)) &&
	    concern.count)
		rg_concerns_add(concerns, ROGER_SOON, "untrusted", concern,
				"%lld configured command%s not trusted, and left out: %.*s%s",
				(long long)concern.count, concern.count == 1 ? " is" : "s are",
				RG_STR_ARGS(concern.subject), concern.count == 1 ? "" : ", ...");
}

/* Add a concern for all damage that nobody has accepted; it names the first place that closes its
 * file, or else the first. */
static void look_at_damage(struct rg_concerns *concerns)
{
	struct roger_concern concern = { .count = 0 };
	const struct roger_damage *damage, *first = NULL;
	struct rg_engine *engine = concerns->roger->engine;
	char more[80] = "";
	size_t i;

	if (!rg_reading_got(&concerns->reading,
			    rg_engine_find_removed(engine, concerns->reading.err)))
		return;
	rg_engine_note_rewrites(engine, true);
	rg_reading_got(&concerns->reading,
		       rg_engine_damages(engine, concerns->arena, &concerns->damages,
					 concerns->reading.err));
	for (i = 0; i < concerns->damages.count; i++) {
		damage = &concerns->damages.items[i];
		if (damage->accepted_at_ms)
			continue;
		if (!concern.count++ || (rg_damage_closes(damage) && !rg_damage_closes(first)))
			first = damage;
		if (concern.count == 1 || damage->noticed_at_ms < concern.since_ms)
			concern.since_ms = damage->noticed_at_ms;
	}
	if (!first)
		return;
	concern.subject = first->line
				  ? rg_arena_text(concerns->arena, "%.*s:%lld",
						  RG_STR_ARGS(first->file), (long long)first->line)
				  : first->file;
	if (concern.count > 1)
		snprintf(more, sizeof more, ", and %s%lld more place%s",
			 rg_damages_unsure(concerns->damages.count), (long long)concern.count - 1,
			 rg_plural(concern.count - 1));
	concern.next = rg_concerns_command(concerns, "dismiss", concern.subject, " --reason TEXT");
	rg_concerns_add(concerns, ROGER_URGENT, "damage", concern, "%.*s is %s%s%s",
			RG_STR_ARGS(concern.subject),
			concern.count > 1 ? "damaged" : rg_damage_words(first), more,
			rg_damage_closes(first) ? "; sends are refused" : "");
}

static void look_at_engine(struct rg_concerns *concerns)
{
	struct roger_concern concern = { .count = 1 };
	const struct roger_err *trouble = rg_engine_trouble(concerns->roger->engine);
	const bool full = rg_is_full(trouble->system_errno);

	/* doctor makes no room, and does not move away what is refused in the place of a file. */
	if (rg_engine_can_write(concerns->roger->engine) && !full &&
	    trouble->code != ROGER_EREFUSED)
		concern.next = RG_STR("roger doctor --fix");
	if (*trouble->message)
		rg_concerns_add(concerns, ROGER_NOTICE, "engine", concern, "%s%s", trouble->message,
				full ? "; free some room" : "");
}

/* ------------------------------------------------------------------ all -- */

/* Order the concerns: those about a person first, then by urgency, then as they were found. */
static void arrange_concerns(struct rg_concerns *concerns)
{
	struct roger_concern_list *list = &concerns->reply->concerns;
	const struct roger_concern *concern;
	int rank, urgency;
	size_t i;

	for (rank = 0; rank <= ROGER_NOTICE; rank++)
		for (i = 0; i < concerns->found.count; i++) {
			concern = &concerns->found.items[i];
			urgency = rg_config_is_person(concern->subject) ? 0 : concern->urgency;
			if (urgency == rank)
				(void)!rg_arena_append(concerns->arena, &list->items, &list->count,
						       concern, sizeof *concern);
		}
	concerns->reply->quiet = list->count == 0;
}

void rg_concerns_find(struct rg_concerns *concerns, struct roger *roger,
		      struct roger_status_reply *reply, struct roger_err *err)
{
	/* Problems of the workspace itself come before those of its mail and runs. */
	static void (*const looks[])(struct rg_concerns *) = {
		look_at_damage, look_at_trust,	look_for_strays,	  look_at_clock,
		look_at_engine, look_at_runs,	rg_concerns_look_at_mail, look_at_skipped,
		look_at_keys,	look_at_chores, look_at_triggers,	  rg_concerns_say_mail,
	};
	struct rg_reading *reading = &concerns->reading;
	struct roger_cycle cycle = { 0 };
	size_t i;

	*concerns = (struct rg_concerns){ .reading = { roger, reply->memory, err, ROGER_OK },
					  .roger = roger,
					  .arena = reply->memory,
					  .now_ms = rg_clock_ms(),
					  .reply = reply };
	if (rg_reading_got(reading, rg_cycle_current(roger, concerns->arena, &cycle, err)) &&
	    rg_reading_got(reading, rg_engine_session(roger->engine, false, &reply->epoch, err)) &&
	    rg_reading_got(reading, rg_engine_retired(roger->engine, concerns->arena,
						      &concerns->retired, err)))
		rg_reading_got(reading, rg_seat_list(roger->workspace, concerns->arena,
						     &concerns->seats, err));
	reply->cycle = cycle.id;
	for (i = 0; i < sizeof looks / sizeof *looks && reading->r == ROGER_OK; i++)
		looks[i](concerns);
	arrange_concerns(concerns);
}
