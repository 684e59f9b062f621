#include "schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/nearest.h"

/* The place in the value: a list from the inside out, on the stack. */
struct place {
	const struct place *outer;
	struct roger_str name; /* of a member; data NULL: an item */
	size_t index;	       /* of an item */
};

struct check {
	const struct rg_value *root;
	size_t steps; /* steps left, so that no schema takes for ever */
	size_t depth; /* how deep the check is, so that no $ref goes round for ever */
	bool lone_items;
	struct roger_err *err;
};

static bool value_fits(struct check *check, const struct rg_value *schema,
		       const struct rg_value *value, const struct place *place);

/* ---------------------------------------------------------- sentences -- */

static void add_place(const struct place *place, struct rg_buf *out)
{
	if (!place->outer)
		return;
	add_place(place->outer, out);
	if (place->name.data) {
		if (place->outer->outer)
			rg_buf_add_char(out, '.');
		rg_buf_add_str(out, place->name);
	} else {
		rg_buf_printf(out, "[%zu]", place->index);
	}
}

/* Say "'to' WHAT", or "the value WHAT"; returns false. */
RG_PRINTF(3, 4)
static bool say_fault(struct check *check, const struct place *place, const char *format, ...)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf where = { .maximum = 4096 };
	char what[256];
	va_list arguments;

	if (!check->err)
		return false;
	va_start(arguments, format);
	vsnprintf(what, sizeof what, format, arguments);
	va_end(arguments);
	add_place(place, &where);
	if (where.length == 0)
		rg_fail(check->err, ROGER_EDATA, 0, "the value %s", what);
	else if (where.length > 120)
		rg_fail(check->err, ROGER_EDATA, 0, "a member %s", what);
	else
		rg_fail(check->err, ROGER_EDATA, 0, "'%.*s' %s", (int)where.length, where.data,
			what);
	return false;
}

static const char *article_of(struct roger_str type)
{
	return type.length && strchr("aeiou", type.data[0]) ? "an" : "a";
}

/* Print what a schema expects: "a string", "an integer or null", or "a value". */
static void add_expected(const struct rg_value *schema, struct rg_buf *out)
{
	const struct rg_value *type = rg_json_member(schema, "type"), *item = NULL;
	struct roger_str key, name;
	size_t i = 0;

	if (rg_json_kind(type) == RG_JSON_STRING) {
		name = rg_json_str(type);
		rg_buf_printf(out, "%s %.*s", article_of(name), RG_STR_ARGS(name));
		return;
	}
	while (rg_json_next(type, &i, &key, &item)) {
		name = rg_json_str(item);
		rg_buf_printf(out, "%s%s %.*s", i > 1 ? " or " : "", article_of(name),
			      RG_STR_ARGS(name));
	}
	if (i == 0)
		rg_buf_add_text(out, "a value");
}

/* Add what may stand there and a short description, to help with what is missing. */
static void add_description(const struct rg_value *schema, struct rg_buf *out)
{
	struct roger_str text = rg_json_str(rg_json_member(schema, "description"));
	const struct rg_value *values = rg_json_member(schema, "enum");

	if (values) {
		rg_buf_add_text(out, " of ");
		rg_json_print(values, out);
	}
	if (text.length && text.length <= 100)
		rg_buf_printf(out, " (%.*s)", RG_STR_ARGS(text));
}

/* -------------------------------------------------------------- types -- */

static bool number_of(const struct rg_value *value, double *ret_number)
{
	struct roger_str digits;
	char text[64];

	if (rg_json_kind(value) != RG_JSON_NUMBER)
		return false;
	digits = rg_json_digits(value);
	if (digits.length >= sizeof text)
		return false;
	memcpy(text, digits.data, digits.length);
	text[digits.length] = 0;
	*ret_number = strtod(text, NULL);
	return true;
}

/* 1.0 is an integer, too. */
static bool is_integer(const struct rg_value *value)
{
	double number;

	return number_of(value, &number) && isfinite(number) && number == floor(number);
}

