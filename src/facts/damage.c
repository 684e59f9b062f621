#include "facts/damage.h"

#include <stdio.h>

#include "base/id.h"
#include "base/limits.h"
#include "facts/log_kinds.h"

bool rg_damage_closes(const struct roger_damage *damage)
{
	return damage->kind == ROGER_DAMAGE_SHORTER || damage->kind == ROGER_DAMAGE_OTHER ||
	       damage->kind == ROGER_DAMAGE_GONE;
}

const char *rg_damages_unsure(size_t recorded)
{
	return recorded < RG_FINDINGS_MAX ? "" : "at least ";
}

bool rg_damage_id(const struct roger_damage *damage, char to[RG_DAMAGE_ID_BYTES])
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char digits[65] = "";

	if (rg_damage_closes(damage))
		rg_buf_printf(&text, "%.*s %lld %.*s", RG_STR_ARGS(damage->file),
			      (long long)damage->expected_bytes,
			      RG_STR_ARGS(damage->expected_chain));
	else
		rg_buf_printf(&text, "%.*s:%lld %lld %.*s", RG_STR_ARGS(damage->file),
			      (long long)damage->line, (long long)damage->byte,
			      RG_STR_ARGS(damage->sha256));
	if (text.failed)
		return false;
	rg_sha256_hex(rg_buf_str(&text), digits);
	snprintf(to, RG_DAMAGE_ID_BYTES, "dmg-%.32s", digits);
	return true;
}

bool rg_damages_accepted(const struct roger_damage_list *damages, struct roger_str file)
{
	size_t i;

	for (i = 0; i < damages->count; i++)
		if (damages->items[i].accepted_at_ms &&
		    damages->items[i].kind < ROGER_DAMAGE_STRAY &&
		    rg_str_equal(damages->items[i].file, file))
			return true;
	return false;
}

const char *rg_damage_words(const struct roger_damage *damage)
{
	switch ((enum roger_damage_kind)damage->kind) {
	case ROGER_DAMAGE_ALTERED:
		return "altered, or lines before it are missing or out of order";
	case ROGER_DAMAGE_SHORTER:
		return "shorter than it was: lines are missing";
	case ROGER_DAMAGE_OTHER:
		return "not the file that roger wrote";
	case ROGER_DAMAGE_GONE:
		return "gone: nothing is left";
	case ROGER_DAMAGE_UNREADABLE:
		return "something else has its name";
	case ROGER_DAMAGE_REMOVED:
		return "gone: it was removed";
	case ROGER_DAMAGE_REWRITTEN:
		return rg_log_kind_has(RG_LOG_ARCHIVE, damage->file)
			       ? "not the message that was archived"
			       : "rewritten: the message's first line says otherwise, and counts";
	case ROGER_DAMAGE_STRAY:
		return "no entry";
	case ROGER_DAMAGE_INVALID:
		return "the document of a run, and has errors";
	case ROGER_DAMAGE_GAP:
		break;
	}
	return "lines that were not synced were lost when the machine stopped";
}
