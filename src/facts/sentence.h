/*
 * sentence - what an event says, in a line for people: one sentence for each kind, and
 * never any content.
 */
#ifndef RG_SENTENCE_H
#define RG_SENTENCE_H

#include "facts/history.h"

struct rg_note;

/* Print the sentence of a log's entry, once, when the index reads it. */
void rg_say_attempt(const struct roger_attempt *attempt, enum roger_event_kind kind,
		    struct rg_buf *out);
void rg_say_letter(const struct roger_dead_letter *letter, struct rg_buf *out);
void rg_say_note(const struct rg_note *note, struct rg_buf *out);
void rg_say_retirement(const struct roger_retirement *line, struct rg_buf *out);
void rg_say_damage(const struct roger_damage *damage, bool accepted, struct rg_buf *out);

/* Print the sentence of a message's event from its row, when somebody asks for it. */
void rg_say_message(const struct rg_event *event, struct rg_buf *out);

/* Print the sentence of a run's event from its document, as judged now. */
void rg_say_run(const struct rg_event *event, const struct roger_run *run, struct rg_buf *out);

#endif