static bool is_of(const struct rg_value *value, struct roger_str type)
{
	switch (rg_json_kind(value)) {
	case RG_JSON_NULL:
		return rg_str_is(type, "null");
	case RG_JSON_FALSE:
	case RG_JSON_TRUE:
		return rg_str_is(type, "boolean");
	case RG_JSON_NUMBER:
		return rg_str_is(type, "number") ||
		       (rg_str_is(type, "integer") && is_integer(value));
	case RG_JSON_STRING:
		return rg_str_is(type, "string");
	case RG_JSON_ARRAY:
		return rg_str_is(type, "array");
	case RG_JSON_OBJECT:
		return rg_str_is(type, "object");
	}
	return false;
}

/* Is this a text where an array of texts is expected? */
static bool is_lone_item(const struct check *check, const struct rg_value *schema,
			 const struct rg_value *value)
{
	const struct rg_value *items = rg_json_member(schema, "items");

	return check->lone_items && rg_json_kind(value) == RG_JSON_STRING &&
	       rg_str_is(rg_json_str(rg_json_member(schema, "type")), "array") &&
	       rg_str_is(rg_json_str(rg_json_member(items, "type")), "string");
}

static bool type_fits(struct check *check, const struct rg_value *schema,
		      const struct rg_value *value, const struct place *place)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf expected = { .maximum = 256 };
	const struct rg_value *type = rg_json_member(schema, "type"), *item = NULL;
	const char *kind;
	struct roger_str key;
	size_t i = 0;

	if (!type || (rg_json_kind(type) == RG_JSON_STRING && is_of(value, rg_json_str(type))))
		return true;
	while (rg_json_next(type, &i, &key, &item))
		if (is_of(value, rg_json_str(item)))
			return true;
	if (is_lone_item(check, schema, value))
		return value_fits(check, rg_json_member(schema, "items"), value, place);
	add_expected(schema, &expected);
	kind = rg_json_kind_name(rg_json_kind(value));
	return say_fault(check, place, "is %s; expected %.*s", kind, (int)expected.length,
			 expected.data);
}

/* ------------------------------------------------------ enum and const -- */

static bool values_equal(const struct rg_value *a, const struct rg_value *b)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf one = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf other = { .maximum = SIZE_MAX };
	double x, y;

	if (rg_json_kind(a) != rg_json_kind(b))
		return false;
	if (number_of(a, &x) && number_of(b, &y))
		return x == y;
	rg_json_print(a, &one);
	rg_json_print(b, &other);
	return !one.failed && !other.failed && rg_str_equal(rg_buf_str(&one), rg_buf_str(&other));
}

static bool enum_fits(struct check *check, const struct rg_value *schema,
		      const struct rg_value *value, const struct place *place)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf list = { .maximum = 200 };
	const struct rg_value *values = rg_json_member(schema, "enum"), *item = NULL;
	const struct rg_value *only = rg_json_member(schema, "const");
	struct roger_str key;
	size_t i = 0;

	if (only && !values_equal(only, value)) {
		rg_json_print(only, &list);
		return say_fault(check, place, "is not what it must be: %.*s",
				 list.failed ? 0 : (int)list.length, list.data);
	}
	if (rg_json_kind(values) != RG_JSON_ARRAY)
		return true;
	while (rg_json_next(values, &i, &key, &item)) {
		if (values_equal(item, value))
			return true;
		if (i > 1)
			rg_buf_add_text(&list, ", ");
		rg_json_print(item, &list);
	}
	if (list.failed)
		return say_fault(check, place, "is none of the values of its schema");
	return say_fault(check, place, "is none of these: %.*s", (int)list.length, list.data);
}

/* ------------------------------------------------------------- bounds -- */

static bool read_bound(const struct rg_value *schema, const char *keyword, double *ret_bound)
{
	return number_of(rg_json_member(schema, keyword), ret_bound);
}

static bool number_fits(struct check *check, const struct rg_value *schema,
			const struct rg_value *value, const struct place *place)
{
	double number, limit;

	if (!number_of(value, &number))
		return true;
	if (read_bound(schema, "minimum", &limit) && number < limit)
		return say_fault(check, place, "is too small; expected %g or more", limit);
	if (read_bound(schema, "maximum", &limit) && number > limit)
		return say_fault(check, place, "is too large; expected %g or less", limit);
	if (read_bound(schema, "exclusiveMinimum", &limit) && number <= limit)
		return say_fault(check, place, "is too small; expected more than %g", limit);
	if (read_bound(schema, "exclusiveMaximum", &limit) && number >= limit)
		return say_fault(check, place, "is too large; expected less than %g", limit);
	return true;
}

