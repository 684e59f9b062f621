#ifndef CLI_MERMAID_H
#define CLI_MERMAID_H

#include "cli/command.h"

/* Add a timeline as a Mermaid sequence diagram, with the beginnings of its texts. */
RG_CHECKED int cli_add_mermaid(struct roger *roger, const struct roger_timeline_reply *reply,
			       struct rg_buf *out, struct roger_err *err);

#endif
