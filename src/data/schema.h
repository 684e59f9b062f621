/* schema - a record as a JSON Schema (2020-12), in roger's words. */
#ifndef RG_SCHEMA_H
#define RG_SCHEMA_H

#include "data/record.h"

enum rg_schema_use {
	RG_SCHEMA_REPLY,   /* what rg_words_encode() writes */
	RG_SCHEMA_REQUEST, /* what rg_words_decode() takes; the caller's name is optional */
	RG_SCHEMA_TOOL,	   /* for a model: short, and times as it would write them */
};

/* Print the record as an object; a reply also has format and damage, as --json prints it. */
void rg_schema_print(const struct roger_record *record, enum rg_schema_use use, struct rg_buf *out);

/* A member "name":{"type":...}; help may be NULL. */
void rg_schema_add_field(const struct roger_field *field, enum rg_schema_use use, const char *help,
			 struct rg_buf *out);

/* A member "key":["a","b"]; names end with NULL. */
void rg_schema_add_names(const char *key, const char *const *names, struct rg_buf *out);

#endif
