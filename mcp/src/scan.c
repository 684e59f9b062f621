#include "scan.h"

static enum rg_mcp_scan_member member_of(struct roger_str name)
{
	if (rg_str_is(name, "\"id\""))
		return RG_SCAN_ID;
	if (rg_str_is(name, "\"method\""))
		return RG_SCAN_METHOD;
	return rg_str_is(name, "\"result\"") || rg_str_is(name, "\"error\"") ? RG_SCAN_ANSWER
									     : RG_SCAN_OTHER;
}

/* Keep a byte of a member's name, or of the id; other bytes are not kept. */
static void keep_byte(struct rg_mcp_scan *scan, char c)
{
	if (scan->depth != 1)
		return;
	if (!scan->in_value) {
		if (scan->name_length < sizeof scan->name)
			scan->name[scan->name_length] = c;
		scan->name_length++;
	} else if (scan->member == RG_SCAN_ID && !scan->id_ended) {
		if (scan->id_length == sizeof scan->id)
			scan->id_bad = true;
		else
			scan->id[scan->id_length++] = c;
	}
}

static void begin_value(struct rg_mcp_scan *scan)
{
	struct roger_str name = { scan->name, scan->name_length };

	scan->in_value = true;
	scan->member = name.length > sizeof scan->name ? RG_SCAN_OTHER : member_of(name);
	scan->id_bad |= scan->member == RG_SCAN_ID && scan->id_ended;
	scan->has_method |= scan->member == RG_SCAN_METHOD;
	scan->has_answer |= scan->member == RG_SCAN_ANSWER;
}

static void end_value(struct rg_mcp_scan *scan)
{
	scan->id_ended |= scan->in_value && scan->member == RG_SCAN_ID;
	scan->in_value = false;
	scan->name_length = 0;
}

static void open_bracket(struct rg_mcp_scan *scan, char c)
{
	if (scan->depth == 0)
		scan->is_list |= c == '[' || scan->id_ended;
	else if (scan->depth == 1)
		scan->id_bad |= scan->in_value && scan->member == RG_SCAN_ID;
	scan->depth++;
}

static void close_bracket(struct rg_mcp_scan *scan)
{
	if (scan->depth == 1)
		end_value(scan);
	if (scan->depth > 0)
		scan->depth--;
}

static void take_text(struct rg_mcp_scan *scan, char c)
{
	keep_byte(scan, c);
	if (scan->escaped)
		scan->escaped = false;
	else if (c == '\\')
		scan->escaped = true;
	else if (c == '"')
		scan->in_text = false;
}

static void take_byte(struct rg_mcp_scan *scan, char c)
{
	if (scan->in_text) {
		take_text(scan, c);
		return;
	}
	switch (c) {
	case '{':
	case '[':
		open_bracket(scan, c);
		return;
	case '}':
	case ']':
		close_bracket(scan);
		return;
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		return;
	case ':':
		if (scan->depth == 1 && !scan->in_value)
			begin_value(scan);
		return;
	case ',':
		if (scan->depth == 1)
			end_value(scan);
		return;
	default:
		scan->in_text = c == '"';
		keep_byte(scan, c);
	}
}

void rg_mcp_scan_feed(struct rg_mcp_scan *scan, struct roger_str bytes)
{
	size_t i;

	for (i = 0; i < bytes.length; i++)
		take_byte(scan, bytes.data[i]);
}

struct roger_str rg_mcp_scan_id(const struct rg_mcp_scan *scan)
{
	if (scan->is_list || scan->id_bad || !scan->id_ended)
		return RG_STR("");
	return (struct roger_str){ scan->id, scan->id_length };
}
