/*
 * proved - for roger serve, which is shown tokens: whose name is proved.  It is not in
 * roger.h, so no other program can say so of what it sends.  In api/roger.c.
 */
#ifndef RG_PROVED_H
#define RG_PROVED_H

#include <roger.h>

/* What this agent sends by the next calls says so; "": nobody's does. */
void rg_prove_sender(struct roger *roger, struct roger_str agent);

#endif
