/*
 * diagram - a timeline drawn: lifelines, and an arrow for each message.
 *
 * From the reply to text, and nothing else.  Names and words are made harmless
 * for what they are put into, whatever they hold.
 */
#ifndef CLI_DIAGRAM_H
#define CLI_DIAGRAM_H

#include "base/str.h"

/* A Mermaid sequence diagram. */
void cli_diagram_mermaid(const struct roger_timeline_reply *reply, struct rg_buf *out);

/* A picture, as one SVG document that needs nothing else. */
void cli_diagram_svg(const struct roger_timeline_reply *reply, struct rg_buf *out);

#endif
