#include "data/record.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "verbs.h"

static bool is_text(enum roger_kind kind)
{
	return kind == ROGER_TEXT || kind == ROGER_NAME || kind == ROGER_OBJECT ||
	       kind == ROGER_MEMBERS;
}

const struct roger_field *rg_find_flag(const struct roger_record *record, unsigned flag)
{
	const struct roger_field *field = record->fields;

	while (field->name && !(field->flags & flag))
		field++;
	return field->name ? field : NULL;
}

bool rg_field_unset(const struct roger_field *field, const void *record)
{
	const void *at = rg_field_at(field, record);

	switch (field->kind) {
	case ROGER_BOOL:
		return !*(const bool *)at;
	case ROGER_ENUM:
		return *(const int *)at == 0;
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		return ((const struct rg_list *)at)->count == 0;
	default:
		return is_text(field->kind) ? ((const struct roger_str *)at)->length == 0
					    : *(const int64_t *)at == 0;
	}
}

/* ------------------------------------------------------------- checking -- */

/* The characters of names, a bit each: - . / the digits and : in one, @ A-Z _ a-z in the other. */
static bool is_name_char(char c)
{
	static const uint64_t names[] = { 0x07ffe00000000000, 0x07fffffe87ffffff };
	unsigned char byte = (unsigned char)c;

	return byte < 128 && (names[byte >> 6] >> (byte & 63) & 1);
}

bool rg_name_valid(struct roger_str name)
{
	size_t i;

	if (name.length == 0 || name.length > RG_NAME_CHARS_MAX || name.data[0] == '-')
		return false;
	for (i = 0; i < name.length; i++)
		if (!is_name_char(name.data[i]))
			return false;
	return true;
}

enum { SHOWN_BYTES = 40 };

/* Print the start of a wrong name in one line: a whole text may stand there by mistake. */
static void show_wrong(struct roger_str name, char to[SHOWN_BYTES + 4])
{
	const struct roger_str shown = rg_str_first(name, SHOWN_BYTES);
	const size_t length = shown.length;
	size_t i, chars;
	const bool valid = rg_utf8_count(shown, &chars);

	for (i = 0; i < length; i++)
		to[i] = (unsigned char)name.data[i] < ' ' || name.data[i] == 0x7f ||
					(name.data[i] & 0x80 && !valid)
				? '?'
				: name.data[i];
	memcpy(to + length, length < name.length ? "..." : "", length < name.length ? 4 : 1);
}

int rg_name_check(const char *member, struct roger_str name, struct roger_err *err)
{
	char shown[SHOWN_BYTES + 4];

	if (rg_name_valid(name))
		return ROGER_OK;
	show_wrong(name, shown);
	return rg_fail_member(err, ROGER_EDATA, member,
			      "%s: '%s' is not a name: expected 1 to %d of a-z, A-Z, 0-9, . _ - : "
			      "@ /, not starting with '-'",
			      member, shown, RG_NAME_CHARS_MAX);
}

int rg_enum_find(const char *const *names, struct roger_str name)
{
	int i;

	for (i = 0; names[i] && name.length; i++)
		if (rg_str_is(name, names[i]))
			return i;
	return -1;
}

void rg_enum_list(const char *const *names, struct rg_buf *out)
{
	size_t i;

	names += !names[0][0];
	for (i = 0; names[i]; i++) {
		rg_buf_add_text(out, i == 0 ? "" : names[i + 1] ? ", " : " or ");
		rg_buf_add_text(out, names[i]);
	}
}

static int fail_expected(const struct roger_field *field, const char *what, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EDATA, field->name, "%s: expected %s", field->name, what);
}

static int expected_name(const struct roger_field *field, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf names = { .maximum = 1024 };

	rg_enum_list(field->names, &names);
	rg_buf_add_char(&names, '\0');
	return fail_expected(field, names.failed ? "another word" : names.data, err);
}

static bool is_enum(const char *const *names, int value)
{
	while (value > 0 && *names)
		names++, value--;
	return value == 0 && *names;
}

