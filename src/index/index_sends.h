/*
 * index_sends - check send logs, dead letters and cycles against the messages of a
 * journal: each rule is a sentence and a SELECT.
 *
 * doctor gives the lines that it walks over, each log in order; they stand in tables in
 * memory, in which every text is a hash.  Entries of old cycles may have been purged, so
 * a missing one is no fault.
 */
#ifndef RG_INDEX_SENDS_H
#define RG_INDEX_SENDS_H

#include "facts/sendlog.h"

enum rg_sends_rule {
	RG_SENDS_ID,
	RG_SENDS_PAYLOAD,
	RG_SENDS_NO_MESSAGE,
	RG_SENDS_NOT_READ,
	RG_SENDS_GAP,
	RG_SENDS_TAKEN_BACK,
	RG_SENDS_NO_LETTER,
	RG_SENDS_NO_CYCLE,
	RG_SENDS_SECOND_LETTER,
	RG_SENDS_CYCLE_ORDER,
	RG_SENDS_UNSETTLED,   /* odd, but no fault */
	RG_SENDS_KEY_TWICE,   /* place: the line of the journal */
	RG_SENDS_LETTER_LOST, /* the message has no letter at all; reported once, since it can be
				 filed */
	RG_SENDS_MISSING,     /* place: the line of the journal for which an entry is missing */
	RG_SENDS_GIVEN_UP,
	RG_SENDS_RULES
};
const char *rg_sends_rule(enum rg_sends_rule rule);

/* Where a line is; log is the caller's number of the file. */
struct rg_sends_place {
	int64_t log, line, byte, length;
	bool own;
};

struct rg_sends_check;

/* cycles_kept: how many cycles purge leaves, the last one included. */
RG_CHECKED int rg_sends_check_new(int64_t cycles_kept, struct rg_sends_check **ret_check,
				  struct roger_err *err);
struct rg_sends_check *rg_sends_check_free(struct rg_sends_check *check);

RG_CHECKED int rg_sends_check_cycle(struct rg_sends_check *check, const struct roger_cycle *cycle,
				    const struct rg_sends_place *place, struct roger_err *err);
/* Take a line of a message at byte offset.  demanded: if delivered, it must have an entry. */
RG_CHECKED int rg_sends_check_message(struct rg_sends_check *check,
				      const struct roger_message *message, uint64_t offset,
				      bool demanded, struct roger_err *err);
RG_CHECKED int rg_sends_check_letter(struct rg_sends_check *check,
				     const struct roger_dead_letter *letter,
				     const struct rg_sends_place *place, struct roger_err *err);
RG_CHECKED int rg_sends_check_entry(struct rg_sends_check *check, const struct roger_attempt *entry,
				    const struct rg_sends_place *place, struct roger_err *err);

/* Report each line that breaks a rule, in the order of rules, logs and lines.  all false: leave out
 * what is missing or was given up, which only whole logs can tell. */
typedef int rg_sends_see(void *context, enum rg_sends_rule rule, const struct rg_sends_place *place,
			 struct roger_err *err);
RG_CHECKED int rg_sends_check_all(struct rg_sends_check *check, bool all, rg_sends_see *see,
				  void *context, struct roger_err *err);

#endif
