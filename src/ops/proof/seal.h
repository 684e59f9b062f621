/*
 * seal - a seal as its maker signed it.
 */
#ifndef RG_SEAL_H
#define RG_SEAL_H

#include "ops/op.h"
#include "verbs.h"

enum { RG_SEAL_VERSION = 2 };

/* Had the run ended well?  Then it has nothing more to say. */
bool rg_seal_is_final(struct roger_str status);

/* What is signed: the seal as one JSON object without white space and without its signature. */
void rg_seal_text(const struct roger_seal_reply *seal, struct rg_buf *out);

/* A seal of these journals and documents; reply has its memory. */
RG_CHECKED int rg_seal_make(struct roger *roger, const struct rg_digests *digests,
			    const struct rg_run_texts *runs, const struct rg_seal_key *key,
			    struct roger_seal_reply *reply, struct roger_err *err);

/*
 * A document as a seal names it: from the data folder, with the status it claims.  sealed:
 * what never changes is as much as that entry speaks of; NULL: all there is.
 */
RG_CHECKED int rg_seal_document(const struct rg_run_text *text,
				const struct roger_seal_entry *sealed, struct rg_arena *arena,
				struct roger_seal_entry *ret_entry, struct roger_err *err);

/*
 * Compare with what stands here now; findings go to reply, behind those of the
 * chains.  ROGER_EDATA: it is no seal, or its signature does not fit.
 */
RG_CHECKED int rg_seal_check(struct roger *roger, const struct roger_verify_request *request,
			     struct roger_verify_reply *reply, struct roger_err *err);

#endif