/* Is what is set no more than it may be? */
static int check_most(const struct roger_field *field, const void *request, struct roger_err *err)
{
	const long long most = (long long)field->most, day = 24 * 3600 * 1000;
	const void *at = rg_field_at(field, request);
	const int64_t *number = at;
	size_t count = 0;

	switch (field->kind) {
	case ROGER_INT:
	case ROGER_SPAN:
		if ((*number >= 0 && *number <= most) ||
		    (*number == -1 && (field->flags & ROGER_OR_OFF)))
			return ROGER_OK;
		return rg_fail_member(err, ROGER_EDATA, field->name,
				      field->kind == ROGER_INT ? "%s: expected 1 to %lld"
							       : "%s: expected at most %lld days",
				      field->name, field->kind == ROGER_INT ? most : most / day);
	case ROGER_TEXT:
		if (rg_utf8_count(*(const struct roger_str *)at, &count) && count <= (size_t)most)
			return ROGER_OK;
		return rg_fail_member(err, ROGER_EDATA, field->name,
				      "%s: expected at most %lld characters of UTF-8", field->name,
				      most);
	default:
		return ((const struct roger_strs *)at)->count <= (size_t)most
			       ? ROGER_OK
			       : rg_fail_member(err, ROGER_EDATA, field->name,
						"%s: expected at most %lld", field->name, most);
	}
}

/* Is a member missing?  Of a required text with a bound, which people read, blanks say nothing. */
static bool is_missing(const struct roger_field *field, const void *request)
{
	return rg_field_unset(field, request) ||
	       (field->kind == ROGER_TEXT && field->flags & ROGER_REQUIRED && field->most &&
		rg_str_blank(*(const struct roger_str *)rg_field_at(field, request)));
}

int rg_request_check(const struct roger_record *type, const void *request, struct roger_err *err)
{
	const struct roger_field *field;
	int r = ROGER_OK;

	for (field = type->fields; field->name && r == ROGER_OK; field++) {
		if (is_missing(field, request)) {
			if (field->flags & ROGER_REQUIRED)
				r = rg_fail_member(err, ROGER_EUSAGE, field->name,
						   "%s is required: %s", field->name, field->help);
		} else if (field->kind == ROGER_NAME) {
			r = rg_name_check(field->name,
					  *(const struct roger_str *)rg_field_at(field, request),
					  err);
		} else if (field->kind == ROGER_ENUM &&
			   !is_enum(field->names, *(const int *)rg_field_at(field, request))) {
			r = expected_name(field, err);
		} else if (field->most) {
			r = check_most(field, request, err);
		}
	}
	return r;
}

static int check_text(const struct roger_field *field, struct roger_str text, struct roger_err *err)
{
	size_t chars;

	if (field->kind == ROGER_NAME)
		return rg_name_check(field->name, text, err);
	if (!rg_utf8_count(text, &chars))
		return fail_expected(field, "valid UTF-8 without NUL", err);
	/* The key may come from an unset variable; without a key, a retry would send twice. */
	if (field->flags & ROGER_KEY && !text.length)
		return rg_fail_member(err, ROGER_EUSAGE, field->name,
				      "%s: expected a key, found ''", field->name);
	return ROGER_OK;
}

static int check_number(const struct roger_field *field, int64_t number, struct roger_err *err)
{
	if (number < 0 && !(number == -1 && (field->flags & ROGER_OR_OFF)))
		return fail_expected(field, "a number from 0 up", err);
	if (field->kind == ROGER_TIME && number > RG_TIME_MS_MAX)
		return fail_expected(field, "milliseconds since 1970, up to the year 9999", err);
	return ROGER_OK;
}

int rg_values_check(const struct roger_record *type, const void *request, struct roger_err *err)
{
	const struct roger_field *field;
	int r = ROGER_OK;
	size_t i;

	for (field = type->fields; field->name && r == ROGER_OK; field++) {
		const void *at = rg_field_at(field, request);
		const struct roger_strs *texts = at;

		if (rg_field_unset(field, request))
			continue;
		if (field->kind == ROGER_TEXT || field->kind == ROGER_OBJECT)
			r = check_text(field, *(const struct roger_str *)at, err);
		else if (field->kind == ROGER_INT || field->kind == ROGER_SPAN ||
			 field->kind == ROGER_TIME || field->kind == ROGER_INSTANT)
			r = check_number(field, *(const int64_t *)at, err);
		for (i = 0; field->kind == ROGER_TEXTS && i < texts->count && r == ROGER_OK; i++)
			r = check_text(field, texts->items[i], err);
	}
	return r;
}

/* ------------------------------------------------------------- decoding -- */

/* How members are named: as in a file, in roger's words, or in those of a printed answer. */
enum form { OF_FILE, OF_WORDS, OF_REQUEST, OF_ANSWER };

static int keep_raw(const struct roger_field *field, const struct rg_value *value, void *at,
		    struct rg_arena *arena, struct roger_err *err)
{
	struct rg_buf text;

