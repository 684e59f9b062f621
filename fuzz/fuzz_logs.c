/*
 * Any bytes as lines of the logs: the first byte of each line says of which,
 * s(end log), d(ead letters), c(ycles), k(ey digests), or m, a message of an
 * archive.  What is read prints as a line that reads the same and prints the
 * same again; members nobody knows survive; the rules over a whole log take
 * whatever the lines say.  Any error is one line of valid text.
 */
#include "base/limits.h"
#include "fuzz.h"
#include "ops/records.h"
#include "facts/message.h"
#include "facts/message_rules.h"
#include "index/index_sends.h"

enum { LINES_MAX = 64 };

struct logs {
	struct rg_arena *arena;
	struct rg_sends_check *sends;
	struct rg_message_rules messages;
	struct rg_message_before before; /* of an id, as the lines take turns */
	struct roger_attempt attempts[LINES_MAX];
	size_t attempt_count;
	int64_t line;
};

static int log_of(char kind)
{
	switch (kind) {
	case 's':
		return RG_LOG_SENDS;
	case 'd':
		return RG_LOG_DEAD_LETTERS;
	case 'c':
		return RG_LOG_CYCLES;
	case 'k':
		return RG_LOG_DIGESTS;
	case 'm':
		return RG_LOG_ARCHIVE;
	default:
		return -1;
	}
}

static bool read_entry(struct roger_str text, enum rg_log log, struct rg_arena *arena,
		       union rg_log_record *entry)
{
	struct roger_err err = { 0 };
	int r = rg_log_kind_read(log, text, arena, entry, &err);

	if (r < 0) {
		rg_assert(r == ROGER_EDATA);
		fuzz_check_error(&err, r);
	}
	return r == ROGER_OK;
}

static bool read_and_print(struct roger_str text, enum rg_log log, struct rg_arena *arena,
			   union rg_log_record *entry)
{
	struct rg_buf once = { .maximum = SIZE_MAX }, twice = { .maximum = SIZE_MAX };
	union rg_log_record again;
	bool good = read_entry(text, log, arena, entry);

	if (good) {
		rg_record_encode(rg_log_kinds[log].record, entry, &once);
		rg_assert(!once.failed && !memchr(once.data, '\n', once.length));
		rg_assert(read_entry(rg_buf_str(&once), log, arena, &again));
		rg_record_encode(rg_log_kinds[log].record, &again, &twice);
		rg_assert(rg_str_equal(rg_buf_str(&once), rg_buf_str(&twice)));
	}
	rg_buf_deinit(&once);
	rg_buf_deinit(&twice);
	return good;
}

static void take(struct logs *logs, char kind, const union rg_log_record *entry)
{
	const struct rg_sends_place place = { kind, logs->line, logs->line, 1, true };
	unsigned faults = 0;
	int r = ROGER_OK;

	if (kind == 's')
		r = rg_sends_check_entry(logs->sends, &entry->attempt, &place, NULL);
	else if (kind == 'd')
		r = rg_sends_check_letter(logs->sends, &entry->letter, &place, NULL);
	else if (kind == 'c')
		r = rg_sends_check_cycle(logs->sends, &entry->cycle, &place, NULL);
	else if (kind == 'm')
		r = rg_message_rules_take(&logs->messages, &logs->before, &entry->message, true,
					  &faults, NULL);
	if (r == ROGER_OK && kind == 'm' && entry->message.key.length)
		r = rg_sends_check_message(logs->sends, &entry->message, (uint64_t)logs->line, true,
					   NULL);
	rg_assert(r == ROGER_OK);
	rg_assert(faults < 1u << RG_MESSAGE_FAULTS);
	if (kind == 'm')
		logs->before = (struct rg_message_before){
			.known = logs->line % 4 > 0,
			.read = entry->message.read,
			.archived = entry->message.archived_at_ms > 0,
			.answered = logs->line % 2 > 0,
		};
	if (kind == 's')
		logs->attempts[logs->attempt_count++] = entry->attempt;
}

static void take_line(struct logs *logs, struct roger_str line)
{
	int log = line.length ? log_of(line.data[0]) : -1;
	union rg_log_record entry;

	if (log < 0)
		return;
	logs->line++;
	if (read_and_print((struct roger_str){ line.data + 1, line.length - 1 }, (enum rg_log)log,
			   logs->arena, &entry))
		take(logs, line.data[0], &entry);
}

/* What the attempts say of the first one's key, and of its target. */
static void judge(const struct logs *logs)
{
	const struct rg_sendlog_rules rules = { 3, 1000, 0 };
	const struct roger_attempt *first = logs->attempts;
	struct rg_key_history history;
	int64_t due_ms;
	int r;

	if (!logs->attempt_count)
		return;
	r = rg_key_history(first, logs->attempt_count, first->key, first->to, &history, logs->arena,
			   NULL);
	rg_assert(r == ROGER_OK && history.last);
	rg_assert(history.timeouts >= 0 && (size_t)history.timeouts <= logs->attempt_count);
	(void)rg_sendlog_judge(&history, &rules, first->at_ms, &due_ms);
	(void)rg_sendlog_breaker_open(first, logs->attempt_count, 3, 60000, first->at_ms, &due_ms);
}

/* A rule names no more lines than there are. */
static int see(void *context, enum rg_sends_rule rule, const struct rg_sends_place *place,
	       struct roger_err *err)
{
	int64_t *counts = context;

	(void)place, (void)err;
	counts[rule]++;
	return ROGER_OK;
}

static void walk(const struct logs *logs)
{
	int64_t counts[RG_SENDS_RULES] = { 0 };
	int i, r = rg_sends_check_all(logs->sends, true, see, counts, NULL);

	rg_assert(r == ROGER_OK);
	for (i = 0; i < RG_SENDS_RULES; i++)
		rg_assert(counts[i] <= logs->line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size, *newline;
	struct logs logs = { .arena = rg_arena_new() };
	int r = rg_sends_check_new(10, &logs.sends, NULL);

	rg_assert(logs.arena && r == ROGER_OK);
	rg_message_rules_init(&logs.messages);
	for (; at < end && logs.line < LINES_MAX; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		take_line(&logs, (struct roger_str){ at, (size_t)(newline - at) });
	}
	judge(&logs);
	walk(&logs);
	rg_message_rules_deinit(&logs.messages);
	rg_sends_check_free(logs.sends);
	rg_arena_free(logs.arena);
	return 0;
}
