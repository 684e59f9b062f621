/* rebuild: make the index again from the journal. */
#include "ops/op.h"

int rg_verb_rebuild(struct roger *roger, const struct roger_empty_request *request,
		    struct roger_rebuild_reply *reply, struct roger_err *err)
{
	(void)request;
	return rg_engine_rebuild(roger->engine, reply, err);
}