	if (rg_json_kind(value) != RG_JSON_OBJECT)
		return fail_expected(field, "an object", err);
	rg_buf_init(&text, SIZE_MAX);
	rg_json_print(value, &text);
	return rg_kept(rg_arena_keep(arena, &text, at), err);
}

static int decode_text(const struct roger_field *field, enum form form,
		       const struct rg_value *value, void *at, struct rg_arena *arena,
		       struct roger_err *err)
{
	struct roger_str text;
	int64_t number;
	int r;

	if (field->flags & ROGER_NUMBER && rg_json_int(value, &number))
		return rg_kept(rg_arena_print(arena, at, "%lld", (long long)number), err);
	if (rg_json_kind(value) != RG_JSON_STRING)
		return fail_expected(field, "a string", err);
	text = rg_json_str(value);
	/* An answer has "" for a name that is not set, which check_text() would refuse. */
	r = form == OF_ANSWER && !text.length ? ROGER_OK : check_text(field, text, err);
	if (r < 0)
		return r;
	*(struct roger_str *)at = text;
	return ROGER_OK;
}

static int decode_record(const struct roger_record *type, enum form form,
			 const struct rg_value *object, void *record, struct rg_arena *arena,
			 struct roger_err *err);

/* A lone string is read as a list of one. */
static int decode_list(const struct roger_field *field, enum form form,
		       const struct rg_value *value, struct rg_list *list, struct rg_arena *arena,
		       struct roger_err *err)
{
	const bool texts = field->kind == ROGER_TEXTS;
	const size_t size = texts ? sizeof(struct roger_str) : field->record->size;
	const struct rg_value *item = value;
	bool lone = texts && rg_json_kind(value) == RG_JSON_STRING;
	struct roger_str unused;
	size_t i = 0;
	void *place;
	int r;

	if (!lone && rg_json_kind(value) != RG_JSON_ARRAY)
		return fail_expected(
			field, texts ? "a string or an array of strings" : "an array of objects",
			err);
	while (lone || rg_json_next(value, &i, &unused, &item)) {
		place = rg_arena_push(arena, &list->items, &list->count, size);
		if (!place)
			return rg_fail_memory(err);
		r = texts ? decode_text(field, form, item, place, arena, err)
			  : decode_record(field->record, form, item, place, arena, err);
		if (r < 0 || lone)
			return r;
	}
	return ROGER_OK;
}

/* In an answer, "" may be the word of an enum for "not given", where that may be missing. */
static int enum_of(const struct roger_field *field, enum form form, const struct rg_value *value)
{
	if (rg_json_kind(value) != RG_JSON_STRING)
		return -1;
	if (form == OF_ANSWER && !(field->flags & ROGER_REQUIRED) && !rg_json_str(value).length &&
	    !*field->names[0])
		return 0;
	return rg_enum_find(field->names, rg_json_str(value));
}

static int decode_instant(const struct roger_field *field, const struct rg_value *value,
			  int64_t *at, struct roger_err *err)
{
	if (rg_json_kind(value) == RG_JSON_STRING && rg_clock_read_rfc3339(rg_json_str(value), at))
		return ROGER_OK;
	return fail_expected(field, "an instant of RFC 3339, such as 2026-02-16T05:25:00Z", err);
}

static bool counts_as_missing(const struct roger_field *field, const struct rg_value *value)
{
	return rg_json_kind(value) == RG_JSON_NULL &&
	       (!(field->flags & ROGER_REQUIRED) || field->flags & ROGER_ELSE_ONE);
}

static int decode_field(const struct roger_field *field, enum form form,
			const struct rg_value *value, void *record, struct rg_arena *arena,
			struct roger_err *err)
{
	enum rg_json_kind kind = rg_json_kind(value);
	void *at = rg_field_at(field, record);
	int64_t number;
	int index;

	if (counts_as_missing(field, value))
		return ROGER_OK;

