#include "row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

static void skip_blanks(struct row *row)
{
	row->at += strspn(row->at, " \t\n");
}

/* Only the first reason counts. */
static bool wrong(struct row *row, const char *what, struct roger_str which)
{
	if (!row->why[0])
		snprintf(row->why, sizeof row->why, "%s '%.*s'", what, RG_STR_ARGS(which));
	row->at = "";
	return false;
}

bool row_next(struct row *row, const char *next)
{
	skip_blanks(row);
	if (strncmp(row->at, next, strlen(next)) != 0)
		return false;
	row->at += strlen(next);
	return true;
}

bool row_ends(struct row *row)
{
	skip_blanks(row);
	return !*row->at;
}

/* Something of a list or record stands before its end? */
static bool more(struct row *row, const char *end)
{
	skip_blanks(row);
	if (row->why[0] || (*end && row_next(row, end)))
		return false;
	if (!*row->at && *end)
		return wrong(row, "missing", rg_str(end));
	return *row->at != '\0' && strncmp(row->at, "->", 2) != 0;
}

static struct roger_str span(struct row *row, const char *ends)
{
	struct roger_str text = { row->at, strcspn(row->at, ends) };

	row->at += text.length;
	return text;
}

/* ----------------------------------------------------------------- names -- */

static struct roger_str *find_name(struct row *row, struct roger_str name)
{
	size_t i;

	for (i = 0; i < row->name_count; i++)
		if (rg_str_equal(row->names[i].name, name))
			return &row->names[i].value;
	return NULL;
}

void row_name(struct row *row, struct roger_str name, struct roger_str value)
{
	rg_assert(row->name_count < ROW_NAMES_MAX);
	row->names[row->name_count].name = name;
	row->names[row->name_count++].value = value;
}

/* Behind a $. */
static struct roger_str read_name(struct row *row)
{
	struct roger_str name = { row->at, 0 };

	while (isalnum((unsigned char)*row->at) || *row->at == '_')
		row->at++;
	name.length = (size_t)(row->at - name.data);
	return name;
}

static struct roger_str value_of_name(struct row *row)
{
	struct roger_str name = read_name(row), *value = find_name(row, name);

	if (!value)
		wrong(row, "nothing was named", name);
	return value ? *value : RG_STR("");
}

/* ----------------------------------------------------------------- texts -- */

static void read_escape(struct row *row, struct rg_buf *out)
{
	char digits[3] = { 0 }, c = *row->at++;

	if (c == 'x') {
		memcpy(digits, row->at, 2);
		row->at += 2;
		c = (char)strtol(digits, NULL, 16);
	}
	rg_buf_add_char(out, c == 'n' ? '\n' : c == 't' ? '\t' : c);
}

static void read_quoted(struct row *row, struct rg_buf *out)
{
	while (*row->at && *row->at != '"') {
		if (*row->at == '\\' && ++row->at)
			read_escape(row, out);
		else if (*row->at == '$' && ++row->at)
			rg_buf_add_str(out, value_of_name(row));
		else
			rg_buf_add_char(out, *row->at++);
	}
	row->at += *row->at == '"';
}

static void read_once(struct row *row, struct rg_buf *out)
{
	if (row_next(row, "'")) {
		rg_buf_add_str(out, span(row, "'"));
		row->at += *row->at == '\'';
	} else if (*row->at == '"' && ++row->at) {
		read_quoted(row, out);
	} else if (*row->at == '$' && ++row->at) {
		rg_buf_add_str(out, value_of_name(row));
	} else {
		rg_buf_add_str(out, span(row, "^ \t\n]}"));
	}
}

struct roger_str row_text(struct row *row)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf once = { .maximum = SIZE_MAX };
	struct roger_str text = { "", 0 };
	struct rg_buf all;
	long times = 1;

	read_once(row, &once);
	if (*row->at == '^')
		times = strtol(span(row, " \t\n]}").data + 1, NULL, 10);
	rg_buf_init(&all, SIZE_MAX);
	while (times-- > 0)
		rg_buf_add_str(&all, rg_buf_str(&once));
	rg_assert(rg_arena_keep(row->arena, &all, &text));
	return text;
}

/* -------------------------------------------------------------- requests -- */

struct list {
	void *items;
	size_t count;
};

static void set_record(struct row *row, const struct roger_record *type, void *record,
		       const char *end);

static void set_item(struct row *row, const struct roger_field *field, void *item)
{
	if (field->kind == ROGER_TEXTS)
		*(struct roger_str *)item = row_text(row);
	else if (row_next(row, "{"))
		set_record(row, field->record, item, "}");
	else
		wrong(row, "expected a record at", rg_str(row->at));
}

