/*
 * schema - check a value against a JSON Schema.
 *
 * Of 2020-12 it knows: type, enum, const, properties, required, additionalProperties, items,
 * minItems, maxItems, minLength, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
 * allOf, anyOf, oneOf, not, if, then, else, and $ref to a place in the same schema.  Other
 * keywords are ignored.  An error is one sentence that a model can act on.  Pure rules.
 */
#ifndef RG_MCP_SCHEMA_H
#define RG_MCP_SCHEMA_H

#include "data/json.h"

/*
 * Is this a schema of an object, as a tool's arguments need one?  Every schema inside must be an
 * object or a boolean, and every $ref must have its place.
 */
RG_CHECKED int rg_schema_check(const struct rg_value *schema, struct roger_err *err);

/*
 * Check a value; err tells the first fault, by its path: "'to' is missing; expected a string".
 * lone_items: a string is accepted where an array of strings is expected.
 */
RG_CHECKED int rg_schema_accept(const struct rg_value *schema, const struct rg_value *value,
				bool lone_items, struct roger_err *err);

#endif
