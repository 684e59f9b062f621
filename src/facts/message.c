#include "facts/message.h"

#include "base/id.h"
#include "base/limits.h"
#include "base/unicode.h"

static int check_bound(const char *member, int64_t number, int64_t maximum, struct roger_err *err)
{
	if (number <= maximum)
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, member, "%s: expected at most %lld", member,
			      (long long)maximum);
}

/* Can the line be written again, with what becomes of the message?  Only a long text cannot. */
static int check_length(const struct roger_message *message, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	struct roger_message sent = *message;
	size_t number_at;

	if (rg_message_bytes(message) + (int64_t)message->unknown.length < RG_LINE_BYTES_MAX / 8)
		return ROGER_OK;
	rg_message_as_sent(&sent);
	rg_message_print(&sent, &line, &number_at);
	if (line.failed || line.length <= RG_LINE_BYTES_MAX - RG_STATE_BYTES_MAX)
		return rg_kept(!line.failed, err);
	return rg_fail_member(err, ROGER_EDATA, "content", "content: longer than a message may be");
}

int rg_message_check(const struct roger_message *message, struct roger_err *err)
{
	int r;

	if (message->id.length == 0 || message->id.length > 2 * RG_NAME_CHARS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "id", "id: expected 1 to %d bytes",
				      2 * RG_NAME_CHARS_MAX);
	r = check_bound("seq", message->seq, RG_SEQ_MAX, err);
	if (r < 0)
		return r;
	r = check_bound("epoch", message->epoch, RG_EPOCH_MAX, err);
	return r < 0 ? r : check_length(message, err);
}

static int decode_message(const struct rg_json *json, struct rg_arena *arena,
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
		r = decode_message(json, arena, ret_message, err);
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
	return r < 0 ? r : decode_message(json, arena, ret_message, err);
}

/* The place after the string that begins at `at`; NULL: it does not end. */
static const char *after_string(const char *at, const char *end)
{
	const char *quote = at, *back;

	do {
		quote = rg_str_find((struct roger_str){ quote + 1, (size_t)(end - quote - 1) },
				    '"');
		if (!quote)
			return NULL;
		for (back = quote; back[-1] == '\\';)
			back--;
	} while ((quote - back) % 2 != 0);
	return quote + 1;
}

/* The place after the value that begins at `at`; NULL: it does not end. */
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

/* Is this the field's name, as roger writes it into lines? */
static bool is_named(const struct roger_field *field, struct roger_str name)
{
	const char *const file = rg_field_file(field);

	return field->kind != ROGER_MEMBERS && !(field->flags & ROGER_ANSWERED) && name.length &&
	       *file == *name.data && rg_str_is(name, file);
}

/* Read the value of a member that is skimmed.  False: roger does not write such a value. */
static bool skim_member(const struct roger_field *field, struct roger_str value,
			struct roger_message *message)
{
	void *place = rg_field_at(field, message);

	if (!(field->flags & ROGER_SKIMMED))
		return true;
	if (field->kind == ROGER_TEXT || field->kind == ROGER_NAME)
		return skim_text(value, place);
	/* An unread message has a null time. */
	if (field->kind == ROGER_TIME && !(field->flags & ROGER_SPARE) && rg_str_is(value, "null"))
		return true;
	if (field->kind != ROGER_BOOL)
		return rg_str_number(value, place);
	*(bool *)place = rg_str_equal(value, RG_STR("true"));
	return true;
}

/* Roger writes members in the order of their table.  A line with another order, a repeated member
 * or an unknown one is left to rg_message_read(). */
bool rg_message_skim(struct roger_str line, struct roger_message *ret_message)
{
	const char *at = line.data, *end = line.data + line.length, *value;
	const struct roger_field *field = rg_message_record.fields;
	struct roger_str name;

	*ret_message = (struct roger_message){ 0 };
	do {
		value = at + 1 < end && at[1] == '"' ? after_string(at + 1, end) : NULL;
		if (!value || value == end || *value != ':')
			return false;
		name = (struct roger_str){ at + 2, (size_t)(value - at) - 3 };
		while (field->name && !is_named(field, name))
			field++;
		at = after_value(value + 1, end);
		if (!at || !field->name ||
		    !skim_member(field++, (struct roger_str){ value + 1, (size_t)(at - value) - 1 },
				 ret_message))
			return false;
	} while (*at == ',');
	return at + 1 == end && ret_message->to.length && ret_message->id.length;
}

