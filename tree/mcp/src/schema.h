/*
 * schema - does a value keep a JSON Schema?
 *
 * Of 2020-12: type, enum, const, properties, required, additionalProperties,
 * items, minItems, maxItems, minLength, maxLength, minimum, maximum,
 * exclusiveMinimum, exclusiveMaximum, allOf, anyOf, oneOf, not, if, then, else,
 * and $ref to a place in the same schema.  Other keywords say nothing.  What
 * does not fit is told in a sentence that a model can act on.  Pure rules.
 */
#ifndef RG_MCP_SCHEMA_H
#define RG_MCP_SCHEMA_H

#include "data/json.h"

/*
 * Is this a schema of an object, as a tool's arguments need one?  Every schema
 * inside is an object or a boolean, every $ref has its place.
 */
RG_CHECKED int rg_schema_check(const struct rg_value *schema, struct roger_err *err);

/*
 * The first thing that does not fit, by its path: "'to' is missing; expected a
 * string".  lone_items: a text stands for an array of it.
 */
RG_CHECKED int rg_schema_accept(const struct rg_value *schema, const struct rg_value *value,
				bool lone_items, struct roger_err *err);

#endif
