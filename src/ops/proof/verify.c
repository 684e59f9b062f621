/* verify: read every line of every journal, check the chains, and a seal. */
#include "ops/proof/seal.h"

int rg_verb_verify(struct roger *roger, const struct roger_verify_request *request,
		   struct roger_verify_reply *reply, struct roger_err *err)
{
	int r;

	if (request->key.length && !request->seal.length)
		return rg_fail_member(err, ROGER_EUSAGE, "key", "--key needs --seal");
	if (request->cite.count && !request->seal.length)
		return rg_fail_member(err, ROGER_EUSAGE, "cite", "--cite needs --seal");
	r = rg_engine_find_damage(roger->engine, reply->memory, reply, err);
	return r < 0 || !request->seal.length ? r : rg_seal_check(roger, request, reply, err);
}
