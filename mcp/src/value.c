#include <stdlib.h>

#include "mcp.h"

/* struct roger_mcp_value is a struct rg_value. */
static const struct rg_value *value_of(const struct roger_mcp_value *value)
{
	return (const struct rg_value *)value;
}

enum roger_mcp_kind roger_mcp_kind_of(const struct roger_mcp_value *value)
{
	_Static_assert((int)ROGER_MCP_OBJECT == (int)RG_JSON_OBJECT, "the same order");
	return (enum roger_mcp_kind)rg_json_kind(value_of(value));
}

const struct roger_mcp_value *roger_mcp_member(const struct roger_mcp_value *object,
					       const char *name)
{
	return (const struct roger_mcp_value *)rg_json_member(value_of(object), name);
}

bool roger_mcp_next(const struct roger_mcp_value *container, size_t *i, const char **key,
		    const struct roger_mcp_value **value)
{
	const struct rg_value *item = *i ? value_of(*value) : NULL;
	struct roger_str name = { NULL, 0 };

	if (!rg_json_next(value_of(container), i, &name, &item))
		return false;
	if (key)
		*key = name.data;
	*value = (const struct roger_mcp_value *)item;
	return true;
}

const char *roger_mcp_text_of(const struct roger_mcp_value *value, const char *otherwise)
{
	return rg_json_kind(value_of(value)) == RG_JSON_STRING ? rg_json_str(value_of(value)).data
							       : otherwise;
}

double roger_mcp_number_of(const struct roger_mcp_value *value, double otherwise)
{
	struct roger_str digits = rg_json_digits(value_of(value));
	char text[64];

	if (rg_json_kind(value_of(value)) != RG_JSON_NUMBER || digits.length >= sizeof text)
		return otherwise;
	memcpy(text, digits.data, digits.length);
	text[digits.length] = 0;
	return strtod(text, NULL);
}

int64_t roger_mcp_int_of(const struct roger_mcp_value *value, int64_t otherwise)
{
	const double largest = 9007199254740992.0; /* 2^53 */
	double number = roger_mcp_number_of(value, 0.5);
	int64_t whole;

	if (rg_json_kind(value_of(value)) != RG_JSON_NUMBER)
		return otherwise;
	if (rg_json_int(value_of(value), &whole))
		return whole;
	/* 10.0 and 1e3 are whole numbers, too. */
	if (!(number >= -largest && number <= largest) || number != (double)(int64_t)number)
		return otherwise;
	return (int64_t)number;
}

bool roger_mcp_bool_of(const struct roger_mcp_value *value, bool otherwise)
{
	switch (rg_json_kind(value_of(value))) {
	case RG_JSON_TRUE:
		return value ? true : otherwise;
	case RG_JSON_FALSE:
		return false;
	default:
		return otherwise;
	}
}

const char *roger_mcp_json_of(struct roger_mcp_call *call, const struct roger_mcp_value *value)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str copy;

	if (!value)
		return NULL;
	rg_json_print(value_of(value), &text);
	return !text.failed && rg_arena_copy(call->arena, rg_buf_str(&text), &copy) ? copy.data
										    : NULL;
}