	switch (field->kind) {
	case ROGER_TEXT:
	case ROGER_NAME:
		return decode_text(field, form, value, at, arena, err);
	case ROGER_OBJECT:
		return keep_raw(field, value, at, arena, err);
	case ROGER_TIME:
		if (form != OF_FILE && kind == RG_JSON_STRING)
			return decode_instant(field, value, at, err);
		/* fall through */
	case ROGER_INT:
	case ROGER_SPAN:
		if (!rg_json_int(value, &number))
			return fail_expected(field,
					     field->kind == ROGER_SPAN
						     ? "a whole number of ms, such as 10000 for 10s"
						     : "a whole number",
					     err);
		*(int64_t *)at = number;
		if (form == OF_ANSWER && field->kind == ROGER_INT)
			return ROGER_OK;
		return check_number(field, number, err);
	case ROGER_INSTANT:
		return decode_instant(field, value, at, err);
	case ROGER_BOOL:
		if (kind != RG_JSON_TRUE && kind != RG_JSON_FALSE)
			return fail_expected(field, "true or false", err);
		*(bool *)at = (kind == RG_JSON_TRUE) ==
			      !(form == OF_FILE && (field->flags & ROGER_NEGATED));
		return ROGER_OK;
	case ROGER_ENUM:
		index = enum_of(field, form, value);
		if (index < 0)
			return expected_name(field, err);
		*(int *)at = index;
		return ROGER_OK;
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		return decode_list(field, form, value, at, arena, err);
	case ROGER_MEMBERS:
		break;
	}
	return rg_fail(err, ROGER_EBUG, 0, "field '%s' cannot be read", field->name);
}

/* The path of a field: in roger's words, or as its file has it. */
static const char *path_of(const struct roger_field *field, bool words)
{
	return words ? field->name : rg_field_file(field);
}

struct rg_level rg_level_at(bool words, const struct roger_field *first, size_t depth)
{
	struct rg_level level = { words, first, 0, depth, NULL };
	const struct roger_field *field;

	for (field = first;
	     field->name && (depth == 0 || strncmp(field->name, first->name, depth) == 0); field++)
		if (field->kind == ROGER_MEMBERS && !strchr(field->name + depth, '.'))
			level.keeper = field;
	level.count = (size_t)(field - first);
	return level;
}

/* The name of the field in its object; of a field in an inner object, the name of that object. */
static struct roger_str name_at(const struct rg_level *level, const struct roger_field *field)
{
	const char *name = path_of(field, level->words) + level->depth;
	size_t length = 0;

	/* No strchrnul(): this runs for each member of each line, and names are short. */
	while (name[length] && name[length] != '.')
		length++;
	return (struct roger_str){ name, length };
}

bool rg_level_inner(const struct rg_level *level, const struct roger_field *field,
		    struct roger_str *ret_name, struct rg_level *ret_inner)
{
	*ret_name = name_at(level, field);
	if (ret_name->data[ret_name->length] == '.') {
		*ret_inner = rg_level_at(level->words, field, level->depth + ret_name->length + 1);
		return true;
	}
	*ret_inner = (struct rg_level){ level->words, field, 1, level->depth, NULL };
	return false;
}

/* Is the key this path, or the object that it begins with? */
static bool leads_to(const struct roger_field *field, const char *path, struct roger_str key)
{
	size_t i;

	/* Names have letters, digits and '_', which are all above '.' and NUL. */
	for (i = 0; i < key.length; i++)
		if (path[i] != key.data[i] || path[i] <= '.')
			return false;
	if (path[i] == '.')
		return true;
	return path[i] == '\0' && field->kind != ROGER_MEMBERS;
}

static _Thread_local const struct roger_field *old_member;

const struct roger_field *rg_old_member(void)
{
	const struct roger_field *found = old_member;

	old_member = NULL;
	return found;
}

/* Is the key an older name of this member, or its name in a file? */
static bool was_called(const struct rg_level *level, const struct roger_field *field,
		       struct roger_str key)
{
	return (field->file && leads_to(field, field->file + level->depth, key)) ||
	       (field->was && level->depth == 0 && rg_str_is(key, field->was));
}

static bool is_of(const struct rg_level *level, const struct roger_field *field)
{
	return level->words || !(field->flags & ROGER_ANSWERED);
}

/* The first field of a member.  Members mostly come in order, so `next` is tried first. */
static const struct roger_field *find_field(const struct rg_level *level,
					    const struct roger_field *next, struct roger_str key)
{
	const struct roger_field *field, *end = level->fields + level->count;

	if (next < end && is_of(level, next) &&
	    leads_to(next, path_of(next, level->words) + level->depth, key))
		return next;
	for (field = level->fields; field < end; field++)
		if (is_of(level, field) &&
		    leads_to(field, path_of(field, level->words) + level->depth, key))
			return field;
	for (field = level->fields; field < end && level->words; field++) {
		if (!was_called(level, field, key))
			continue;
		if (field->was && rg_str_is(key, field->was))
			old_member = field;
		return field;
	}
	return NULL;
}

