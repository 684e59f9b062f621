/*
 * tables - what the tables of the index must hold after a history, by the model alone:
 * the second opinion of the code that makes them from the journal's lines.
 */
#ifndef TEST_TABLES_H
#define TEST_TABLES_H

#include "model.h"

struct rg_index;

/* The first difference, and which row is too much or lacks; NULL: there is none. */
const char *tables_differ(const struct model *model, struct rg_index *index);

#endif
