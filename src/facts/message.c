#include "facts/message.h"

#include "base/limits.h"
#include "base/unicode.h"

const char *const rg_message_types[] = { "context", "result", "decision", "data", NULL };

const char *const rg_ack_outcomes[] = { "none", "done", "blocked", "rejected", NULL };

#define AT(member) offsetof(struct roger_message, member)
static const struct roger_field fields[] = {
	{ "id", ROGER_TEXT, AT(id), ROGER_REQUIRED | ROGER_ID, NULL, NULL, "msg-<ms>-<random>" },
	{ "issue_id", ROGER_NAME, AT(issue), ROGER_REQUIRED | ROGER_ISSUE, NULL, NULL,
	  "unit of work" },
	{ "from_phase", ROGER_NAME, AT(from), ROGER_REQUIRED, NULL, NULL, "sender" },
	{ "to_phase", ROGER_NAME, AT(to), ROGER_REQUIRED, NULL, NULL, "recipient" },
	{ "run_counter", ROGER_INT, AT(pass), ROGER_REQUIRED, NULL, NULL,
	  "pass through the workflow" },
	{ "message_type", ROGER_ENUM, AT(type), ROGER_REQUIRED, rg_message_types, NULL,
	  "kind of message" },
	{ "content", ROGER_TEXT, AT(content), ROGER_REQUIRED, NULL, NULL, "the text" },
	{ "metadata", ROGER_OBJECT, AT(metadata), 0, NULL, NULL, "structured data beside it" },
	{ "read", ROGER_BOOL, AT(read), ROGER_REQUIRED, NULL, NULL,
	  "the recipient has accepted it" },
	{ "created_at", ROGER_TIME, AT(created_at_ms), ROGER_REQUIRED, NULL, NULL,
	  "ms since 1970" },
	{ "read_at", ROGER_TIME, AT(read_at_ms), 0, NULL, NULL, "ms since 1970" },
	{ "seq", ROGER_INT, AT(seq), ROGER_SPARE, NULL, NULL, "the sender's number" },
	{ "epoch", ROGER_INT, AT(epoch), ROGER_SPARE, NULL, NULL, "session that seq counts in" },
	{ "idempotent_key", ROGER_TEXT, AT(key), ROGER_SPARE, NULL, NULL,
	  "idempotency key: sent at most once" },
	{ "reply_to", ROGER_TEXT, AT(reply_to), ROGER_SPARE, NULL, NULL, "id of what it answers" },
	{ "via", ROGER_TEXT, AT(via), ROGER_SPARE, NULL, NULL, "the edge it came in over" },
	{ "proved", ROGER_TEXT, AT(proved), ROGER_SPARE, NULL, NULL,
	  "how the sender's name was proved" },
	{ "cycle_id", ROGER_TEXT, AT(cycle), ROGER_SPARE, NULL, NULL, "cycle of the key" },
	{ "attempt", ROGER_INT, AT(attempt), ROGER_SPARE, NULL, NULL, "which attempt" },
	{ "confirm_by", ROGER_TIME, AT(confirm_by_ms), ROGER_SPARE, NULL, NULL,
	  "deadline for its recipient to read it" },
	{ "retry_within", ROGER_INT, AT(retry_within_ms), ROGER_SPARE, NULL, NULL,
	  "ms that each further attempt may take" },
	{ "claimed_by", ROGER_TEXT, AT(claimed_by), ROGER_SPARE, NULL, NULL,
	  "holder of the lease" },
	{ "claimed_until", ROGER_TIME, AT(claimed_until_ms), ROGER_SPARE, NULL, NULL,
	  "when the lease ends" },
	{ "handed_at", ROGER_TIME, AT(handed_at_ms), ROGER_SPARE, NULL, NULL,
	  "when it was written to the file of its recipient" },
	{ "acked_at", ROGER_TIME, AT(acked_at_ms), ROGER_SPARE, NULL, NULL,
	  "when its recipient acknowledged it" },
	{ "ack_outcome", ROGER_ENUM, AT(ack_outcome), ROGER_SPARE, rg_ack_outcomes, NULL,
	  "done, blocked or rejected" },
	{ "ack_note", ROGER_TEXT, AT(ack_note), ROGER_SPARE, NULL, NULL, "note with the outcome" },
	{ "archived_at", ROGER_TIME, AT(archived_at_ms), ROGER_SPARE, NULL, NULL,
	  "when it was archived" },
	{ "archive_reason", ROGER_TEXT, AT(archive_reason), ROGER_SPARE, NULL, NULL,
	  "why it was archived" },
	{ "", ROGER_MEMBERS, AT(unknown), 0, NULL, NULL, "members of other programs" },
	{ "chain", ROGER_TEXT, AT(chain), ROGER_DERIVED, NULL, NULL, "see FORMAT.md" },
	{ 0 },
};
#undef AT