/* Are the required fields set, by the JSON or by the caller before?  An ELSE_ONE becomes 1. */
static int check_required(const struct roger_record *type, enum form form, uint64_t seen,
			  void *record, struct roger_err *err)
{
	const enum roger_code code = form == OF_REQUEST ? ROGER_EUSAGE : ROGER_EDATA;
	const struct roger_field *field = type->fields;
	const char *name;

	for (; field->name; field++, seen >>= 1) {
		if (!(field->flags & ROGER_REQUIRED) || seen & 1 || !rg_field_unset(field, record))
			continue;
		name = path_of(field, form == OF_ANSWER);
		if (!(field->flags & ROGER_ELSE_ONE))
			return rg_fail_member(err, code, name, "%s: missing", name);
		*(int64_t *)rg_field_at(field, record) = 1;
	}
	return ROGER_OK;
}

/* A record being read. */
struct reading {
	const struct roger_record *type;
	void *record;
	struct rg_arena *arena;
	enum form form;
	uint64_t seen; /* a bit for each field */
};

static int decode_level(struct reading *reading, const struct rg_level *level,
			const struct rg_value *object, struct roger_err *err);

/* Decode a member that is an object with fields inside; null counts as missing. */
static int decode_inner(struct reading *reading, const struct rg_level *inner,
			const struct rg_value *value, struct roger_err *err)
{
	char member[48];

	if (rg_json_kind(value) == RG_JSON_NULL)
		return ROGER_OK;
	if (rg_json_kind(value) == RG_JSON_OBJECT)
		return decode_level(reading, inner, value, err);
	snprintf(member, sizeof member, "%.*s", (int)inner->depth - 1, inner->fields->name);
	return rg_fail_member(err, ROGER_EDATA, member, "%s: expected an object", member);
}

/* Keep an unknown member, or refuse it.  In an answer it is skipped: a newer program added it. */
static int take_unknown(const struct reading *reading, const struct rg_level *level,
			struct rg_buf *unknown, struct roger_str key, const struct rg_value *value,
			struct roger_err *err)
{
	const struct roger_field *field = level->fields, *end = field + level->count;
	struct roger_str near = { "", 0 };
	char name[sizeof err->member];

	if (level->keeper) {
		rg_json_add_key(unknown, key);
		rg_json_print(value, unknown);
		return unknown->failed ? rg_fail_memory(err) : ROGER_OK;
	}
	if (reading->form == OF_ANSWER)
		return ROGER_OK;
	for (; field < end; field++)
		rg_nearest_look(&near, key, rg_str(path_of(field, level->words) + level->depth));
	snprintf(name, sizeof name, "%.*s%.*s", (int)level->depth,
		 level->count ? level->fields->name : "", RG_STR_CUT(key));
	return rg_fail_member(err, ROGER_EDATA, name, "'%s' is no member roger knows here" RG_MEANT,
			      name, RG_MEANT_ARGS(near));
}

/* Decode one field; errors name it as the file does. */
static int decode_named(const struct roger_field *field, struct reading *reading,
			const struct rg_value *value, struct roger_err *err)
{
	struct roger_field named;

	if (reading->form == OF_FILE && field->file) {
		named = *field;
		named.name = field->file;
		field = &named;
	}
	return decode_field(field, reading->form, value, reading->record, reading->arena, err);
}

static int decode_level(struct reading *reading, const struct rg_level *level,
			const struct rg_value *object, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf unknown = { .maximum = SIZE_MAX };
	const struct roger_field *field, *next = level->fields;
	const struct rg_value *value = NULL;
	struct rg_level inner;
	struct roger_str key, name;
	size_t i = 0;
	int r;

	while (rg_json_next(object, &i, &key, &value)) {
		field = find_field(level, next, key);
		if (!field) {
			r = take_unknown(reading, level, &unknown, key, value, err);
		} else if (rg_level_inner(level, field, &name, &inner)) {
			r = decode_inner(reading, &inner, value, err);
			next = field + inner.count;
		} else {
			r = decode_named(field, reading, value, err);
			/* With ROGER_NEGATED, the other name of a member means the opposite. */
			if ((field->flags & ROGER_NEGATED) && !rg_str_equal(name, key))
				*(bool *)rg_field_at(field, reading->record) ^= true;
			if (!counts_as_missing(field, value))
				reading->seen |= UINT64_C(1) << (field - reading->type->fields);
			next = field + 1;
		}
		if (r < 0)
			return r;
	}
	if (unknown.length && !rg_arena_copy(reading->arena, rg_buf_str(&unknown),
					     rg_field_at(level->keeper, reading->record)))
		return rg_fail_memory(err);
	return ROGER_OK;
}

