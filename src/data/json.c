#include "data/json.h"

#include <stdlib.h>
#include <yyjson.h>

#include "base/id.h"
#include "base/limits.h"

/* struct rg_json is a yyjson_doc, struct rg_value a yyjson_val. */
static yyjson_val *val_of(const struct rg_value *value)
{
	return (yyjson_val *)(uintptr_t)value;
}

static int fail_twice(struct roger_str key, struct roger_err *err)
{
	return rg_fail(err, ROGER_EDATA, 0, "member '%.*s' comes twice", RG_STR_CUT(key));
}

/* Many members: sort their names and look at neighbours. */
static int check_many_members(const struct rg_value *object, size_t count, struct roger_err *err)
{
	struct roger_str *keys = malloc(count * sizeof *keys);
	const struct rg_value *value = NULL;
	size_t i = 0;
	int r = ROGER_OK;

	rg_assert(count > 0);
	if (!keys)
		return rg_fail_memory(err);
	while (rg_json_next(object, &i, &keys[i], &value))
		;
	qsort(keys, count, sizeof *keys, rg_str_compare);
	for (i = 1; i < count && r == ROGER_OK; i++)
		if (rg_str_equal(keys[i - 1], keys[i]))
			r = fail_twice(keys[i], err);
	free(keys);
	return r;
}

/* One bit of a name: equal names have the same bit, so a bit not seen means a new name. */
static uint64_t mark_of(struct roger_str key)
{
	unsigned mix = (unsigned)key.length * 7;

	if (key.length)
		mix += (unsigned char)key.data[0] * 3u +
		       (unsigned char)key.data[key.length - 1] * 5u;
	return UINT64_C(1) << (mix & 63);
}

/* Refuse members that come twice.  *ret_nested: some values may be lists or objects. */
static int check_members(const struct rg_value *object, bool *ret_nested, struct roger_err *err)
{
	struct roger_str keys[24];
	const struct rg_value *value = NULL;
	uint64_t marks = 0, mark;
	size_t count = yyjson_get_len(val_of(object)), at = 0, i;

	if (count > sizeof keys / sizeof *keys)
		return check_many_members(object, count, err);
	*ret_nested = false;
	while (rg_json_next(object, &at, &keys[at], &value)) {
		*ret_nested |= yyjson_is_ctn(val_of(value));
		mark = mark_of(keys[at - 1]);
		for (i = 0; (marks & mark) && i + 1 < at; i++)
			if (rg_str_equal(keys[i], keys[at - 1]))
				return fail_twice(keys[i], err);
		marks |= mark;
	}
	return ROGER_OK;
}

/* Recursion is bounded by the depth, which is checked here. */
static int check_value(const struct rg_value *value, int depth, struct roger_err *err)
{
	const struct rg_value *inner = NULL;
	struct roger_str key;
	bool nested = true;
	size_t i = 0;
	int r = ROGER_OK;

	if (!yyjson_is_ctn(val_of(value)))
		return ROGER_OK;
	if (depth > RG_JSON_DEPTH_MAX)
		return rg_fail(err, ROGER_EDATA, 0, "nested deeper than %d", RG_JSON_DEPTH_MAX);
	if (yyjson_is_obj(val_of(value)))
		r = check_members(value, &nested, err);
	while (r == ROGER_OK && nested && rg_json_next(value, &i, &key, &inner))
		r = check_value(inner, depth + 1, err);
	return r;
}

static int read_with(const yyjson_alc *memory, struct roger_str text, struct rg_json **ret_json,
		     struct roger_err *err)
{
	yyjson_read_err bad = { 0 };
	yyjson_doc *doc;
	int r;