const struct roger_record rg_message_record = { "message", sizeof(struct roger_message), fields };

static int bound(const char *member, int64_t number, int64_t maximum, struct roger_err *err)
{
	if (number <= maximum)
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, member, "%s: expected at most %lld", member,
			      (long long)maximum);
}

int rg_message_check(const struct roger_message *message, struct roger_err *err)
{
	int r;

	if (message->id.length == 0 || message->id.length > 2 * RG_NAME_CHARS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "id", "id: expected 1 to %d bytes",
				      2 * RG_NAME_CHARS_MAX);
	r = bound("seq", message->seq, RG_SEQ_MAX, err);
	if (r < 0)
		return r;
	return bound("epoch", message->epoch, RG_EPOCH_MAX, err);
}

static int decode(const struct rg_json *json, struct rg_arena *arena,
		  struct roger_message *ret_message, struct roger_err *err)
{
	struct roger_message message = { 0 };
	int r;

	r = rg_record_decode(&rg_message_record, rg_json_root(json), &message, arena, err);
	if (r == ROGER_OK)
		r = rg_message_check(&message, err);
	if (r == ROGER_OK)
		*ret_message = message;
	return r;
}

int rg_message_read(struct roger_str line, struct rg_json **ret_json, struct rg_arena *arena,
		    struct roger_message *ret_message, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	int r;

	r = rg_json_read(line, &json, err);
	if (r == ROGER_OK)
		r = decode(json, arena, ret_message, err);
	if (r < 0)
		return r;
	*ret_json = json;
	json = NULL;
	return ROGER_OK;
}

int rg_message_read_within(struct roger_str line, struct rg_arena *arena,
			   struct roger_message *ret_message, struct roger_err *err)
{
	const struct rg_json *json = NULL;
	int r;

	r = rg_json_read_within(line, arena, &json, err);
	return r < 0 ? r : decode(json, arena, ret_message, err);
}

/* After the string that begins here; NULL: it does not end. */
static const char *after_string(const char *at, const char *end)
{
	const char *quote = at, *back;

	do {
		quote = memchr(quote + 1, '"', (size_t)(end - quote - 1));
		if (!quote)
			return NULL;
		for (back = quote; back[-1] == '\\';)
			back--;
	} while ((quote - back) % 2 != 0);
	return quote + 1;
}

/* After the value that begins here; NULL: it does not end. */
static const char *after_value(const char *at, const char *end)
{
	int depth = 0;

	while (at && at < end) {
		if (*at == '"') {
			at = after_string(at, end);
			continue;
		}
		if (depth == 0 && (*at == ',' || *at == '}'))
			return at;
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
		at++;
	}
	return NULL;
}

static bool skim_text(struct roger_str value, struct roger_str *ret_text)
{
	if (value.length < 2 || value.data[0] != '"' || memchr(value.data, '\\', value.length))
		return false;
	*ret_text = (struct roger_str){ value.data + 1, value.length - 2 };
	return true;
}

/* The members that are skimmed; their lengths are compared first. */
#define MEMBER(name, member, text)                                                                 \
	{                                                                                          \
		name, sizeof name - 1, offsetof(struct roger_message, member), text                \
	}
static const struct {
	const char *name;
	size_t length, offset;
	bool is_text;
} skimmed[] = {
	MEMBER("id", id, true),
	MEMBER("issue_id", issue, true),
	MEMBER("from_phase", from, true),
	MEMBER("to_phase", to, true),
	MEMBER("seq", seq, false),
	MEMBER("epoch", epoch, false),
	MEMBER("confirm_by", confirm_by_ms, false),
	MEMBER("claimed_by", claimed_by, true),
	MEMBER("claimed_until", claimed_until_ms, false),
	MEMBER("archived_at", archived_at_ms, false),
};
#undef MEMBER

static bool skim_member(struct roger_str name, struct roger_str value,
			struct roger_message *message)
{
	void *place;
	size_t i;

