#include "schema.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

static bool allows(const struct rg_value *schema, const struct rg_value *value, const char *at,
		   char why[300]);

static bool refuse(char why[300], const char *at, const char *what, struct roger_str word)
{
	snprintf(why, 300, "%s: %s '%.*s'", at, what, RG_STR_CUT(word));
	return false;
}

static bool is_type(struct roger_str type, const struct rg_value *value)
{
	const enum rg_json_kind kind = rg_json_kind(value);
	int64_t number;

	return rg_str_is(type, "object")    ? kind == RG_JSON_OBJECT
	       : rg_str_is(type, "array")   ? kind == RG_JSON_ARRAY
	       : rg_str_is(type, "string")  ? kind == RG_JSON_STRING
	       : rg_str_is(type, "null")    ? kind == RG_JSON_NULL
	       : rg_str_is(type, "boolean") ? kind == RG_JSON_TRUE || kind == RG_JSON_FALSE
	       : rg_str_is(type, "integer") ? rg_json_int(value, &number)
					    : false;
}

/* "type" is a word, or a list of them. */
static bool is_one_type(const struct rg_value *types, const struct rg_value *value)
{
	const struct rg_value *type;
	struct roger_str key;
	size_t i = 0;

	if (rg_json_kind(types) == RG_JSON_STRING)
		return is_type(rg_json_str(types), value);
	while (rg_json_next(types, &i, &key, &type))
		if (is_type(rg_json_str(type), value))
			return true;
	return false;
}

static bool is_among(const struct rg_value *values, const struct rg_value *value)
{
	const struct rg_value *one;
	struct roger_str key;
	size_t i = 0;

	while (rg_json_next(values, &i, &key, &one))
		if (rg_json_kind(one) == rg_json_kind(value) &&
		    (rg_json_kind(one) != RG_JSON_STRING ||
		     rg_str_equal(rg_json_str(one), rg_json_str(value))))
			return true;
	return false;
}

static bool has_required(const struct rg_value *names, const struct rg_value *value, const char *at,
			 char why[300])
{
	const struct rg_value *name;
	struct roger_str key;
	size_t i = 0;

	while (rg_json_next(names, &i, &key, &name))
		if (!rg_json_member_of(value, rg_json_str(name)))
			return refuse(why, at, "the schema requires", rg_json_str(name));
	return true;
}

static bool allows_members(const struct rg_value *schema, const struct rg_value *value,
			   const char *at, char why[300])
{
	const struct rg_value *properties = rg_json_member(schema, "properties"), *member, *one;
	const struct rg_value *more = rg_json_member(schema, "additionalProperties");
	struct roger_str key;
	char place[200];
	size_t i = 0;

	while (rg_json_next(value, &i, &key, &member)) {
		snprintf(place, sizeof place, "%s.%.*s", at, RG_STR_CUT(key));
		one = rg_json_member_of(properties, key);
		if (one ? !allows(one, member, place, why)
			: more && rg_json_kind(more) != RG_JSON_TRUE)
			return one ? false : refuse(why, at, "the schema does not have", key);
	}
	return has_required(rg_json_member(schema, "required"), value, at, why);
}

static bool allows_items(const struct rg_value *schema, const struct rg_value *value,
			 const char *at, char why[300])
{
	const struct rg_value *items = rg_json_member(schema, "items"), *item;
	struct roger_str key;
	size_t i = 0;

	while (rg_json_next(value, &i, &key, &item))
		if (!allows(items, item, at, why))
			return false;
	return true;
}

static bool allows_keyword(struct roger_str keyword, const struct rg_value *with,
			   const struct rg_value *value, const char *at, char why[300])
{
	int64_t wanted, number;

	if (rg_str_is(keyword, "type"))
		return is_one_type(with, value) || refuse(why, at, "not of its", keyword);
	if (rg_str_is(keyword, "enum"))
		return is_among(with, value) || refuse(why, at, "not in its", keyword);
	if (rg_str_is(keyword, "const"))
		return (rg_json_int(with, &wanted) && rg_json_int(value, &number) &&
			wanted == number) ||
		       refuse(why, at, "not its", keyword);
	if (rg_str_is(keyword, "minimum"))
		return !rg_json_int(value, &number) || number >= 0 ||
		       refuse(why, at, "below its", keyword);
	return rg_str_is(keyword, "properties") || rg_str_is(keyword, "required") ||
	       rg_str_is(keyword, "items") || rg_str_is(keyword, "additionalProperties") ||
	       rg_str_is(keyword, "description") || rg_str_is(keyword, "format") ||
	       refuse(why, at, "this test does not know the keyword", keyword);
}

static bool allows(const struct rg_value *schema, const struct rg_value *value, const char *at,
		   char why[300])
{
	const struct rg_value *with;
	struct roger_str keyword;
	size_t i = 0;

	while (rg_json_next(schema, &i, &keyword, &with))
		if (!allows_keyword(keyword, with, value, at, why))
			return false;
	return rg_json_kind(value) == RG_JSON_OBJECT  ? allows_members(schema, value, at, why)
	       : rg_json_kind(value) == RG_JSON_ARRAY ? allows_items(schema, value, at, why)
						      : true;
}

bool schema_allows(const struct rg_value *schema, const struct rg_value *value, char why[300])
{
	return allows(schema, value, "it", why);
}
