/*
 * scan - find the id of a message that cannot be read.
 *
 * A message may be too long to be kept, or not JSON.  Its sender waits for an answer all the same,
 * so its outermost members are scanned byte by byte, in a fixed amount of memory.  Pure rules.
 */
#ifndef RG_MCP_SCAN_H
#define RG_MCP_SCAN_H

#include "base/limits.h"
#include "base/str.h"

enum rg_mcp_scan_member { RG_SCAN_OTHER, RG_SCAN_ID, RG_SCAN_METHOD, RG_SCAN_ANSWER };

/* All members are 0 at the start of a message. */
struct rg_mcp_scan {
	size_t depth; /* how many brackets are open */
	bool in_text, escaped;
	bool in_value; /* in a value of an outermost member; else before its colon */
	bool is_list;  /* the outermost value is not an object */
	enum rg_mcp_scan_member member;
	char name[sizeof "\"method\"" - 1]; /* with its quotes */
	size_t name_length;
	char id[RG_MCP_ID_BYTES_MAX];
	size_t id_length;
	bool id_ended, id_bad; /* id_bad: the id is too long, not a plain value, or came twice */
	bool has_method, has_answer;
};

/* Scan the next bytes of the message. */
void rg_mcp_scan_feed(struct rg_mcp_scan *scan, struct roger_str bytes);

/* The one id of the message so far, as it was written; "": none. */
struct roger_str rg_mcp_scan_id(const struct rg_mcp_scan *scan);

#endif