/* A new one; or the last one again, until there are so many. */
static void add_items(struct row *row, const struct roger_field *field, struct list *list)
{
	size_t size = field->kind == ROGER_TEXTS ? sizeof(struct roger_str) : field->record->size;
	size_t most = row_next(row, "*") ? strtoul(row->at, NULL, 10) : 0;
	char *item;

	row->at += strspn(row->at, most ? "0123456789" : "");
	do {
		item = rg_arena_push(row->arena, &list->items, &list->count, size);
		if (most)
			memcpy(item, item - size, size);
		else
			set_item(row, field, item);
	} while (list->count < most);
}

static void set_list(struct row *row, const struct roger_field *field, struct list *list)
{
	if (!row_next(row, "[")) {
		add_items(row, field, list);
		return;
	}
	while (more(row, "]"))
		add_items(row, field, list);
}

static void set_number(struct row *row, const struct roger_field *field, int64_t *at)
{
	struct roger_str text = row_text(row);
	char *end;

	*at = strtoll(text.data, &end, 10);
	if (*end == '\0' && text.length)
		return;
	if (field->kind == ROGER_SPAN ? !rg_clock_read_span(text, at)
				      : rg_clock_read(text, rg_clock_ms(), at) != NULL)
		wrong(row, "no number", text);
}

/* One of its words, or a number that is none. */
static void set_enum(struct row *row, const struct roger_field *field, int *at)
{
	struct roger_str text = row_text(row);
	char *end;

	*at = rg_enum_find(field->names, text);
	if (*at >= 0)
		return;
	*at = (int)strtol(text.data, &end, 10);
	if (*end || !text.length)
		wrong(row, "no such word", text);
}

static void set_field(struct row *row, const struct roger_field *field, void *at)
{
	switch (field->kind) {
	case ROGER_INT:
	case ROGER_TIME:
	case ROGER_INSTANT:
	case ROGER_SPAN:
		set_number(row, field, at);
		break;
	case ROGER_ENUM:
		set_enum(row, field, at);
		break;
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		set_list(row, field, at);
		break;
	default:
		*(struct roger_str *)at = row_text(row);
	}
}

static void set_record(struct row *row, const struct roger_record *type, void *record,
		       const char *end)
{
	const struct roger_field *field;
	struct roger_str name;

	while (more(row, end)) {
		name = span(row, "= \t\n]}");
		for (field = type->fields; field->name && !rg_str_is(name, field->name);)
			field++;
		if (!field->name)
			wrong(row, "no member", name);
		else if (field->kind == ROGER_BOOL)
			*(bool *)rg_field_at(field, record) = true;
		else if (row_next(row, "="))
			set_field(row, field, rg_field_at(field, record));
		else
			wrong(row, "no value for", name);
	}
}

void row_request(struct row *row, const struct roger_record *type, void *request)
{
	set_record(row, type, request, "");
}

/* --------------------------------------------------------------- replies -- */

static struct roger_str text_of(const struct rg_value *value)
{
	switch (value ? rg_json_kind(value) : RG_JSON_NULL) {
	case RG_JSON_STRING:
		return rg_json_str(value);
	case RG_JSON_NUMBER:
		return rg_json_digits(value);
	case RG_JSON_TRUE:
		return RG_STR("true");
	default:
		return RG_STR("");
	}
}

static bool is_unset(const struct rg_value *value)
{
	struct roger_str text = text_of(value), key;
	const struct rg_value *item = NULL;
	bool container = value && rg_json_kind(value) >= RG_JSON_ARRAY;
	size_t i = 0;

	while (container && rg_json_next(value, &i, &key, &item))
		if (rg_json_kind(value) == RG_JSON_ARRAY || !is_unset(item))
			return false;
	return text.length == 0 || (rg_str_is(text, "0") && rg_json_kind(value) == RG_JSON_NUMBER);
}

static bool match(struct row *row, const struct rg_value *value);

static bool match_list(struct row *row, const struct rg_value *list)
{
	const struct rg_value *item = NULL;
	struct roger_str unused;
	size_t i = 0;

	if (!list || rg_json_kind(list) != RG_JSON_ARRAY)
		return wrong(row, "no list at", rg_str(row->at));
	while (more(row, "]")) {
		if (row_next(row, ".."))
			return row_next(row, "]");
		if (!rg_json_next(list, &i, &unused, &item))
			return wrong(row, "no further item for", rg_str(row->at));
		if (!match(row, item))
			return false;
	}
	if (rg_json_next(list, &i, &unused, &item))
		return wrong(row, "a further item before", rg_str(row->at));
	return !row->why[0];
}

static bool others_unset(struct row *row, const struct rg_value *object,
			 const struct roger_str *named, size_t count)
{
	const struct rg_value *item = NULL;
	struct roger_str key;
	size_t i = 0, k;

	while (rg_json_next(object, &i, &key, &item)) {
		for (k = 0; k < count && !rg_str_equal(named[k], key);)
			k++;
		if (k == count && !is_unset(item))
			return wrong(row, "not said to be set:", key);
	}
	return true;
}