static int decode_record(const struct roger_record *type, enum form form,
			 const struct rg_value *object, void *record, struct rg_arena *arena,
			 struct roger_err *err)
{
	struct reading reading = { type, record, arena, form, 0 };
	struct rg_level level = rg_level_at(form != OF_FILE, type->fields, 0);
	const struct roger_field *field;
	int r;

	/* An answer leaves out measured fields that are not known. */
	for (field = type->fields; form == OF_ANSWER && field->name; field++)
		if (field->flags & ROGER_MEASURED)
			*(int64_t *)rg_field_at(field, record) = ROGER_UNKNOWN;
	if (rg_json_kind(object) != RG_JSON_OBJECT)
		return rg_fail(err, ROGER_EDATA, 0, "expected an object, found %s",
			       rg_json_kind_name(rg_json_kind(object)));
	r = decode_level(&reading, &level, object, err);
	return r < 0 ? r : check_required(type, form, reading.seen, record, err);
}

int rg_record_decode(const struct roger_record *type, const struct rg_value *object, void *record,
		     struct rg_arena *arena, struct roger_err *err)
{
	return decode_record(type, OF_FILE, object, record, arena, err);
}

int rg_record_read(const struct roger_record *type, struct roger_str text, void *record,
		   struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_json *json;
	int r = rg_json_read_within(text, arena, &json, err);

	return r < 0 ? r : rg_record_decode(type, rg_json_root(json), record, arena, err);
}

int rg_words_decode(const struct roger_record *type, const struct rg_value *object, void *record,
		    struct rg_arena *arena, struct roger_err *err)
{
	return decode_record(type, OF_WORDS, object, record, arena, err);
}

int rg_request_decode(const struct roger_record *type, const struct rg_value *object, void *record,
		      struct rg_arena *arena, struct roger_err *err)
{
	return decode_record(type, OF_REQUEST, object, record, arena, err);
}

int rg_answer_decode(const struct roger_record *type, const struct rg_value *object, void *record,
		     struct rg_arena *arena, struct roger_err *err)
{
	return decode_record(type, OF_ANSWER, object, record, arena, err);
}

/* An empty text points into the document, too, so it is replaced. */
static bool keep_texts(struct roger_str *texts, size_t count, struct rg_arena *arena)
{
	for (; count--; texts++)
		if (!texts->length)
			texts->data = "";
		else if (!rg_arena_copy(arena, *texts, texts))
			return false;
	return true;
}

bool rg_record_keep(const struct roger_record *type, void *record, struct rg_arena *arena)
{
	const struct roger_field *field;
	bool kept = true;
	size_t i;

	for (field = type->fields; field->name && kept; field++) {
		const struct rg_list *list = rg_field_at(field, record);

		if (field->kind == ROGER_TEXT || field->kind == ROGER_NAME)
			kept = keep_texts(rg_field_at(field, record), 1, arena);
		else if (field->kind == ROGER_TEXTS)
			kept = keep_texts((void *)list->items, list->count, arena);
		for (i = 0; field->kind == ROGER_RECORDS && i < list->count && kept; i++)
			kept = rg_record_keep(field->record, list->items + i * field->record->size,
					      arena);
	}
	return kept;
}

/* ----------------------------------------------------------- from words -- */

static int set_object(const struct roger_field *field, struct roger_str text, void *at,
		      struct rg_arena *arena, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_err inner;
	int r = rg_json_read(text, &json, &inner);

	if (r < 0)
		return rg_fail_member(err, (enum roger_code)r, field->name,
				      "%s: expected a JSON object: %s", field->name, inner.message);
	return keep_raw(field, rg_json_root(json), at, arena, err);
}

