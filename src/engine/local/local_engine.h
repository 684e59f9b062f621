/*
 * local_engine - inside of the local engine; for engine/local/ only.
 */
#ifndef RG_LOCAL_ENGINE_H
#define RG_LOCAL_ENGINE_H

#include "base/id.h"
#include "engine/local/local.h"
#include "engine/local/tally.h"
#include "store/index.h"
#include "store/journal.h"

/* One line to be written. */
struct rg_staged {
	struct roger_message *added; /* a new message; the caller's, gets its number */
	bool new_number;
	bool key_is_new;	     /* the index does not know it, up to where it was asked */
	struct roger_message before; /* otherwise: what it was, and what it becomes */
	struct roger_message after;
	size_t from;	  /* of text: where its line starts */
	size_t number_at; /* where its number belongs; SIZE_MAX: nowhere */
	size_t to;
};

struct rg_local {
	struct rg_engine engine;
	struct rg_workspace *workspace;
	struct rg_journal *journal;
	struct rg_index *index;

	/* The transaction: */
	bool exclusive; /* the change lock is held */
	struct rg_staged *staged;
	size_t staged_count;
	size_t staged_capacity;
	struct rg_buf text;
	int64_t state_saved_ns; /* when this process last wrote message-state.json */
};

static inline struct rg_local *rg_local_of(struct rg_engine *engine)
{
	return (struct rg_local *)engine;
}

/* Bring the index up to what this transaction must see. */
RG_CHECKED int rg_local_refresh(struct rg_local *local, struct roger_err *err);

/* local_commit.c */
int rg_local_begin(struct rg_engine *engine, bool exclusive, struct roger_err *err);
int rg_local_add(struct rg_engine *engine, struct roger_message *message, bool new_number,
		 struct roger_err *err);
int rg_local_change(struct rg_engine *engine, const struct roger_message *before,
		    const struct roger_message *after, struct roger_err *err);
int rg_local_archive(struct rg_engine *engine, const struct roger_message *message,
		     struct roger_err *err);
int rg_local_commit(struct rg_engine *engine, struct rg_outcome *ret_outcome,
		    struct roger_err *err);
void rg_local_rollback(struct rg_engine *engine);

/* local_archive.c: lines into messages_archive/, durable, none twice. */
RG_CHECKED int rg_local_put_archive(struct rg_local *local, const struct rg_staged *staged,
				    size_t count, struct roger_err *err);
int rg_local_note_cleanup(struct rg_engine *engine, struct roger_str line, struct roger_err *err);

/* local_state.c: message-state.json. */
#define RG_STATE_NAME "message-state.json"
RG_CHECKED int rg_local_prepare_epoch(struct rg_local *local, struct roger_err *err);
void rg_local_want_state(struct rg_local *local, bool seen);
void rg_local_save_state(struct rg_local *local, bool closing);
int rg_local_session(struct rg_engine *engine, bool fresh, int64_t *ret_epoch,
		     struct roger_err *err);

/* local_wait.c */
int rg_local_wait(struct rg_engine *engine, struct roger_str agent, struct roger_str issue,
		  struct roger_str from, int64_t timeout_ms, struct rg_arena *arena,
		  struct rg_found *ret_found, struct roger_err *err);

/* local_verify.c */
int rg_local_verify(struct rg_engine *engine, struct rg_arena *arena,
		    struct roger_verify_reply *ret_reply, struct roger_err *err);

#endif
