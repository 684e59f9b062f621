/*
 * json - reading JSON strictly, writing it simply.  The only user of yyjson.
 *
 * Reading refuses what JSON leaves open: duplicate members, nesting beyond
 * RG_JSON_DEPTH_MAX, anything after the value.  Numbers keep their digits, so
 * members that roger does not know are written again unchanged.
 */
#ifndef RG_JSON_H
#define RG_JSON_H

#include "base/arena.h"

struct rg_json; /* a document */
struct rg_value;

enum rg_json_kind {
	RG_JSON_NULL,
	RG_JSON_FALSE,
	RG_JSON_TRUE,
	RG_JSON_NUMBER,
	RG_JSON_STRING,
	RG_JSON_ARRAY,
	RG_JSON_OBJECT,
};

/* Read one value and nothing else.  err gives the byte and the reason, never content. */
RG_CHECKED int rg_json_read(struct roger_str text, struct rg_json **ret_json,
			    struct roger_err *err);

/* Like rg_json_read(), in the memory of an arena, with which it is freed. */
RG_CHECKED int rg_json_read_within(struct roger_str text, struct rg_arena *arena,
				   const struct rg_json **ret_json, struct roger_err *err);

/* Read JSON where comments, trailing commas and names that come twice are allowed.  err names the
 * line. */
RG_CHECKED int rg_json_read_lenient(struct roger_str text, struct rg_json **ret_json,
				    struct roger_err *err);

struct rg_json *rg_json_free(struct rg_json *json);
void rg_json_freep(struct rg_json **json);

const struct rg_value *rg_json_root(const struct rg_json *json);
enum rg_json_kind rg_json_kind(const struct rg_value *value);
const char *rg_json_kind_name(enum rg_json_kind kind);

/* The characters of a string, borrowed from the document. */
struct roger_str rg_json_str(const struct rg_value *value);

/* A whole number that fits; false for anything else. */
bool rg_json_int(const struct rg_value *value, int64_t *ret_number);

/* The digits of a number, as they came. */
struct roger_str rg_json_digits(const struct rg_value *value);

/*
 * Members or items in order: start with i = 0; false at the end, and for other
 * kinds of values.  *ret_value must still be the previous one.
 */
bool rg_json_next(const struct rg_value *container, size_t *i, struct roger_str *ret_key,
		  const struct rg_value **ret_value);

/* The value of a member; NULL: none, which the functions above take for null, "" and no items. */
const struct rg_value *rg_json_member(const struct rg_value *object, const char *key);
const struct rg_value *rg_json_member_of(const struct rg_value *object, struct roger_str key);

/* A keyed hash of the value: numbers are doubles, the order of members does not count. */
uint64_t rg_json_hash(uint64_t key, const struct rg_value *value);

/* Print the value as text, without white space. */
void rg_json_print(const struct rg_value *value, struct rg_buf *out);

/* Write JSON.  Only what must be escaped is escaped. */
void rg_json_add_string(struct rg_buf *out, struct roger_str text);
void rg_json_add_key(struct rg_buf *out, struct roger_str key); /* with a comma where one is due */

void rg_json_add_member(struct rg_buf *out, const char *key, struct roger_str text);

/* Print JSON that has no white space for people, with two blanks a level. */
void rg_json_add_pretty(struct rg_buf *out, struct roger_str json);

#endif
