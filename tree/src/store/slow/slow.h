#ifndef RG_SLOW_STORE_H
#define RG_SLOW_STORE_H

#include "store/store.h"

rg_store_opener rg_slow_store_open;

#endif