static bool string_fits(struct check *check, const struct rg_value *schema,
			const struct rg_value *value, const struct place *place)
{
	size_t chars = 0;
	double limit;

	if (rg_json_kind(value) != RG_JSON_STRING || !rg_utf8_count(rg_json_str(value), &chars))
		return true;
	if (read_bound(schema, "minLength", &limit) && (double)chars < limit)
		return limit == 1
			       ? say_fault(check, place, "is empty; expected some text")
			       : say_fault(check, place, "has %zu characters; expected %g or more",
					   chars, limit);
	if (read_bound(schema, "maxLength", &limit) && (double)chars > limit)
		return say_fault(check, place, "has %zu characters; expected %g at most", chars,
				 limit);
	return true;
}

static bool items_fit(struct check *check, const struct rg_value *schema,
		      const struct rg_value *value, const struct place *place)
{
	const struct rg_value *items = rg_json_member(schema, "items"), *item = NULL;
	struct place inner = { .outer = place };
	struct roger_str key;
	double limit;
	size_t i = 0;

	if (rg_json_kind(value) != RG_JSON_ARRAY)
		return true;
	while (rg_json_next(value, &i, &key, &item)) {
		inner.index = i - 1;
		if (items && !value_fits(check, items, item, &inner))
			return false;
	}
	if (read_bound(schema, "minItems", &limit) && (double)i < limit)
		return say_fault(check, place, "has %zu items; expected %g or more", i, limit);
	if (read_bound(schema, "maxItems", &limit) && (double)i > limit)
		return say_fault(check, place, "has %zu items; expected %g at most", i, limit);
	return true;
}

/* ------------------------------------------------------------ members -- */

static bool say_unknown(struct check *check, const struct rg_value *properties,
			struct roger_str name, const struct place *place)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf list = { .maximum = 160 };
	const struct rg_value *value = NULL;
	struct roger_str known;
	size_t i = 0;

	while (rg_json_next(properties, &i, &known, &value))
		if (rg_is_near(name, known))
			return say_fault(check, place, "is not known; did you mean '%.*s'?",
					 RG_STR_ARGS(known));
	for (i = 0; rg_json_next(properties, &i, &known, &value);)
		rg_buf_printf(&list, "%s%.*s", i > 1 ? ", " : "", RG_STR_ARGS(known));
	if (list.failed || list.length == 0)
		return say_fault(check, place, "is not known; leave it out");
	return say_fault(check, place, "is not known; known are %.*s", (int)list.length, list.data);
}

static bool members_fit(struct check *check, const struct rg_value *schema,
			const struct rg_value *value, const struct place *place)
{
	const struct rg_value *properties = rg_json_member(schema, "properties");
	const struct rg_value *others = rg_json_member(schema, "additionalProperties");
	const struct rg_value *inner = NULL, *rule;
	struct place member = { .outer = place };
	size_t i = 0;

	while (rg_json_next(value, &i, &member.name, &inner)) {
		rule = rg_json_member_of(properties, member.name);
		if (!rule && others && rg_json_kind(others) == RG_JSON_FALSE)
			return say_unknown(check, properties, member.name, &member);
		rule = rule ? rule : others;
		if (rule && !value_fits(check, rule, inner, &member))
			return false;
	}
	return true;
}

/* Does the value fit?  Nothing is said about why not. */
static bool fits_quietly(struct check *check, const struct rg_value *schema,
			 const struct rg_value *value, const struct place *place)
{
	struct roger_err *err = check->err;
	bool good;

	check->err = NULL;
	good = value_fits(check, schema, value, place);
	check->err = err;
	return good;
}

/* Count the members that the schema does not know; *ret_first: the first of them. */
static size_t count_unknown(const struct rg_value *schema, const struct rg_value *value,
			    struct roger_str *ret_first)
{
	const struct rg_value *others = rg_json_member(schema, "additionalProperties");
	const struct rg_value *properties = rg_json_member(schema, "properties"), *inner = NULL;
	struct roger_str name;
	size_t i = 0, count = 0;

	if (!others || rg_json_kind(others) != RG_JSON_FALSE)
		return 0;
	while (rg_json_next(value, &i, &name, &inner))
		if (!rg_json_member_of(properties, name) && count++ == 0)
			*ret_first = name;
	return count;
}

