/*
 * stream - everything that happened, as typed events, made once from all journals:
 * trace, timeline, status and report only fold them.
 *
 * Notes come first, since they say when what the journal does not date was; then
 * attempts and dead letters, then messages, then runs.  An event is open as long
 * as nothing has settled it.  None ever takes up any content.
 */
#ifndef RG_STREAM_H
#define RG_STREAM_H

#include "base/table.h"
#include "ops/proof/gather.h"

/* Shown every event, in no order; texts of it live as long as those it is made from. */
typedef int rg_event_see(void *context, const struct rg_event *event, struct roger_err *err);

struct rg_stream {
	struct roger *roger;
	struct rg_arena *arena;
	rg_event_see *see;
	void *context;
	bool ran; /* look for notes that say who ran what, and when a claim was */
	int64_t now_ms;
	struct rg_table lives;	    /* messages that were told of */
	struct rg_counter attempts; /* and of each attempt: its outcome plus one */
};

void rg_stream_init(struct rg_stream *stream, struct roger *roger, struct rg_arena *arena,
		    rg_event_see *see, void *context);
void rg_stream_deinit(struct rg_stream *stream);

/* Entries of a log, in their order: notes, attempts, dead letters, cycles. */
RG_CHECKED int rg_stream_entries(struct rg_stream *stream, enum rg_log log,
				 const struct rg_log_entry *entries, size_t count,
				 struct roger_err *err);

/* Messages in the order of rg_gathering_sort(), by the rows of the table of events. */
RG_CHECKED int rg_stream_messages(struct rg_stream *stream, const struct roger_message *messages,
				  size_t count, struct roger_err *err);

RG_CHECKED int rg_stream_run(struct rg_stream *stream, const struct rg_run_document *document,
			     struct roger_err *err);
RG_CHECKED int rg_stream_damages(struct rg_stream *stream, struct roger_err *err);

/*
 * All that was gathered, with its words, in no order.  The notes of recipients are
 * looked for where nothing else says when a message was claimed.  traced: of all, and
 * of attempts to wake them, with the echoes of messages, attempts and letters.
 */
RG_CHECKED int rg_stream_gathered(struct rg_gathering *gathering, bool traced,
				  struct rg_history *history, struct roger_err *err);

/* What happened to all between the first and the last event: cycles, sessions; and damage, which is
 * noticed later, until until_ms (0: open). */
RG_CHECKED int rg_stream_around(struct roger *roger, struct rg_history *history, int64_t until_ms,
				struct roger_err *err);

/* Does the row tell of a look, and of a look only?  Who only knows a file takes nothing, and so
 * looks at nothing: what its message's line says was written for it. */
bool rg_row_is_look(const struct roger *roger, const struct rg_row *row, struct roger_str to);

/* Does it tell of this message? */
bool rg_event_is_of(const struct rg_event *event, const struct roger_message *message);

/* words.c: what it says, in a line for people. */
void rg_event_print(const struct rg_event *event, struct rg_buf *out);

#endif
