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

static void add_object(const struct roger_field *first, size_t depth, enum rg_schema_use use,
		       bool enveloped, struct rg_buf *out);

static void add_items(const struct roger_field *field, enum rg_schema_use use, struct rg_buf *out)
{
	rg_buf_add_text(out, ",\"items\":");
	if (field->kind == ROGER_TEXTS)
		rg_buf_add_text(out, "{\"type\":\"string\"}");
	else if (use == RG_SCHEMA_TOOL)
		rg_buf_add_text(out, "{\"type\":\"object\"}");
	else
		add_object(field->record->fields, 0, use, false, out);
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

/* The length of a field's name in its object, or of the inner object that holds it. */
static size_t name_length(const struct roger_field *field, size_t depth)
{
	return strcspn(field->name + depth, ".");
}

static bool is_inner(const struct roger_field *field, size_t depth)
{
	return field->name[depth + name_length(field, depth)] == '.';
}

/* The end of the object that starts with this field. */
static const struct roger_field *end_of(const struct roger_field *first, size_t depth)
{
	const struct roger_field *field = first;

	while (field->name && (!depth || strncmp(field->name, first->name, depth) == 0))
		field++;
	return field;
}

/* The next member of the object. */
static const struct roger_field *next_member(const struct roger_field *field, size_t depth)
{
	return is_inner(field, depth) ? end_of(field, depth + name_length(field, depth) + 1)
				      : field + 1;
}

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
static bool has_required(const struct roger_field *field, const struct roger_field *end,
			 enum rg_schema_use use)
{
	for (; field < end; field++)
		if (is_required(field, use))
			return true;
	return false;
}

static void add_word(const struct roger_field *field, size_t depth, struct rg_buf *out)
{
	const bool first = out->length && strchr("{[", out->data[out->length - 1]);

	rg_buf_add_text(out, first ? "\"" : ",\"");
	rg_buf_add_str(out, (struct roger_str){ field->name + depth, name_length(field, depth) });
	rg_buf_add_char(out, '"');
}

static void add_members(const struct roger_field *first, size_t depth, enum rg_schema_use use,
			struct rg_buf *out)
{
	const struct roger_field *field, *end = end_of(first, depth);

	for (field = first; field < end; field = next_member(field, depth)) {
		if (!is_inner(field, depth) && !is_member(field))
			continue;
		add_word(field, depth, out);
		rg_buf_add_char(out, ':');
		if (is_inner(field, depth))
			add_object(field, depth + name_length(field, depth) + 1, use, false, out);
		else
			add_value(field, use, field->help, out);
	}
}

static void add_required(const struct roger_field *first, size_t depth, enum rg_schema_use use,
			 bool enveloped, struct rg_buf *out)
{
	const struct roger_field *field, *end = end_of(first, depth);

	rg_buf_add_text(out, enveloped ? ",\"required\":[\"format\"" : ",\"required\":[");
	for (field = first; field < end; field = next_member(field, depth)) {
		if (!has_required(field, next_member(field, depth), use))
			continue;
		add_word(field, depth, out);
	}
	rg_buf_add_char(out, ']');
}

/* Does the object keep members that roger does not know? */
static bool keeps_unknown(const struct roger_field *first, size_t depth)
{
	const struct roger_field *field, *end = end_of(first, depth);

	for (field = first; field < end; field++)
		if (field->kind == ROGER_MEMBERS && !strchr(field->name + depth, '.'))
			return true;
	return false;
}

static void add_object(const struct roger_field *first, size_t depth, enum rg_schema_use use,
		       bool enveloped, struct rg_buf *out)
{
	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	if (enveloped)
		rg_buf_add_text(out, "\"format\":{\"const\":1}");
	add_members(first, depth, use, out);
	if (enveloped)
		rg_buf_add_text(out, ",\"damage\":{\"type\":\"string\",\"description\":"
				     "\"what is damaged in the workspace\"}");
	rg_buf_add_char(out, '}');
	add_required(first, depth, use, enveloped, out);
	rg_buf_printf(out, ",\"additionalProperties\":%s}",
		      keeps_unknown(first, depth) ? "true" : "false");
}

void rg_schema_print(const struct roger_record *record, enum rg_schema_use use, struct rg_buf *out)
{
	add_object(record->fields, 0, use, use == RG_SCHEMA_REPLY, out);
}
