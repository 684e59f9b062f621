/*
 * row - the words of a row: a request and what its reply should be.
 *
 *     send from=amy to=[bob eve] content="hi there" -> seq=1 messages=[{id=$a to=bob} ..] ..
 *
 * A value is a word, a text in "" (with \n, \xNN and names) or '' (as it is), a
 * list in [] or a record in {}; a member without one is true.  x^500 is 500 times
 * x, and *20 in a list repeats its last item until there are 20.
 *
 * In a reply every member that is not named has to be unset, unless .. follows.
 * ? is anything but unset, - is unset, * is anything, ~"x" is a text with x in
 * it.  $name stands for what it matched first, all of the reply if nothing else stands there.
 */
#ifndef TEST_ROW_H
#define TEST_ROW_H

#include "data/record.h"

enum { ROW_NAMES_MAX = 32 };

struct row {
	const char *at;		/* how far it was read */
	struct rg_arena *arena; /* of what was read */
	struct {
		struct roger_str name, value;
	} names[ROW_NAMES_MAX];
	size_t name_count;
	char why[512]; /* it does not match, or makes no sense; "" */
};

/* The text that stands next. */
struct roger_str row_text(struct row *row);

void row_name(struct row *row, struct roger_str name, struct roger_str value);

/* Fill a request with the members up to "->", or the end. */
void row_request(struct row *row, const struct roger_record *type, void *request);

/* Does the rest of the row say what the reply is? */
bool row_matches(struct row *row, const struct rg_value *reply);

/* The reply as a row would have it. */
void row_print(const struct row *row, const struct rg_value *reply, struct rg_buf *out);

/* Nothing but blanks stands there any more? */
bool row_ends(struct row *row);

/* Is next what stands next?  Then it is read. */
bool row_next(struct row *row, const char *next);

#endif