static size_t count_missing(const struct rg_value *required, const struct rg_value *value)
{
	const struct rg_value *item = NULL;
	struct roger_str key;
	size_t i = 0, count = 0;

	while (rg_json_next(required, &i, &key, &item))
		count += !rg_json_member_of(value, rg_json_str(item));
	return count;
}

/* Say that a member is missing; an unknown one may be this one under another name. */
static bool say_missing(struct check *check, const struct rg_value *schema,
			const struct rg_value *value, struct place *member)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf expected = { .maximum = SIZE_MAX };
	const struct rg_value *properties = rg_json_member(schema, "properties");
	const struct rg_value *rule = rg_json_member_of(properties, member->name);
	struct roger_str missing = member->name, other = { NULL, 0 };
	size_t unknown = count_unknown(schema, value, &other);

	member->name = other;
	if (unknown == 1 && count_missing(rg_json_member(schema, "required"), value) == 1 &&
	    fits_quietly(check, rule, rg_json_member_of(value, other), member))
		return say_fault(check, member, "is not known; did you mean '%.*s'?",
				 RG_STR_ARGS(missing));
	if (unknown > 1)
		return say_unknown(check, properties, other, member);
	member->name = missing;
	add_expected(rule, &expected);
	add_description(rule, &expected);
	return say_fault(check, member, "is missing; expected %.*s", (int)expected.length,
			 expected.data);
}

static bool required_fit(struct check *check, const struct rg_value *schema,
			 const struct rg_value *value, const struct place *place)
{
	const struct rg_value *required = rg_json_member(schema, "required"), *item = NULL;
	struct place member = { .outer = place };
	struct roger_str key;
	size_t i = 0;

	while (rg_json_next(required, &i, &key, &item)) {
		member.name = rg_json_str(item);
		if (!rg_json_member_of(value, member.name))
			return say_missing(check, schema, value, &member);
	}
	return true;
}

/* -------------------------------------------------------- composition -- */

static size_t count_fitting(struct check *check, const struct rg_value *schemas,
			    const struct rg_value *value, const struct place *place)
{
	const struct rg_value *schema = NULL;
	struct roger_str key;
	size_t i = 0, count = 0;

	while (rg_json_next(schemas, &i, &key, &schema))
		count += fits_quietly(check, schema, value, place);
	return count;
}

static bool composed_fits(struct check *check, const struct rg_value *schema,
			  const struct rg_value *value, const struct place *place)
{
	const struct rg_value *all = rg_json_member(schema, "allOf"), *part = NULL;
	const struct rg_value *any = rg_json_member(schema, "anyOf");
	const struct rg_value *one = rg_json_member(schema, "oneOf");
	const struct rg_value *not = rg_json_member(schema, "not");
	const struct rg_value *given = rg_json_member(schema, "if");
	struct roger_str key;
	size_t i = 0;

	while (rg_json_next(all, &i, &key, &part))
		if (!value_fits(check, part, value, place))
			return false;
	if (any && count_fitting(check, any, value, place) == 0)
		return say_fault(check, place, "fits none of the forms it may have (anyOf)");
	if (one && count_fitting(check, one, value, place) != 1)
		return say_fault(check, place,
				 "must fit exactly one of the forms it may have (oneOf)");
	if (not &&fits_quietly(check, not, value, place))
		return say_fault(check, place, "has a form it must not have (not)");
	if (given) {
		part = rg_json_member(schema,
				      fits_quietly(check, given, value, place) ? "then" : "else");
		return !part || value_fits(check, part, value, place);
	}
	return true;
}

/* The place that a pointer such as "#/$defs/name" leads to; NULL: none. */
static const struct rg_value *find_referred(const struct rg_value *root, struct roger_str pointer)
{
	const struct rg_value *at = root;
	struct roger_str step;
	const char *slash;

	if (rg_str_is(pointer, "#"))
		return root;
	if (pointer.length < 2 || memcmp(pointer.data, "#/", 2) != 0)
		return NULL;
	pointer.data += 2, pointer.length -= 2;
	while (at) {
		slash = memchr(pointer.data, '/', pointer.length);
		step.data = pointer.data;
		step.length = slash ? (size_t)(slash - pointer.data) : pointer.length;
		at = rg_json_member_of(at, step);
		if (!slash)
			break;
		pointer.length -= step.length + 1;
		pointer.data = slash + 1;
	}
	return at;
}

