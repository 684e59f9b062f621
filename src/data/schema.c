#include "data/schema.h"

#include <stdio.h>

static const char *type_of(const struct roger_field *field, enum rg_schema_use use)
{
	switch (field->kind) {
	case ROGER_SPAN:
		return use == RG_SCHEMA_TOOL ? "string" : "integer";
	case ROGER_TIME:
		return use == RG_SCHEMA_REQUEST ? "integer" : "string";
	case ROGER_INT:
		return "integer";
	case ROGER_BOOL:
		return "boolean";
	case ROGER_OBJECT:
		return "object";
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		return "array";
	case ROGER_TEXT:
	case ROGER_NAME:
	case ROGER_ENUM:
	case ROGER_INSTANT:
	case ROGER_MEMBERS:
		break;
	}
	return "string";
}

/* May the member be null?  In a reply it is null where unset is not a value. */
static bool is_nullable(const struct roger_field *field, enum rg_schema_use use)
{
	if (use == RG_SCHEMA_TOOL || (field->flags & ROGER_REQUIRED))
		return false;
	return use == RG_SCHEMA_REQUEST ||
	       (!(field->flags & ROGER_SPARE) &&
		(field->kind == ROGER_TEXT || field->kind == ROGER_NAME ||
		 field->kind == ROGER_OBJECT || field->kind == ROGER_TIME ||
		 field->kind == ROGER_INSTANT));
}

static void add_type(const struct roger_field *field, enum rg_schema_use use, struct rg_buf *out)
{
	/* A lone text is read as a list of one; an instant is a number or RFC 3339. */
	const bool lone = (field->kind == ROGER_TEXTS || field->kind == ROGER_TIME) &&
			  use == RG_SCHEMA_REQUEST;
	const bool number = field->flags & ROGER_NUMBER && use != RG_SCHEMA_TOOL;
	const bool null = is_nullable(field, use), several = lone || null || number;

	rg_buf_printf(out, "\"type\":%s%s\"%s\"%s%s%s", several ? "[" : "",
		      number ? "\"integer\"," : "", type_of(field, use), lone ? ",\"string\"" : "",
		      null ? ",\"null\"" : "", several ? "]" : "");
}

static void add_list(const char *key, const char *const *names, bool null, struct rg_buf *out)
{
	size_t i;

	rg_json_add_key(out, rg_str(key));
	rg_buf_add_char(out, '[');
	for (i = 0; names[i]; i++) {
		rg_buf_add_text(out, i ? "," : "");
		rg_json_add_string(out, rg_str(names[i]));
	}
	rg_buf_add_text(out, null ? ",null]" : "]");
}

void rg_schema_add_names(const char *key, const char *const *names, struct rg_buf *out)
{
	add_list(key, names, false, out);
}

static void add_help(const struct roger_field *field, enum rg_schema_use use, const char *help,
		     struct rg_buf *out)
{
	const char *unit = use == RG_SCHEMA_TOOL ? ""
			   : field->kind == ROGER_TIME && use == RG_SCHEMA_REQUEST
				   ? "ms since 1970, or RFC 3339"
			   : field->kind == ROGER_SPAN ? "ms"
						       : "";
	char text[400];

	help = help ? help : "";
	snprintf(text, sizeof text, "%s%s%s", help, *help && *unit ? "; " : "", unit);
	if (!*text)
		return;
	rg_json_add_member(out, "description", rg_str(text));
}

static void add_object(const struct rg_level *level, enum rg_schema_use use, bool enveloped,
		       struct rg_buf *out);

static void add_record(const struct roger_record *record, enum rg_schema_use use, bool enveloped,
		       struct rg_buf *out)
{
	const struct rg_level level = rg_level_at(true, record->fields, 0);

	add_object(&level, use, enveloped, out);
}

static void add_items(const struct roger_field *field, enum rg_schema_use use, struct rg_buf *out)
{
	rg_buf_add_text(out, ",\"items\":");
	if (field->kind == ROGER_TEXTS)
		rg_buf_add_text(out, "{\"type\":\"string\"}");
	else if (use == RG_SCHEMA_TOOL)
		rg_buf_add_text(out, "{\"type\":\"object\"}");
	else
		add_record(field->record, use, false, out);
}