int rg_record_set(const struct roger_field *field, struct roger_str text, int64_t now_ms,
		  void *record, struct rg_arena *arena, struct roger_err *err)
{
	void *at = rg_field_at(field, record);
	const char *wrong;
	int64_t number;
	bool kept;
	int r;

	switch (field->kind) {
	case ROGER_TEXT:
	case ROGER_NAME:
	case ROGER_TEXTS:
		r = check_text(field, text, err);
		if (r < 0)
			return r;
		kept = field->kind == ROGER_TEXTS ? rg_arena_add(arena, at, text)
						  : rg_arena_copy(arena, text, at);
		return rg_kept(kept, err);
	case ROGER_OBJECT:
		return set_object(field, text, at, arena, err);
	case ROGER_INT:
		/* In a request 0 means "not given"; off is -1. */
		if (!rg_str_number(text, &number) ||
		    (number == 0 && !(field->flags & ROGER_OR_OFF)))
			return fail_expected(field,
					     field->flags & ROGER_OR_OFF
						     ? "a whole number from 0 up"
						     : "a whole number from 1 up",
					     err);
		*(int64_t *)at = number ? number : -1;
		return ROGER_OK;
	case ROGER_TIME:
	case ROGER_INSTANT:
		wrong = rg_clock_read(text, now_ms, at);
		return wrong ? fail_expected(field, wrong, err) : ROGER_OK;
	case ROGER_SPAN:
		if (!rg_clock_read_span(text, &number))
			return fail_expected(field, rg_clock_span_forms, err);
		if (!number && !(field->flags & ROGER_WAITS))
			return fail_expected(field, "a span of 1ms or more", err);
		/* In a request 0 means "not given", so not to wait becomes to wait for 1 ms. */
		*(int64_t *)at = number ? number : 1;
		return ROGER_OK;
	case ROGER_BOOL:
		*(bool *)at = true;
		return ROGER_OK;
	case ROGER_ENUM:
		r = rg_enum_find(field->names, text);
		if (r < 0)
			return expected_name(field, err);
		*(int *)at = r;
		return ROGER_OK;
	case ROGER_MEMBERS:
	case ROGER_RECORDS:
		break;
	}
	return rg_fail(err, ROGER_EBUG, 0, "field '%s' has no words", field->name);
}

/* ------------------------------------------------------------- encoding -- */

static void encode_record(const struct roger_record *type, bool in_words, const void *record,
			  struct rg_buf *out);

static void encode_list(const struct roger_field *field, bool in_words, const struct rg_list *list,
			struct rg_buf *out)
{
	size_t i;

	rg_buf_add_char(out, '[');
	for (i = 0; i < list->count; i++) {
		if (i)
			rg_buf_add_char(out, ',');
		if (field->kind == ROGER_TEXTS)
			rg_json_add_string(out, ((const struct roger_str *)(void *)list->items)[i]);
		else
			encode_record(field->record, in_words,
				      list->items + i * field->record->size, out);
	}
	rg_buf_add_char(out, ']');
}

static void encode_value(const struct roger_field *field, bool in_words, const void *at,
			 struct rg_buf *out)
{
	char text[32];
	int64_t number;

	switch (field->kind) {
	case ROGER_TEXT:
		if (in_words && field->flags & ROGER_NUMBER &&
		    rg_str_number(*(const struct roger_str *)at, &number)) {
			rg_buf_add_int(out, number);
			break;
		}
		/* fall through */
	case ROGER_NAME:
		rg_json_add_string(out, *(const struct roger_str *)at);
		break;
	case ROGER_OBJECT:
	case ROGER_MEMBERS:
		rg_buf_add_str(out, *(const struct roger_str *)at);
		break;
	case ROGER_INT:
	case ROGER_SPAN:
		rg_buf_add_int(out, *(const int64_t *)at);
		break;
	case ROGER_TIME:
		if (!in_words) {
			rg_buf_add_int(out, *(const int64_t *)at);
			break;
		}
		/* fall through */
	case ROGER_INSTANT:
		rg_clock_print_utc(*(const int64_t *)at, text);
		rg_json_add_string(out, rg_str(text));
		break;
	case ROGER_BOOL:
		rg_buf_add_text(out,
				*(const bool *)at == (in_words || !(field->flags & ROGER_NEGATED))
					? "true"
					: "false");
		break;
	case ROGER_ENUM:
		rg_assert(*(const int *)at || *field->names[0] || !(field->flags & ROGER_REQUIRED));
		rg_json_add_string(out, rg_str(field->names[*(const int *)at]));
		break;
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		encode_list(field, in_words, at, out);
		break;
	}
}

enum { NAME_BYTES_MAX = 60 }; /* what is longer, verbs/generate.py refuses */

/* Write the name of a field in its object, or of that object: it ends at a dot, and needs no
 * escapes. */