static bool keeps_rules(struct check *check, const struct rg_value *schema,
			const struct rg_value *value, const struct place *place)
{
	const struct rg_value *ref;

	ref = rg_json_member(schema, "$ref");
	if (ref && !value_fits(check, find_referred(check->root, rg_json_str(ref)), value, place))
		return false;
	if (!type_fits(check, schema, value, place) || !enum_fits(check, schema, value, place) ||
	    !number_fits(check, schema, value, place) ||
	    !string_fits(check, schema, value, place) || !items_fit(check, schema, value, place))
		return false;
	if (rg_json_kind(value) == RG_JSON_OBJECT && (!required_fit(check, schema, value, place) ||
						      !members_fit(check, schema, value, place)))
		return false;
	return composed_fits(check, schema, value, place);
}

static bool value_fits(struct check *check, const struct rg_value *schema,
		       const struct rg_value *value, const struct place *place)
{
	bool good;

	if (rg_json_kind(schema) == RG_JSON_FALSE)
		return say_fault(check, place, "must not be there");
	if (rg_json_kind(schema) != RG_JSON_OBJECT)
		return true;
	if (check->steps == 0 || check->depth == RG_MCP_SCHEMA_DEPTH_MAX)
		return say_fault(check, place, "takes too long to check against its schema");
	check->steps--;
	check->depth++;
	good = keeps_rules(check, schema, value, place);
	check->depth--;
	return good;
}

int rg_schema_accept(const struct rg_value *schema, const struct rg_value *value, bool lone_items,
		     struct roger_err *err)
{
	struct roger_err own;
	struct check check = { schema, RG_MCP_SCHEMA_STEPS_MAX, 0, lone_items, err ? err : &own };
	const struct place root = { .outer = NULL };

	return value_fits(&check, schema, value, &root) ? ROGER_OK : ROGER_EDATA;
}

/* ------------------------------------------------- is it a schema at all -- */

static int check_schema(const struct rg_value *root, const struct rg_value *schema,
			struct roger_err *err);

static int check_each(const struct rg_value *root, const struct rg_value *container,
		      struct roger_err *err)
{
	const struct rg_value *inner = NULL;
	struct roger_str key;
	size_t i = 0;
	int r;

	while (rg_json_next(container, &i, &key, &inner)) {
		r = check_schema(root, inner, err);
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}

/* Recursion is bounded by the depth of JSON that is read. */
static int check_schema(const struct rg_value *root, const struct rg_value *schema,
			struct roger_err *err)
{
	static const char *const single[] = {
		"additionalProperties", "items", "not", "if", "then", "else"
	};
	static const char *const many[] = { "properties", "$defs", "allOf", "anyOf", "oneOf" };
	enum rg_json_kind kind = rg_json_kind(schema);
	const struct rg_value *inner, *ref;
	struct roger_str target;
	size_t i;
	int r = ROGER_OK;

	if (kind == RG_JSON_TRUE || kind == RG_JSON_FALSE)
		return ROGER_OK;
	if (kind != RG_JSON_OBJECT)
		return rg_fail(err, ROGER_EDATA, 0, "a schema is %s; expected an object",
			       rg_json_kind_name(kind));
	ref = rg_json_member(schema, "$ref");
	target = rg_json_str(ref);
	if (ref && !find_referred(root, target))
		return rg_fail(err, ROGER_EDATA, 0, "$ref '%.*s' leads nowhere in this schema",
			       target.length < 100 ? (int)target.length : 100, target.data);
	for (i = 0; i < sizeof single / sizeof *single && r == ROGER_OK; i++) {
		inner = rg_json_member(schema, single[i]);
		if (inner)
			r = check_schema(root, inner, err);
	}
	for (i = 0; i < sizeof many / sizeof *many && r == ROGER_OK; i++)
		r = check_each(root, rg_json_member(schema, many[i]), err);
	return r;
}

int rg_schema_check(const struct rg_value *schema, struct roger_err *err)
{
	if (rg_json_kind(schema) != RG_JSON_OBJECT ||
	    !rg_str_is(rg_json_str(rg_json_member(schema, "type")), "object"))
		return rg_fail(err, ROGER_EDATA, 0,
			       "a schema of arguments has \"type\":\"object\"");
	return check_schema(schema, schema, err);
}
