/* doctor - declarations that the files of doctor share. */
#ifndef RG_LOCAL_DOCTOR_H
#define RG_LOCAL_DOCTOR_H

#include "engine/inside.h"
#include "facts/message_rules.h"
#include "index/index_sends.h"

/* A message that messages_archive/ must hold, as the journal says. */
struct rg_doctor_archived {
	uint64_t hash; /* hash of the line up to its id */
	uint64_t text; /* rg_message_text_hash() */
	uint64_t offset;
	int64_t line;
	bool own; /* roger wrote that line */
	bool found;
};

/* Number of messages of an issue, or of an issue and recipient; by rg_count_hash(). */
struct rg_doctor_count {
	uint64_t hash;
	int64_t count;
	int64_t line; /* number of the last one's line */
	uint64_t offset;
};

struct rg_doctor {
	struct rg_engine *engine;
	const struct rg_doctor_wish *wish;
	struct rg_arena *arena;	  /* for the reply */
	struct rg_arena *scratch; /* for one line */
	struct roger_doctor_reply *reply;
	size_t told[ROGER_NOTE + 1];		  /* how many were reported, per severity */
	size_t repairable[ROGER_BREACH_SEAL + 1]; /* of these, per kind */
	size_t last;  /* index of the last one in the reply; SIZE_MAX: it was only counted */
	int severity; /* of the last one */
	struct rg_findings damaged; /* lines, to be recorded */

	struct rg_log_files journals;
	struct rg_head head;	 /* as it was when the journals were measured */
	struct roger_str sender; /* sender of the log being read: */
	struct rg_log_file sender_log;
	uint64_t logged; /* the send logs hold every keyed message before this byte */
	bool incomplete; /* a log disappeared during the checks */
	bool unreadable; /* a message of roger's cannot be read any more */
	bool failed;	 /* a breach could not be reported: out of memory */

	struct rg_judge judge;

	struct rg_message_rules messages;
	struct rg_buf text;	 /* text of a message */
	int64_t strays, strange; /* lines that are no messages; ids that another program made */
	struct rg_sends_check *sends;
	struct rg_table counts;	  /* struct rg_doctor_count of issues and mailboxes */
	struct rg_table archived; /* struct rg_doctor_archived */
	/* Numbers of altered lines, and hashes of messages whose first line is one, or is lost. */
	struct rg_table not_as_sent;

	struct rg_index_checking *checking; /* the rules of the index */
	int64_t index_end;
	struct rg_index_sums at_index; /* computed from the journal, up to where the index ends */
};

/*
 * Report a breach: its kind, severity, file, line, byte and whether it can be repaired; format
 * says what it is.  After many reports, a breach is only counted.
 */
void rg_doctor_report(struct rg_doctor *doctor, struct roger_breach breach, const char *format, ...)
	RG_PRINTF(3, 4);

static inline struct roger_breach rg_breach(enum roger_breach_kind kind,
					    enum roger_severity severity, struct roger_str file)
{
	return (struct roger_breach){ .kind = (int)kind, .severity = (int)severity, .file = file };
}

/* Mark the breach that was reported last as repaired; or all repairable ones of a kind. */
void rg_doctor_fixed(struct rg_doctor *doctor);
void rg_doctor_fixed_all(struct rg_doctor *doctor, enum roger_breach_kind kind);

static inline const struct rg_log_file *rg_doctor_messages(const struct rg_doctor *doctor)
{
	return &doctor->journals.items[0];
}

/* doctor_logs.c: the journals. */
RG_CHECKED int rg_doctor_removed(struct rg_doctor *doctor, struct roger_err *err);
RG_CHECKED int rg_doctor_journals(struct rg_doctor *doctor, struct roger_err *err);

/* Keep a line for the record if it is damaged; of many, only the first. */
void rg_doctor_keep_damaged(struct rg_doctor *doctor, const struct rg_walk *walk,
			    const struct rg_misfit *found);

/* Called at the end of a walk. */
RG_CHECKED int rg_doctor_count_bytes(void *context, struct rg_walk *walk, struct roger_err *err);

/* doctor_derived.c: what can be rebuilt from the journal. */
RG_CHECKED int rg_doctor_check_index_end(struct rg_doctor *doctor, struct roger_err *err);
RG_CHECKED int rg_doctor_compare_index(struct rg_doctor *doctor, struct roger_err *err);
RG_CHECKED int rg_doctor_state(struct rg_doctor *doctor, struct roger_err *err);
RG_CHECKED int rg_doctor_archive(struct rg_doctor *doctor, struct roger_err *err);
RG_CHECKED int rg_doctor_leases(struct rg_doctor *doctor, struct roger_err *err);
RG_CHECKED int rg_doctor_control(struct rg_doctor *doctor, struct roger_err *err);

/* doctor_places.c: folders, files and permissions; the seal's key. */
RG_CHECKED int rg_doctor_places(struct rg_doctor *doctor, struct roger_err *err);

#endif