static bool match_object(struct row *row, const struct rg_value *object, const char *end)
{
	struct roger_str named[64];
	bool open = false;
	size_t count = 0;

	if (!object || rg_json_kind(object) != RG_JSON_OBJECT)
		return wrong(row, "no record at", rg_str(row->at));
	while (more(row, end)) {
		if (row_next(row, "..")) {
			open = true;
			continue;
		}
		rg_assert(count < sizeof named / sizeof *named);
		named[count] = span(row, "= \t\n]}");
		if (!row_next(row, "="))
			return wrong(row, "no value for", named[count]);
		if (!match(row, rg_json_member_of(object, named[count])))
			return wrong(row, "not as it should be:", named[count]);
		count++;
	}
	return !row->why[0] && (open || others_unset(row, object, named, count));
}

/* What is named now, or was before; a list or record by its JSON. */
static bool match_name(struct row *row, const struct rg_value *value)
{
	struct roger_str name = read_name(row), text, *known = find_name(row, name);
	struct rg_buf buf;

	rg_buf_init(&buf, SIZE_MAX);
	if (value && rg_json_kind(value) >= RG_JSON_ARRAY)
		rg_json_print(value, &buf);
	else
		rg_buf_add_str(&buf, text_of(value));
	rg_assert(rg_arena_keep(row->arena, &buf, &text));
	if (known)
		return rg_str_equal(*known, text);
	row_name(row, name, text);
	return text.length > 0;
}

static bool match(struct row *row, const struct rg_value *value)
{
	struct roger_str text;

	if (row_next(row, "["))
		return match_list(row, value);
	if (row_next(row, "{"))
		return match_object(row, value, "}");
	if (row_next(row, "$"))
		return match_name(row, value);
	if (row_next(row, "~")) {
		text = row_text(row);
		return memmem(text_of(value).data, text_of(value).length, text.data, text.length);
	}
	if (*row->at != '"' && *row->at != '\'') {
		text = row_text(row);
		if (rg_str_is(text, "?") || rg_str_is(text, "-"))
			return is_unset(value) == (text.data[0] == '-');
		return rg_str_is(text, "*") || rg_str_equal(text, text_of(value));
	}
	return rg_str_equal(row_text(row), text_of(value));
}

bool row_matches(struct row *row, const struct rg_value *reply)
{
	return row_next(row, "$") ? match_name(row, reply) : match_object(row, reply, "");
}

/* -------------------------------------------------------------- printing -- */

static bool is_word(struct roger_str text)
{
	return text.length && strcspn(text.data, " \t\n]}[{\"'$~?*^\\") >= text.length &&
	       !rg_str_is(text, "-") && !rg_str_is(text, "..");
}

/* By its name, where it has one; an instant is another one each time. */
static void print_text(const struct row *row, struct roger_str text, bool number,
		       struct rg_buf *out)
{
	size_t i;

	for (i = 0; i < row->name_count && !rg_str_equal(row->names[i].value, text);)
		i++;
	if (i < row->name_count)
		rg_buf_printf(out, "$%.*s", RG_STR_ARGS(row->names[i].name));
	else if (number && text.length > 12)
		rg_buf_add_char(out, '?');
	else if (is_word(text))
		rg_buf_add_str(out, text);
	else
		rg_json_add_string(out, text);
}

static void print_value(const struct row *row, const struct rg_value *value, struct rg_buf *out)
{
	enum rg_json_kind kind = rg_json_kind(value);
	const struct rg_value *item = NULL;
	struct roger_str unused;
	size_t i = 0;

	if (kind == RG_JSON_OBJECT) {
		rg_buf_add_char(out, '{');
		row_print(row, value, out);
		rg_buf_add_char(out, '}');
	} else if (kind == RG_JSON_ARRAY) {
		rg_buf_add_char(out, '[');
		while (rg_json_next(value, &i, &unused, &item)) {
			rg_buf_add_text(out, out->data[out->length - 1] == '[' ? "" : " ");
			print_value(row, item, out);
		}
		rg_buf_add_char(out, ']');
	} else {
		print_text(row, text_of(value), kind == RG_JSON_NUMBER, out);
	}
}

void row_print(const struct row *row, const struct rg_value *reply, struct rg_buf *out)
{
	const struct rg_value *item = NULL;
	struct roger_str key;
	bool first = true;
	size_t i = 0;

	while (rg_json_next(reply, &i, &key, &item)) {
		if (is_unset(item))
			continue;
		rg_buf_printf(out, "%s%.*s=", first ? "" : " ", RG_STR_ARGS(key));
		print_value(row, item, out);
		first = false;
	}
}
