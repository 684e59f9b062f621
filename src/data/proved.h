/*
 * proved - for roger serve, which is shown tokens: whose name is proved.  It is not in
 * roger.h, so no other program can say so of what it sends.  In api/roger.c.
 */
#ifndef RG_PROVED_H
#define RG_PROVED_H

#include <roger.h>

/* What this agent sends by the next calls says so; "": nobody's does. */
void rg_prove_sender(struct roger *roger, struct roger_str agent);

/* The same of who was seen at the other end of a socket; less than a proof. */
void rg_observe_sender(struct roger *roger, struct roger_str agent);

/* Which agent a process was started as (ROGER_AGENT); false: none, as far as can be seen. */
bool rg_observe_process(int64_t id, char *to, size_t size);

#endif