	if (rg_str_equal(name, RG_STR("read")))
		message->read = rg_str_equal(value, RG_STR("true"));
	for (i = 0; i < sizeof skimmed / sizeof *skimmed; i++) {
		if (name.length != skimmed[i].length ||
		    memcmp(name.data, skimmed[i].name, name.length) != 0)
			continue;
		place = (char *)message + skimmed[i].offset;
		return skimmed[i].is_text ? skim_text(value, place) : rg_str_number(value, place);
	}
	return true;
}

bool rg_message_skim(struct roger_str line, struct roger_message *ret_message)
{
	const char *at = line.data, *end = line.data + line.length, *name, *value;

	*ret_message = (struct roger_message){ 0 };
	do {
		name = at + 2;
		value = at + 1 < end && at[1] == '"' ? after_string(at + 1, end) : NULL;
		if (!value || value == end || *value != ':')
			return false;
		at = after_value(value + 1, end);
		if (!at || !skim_member((struct roger_str){ name, (size_t)(value - name) - 1 },
					(struct roger_str){ value + 1, (size_t)(at - value) - 1 },
					ret_message))
			return false;
	} while (*at == ',');
	return at + 1 == end && ret_message->to.length && ret_message->id.length;
}

void rg_message_print(const struct roger_message *message, struct rg_buf *out,
		      size_t *ret_number_at)
{
	const struct roger_field *field;

	*ret_number_at = SIZE_MAX;
	rg_buf_add_char(out, '{');
	for (field = fields; field->name; field++) {
		if (field->offset == offsetof(struct roger_message, seq) && message->seq == 0)
			*ret_number_at = out->length;
		rg_field_encode(field, message, out);
	}
}

void rg_message_print_number(int64_t seq, int64_t epoch, struct rg_buf *out)
{
	rg_buf_add(out, ",\"seq\":", 7);
	rg_buf_add_int(out, seq);
	rg_buf_add(out, ",\"epoch\":", 9);
	rg_buf_add_int(out, epoch);
}

int rg_message_check_content(struct roger_str content, int64_t chars_max, struct roger_err *err)
{
	size_t chars;

	if (content.length == 0)
		return rg_fail_member(err, ROGER_EDATA, "content",
				      "content: expected some text, found none");
	if (!rg_utf8_count(content, &chars))
		return rg_fail_member(err, ROGER_EDATA, "content",
				      "content: expected valid UTF-8 without NUL");
	if ((int64_t)chars > chars_max)
		return rg_fail_member(
			err, ROGER_EDATA, "content",
			"content: expected at most %lld characters, found %zu; send a file's "
			"path, or raise size_limits.max_content_length",
			(long long)chars_max, chars);
	return ROGER_OK;
}

int rg_message_check_metadata(struct roger_str metadata, int64_t chars_max, struct roger_err *err)
{
	size_t chars;

	if (!rg_utf8_count(metadata, &chars))
		return rg_fail_member(err, ROGER_EDATA, "metadata",
				      "metadata: expected valid UTF-8 without NUL");
	if ((int64_t)chars > chars_max)
		return rg_fail_member(
			err, ROGER_EDATA, "metadata",
			"metadata: expected at most %lld characters as JSON text, found %zu",
			(long long)chars_max, chars);
	return ROGER_OK;
}

/* The first invisible character, or 0: two keys that look the same must be the same. */
static uint32_t unseen_character(struct roger_str text)
{
	size_t at, step;
	uint32_t c;

	for (at = 0; at < text.length; at += step) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (rg_char_is_unseen(c))
			return c;
	}
	return 0;
}

int rg_message_check_key(struct roger_str key, struct roger_err *err)
{
	uint32_t unseen;
	size_t chars;

	if (!rg_utf8_count(key, &chars) || chars > 3 * RG_NAME_CHARS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "key",
				      "key: expected at most %d characters of UTF-8",
				      3 * RG_NAME_CHARS_MAX);
	unseen = unseen_character(key);
	if (!unseen)
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, "key",
			      "key: expected visible characters, found U+%04X", unseen);
}

static int rank(int type)
{
	static const int ranks[] = {
		[ROGER_DATA] = 0, [ROGER_RESULT] = 1, [ROGER_DECISION] = 2, [ROGER_CONTEXT] = 3
	};

	return ranks[type];
}

int rg_message_archive_order(const void *a, const void *b)
{
	const struct roger_message *x = a, *y = b;

	if (x->created_at_ms != y->created_at_ms)
		return x->created_at_ms < y->created_at_ms ? -1 : 1;
	if (rank(x->type) != rank(y->type))
		return rank(x->type) - rank(y->type);
	return (x->position > y->position) - (x->position < y->position);
}
