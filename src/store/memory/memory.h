/*
 * memory - a store that is gone with its process; see store/store.h.
 */
#ifndef RG_MEMORY_STORE_H
#define RG_MEMORY_STORE_H

#include "store/store.h"

rg_store_opener rg_memory_store_open;

/* The messages of a data folder's store, to be damaged by a test; NULL: no handle is open. */
char *rg_memory_store_text(const char *data_path);

#endif