/* ------------------------------------------------------------ later lines -- */

/* How many bytes a number has; 0: it is a text. */
static size_t bytes_of(enum roger_kind kind)
{
	return kind == ROGER_BOOL					       ? sizeof(bool)
	       : kind == ROGER_ENUM					       ? sizeof(int)
	       : kind == ROGER_INT || kind == ROGER_TIME || kind == ROGER_SPAN ? sizeof(int64_t)
									       : 0;
}

static void copy_field(const struct roger_field *field, const struct roger_message *from,
		       struct roger_message *to)
{
	const size_t bytes = bytes_of(field->kind);

	memcpy(rg_field_at(field, to), rg_field_at(field, from),
	       bytes ? bytes : sizeof(struct roger_str));
}

static uint64_t hash_field(uint64_t key, const struct roger_field *field,
			   const struct roger_message *message)
{
	const void *at = rg_field_at(field, message);
	const size_t bytes = bytes_of(field->kind);
	const struct roger_str *text = at;

	return bytes ? rg_hash(key, at, bytes) : rg_hash(key, text->data, text->length);
}

uint64_t rg_message_hash(uint64_t key, const struct roger_message *message)
{
	const struct roger_field *field;
	bool there;

	for (field = rg_message_record.fields; field->name; field++) {
		if (!(field->flags & ROGER_STATE)) {
			key = hash_field(key, field, message);
		} else if (field->flags & ROGER_STAYS) {
			there = !rg_field_unset(field, message);
			key = rg_hash(key, &there, sizeof there);
		}
	}
	return rg_hash(key, message->cycle.data, message->cycle.length);
}

void rg_message_follow(const struct roger_message *first, struct roger_message *later)
{
	const struct roger_field *field;
	const bool knows = later->seq || !first->seq;

	for (field = rg_message_record.fields; field->name; field++)
		if (!(field->flags & ROGER_STATE) ||
		    (rg_field_unset(field, later) &&
		     (field->flags & ROGER_STAYS || (field->flags & ROGER_CLEARED && !knows))))
			copy_field(field, first, later);
}

void rg_message_as_sent(struct roger_message *message)
{
	static const struct roger_message nothing;
	const struct roger_field *field;

	for (field = rg_message_record.fields; field->name; field++)
		if (field->flags & ROGER_STATE &&
		    !(field->flags & (ROGER_STAYS | ROGER_CLEARED | ROGER_ANSWERED)))
			copy_field(field, &nothing, message);
}

static void add_rewrite(struct rg_rewrites *rewrites, const char *member, uint64_t value)
{
	if (rewrites->count < RG_REWRITES_MAX)
		rewrites->items[rewrites->count++] = (struct rg_rewrite){ member, value };
}

/* Parse the text of an object; braces false: of its members, without the braces. */
static int read_object(struct roger_str text, bool braces, struct rg_arena *arena,
		       const struct rg_value **ret_root, struct roger_err *err)
{
	const struct rg_json *json;
	int r = ROGER_OK;

	if (!braces && !rg_arena_print(arena, &text, "{%.*s}", RG_STR_ARGS(text)))
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = rg_json_read_within(text.length ? text : RG_STR("{}"), arena, &json, err);
	*ret_root = r == ROGER_OK ? rg_json_root(json) : NULL;
	return r;
}

/* Join members that roger does not know: the first line's stay, the later line's are added. */
static int join_unknown(uint64_t key, struct roger_str first, struct roger_str *later,
			struct rg_arena *arena, struct rg_rewrites *rewrites, struct roger_err *err)
{
	const struct rg_value *old, *new, *value = NULL, *before;
	struct roger_str name;
	struct rg_buf joined;
	size_t i = 0;
	int r;