static void add_value(const struct roger_field *field, enum rg_schema_use use, const char *help,
		      struct rg_buf *out)
{
	rg_buf_add_char(out, '{');
	add_type(field, use, out);
	if (field->kind == ROGER_TEXTS || field->kind == ROGER_RECORDS)
		add_items(field, use, out);
	if (field->kind == ROGER_INSTANT || (field->kind == ROGER_TIME && use == RG_SCHEMA_REPLY))
		rg_buf_add_text(out, ",\"format\":\"date-time\"");
	if (use == RG_SCHEMA_REQUEST && (field->flags & (ROGER_SELF | ROGER_ACTOR)))
		rg_buf_add_text(out, ",\"x-actor\":true");
	if (use == RG_SCHEMA_REQUEST && strcmp(type_of(field, use), "integer") == 0)
		rg_buf_add_text(out, ",\"minimum\":0");
	if (field->kind == ROGER_ENUM)
		add_list("enum", field->names + (use != RG_SCHEMA_REPLY && !*field->names[0]),
			 is_nullable(field, use), out);
	add_help(field, use, help, out);
	rg_buf_add_char(out, '}');
}

void rg_schema_add_field(const struct roger_field *field, enum rg_schema_use use, const char *help,
			 struct rg_buf *out)
{
	rg_json_add_key(out, rg_str(field->name));
	add_value(field, use, help, out);
}

/* ------------------------------------------------------------- an object -- */

static bool is_member(const struct roger_field *field)
{
	return !(field->flags & ROGER_DERIVED) && field->kind != ROGER_MEMBERS;
}

static bool is_required(const struct roger_field *field, enum rg_schema_use use)
{
	if (!is_member(field))
		return false;
	return use == RG_SCHEMA_REPLY
		       ? !(field->flags & (ROGER_SPARE | ROGER_MEASURED))
		       : (field->flags & ROGER_REQUIRED) && !(field->flags & ROGER_SELF);
}

/* Is a field of the inner object required?  Else the object may be left out. */
static bool has_required(const struct rg_level *inner, enum rg_schema_use use)
{
	size_t i;

	for (i = 0; i < inner->count; i++)
		if (is_required(&inner->fields[i], use))
			return true;
	return false;
}

static void add_members(const struct rg_level *level, enum rg_schema_use use, struct rg_buf *out)
{
	const struct roger_field *field = level->fields, *end = field + level->count;
	struct roger_str name;
	struct rg_level inner;

	for (; field < end; field += inner.count) {
		if (rg_level_inner(level, field, &name, &inner)) {
			rg_json_add_key(out, name);
			add_object(&inner, use, false, out);
		} else if (is_member(field)) {
			rg_json_add_key(out, name);
			add_value(field, use, field->help, out);
		}
	}
}

static void add_required(const struct rg_level *level, enum rg_schema_use use, bool enveloped,
			 struct rg_buf *out)
{
	const struct roger_field *field = level->fields, *end = field + level->count;
	const char *before = enveloped ? "," : "";
	struct roger_str name;
	struct rg_level inner;

	rg_buf_add_text(out, enveloped ? ",\"required\":[\"format\"" : ",\"required\":[");
	for (; field < end; field += inner.count) {
		rg_level_inner(level, field, &name, &inner);
		if (!has_required(&inner, use))
			continue;
		rg_buf_add_text(out, before);
		rg_json_add_string(out, name);
		before = ",";
	}
	rg_buf_add_char(out, ']');
}

static void add_object(const struct rg_level *level, enum rg_schema_use use, bool enveloped,
		       struct rg_buf *out)
{
	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	if (enveloped)
		rg_buf_add_text(out, "\"format\":{\"const\":1}");
	add_members(level, use, out);
	if (enveloped)
		rg_buf_add_text(out, ",\"damage\":{\"type\":\"string\",\"description\":"
				     "\"what is damaged in the workspace\"}");
	rg_buf_add_char(out, '}');
	add_required(level, use, enveloped, out);
	rg_buf_printf(out, ",\"additionalProperties\":%s}", level->keeper ? "true" : "false");
}

void rg_schema_print(const struct roger_record *record, enum rg_schema_use use, struct rg_buf *out)
{
	add_record(record, use, use == RG_SCHEMA_REPLY, out);
}
