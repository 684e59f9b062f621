/*
 * diagram - a story drawn: a lane for each agent, and an arrow for each message.
 *
 * Names and texts are made harmless for what they are put into, whatever they hold.  What
 * is longer than viewers show is cut at its beginning, and says so.
 */
#ifndef CLI_DIAGRAM_H
#define CLI_DIAGRAM_H

#include "cli/story.h"

/* More events than any picture has room for. */
enum { CLI_DIAGRAM_EVENTS_MAX = 6000 };

/* A Mermaid sequence diagram. */
void cli_diagram_mermaid(const struct cli_story *story, struct rg_buf *out);

/* A picture: one SVG document that needs nothing else; or, within a page that has
 * cli_diagram_style, the <svg> alone. */
void cli_diagram_svg(const struct cli_story *story, bool within, struct rg_buf *out);
extern const char cli_diagram_style[];

/* Text for XML and HTML.  exact: nothing is replaced but what they cannot hold. */
void cli_diagram_add_xml(struct rg_buf *out, struct roger_str text);

#endif
