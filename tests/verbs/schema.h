/* schema - does a value conform to a JSON Schema?  Only keywords that roger's schemas have. */
#ifndef TEST_SCHEMA_H
#define TEST_SCHEMA_H

#include "data/json.h"

/* false: why, with where, is printed to why.  A keyword that is not known is one, too. */
bool schema_allows(const struct rg_value *schema, const struct rg_value *value, char why[300]);

#endif
