#include "facts/activity.h"

#include <stdio.h>

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

/* The name of the first member of the text "a":1,"b":2. */
static struct roger_str first_name(struct roger_str members, struct rg_json **ret_json)
{
	struct roger_str name = { "", 0 };
	const struct rg_value *value = NULL;
	struct rg_buf object;
	size_t i = 0;

	rg_buf_init(&object, SIZE_MAX);
	rg_buf_add_char(&object, '{');
	rg_buf_add_str(&object, members);
	rg_buf_add_char(&object, '}');
	if (!object.failed && rg_json_read(rg_buf_str(&object), ret_json, NULL) == ROGER_OK)
		rg_json_next(rg_json_root(*ret_json), &i, &name, &value);
	rg_buf_deinit(&object);
	return name;
}

static int check_none(const char *path, struct roger_str members, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_str name;
	char member[48];

	if (!members.length)
		return ROGER_OK;
	name = first_name(members, &json);
	snprintf(member, sizeof member, "%s%.*s", path, name.length < 32 ? (int)name.length : 32,
		 name.data);
	return rg_fail_member(err, ROGER_EDATA, member, "%s: not a member of the schema (strict)",
			      member);
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

int rg_activity_check_strict(const struct roger_activity *activity, struct roger_err *err)
{
	int r;

	r = check_none("", activity->unknown, err);
	if (r == ROGER_OK)
		r = check_none("action.", activity->action_unknown, err);
	return r == ROGER_OK ? check_none("outcome.", activity->outcome_unknown, err) : r;
}