	if (text.length == 0)
		return rg_fail(err, ROGER_EDATA, 0, "no JSON value");
	doc = yyjson_read_opts((char *)(uintptr_t)text.data, text.length, YYJSON_READ_NUMBER_AS_RAW,
			       memory, &bad);
	if (!doc && bad.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return rg_fail_memory(err);
	if (!doc)
		return rg_fail(err, ROGER_EDATA, 0, "not JSON at byte %zu: %s", bad.pos + 1,
			       bad.msg);

	r = check_value((const struct rg_value *)yyjson_doc_get_root(doc), 1, err);
	if (r < 0) {
		yyjson_doc_free(doc);
		return r;
	}
	*ret_json = (struct rg_json *)doc;
	return ROGER_OK;
}

int rg_json_read_lenient(struct roger_str text, struct rg_json **ret_json, struct roger_err *err)
{
	const size_t mark = rg_str_mark(text);
	yyjson_read_err bad = { 0 };
	yyjson_doc *doc =
		yyjson_read_opts((char *)(uintptr_t)text.data + mark, text.length - mark,
				 YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS |
					 YYJSON_READ_ALLOW_INF_AND_NAN,
				 NULL, &bad);

	*ret_json = (struct rg_json *)doc;
	if (!doc && bad.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return rg_fail_memory(err);
	return doc ? ROGER_OK
		   : rg_fail(err, ROGER_EDATA, 0, "line %lld: not JSON: %s",
			     (long long)rg_str_line(text, bad.pos + mark), bad.msg);
}

int rg_json_read(struct roger_str text, struct rg_json **ret_json, struct roger_err *err)
{
	return read_with(NULL, text, ret_json, err);
}

static void *arena_malloc(void *arena, size_t size)
{
	return rg_arena_room(arena, size);
}

static void *arena_realloc(void *arena, void *piece, size_t old_size, size_t size)
{
	void *grown = rg_arena_room(arena, size);

	return grown ? memcpy(grown, piece, old_size < size ? old_size : size) : NULL;
}

static void arena_keep(void *arena, void *piece)
{
	(void)arena;
	(void)piece;
}

int rg_json_read_within(struct roger_str text, struct rg_arena *arena,
			const struct rg_json **ret_json, struct roger_err *err)
{
	const yyjson_alc memory = { arena_malloc, arena_realloc, arena_keep, arena };
	struct rg_json *json = NULL;
	int r;

	r = read_with(&memory, text, &json, err);
	if (r == ROGER_OK)
		*ret_json = json;
	return r;
}

struct rg_json *rg_json_free(struct rg_json *json)
{
	yyjson_doc_free((yyjson_doc *)json);
	return NULL;
}

void rg_json_freep(struct rg_json **json)
{
	*json = rg_json_free(*json);
}

const struct rg_value *rg_json_root(const struct rg_json *json)
{
	return (const struct rg_value *)yyjson_doc_get_root((yyjson_doc *)(uintptr_t)json);
}

enum rg_json_kind rg_json_kind(const struct rg_value *value)
{
	static const enum rg_json_kind kinds[] = { [YYJSON_TYPE_RAW] = RG_JSON_NUMBER,
						   [YYJSON_TYPE_NUM] = RG_JSON_NUMBER,
						   [YYJSON_TYPE_STR] = RG_JSON_STRING,
						   [YYJSON_TYPE_ARR] = RG_JSON_ARRAY,
						   [YYJSON_TYPE_OBJ] = RG_JSON_OBJECT };

	_Static_assert(RG_JSON_NULL == 0, "what else there is");
	if (yyjson_is_bool(val_of(value)))
		return yyjson_get_bool(val_of(value)) ? RG_JSON_TRUE : RG_JSON_FALSE;
	return kinds[yyjson_get_type(val_of(value))];
}

const char *rg_json_kind_name(enum rg_json_kind kind)
{
	static const char *const names[] = { "null",	 "false",    "true",	 "a number",
					     "a string", "an array", "an object" };

	return names[kind];
}

struct roger_str rg_json_str(const struct rg_value *value)
{
	const char *text = yyjson_get_str(val_of(value));

	/* For a number yyjson gives a length, but no text. */
	return (struct roger_str){ text ? text : "", text ? yyjson_get_len(val_of(value)) : 0 };
}

bool rg_json_int(const struct rg_value *value, int64_t *ret_number)
{
	struct roger_str digits = { yyjson_get_raw(val_of(value)), yyjson_get_len(val_of(value)) };
	bool negative;

	if (!digits.data || digits.length == 0)
		return false;
	negative = digits.data[0] == '-';
	digits.data += negative;
	digits.length -= negative;
	if (!rg_str_number(digits, ret_number))
		return false;
	if (negative)
		*ret_number = -*ret_number;
	return true;
}

struct roger_str rg_json_digits(const struct rg_value *value)
{
	const char *digits = yyjson_get_raw(val_of(value));

	return (struct roger_str){ digits ? digits : "",
				   digits ? yyjson_get_len(val_of(value)) : 0 };
}

bool rg_json_next(const struct rg_value *container, size_t *i, struct roger_str *ret_key,
		  const struct rg_value **ret_value)
{
	yyjson_val *value;
	bool object = yyjson_is_obj(val_of(container));

	if (!yyjson_is_ctn(val_of(container)) || *i >= yyjson_get_len(val_of(container)))
		return false;
	if (*i == 0)
		value = unsafe_yyjson_get_first(val_of(container));
	else
		value = unsafe_yyjson_get_next(val_of(*ret_value));
	if (object) {
		*ret_key = (struct roger_str){ yyjson_get_str(value), yyjson_get_len(value) };
		value = value + 1;
	}
	*ret_value = (const struct rg_value *)value;
	(*i)++;
	return true;
}

const struct rg_value *rg_json_member(const struct rg_value *object, const char *key)
{
	return (const struct rg_value *)yyjson_obj_get(val_of(object), key);
}

const struct rg_value *rg_json_member_of(const struct rg_value *object, struct roger_str key)
{
	return (const struct rg_value *)yyjson_obj_getn(val_of(object), key.data, key.length);
}

/* The number as a JavaScript reader keeps it; false: it cannot, and writes null. */
static bool is_double(const struct rg_value *value, double *ret_number)
{
	const struct roger_str digits = rg_json_digits(value);
	yyjson_doc *doc = yyjson_read(digits.data, digits.length, 0);
	const bool known = doc != NULL;

	/* Turn -0 into 0. */
	*ret_number = yyjson_get_num(yyjson_doc_get_root(doc)) + 0.0;
	yyjson_doc_free(doc);
	return known;
}

uint64_t rg_json_hash(uint64_t key, const struct rg_value *value)
{
	enum rg_json_kind kind = rg_json_kind(value);
	const struct rg_value *inner = NULL;
	const struct roger_str text = rg_json_str(value);
	struct roger_str name = { "", 0 };
	uint64_t sum = 0, hash;
	double number = 0;
	size_t i = 0;

	if (kind == RG_JSON_NUMBER && !is_double(value, &number))
		kind = RG_JSON_NULL;
	key = rg_hash(rg_hash(key, &(char){ (char)kind }, 1), &number, sizeof number);
	while (rg_json_next(value, &i, &name, &inner)) {
		hash = rg_json_hash(rg_hash(key, name.data, name.length), inner);
		sum = kind == RG_JSON_OBJECT ? sum + hash : rg_hash(hash, &sum, sizeof sum);
	}
	return rg_hash(rg_hash(key, &sum, sizeof sum), text.data, text.length);
}

void rg_json_print(const struct rg_value *value, struct rg_buf *out)
{
	size_t length;
	char *text = yyjson_val_write_opts(val_of(value), YYJSON_WRITE_NOFLAG, NULL, &length, NULL);

	if (!text) {
		out->failed = true;
		return;
	}
	rg_buf_add(out, text, length);
	free(text);
}

/* How a byte is written: 0 as it is, 'u' as \u00xx, else this after a backslash. */
static char escape_of(unsigned char c)
{
	static const char escapes[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";

	return c < 0x20 ? escapes[c] : c == '"' || c == '\\' ? (char)c : 0;
}

/* Does any of eight bytes need escaping: below 0x20, '"' or '\\'?  With bit 1 turned, '"' comes
 * right behind those below 0x20. */
static bool must_escape(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones * 0x80;
	const uint64_t low = (word ^ ones * 2) - ones * 0x21, slash = (word ^ ones * '\\') - ones;

	return (low | slash) & ~word & high;
}

/* Copy a text up to the first byte that needs escaping.  Returns how many bytes these are. */
static size_t copy_plain(char *to, struct roger_str text)
{
	const size_t last = text.length - sizeof(uint64_t);
	size_t at = 0;
	uint64_t word;

	/* The last word of a text is copied together with bytes before it, eight in all. */
	while (text.length >= sizeof word && at < text.length) {
		at = at < last ? at : last;
		memcpy(&word, text.data + at, sizeof word);
		if (must_escape(word))
			break;
		memcpy(to + at, &word, sizeof word);
		at += sizeof word;
	}
	for (; at < text.length && !escape_of((unsigned char)text.data[at]); at++)
		to[at] = text.data[at];
	return at;
}

void rg_json_add_string(struct rg_buf *out, struct roger_str text)
{
	static const char hex[] = "0123456789abcdef";
	size_t run;
	unsigned char c;
	char *room, escape;

	rg_buf_add_char(out, '"');
	for (;;) {
		room = rg_buf_room(out, text.length + 1);
		if (!room)
			return;
		run = copy_plain(room, text);
		out->length += run;
		if (run == text.length)
			break;
		c = (unsigned char)text.data[run];
		text = (struct roger_str){ text.data + run + 1, text.length - run - 1 };
		escape = escape_of(c);
		rg_buf_add_char(out, '\\');
		rg_buf_add_char(out, escape);
		if (escape == 'u')
			rg_buf_add(out, (char[]){ '0', '0', hex[c >> 4], hex[c & 15] }, 4);
	}
	rg_buf_add_char(out, '"');
}

void rg_json_add_key(struct rg_buf *out, struct roger_str key)
{
	if (out->length && out->data[out->length - 1] != '{')
		rg_buf_add_char(out, ',');
	rg_json_add_string(out, key);
	rg_buf_add_char(out, ':');
}

void rg_json_add_member(struct rg_buf *out, const char *key, struct roger_str text)
{
	rg_json_add_key(out, rg_str(key));
	rg_json_add_string(out, text);
}

static void new_line(struct rg_buf *out, size_t level)
{
	rg_buf_add_char(out, '\n');
	while (level--)
		rg_buf_add_text(out, "  ");
}

/* The bytes of the string that starts at the quote at `at`, with both quotes. */
static size_t string_bytes(struct roger_str json, size_t at)
{
	size_t start = at++;

	while (at < json.length && json.data[at] != '"')
		at += json.data[at] == '\\' ? 2 : 1;
	return (at < json.length ? at + 1 : json.length) - start;
}

void rg_json_add_pretty(struct rg_buf *out, struct roger_str json)
{
	size_t level = 0, at, step;
	char c;

	for (at = 0; at < json.length; at += step) {
		c = json.data[at];
		step = c == '"' ? string_bytes(json, at) : 1;
		if (c == '}' || c == ']') {
			level--;
			/* Empty lists and objects stay on one line. */
			if (json.data[at - 1] != '{' && json.data[at - 1] != '[')
				new_line(out, level);
		}
		rg_buf_add(out, json.data + at, step);
		if (c == ':')
			rg_buf_add_char(out, ' ');
		else if (c == '{' || c == '[')
			level++;
		if (c == ',' || ((c == '{' || c == '[') && json.data[at + 1] != '}' &&
				 json.data[at + 1] != ']'))
			new_line(out, level);
	}
}
