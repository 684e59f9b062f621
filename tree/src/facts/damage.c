#include "facts/damage.h"

#include <stdio.h>

#include "base/id.h"

const char *const rg_damage_kinds[] = { "altered",    "shorter", "other", "gone",
					"unreadable", "gap",	 NULL };

#define AT(member) offsetof(struct roger_damage, member)
static const struct roger_field fields[] = {
	{ "id", ROGER_TEXT, AT(id), ROGER_REQUIRED | ROGER_ID, NULL, NULL, "id of the damage" },
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "path in the data folder" },
	{ "kind", ROGER_ENUM, AT(kind), ROGER_REQUIRED, rg_damage_kinds, NULL,
	  "altered and gap: a line; else the file" },
	{ "line", ROGER_INT, AT(line), ROGER_REQUIRED, NULL, NULL,
	  "line number; 0: the whole file" },
	{ "byte", ROGER_INT, AT(byte), ROGER_REQUIRED, NULL, NULL,
	  "offset of its first byte, from 0" },
	{ "bytes", ROGER_INT, AT(bytes), ROGER_REQUIRED, NULL, NULL, "length of the line or file" },
	{ "sha256", ROGER_TEXT, AT(sha256), ROGER_SPARE, NULL, NULL, "checksum of these bytes" },
	{ "expected_bytes", ROGER_INT, AT(expected_bytes), ROGER_SPARE, NULL, NULL,
	  "bytes that were on disk once" },
	{ "expected_chain", ROGER_TEXT, AT(expected_chain), ROGER_SPARE, NULL, NULL,
	  "the chain after these bytes" },
	{ "noticed_at", ROGER_INSTANT, AT(noticed_at_ms), ROGER_REQUIRED, NULL, NULL, "when" },
	{ "accepted_at", ROGER_INSTANT, AT(accepted_at_ms), ROGER_SPARE, NULL, NULL,
	  "when a person accepted it" },
	{ "accepted_by", ROGER_TEXT, AT(accepted_by), ROGER_SPARE, NULL, NULL, "who accepted it" },
	{ "reason", ROGER_TEXT, AT(reason), ROGER_SPARE, NULL, NULL, "why it was accepted" },
	{ "", ROGER_MEMBERS, AT(unknown), 0, NULL, NULL, "members of other programs" },
	{ "chain", ROGER_TEXT, AT(chain), ROGER_DERIVED, NULL, NULL, "see FORMAT.md" },
	{ 0 },
};
#undef AT
const struct roger_record rg_damage_record = { "damage", sizeof(struct roger_damage), fields };

bool rg_damage_closes(const struct roger_damage *damage)
{
	return damage->kind == ROGER_DAMAGE_SHORTER || damage->kind == ROGER_DAMAGE_OTHER ||
	       damage->kind == ROGER_DAMAGE_GONE;
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

bool rg_damages_accepted(const struct roger_damages *damages, struct roger_str file)
{
	size_t i;

	for (i = 0; i < damages->count; i++)
		if (damages->items[i].accepted_at_ms && rg_str_equal(damages->items[i].file, file))
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
	case ROGER_DAMAGE_GAP:
		break;
	}
	return "lines that were not synced were lost when the machine stopped";
}
