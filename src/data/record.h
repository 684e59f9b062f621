/*
 * record - from JSON to a struct and back, by its table of fields.
 *
 * A decoded record's slices point into the document it came from or into the
 * arena; errors name the member and what was expected.
 *
 * Requests and answers have the names of fields, one word for a thing (rg_words_decode,
 * rg_words_encode).  A file of the seeds may have another name for a field, and has
 * milliseconds for an instant of the kind ROGER_TIME.
 *
 * A field's name may be a path: "action.type" is the member type of the object
 * that is the member action.  Fields of one object are neighbours in the table.
 * A ROGER_MEMBERS field keeps the unknown members of its object: "" those of the
 * record, "action.*" those of the action.
 */
#ifndef RG_RECORD_H
#define RG_RECORD_H

#include "base/arena.h"
#include "data/json.h"

/* The place of a field in a record. */
static inline void *rg_field_at(const struct roger_field *field, const void *record)
{
	return (char *)(uintptr_t)record + field->offset;
}

/* What a field of the kind ROGER_RECORDS or ROGER_TEXTS has in a record. */
struct rg_list {
	char *items;
	size_t count;
};

/* The name of a field in a file. */
static inline const char *rg_field_file(const struct roger_field *field)
{
	return field->file ? field->file : field->name;
}

/* The first field with this flag; NULL: none has it. */
const struct roger_field *rg_find_flag(const struct roger_record *record, unsigned flag);

/* Is the field at its unset value: "", 0, false, no items? */
bool rg_field_unset(const struct roger_field *field, const void *record);

/*
 * An object: the record itself, or one inside it.  Its fields are neighbours in the table, and
 * their names begin with its path, of `depth` characters ("action.").
 */
struct rg_level {
	bool words; /* its members have roger's words; those of the file are also read */
	const struct roger_field *fields;
	size_t count;
	size_t depth;
	const struct roger_field *keeper; /* keeps unknown members; NULL: they are an error */
};

/* The object that starts with this field. */
struct rg_level rg_level_at(bool words, const struct roger_field *first, size_t depth);

/* Does an object inside this one start with the field?  *ret_name: its name here, or the field's;
 * *ret_inner: its fields, or that field alone. */
bool rg_level_inner(const struct rg_level *level, const struct roger_field *field,
		    struct roger_str *ret_name, struct rg_level *ret_inner);

/*
 * Check that required fields of a request are set, names valid, and enums and bounds in range.  The
 * first name of a required enum is "", so that "not given" is a value of its own.
 */
RG_CHECKED int rg_request_check(const struct roger_record *type, const void *request,
				struct roger_err *err);

/*
 * Check that texts of a request are UTF-8 without NUL, and no number is negative, as reading and
 * rg_record_set() do: a program of C may have set anything.
 */
RG_CHECKED int rg_values_check(const struct roger_record *type, const void *request,
			       struct roger_err *err);

/*
 * Fill record, zeroed by the caller, from an object.  Unknown members go to the
 * ROGER_MEMBERS field; without such a field they are an error.  The arena holds
 * lists and raw JSON.
 */
RG_CHECKED int rg_record_decode(const struct roger_record *type, const struct rg_value *object,
				void *record, struct rg_arena *arena, struct roger_err *err);

/* Like rg_record_decode(), from a text, which need not last: what is decoded is in the arena. */
RG_CHECKED int rg_record_read(const struct roger_record *type, struct roger_str text, void *record,
			      struct rg_arena *arena, struct roger_err *err);

/* Like rg_record_decode(), but with roger's words, or with the names of the seeds' files. */
RG_CHECKED int rg_words_decode(const struct roger_record *type, const struct rg_value *object,
			       void *record, struct rg_arena *arena, struct roger_err *err);

/* Like rg_words_decode(), for a request: a required member that is missing is ROGER_EUSAGE. */
RG_CHECKED int rg_request_decode(const struct roger_record *type, const struct rg_value *object,
				 void *record, struct rg_arena *arena, struct roger_err *err);

/*
 * Like rg_words_decode(), for what rg_words_encode() printed, here or in a newer roger: unknown
 * members are skipped, and measured ones that are missing become ROGER_UNKNOWN.
 */
RG_CHECKED int rg_answer_decode(const struct roger_record *type, const struct rg_value *object,
				void *record, struct rg_arena *arena, struct roger_err *err);

/* Copy the texts of a decoded record into arena, so that it outlives its document. */
RG_CHECKED bool rg_record_keep(const struct roger_record *type, void *record,
			       struct rg_arena *arena);

/* Set one field from text, as a command line gives it. */
RG_CHECKED int rg_record_set(const struct roger_field *field, struct roger_str text, int64_t now_ms,
			     void *record, struct rg_arena *arena, struct roger_err *err);

/* The record as one JSON object on one line, as a file has it. */
void rg_record_encode(const struct roger_record *type, const void *record, struct rg_buf *out);

/*
 * Like rg_record_encode(), but with roger's words, for an answer.  A member that roger does not
 * know is left out if it is called like one of these.
 */
void rg_words_encode(const struct roger_record *type, const void *record, struct rg_buf *out);

/* One field as "name":value, after a comma where one is needed; nothing when it is left out. */
void rg_field_encode(const struct roger_field *field, const void *record, struct rg_buf *out);

/* A name of an agent, an issue or a run: 1-128 of letters, digits and . _ - : @ /, not starting
 * with '-'. */
bool rg_name_valid(struct roger_str name);

/* Like rg_name_valid(), with an error that names the member. */
RG_CHECKED int rg_name_check(const char *member, struct roger_str name, struct roger_err *err);

/* The index of a name, or -1; "" is never found. */
int rg_enum_find(const char *const *names, struct roger_str name);

/* "context, result, decision or data" */
void rg_enum_list(const char *const *names, struct rg_buf *out);

/* The member that this thread read last by an older name since the last call; NULL: none. */
const struct roger_field *rg_old_member(void);

/* "usage", "data", "no_such": a word for programs. */
const char *rg_code_name(int code);

#endif
