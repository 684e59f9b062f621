#include "facts/activity.h"

#include "base/clock.h"
#include "base/limits.h"

int rg_activity_check(struct roger_activity *activity, struct roger_err *err)
{
	if (rg_clock_read_rfc3339(activity->timestamp, &activity->at_ms))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, "timestamp",
			      "timestamp: expected a date-time of RFC 3339, from 1970 on, such as "
			      "2025-10-05T14:40:07Z");
}

int rg_activity_print(const struct roger_activity *activity, struct rg_buf *out,
		      struct roger_err *err)
{
	size_t start = out->length, chars;

	if (!rg_utf8_count(activity->details, &chars) || chars > RG_DETAILS_CHARS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "action.details",
				      "action.details: expected at most %d characters as JSON "
				      "text; name a file instead",
				      RG_DETAILS_CHARS_MAX);
	rg_record_encode(&rg_activity_record, activity, out);
	rg_buf_add_char(out, '\n');
	if (out->failed)
		return rg_fail_memory(err);
	if (out->length - start <= RG_ACTIVITY_BYTES_MAX)
		return ROGER_OK;
	out->length = start;
	return rg_fail(err, ROGER_EDATA, 0, "expected an entry of at most %d bytes",
		       RG_ACTIVITY_BYTES_MAX);
}

static bool is_null(const struct rg_value *value)
{
	return value && rg_json_kind(value) == RG_JSON_NULL;
}

int rg_activity_check_null(struct roger_str entry, struct rg_arena *arena, struct roger_err *err)
{
	const struct rg_value *outcome;
	const struct rg_json *json;
	const char *member = NULL;

	/* Invalid JSON is reported by whoever reads the entry. */
	if (rg_json_read_within(entry, arena, &json, NULL) < 0)
		return ROGER_OK;
	outcome = rg_json_member(rg_json_root(json), "outcome");
	if (is_null(rg_json_member(rg_json_root(json), "evidence_citation")))
		member = "evidence_citation";
	else if (outcome && is_null(rg_json_member(outcome, "message")))
		member = "outcome.message";
	return member ? rg_fail_member(err, ROGER_EDATA, member,
				       "%s: expected text; leave the member out instead of null",
				       member)
		      : ROGER_OK;
}
