/*
 * Any bytes as a message that is too long to be kept.  However they are cut into
 * pieces, the same id is found; and in what is JSON, it is the one that a reader
 * of JSON finds.
 */
#include <stdint.h>

#include "data/json.h"
#include "scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_split(struct roger_str text, size_t at, struct roger_str id)
{
	struct rg_mcp_scan scan = { .depth = 0 };

	rg_mcp_scan_feed(&scan, (struct roger_str){ text.data, at });
	rg_mcp_scan_feed(&scan, (struct roger_str){ text.data + at, text.length - at });
	rg_assert(rg_str_equal(rg_mcp_scan_id(&scan), id));
}

static void check_same(const struct rg_value *wanted, struct roger_str id)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf one = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf other = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	int r = rg_json_read(id, &json, NULL);

	rg_assert(r == ROGER_OK);
	rg_json_print(wanted, &one);
	rg_json_print(rg_json_root(json), &other);
	rg_assert(rg_str_equal(rg_buf_str(&one), rg_buf_str(&other)));
}

/* Names may be escaped, which the scan does not undo. */
static void check_json(struct roger_str text, struct roger_str id)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	const struct rg_value *wanted;

	if (memchr(text.data, '\\', text.length) || rg_json_read(text, &json, NULL) < 0)
		return;
	wanted = rg_json_member(rg_json_root(json), "id");
	if (id.length)
		check_same(wanted, id);
	else
		rg_assert(!wanted || rg_json_kind(wanted) >= RG_JSON_ARRAY ||
			  rg_json_str(wanted).length > RG_MCP_ID_BYTES_MAX - 2 ||
			  rg_json_digits(wanted).length > RG_MCP_ID_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str text = { (const char *)data, size }, id;
	struct rg_mcp_scan scan = { .depth = 0 };

	if (size == 0)
		return 0;
	rg_mcp_scan_feed(&scan, text);
	id = rg_mcp_scan_id(&scan);
	check_split(text, size / 2, id);
	check_split(text, data[0] % size, id);
	check_json(text, id);
	return 0;
}
