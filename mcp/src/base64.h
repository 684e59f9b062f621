/*
 * base64 - bytes as text and back (RFC 4648), strictly: no white space, full
 * padding, no bits left over.
 */
#ifndef RG_MCP_BASE64_H
#define RG_MCP_BASE64_H

#include "base/str.h"

void rg_base64_add(struct rg_buf *out, const void *data, size_t length);

/* Decode text, and add the bytes to out; false: it is not base64. */
bool rg_base64_read(struct roger_str text, struct rg_buf *out);

#endif
