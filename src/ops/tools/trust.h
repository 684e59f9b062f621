/*
 * trust - which configured commands may run (see host/trust.h).
 */
#ifndef RG_OPS_TRUST_H
#define RG_OPS_TRUST_H

#include "host/program.h"
#include "ops/op.h"

/*
 * May the command of that setting run, with its words and the files that they name as
 * they are now?  If not, roger_notice() says that it was skipped.  program: where it runs, which
 * is .roger/ for one that names nothing of the workspace; NULL: it does not run now.
 */
RG_CHECKED int rg_trust_may_run(struct roger *roger, const char *setting, struct roger_strs words,
				struct rg_program *program, struct rg_arena *arena, bool *ret_may,
				struct roger_err *err);

/*
 * Check a command before it starts, with its placeholders filled in: it may name no file of
 * the workspace that the trusted words do not name.  program gets the place where it runs.
 */
RG_CHECKED int rg_trust_check_filled(struct roger *roger, struct roger_strs trusted,
				     struct rg_program *program, struct rg_arena *arena,
				     struct roger_err *err);

/* Move the notice about a skipped command from roger_notice() to the notes of a reply. */
RG_CHECKED int rg_trust_tell(struct roger *roger, struct rg_arena *arena, struct roger_strs *notes,
			     struct roger_err *err);

/* Count the configured commands that may not run; *ret_first: the setting of the first. */
RG_CHECKED int rg_trust_count_commands(struct roger *roger, struct rg_arena *arena,
				       int64_t *ret_count, struct roger_str *ret_first,
				       struct roger_err *err);

/* Trust one more command of the workspace in root, to which a person has just agreed; does nothing
 * if its mailbox is not trusted. */
RG_CHECKED int rg_trust_add_command(const char *root, struct roger_strs words,
				    struct rg_arena *arena, struct roger_err *err);

/* Trust the address to which a person moved the journals ("": into files); does nothing if the
 * mailbox is not trusted. */
RG_CHECKED int rg_trust_set_store(const char *root, struct roger_str address,
				  struct roger_err *err);

#endif
