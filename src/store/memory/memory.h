/* memory - a store that ends with its process; see store/store.h. */
#ifndef RG_MEMORY_STORE_H
#define RG_MEMORY_STORE_H

#include "store/store.h"

rg_store_opener rg_memory_store_open;

/* The text of messages of the store at data_path, for a test to damage; NULL: no handle is open. */
char *rg_memory_store_text(const char *data_path);

#endif