	r = read_object(first, false, arena, &old, err);
	if (r == ROGER_OK)
		r = read_object(*later, false, arena, &new, err);
	if (r < 0)
		return r;
	rg_buf_init(&joined, SIZE_MAX);
	rg_buf_add_str(&joined, first);
	while (rg_json_next(new, &i, &name, &value)) {
		before = rg_json_member_of(old, name);
		if (!before) {
			rg_json_add_key(&joined, name);
			rg_json_print(value, &joined);
		} else if (rg_json_hash(key, before) != rg_json_hash(key, value)) {
			add_rewrite(rewrites, "",
				    rg_hash(rg_json_hash(key, value), name.data, name.length));
		}
	}
	return rg_kept(rg_arena_keep(arena, &joined, later), err);
}

/* Compare by value: another program may have written the same numbers in other digits. */
static int compare_objects(uint64_t key, const struct roger_field *field, struct roger_str first,
			   struct roger_str later, struct rg_arena *arena,
			   struct rg_rewrites *rewrites, struct roger_err *err)
{
	const struct rg_value *old, *new;
	int r;

	r = read_object(first, true, arena, &old, err);
	if (r == ROGER_OK)
		r = read_object(later, true, arena, &new, err);
	if (r == ROGER_OK && rg_json_hash(key, old) != rg_json_hash(key, new))
		add_rewrite(rewrites, rg_field_file(field), rg_json_hash(key, new));
	return r;
}

/* Compare a later line with the first one of its id, then complete it.  A member that the later
 * line lacks (pass: -1) is not a rewrite; one that it adds is, unless roger does not know it. */
static int compare_messages(uint64_t key, const struct roger_message *first,
			    struct roger_message *later, struct rg_arena *arena,
			    struct rg_rewrites *ret_rewrites, struct roger_err *err)
{
	const struct roger_field *field;
	struct roger_str unknown = later->unknown;
	int r = ROGER_OK;

	ret_rewrites->count = 0;
	for (field = rg_message_record.fields; field->name && r == ROGER_OK; field++) {
		if (field->flags & ROGER_STATE || field->kind == ROGER_MEMBERS ||
		    (rg_field_unset(field, later) && !(field->flags & ROGER_REQUIRED)))
			continue;
		if (field->kind == ROGER_OBJECT)
			r = compare_objects(key, field, first->metadata, later->metadata, arena,
					    ret_rewrites, err);
		else if (later->pass < 0 && field->offset == offsetof(struct roger_message, pass))
			continue;
		else if (hash_field(key, field, first) != hash_field(key, field, later))
			add_rewrite(ret_rewrites, rg_field_file(field),
				    hash_field(key, field, later));
	}
	/* Only a higher attempt may be of another cycle. */
	if (first->cycle.length && later->cycle.length && later->attempt <= first->attempt &&
	    !rg_str_equal(first->cycle, later->cycle)) {
		add_rewrite(ret_rewrites, "cycle_id",
			    rg_hash(key, later->cycle.data, later->cycle.length));
		later->cycle = first->cycle;
	}
	if (r == ROGER_OK)
		r = join_unknown(key, first->unknown, &unknown, arena, ret_rewrites, err);
	rg_message_follow(first, later);
	later->unknown = unknown;
	return r;
}

int rg_message_read_later(uint64_t key, struct roger_str first_line, struct roger_str line,
			  struct rg_arena *arena, struct roger_message *ret_message,
			  struct rg_rewrites *ret_rewrites, struct roger_err *err)
{
	struct roger_message first, later;
	const struct rg_json *json;
	int r;

	r = rg_message_read_within(first_line, arena, &first, err);
	if (r == ROGER_OK)
		r = rg_json_read_within(line, arena, &json, err);
	if (r == ROGER_OK)
		r = decode_message(json, arena, &later, err);
	if (r < 0)
		return r;
	if (rg_json_kind(rg_json_member(rg_json_root(json), "run_counter")) == RG_JSON_NULL)
		later.pass = -1;
	*ret_message = later;
	return compare_messages(key, &first, ret_message, arena, ret_rewrites, err);
}