static void add_name(const char *name, struct rg_buf *out)
{
	char *room = rg_buf_room(out, NAME_BYTES_MAX + 4);

	if (!room)
		return;
	if (out->length && room[-1] != '{')
		*room++ = ',';
	*room++ = '"';
	while (*name > '.')
		*room++ = *name++;
	*room++ = '"';
	*room++ = ':';
	out->length = (size_t)(room - out->data);
}

/* Is the key one of roger's words for a member of this object? */
static bool is_word(const struct rg_level *level, struct roger_str key)
{
	size_t i;

	for (i = 0; i < level->count; i++)
		if (rg_str_equal(name_at(level, &level->fields[i]), key))
			return true;
	return false;
}

/* Leave out unknown members with roger's words: readers would take them for roger's. */
static void encode_unknown(const struct rg_level *level, struct roger_str members,
			   struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *value;
	struct roger_str key;
	size_t i = 0;

	rg_buf_printf(&text, "{%.*s}", RG_STR_ARGS(members));
	if (text.failed || rg_json_read(rg_buf_str(&text), &json, NULL) < 0) {
		out->failed = true;
		return;
	}
	while (rg_json_next(rg_json_root(json), &i, &key, &value)) {
		if (is_word(level, key))
			continue;
		rg_json_add_key(out, key);
		rg_json_print(value, out);
	}
}

/* Write a field under its name in its object. */
static void encode_field(const struct rg_level *level, const struct roger_field *field,
			 const void *record, struct rg_buf *out)
{
	const void *at = rg_field_at(field, record);
	bool unset = rg_field_unset(field, record);

	if ((field->flags & ROGER_DERIVED) || !is_of(level, field) ||
	    (unset && (field->flags & ROGER_SPARE)) ||
	    ((field->flags & ROGER_MEASURED) && *(const int64_t *)at == ROGER_UNKNOWN))
		return;
	if (field->kind == ROGER_MEMBERS) {
		if (unset)
			return;
		if (level->words) {
			encode_unknown(level, *(const struct roger_str *)at, out);
			return;
		}
		if (out->length && out->data[out->length - 1] != '{')
			rg_buf_add_char(out, ',');
		rg_buf_add_str(out, *(const struct roger_str *)at);
		return;
	}

	add_name(path_of(field, level->words) + level->depth, out);
	/* These kinds have no value for "unset", so they are written as null. */
	if (unset && !(field->flags & ROGER_REQUIRED) &&
	    (is_text(field->kind) || field->kind == ROGER_TIME || field->kind == ROGER_INSTANT))
		rg_buf_add(out, "null", 4);
	else
		encode_value(field, level->words, at, out);
}

void rg_field_encode(const struct roger_field *field, const void *record, struct rg_buf *out)
{
	const struct rg_level level = { .fields = field, .count = 1 };

	encode_field(&level, field, record, out);
}

static void encode_level(const struct rg_level *level, const void *record, struct rg_buf *out);

/* Write an object inside the record; an empty one is left out. */
static void encode_inner(const struct rg_level *inner, struct roger_str name, const void *record,
			 struct rg_buf *out)
{
	size_t before = out->length, start;

	add_name(name.data, out);
	rg_buf_add_char(out, '{');
	start = out->length;
	encode_level(inner, record, out);
	if (out->length == start && !out->failed)
		out->length = before;
	else
		rg_buf_add_char(out, '}');
}

static void encode_level(const struct rg_level *level, const void *record, struct rg_buf *out)
{
	const struct roger_field *field, *end = level->fields + level->count;
	struct roger_str name;
	struct rg_level inner;

	for (field = level->fields; field < end; field += inner.count)
		if (rg_level_inner(level, field, &name, &inner))
			encode_inner(&inner, name, record, out);
		else
			encode_field(level, field, record, out);
}

static void encode_record(const struct roger_record *type, bool in_words, const void *record,
			  struct rg_buf *out)
{
	const struct rg_level level = rg_level_at(in_words, type->fields, 0);

	rg_buf_add_char(out, '{');
	encode_level(&level, record, out);
	rg_buf_add_char(out, '}');
}

void rg_record_encode(const struct roger_record *type, const void *record, struct rg_buf *out)
{
	encode_record(type, false, record, out);
}

void rg_words_encode(const struct roger_record *type, const void *record, struct rg_buf *out)
{
	encode_record(type, true, record, out);
}

const char *rg_code_name(int code)
{
	const struct rg_exit *row = rg_exits;

	while (row->code && (!*row->code || row->status != -code))
		row++;
	return code == ROGER_OK ? "ok" : row->code ? row->code : rg_code_name(ROGER_EBUG);
}
