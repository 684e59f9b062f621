/*
 * model - what happened in a history, by what the verbs answered: plain lists, from
 * which every figure follows by the specification and by nothing of roger.
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include "base/str.h"

#include <roger.h>

enum { MAILS_MAX = 200, ATTEMPTS_MAX = 400, RUNS_MAX = 8, NAME_MAX_ = 24 };

/* Texts are copied: replies do not live as long. */
struct mail {
	char id[64], from[NAME_MAX_], to[NAME_MAX_], issue[NAME_MAX_], key[96], worker[NAME_MAX_];
	char reply_to[64];
	int64_t at_ms, epoch, seq;
	int64_t claimed, returned, expired, acks, wakes; /* how often */
	int64_t leases;					 /* taken and not given back */
	int64_t dead_at_ms;				 /* too many of them expired; 0: not so */
	int64_t until_ms;      /* of the lease that was not ended; 0: none */
	int64_t back_at_ms;    /* when its worker gave it back */
	int64_t confirm_by_ms; /* of its last attempt */
	int64_t handed_at_ms, read_at_ms, archived_at_ms;
	int64_t in_place_ms; /* when a person last acknowledged it, whose recipient had not read it
			      */
	int ack_outcome;     /* the last one; 0: none */
	bool looked, dead;
	bool marked;  /* as read, by another program */
	bool by_heir; /* read by who took over from its recipient */
	bool told;    /* it was refused or died, so its sender gets a notice */
};

struct attempt {
	char from[NAME_MAX_], to[NAME_MAX_], key[96], cycle[NAME_MAX_];
	int64_t number;
	int outcome; /* enum roger_attempt_outcome, or ATTEMPT_PENDING */
	bool timed_out, plain, purged;
	int mail;	  /* -1: it was not stored, or not yet: */
	char refused[64]; /* the id it had when it was refused; the next attempt may store it */
	int64_t late_at_ms;
};
enum { ATTEMPT_PENDING = ROGER_ERROR + 1 };

/* One a message. */
struct dead {
	int mail, status;
	int64_t at_ms, redelivered, stale;
	bool worn; /* for leases, not for attempts */
	char id[64], task[NAME_MAX_], cycle[NAME_MAX_];
};

struct job {
	char id[NAME_MAX_], owner[NAME_MAX_], child[NAME_MAX_], issue[NAME_MAX_];
	int64_t expected_by_ms, completed_at_ms, recoveries;
	bool ended, forwarded, settled; /* ended: without a result */
	int outcome, result, notice;	/* mails; -1: none */
};

struct model {
	struct mail mails[MAILS_MAX];
	struct attempt attempts[ATTEMPTS_MAX];
	struct dead deads[MAILS_MAX];
	struct job jobs[RUNS_MAX];
	int mail_count, attempt_count, dead_count, job_count;
	int64_t duplicates, conflicts, wakes, failed_wakes, skipped;
	char cycle[NAME_MAX_]; /* the current one */
	const char *heir; /* of evelyn; "": it is retired without one; NULL: it is not retired */
	int attempts_max, leases_max;
};

/* What a timeline is about. */
struct subject {
	enum roger_subject kind;
	const char *name;
};

/* Does the agent get what was stored for another, or for itself? */
bool model_gets(const struct model *model, const char *agent, const char *to);
/* Is the mail in its timeline? */
bool model_is_of(const struct model *model, int which, const char *agent);

/* The place of a message; -1: it is not known yet. */
int model_mail(const struct model *model, struct roger_str id);

int model_store(struct model *model, const struct roger_message *message);

/* Its recipient has it: what was claimed or had timed out changes by that. */
void model_read(struct model *model, int mail, int64_t at_ms);
/* A person has dealt with it: nobody gets it any more, and nobody has read it. */
void model_end_in_place(struct model *model, int mail, int64_t at_ms);
/* Does somebody still get it? */
bool model_waits(const struct mail *mail);
void model_archive(struct model *model, int mail, int64_t at_ms);
/* A lease that is over when anything else happens to its message has expired. */
void model_end_lease(struct mail *mail, int64_t now_ms);

/* One more attempt, after those of its key in this cycle. */
void model_attempt(struct model *model, const struct attempt *attempt);
/* The last of a key to a target; NULL: none. */
struct attempt *model_last(struct model *model, const char *from, const char *key, const char *to);
/* May that key be tried, or tried again? */
bool model_may_try(struct model *model, const char *from, const char *key, const char *to);
/* What was waited for until some time, and not read by then, has timed out. */
void model_settle(struct model *model, int64_t now_ms);
void model_purge(struct model *model);

int model_status(const struct model *model, const struct job *job, int64_t now_ms);
/* Its child failed, or nothing can come of it; until its owner, or a person, has dealt with that:
 * it was said so, or the owner accepted what told of it as done. */
bool model_failed(const struct model *model, const struct job *job, int64_t now_ms);
bool model_settled(const struct model *model, const struct job *job, int64_t now_ms);

/* How often it happened to a subject. */
int64_t model_events(const struct model *model, const struct subject *subject,
		     enum roger_event_kind kind, int64_t now_ms);
int64_t model_steps(const struct model *model, int mail, enum roger_step step, int64_t now_ms);
enum roger_step model_reached(const struct model *model, int mail, int64_t now_ms);

/* One more attempt that is over without a reading leaves a letter to be delivered. */
bool model_under_way(const struct mail *mail, int64_t now_ms);
bool model_letter_open(const struct model *model, const struct dead *dead, int64_t now_ms);

/* Were too many leases of it left to expire, which nobody has noticed? */
bool model_worn(const struct model *model, const struct mail *mail, int64_t now_ms);

/* Whether a lease was left to expire, and nobody has the message yet. */
bool model_lease_expired(const struct mail *mail, int64_t now_ms);

#endif