void rg_message_print(const struct roger_message *message, struct rg_buf *out,
		      size_t *ret_number_at)
{
	const struct roger_field *field;

	*ret_number_at = SIZE_MAX;
	rg_buf_add_char(out, '{');
	for (field = rg_message_record.fields; field->name; field++) {
		/* Most spare members are unset, and left out. */
		if (!(field->flags & ROGER_SPARE) || !rg_field_unset(field, message))
			rg_field_encode(field, message, out);
		else if (field->offset == offsetof(struct roger_message, seq))
			*ret_number_at = out->length;
	}
}

void rg_message_print_number(int64_t seq, int64_t epoch, struct rg_buf *out)
{
	rg_buf_add(out, ",\"seq\":", 7);
	rg_buf_add_int(out, seq);
	rg_buf_add(out, ",\"epoch\":", 9);
	rg_buf_add_int(out, epoch);
}

static int check_text(const char *member, struct roger_str text, int64_t chars_max,
		      const char *counted, const char *advice, struct roger_err *err)
{
	size_t chars;

	if (!rg_utf8_count(text, &chars))
		return rg_fail_member(err, ROGER_EDATA, member,
				      "%s: expected valid UTF-8 without NUL", member);
	if ((int64_t)chars <= chars_max)
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, member,
			      "%s: expected at most %lld characters%s, found %zu%s", member,
			      (long long)chars_max, counted, chars, advice);
}

int rg_message_check_content(struct roger_str content, int64_t chars_max, struct roger_err *err)
{
	if (content.length == 0)
		return rg_fail_member(err, ROGER_EDATA, "content",
				      "content: expected some text, found none");
	return check_text("content", content, chars_max, "",
			  "; send a file's path, or raise size_limits.max_content_length", err);
}

int rg_message_check_metadata(struct roger_str metadata, int64_t chars_max, struct roger_err *err)
{
	return check_text("metadata", metadata, chars_max, " as JSON text", "", err);
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

static int rank_of(int type)
{
	static const int ranks[] = {
		[ROGER_DATA] = 0, [ROGER_RESULT] = 1, [ROGER_DECISION] = 2, [ROGER_CONTEXT] = 3
	};

	return ranks[type];
}

const struct roger_message *rg_messages_find(const struct roger_message_list *messages,
					     struct roger_str id)
{
	size_t i;

	for (i = 0; i < messages->count; i++)
		if (rg_str_equal(messages->items[i].id, id))
			return &messages->items[i];
	return NULL;
}

int rg_message_place_order(const void *a, const void *b)
{
	const struct roger_message *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

int rg_message_archive_order(const void *a, const void *b)
{
	const struct roger_message *x = a, *y = b;

	if (x->created_at_ms != y->created_at_ms)
		return x->created_at_ms < y->created_at_ms ? -1 : 1;
	if (rank_of(x->type) != rank_of(y->type))
		return rank_of(x->type) - rank_of(y->type);
	return (x->position > y->position) - (x->position < y->position);
}

/* ----------------------------------------------------------------- rows -- */

static void add_text(struct rg_buf *to, struct roger_str text)
{
	rg_buf_add(to, &text.length, sizeof text.length);
	rg_buf_add_str(to, text);
}

uint64_t rg_message_text_hash(struct rg_buf *scratch, const struct roger_message *message)
{
	const int64_t numbers[] = { message->pass, message->type, message->created_at_ms };

	rg_buf_clear(scratch);
	add_text(scratch, message->id);
	add_text(scratch, message->issue);
	add_text(scratch, message->from);
	add_text(scratch, message->to);
	add_text(scratch, message->content);
	add_text(scratch, message->metadata);
	rg_buf_add(scratch, numbers, sizeof numbers);
	return rg_hash(1, scratch->data, scratch->failed ? 0 : scratch->length);
}

uint32_t rg_message_row_hash(uint64_t text, const struct roger_message *message)
{
	const int64_t state[] = { message->read, message->read_at_ms };

	return (uint32_t)rg_hash(text, state, sizeof state);
}
