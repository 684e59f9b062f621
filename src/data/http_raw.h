/*
 * http_raw - checks the bytes of a request as they come in, for what a parsed head no longer
 * shows: lines that end without CR or are folded, NULs, sizes of chunks that are not plain.
 *
 * Two readers could end such a request at different places.  Pure rules.
 */
#ifndef RG_HTTP_RAW_H
#define RG_HTTP_RAW_H

#include "base/str.h"

enum rg_http_raw_state {
	RG_RAW_LINE, /* of the head */
	RG_RAW_LINE_END,
	RG_RAW_SIZE, /* of a chunk */
	RG_RAW_SIZE_END,
	RG_RAW_CHUNK,
	RG_RAW_CHUNK_CR,
	RG_RAW_CHUNK_END,
	RG_RAW_LAST_CR, /* behind the chunk of size 0 */
	RG_RAW_LAST_END,
	RG_RAW_REST, /* a body of a known length, or the next request */
	RG_RAW_ODD,
};

/* All members are 0 at the start of a request. */
struct rg_http_raw {
	enum rg_http_raw_state state;
	bool chunked, some; /* some: a line came before */
	char word[20];	    /* how the line begins, in small letters */
	size_t length;	    /* of the line, or the digits of a chunk's size */
	uint64_t left;	    /* of the chunk */
	uint64_t chunks;    /* bytes of all chunks so far, as their sizes say */
};

/* Check more bytes.  False, now and for all that follow: they can be read in two ways. */
bool rg_http_raw_take(struct rg_http_raw *raw, const char *data, size_t length);

#endif
