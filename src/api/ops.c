/* The part of roger.h that needs no workspace: the verbs as data, and the memory of replies. */
#include "ops/op.h"

const struct roger_op *const *roger_ops(void)
{
	return rg_op_table;
}

void roger_reply_free(void *reply)
{
	struct rg_arena *memory;

	if (!reply)
		return;
	memory = rg_op_memory(reply);
	rg_arena_free(memory);
	memory = NULL;
	memcpy(reply, &memory, sizeof memory);
}
