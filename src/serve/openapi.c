/* OpenAPI 3.1 of all routes, from the fields of the verbs. */
#include "data/json.h"
#include "data/record.h"
#include "serve/serve.h"

static const char *type_of(const struct roger_field *field, bool query)
{
	switch (field->kind) {
	case ROGER_INT:
		return "integer";
	case ROGER_TIME:
	case ROGER_SPAN:
		return query ? "string" : "integer";
	case ROGER_BOOL:
		return "boolean";
	case ROGER_OBJECT:
		return query ? "string" : "object";
	case ROGER_TEXTS:
	case ROGER_RECORDS:
		return "array";
	default:
		return "string";
	}
}

static void add_text(struct rg_buf *out, const char *key, const char *text)
{
	rg_json_add_key(out, rg_str(key));
	rg_json_add_string(out, rg_str(text));
}

/* A member as an answer names it. */
static void add_key(struct rg_buf *out, const struct roger_field *field)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf word = { .maximum = SIZE_MAX };

	rg_word_print(rg_str(field->name), &word);
	rg_json_add_key(out, rg_buf_str(&word));
}

static void add_names(struct rg_buf *out, const struct roger_field *field, bool null)
{
	size_t i;

	rg_json_add_key(out, RG_STR("enum"));
	rg_buf_add_char(out, '[');
	for (i = 0; field->names[i]; i++) {
		rg_buf_add_text(out, i ? "," : "");
		rg_json_add_string(out, rg_str(field->names[i]));
	}
	rg_buf_add_text(out, null ? ",null]" : "]");
}

static void add_record(struct rg_buf *out, const struct roger_record *record, bool reply);

/* The schema of one member; null: what is unset is written so. */
static void add_schema(struct rg_buf *out, const struct roger_field *field, bool query, bool reply)
{
	const char *type = type_of(field, query);

	rg_buf_printf(out, reply ? "{\"type\":[\"%s\",\"null\"]" : "{\"type\":\"%s\"", type);
	if (field->kind == ROGER_ENUM)
		add_names(out, field, reply);
	if (field->kind == ROGER_TEXTS)
		rg_buf_add_text(out, ",\"items\":{\"type\":\"string\"}");
	if (field->kind == ROGER_RECORDS) {
		rg_buf_add_text(out, ",\"items\":");
		add_record(out, field->record, reply);
	}
	if (field->help && *field->help)
		add_text(out, "description", field->help);
	rg_buf_add_char(out, '}');
}

/* An object within has members of its own, which its answer says. */
static bool is_member(const struct roger_field *field)
{
	return !(field->flags & (ROGER_HIDDEN | ROGER_DERIVED)) && field->kind != ROGER_MEMBERS &&
	       !strchr(field->name, '.');
}

static void add_required(struct rg_buf *out, const struct roger_record *record)
{
	const struct roger_field *field;
	size_t count = 0;

	for (field = record->fields; field->name; field++)
		if (is_member(field) && (field->flags & ROGER_REQUIRED) &&
		    !(field->flags & ROGER_SELF)) {
			if (!count++) {
				rg_json_add_key(out, RG_STR("required"));
				rg_buf_add_char(out, '[');
			} else {
				rg_buf_add_char(out, ',');
			}
			rg_json_add_string(out, rg_str(field->name));
		}
	if (count)
		rg_buf_add_char(out, ']');
}

static void add_record(struct rg_buf *out, const struct roger_record *record, bool reply)
{
	const struct roger_field *field;

	rg_buf_add_text(out, "{\"type\":\"object\"");
	rg_json_add_key(out, RG_STR("properties"));
	rg_buf_add_char(out, '{');
	for (field = record->fields; field->name; field++) {
		if (!is_member(field))
			continue;
		add_key(out, field);
		add_schema(out, field, false, reply);
	}
	rg_buf_add_char(out, '}');
	if (!reply) {
		add_required(out, record);
		rg_buf_add_text(out, ",\"additionalProperties\":false");
	}
	rg_buf_add_char(out, '}');
}

static void add_parameters(struct rg_buf *out, const struct roger_record *record)
{
	const struct roger_field *field;
	bool first = true;

	rg_json_add_key(out, RG_STR("parameters"));
	rg_buf_add_char(out, '[');
	for (field = record->fields; field->name; field++) {
		if (!is_member(field) || field->kind == ROGER_RECORDS)
			continue;
		rg_buf_printf(out, "%s{\"name\":\"%s\",\"in\":\"query\",\"required\":%s",
			      first ? "" : ",", field->name,
			      (field->flags & ROGER_REQUIRED) && !(field->flags & ROGER_SELF)
				      ? "true"
				      : "false");
		rg_json_add_key(out, RG_STR("schema"));
		add_schema(out, field, true, false);
		rg_buf_add_char(out, '}');
		first = false;
	}
	rg_buf_add_char(out, ']');
}

static void add_verb(struct rg_buf *out, const struct serve_verb *verb)
{
	const struct roger_op *op = verb->op;
	bool writes = op->flags & ROGER_WRITES;
	char path[64];

	snprintf(path, sizeof path, "/v1/%s", op->name);
	rg_json_add_key(out, rg_str(path));
	rg_buf_printf(out, "{\"%s\":{\"operationId\":\"%s\"", writes ? "post" : "get", op->name);
	add_text(out, "summary", op->summary);
	rg_buf_printf(out, ",\"x-right\":\"%s\"", serve_rights[verb->right]);
	if (writes) {
		rg_buf_add_text(out, ",\"requestBody\":{\"required\":true,\"content\":"
				     "{\"application/json\":{\"schema\":");
		add_record(out, op->request, false);
		rg_buf_add_text(out, "}}}");
	} else {
		add_parameters(out, op->request);
	}
	rg_buf_add_text(out, ",\"responses\":{\"200\":{\"description\":\"done\",\"content\":"
			     "{\"application/json\":{\"schema\":");
	add_record(out, op->reply, true);
	rg_buf_add_text(out, "}}},\"default\":{\"$ref\":\"#/components/responses/problem\"}}}}");
}

void serve_print_openapi(struct rg_buf *out)
{
	const struct serve_verb *verb;
	size_t i = 0;

	rg_buf_add_text(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"roger\",\"version\":"
			     "\"" ROGER_VERSION "\"},\"paths\":{");
	while ((verb = serve_next_verb(&i)))
		add_verb(out, verb);
	rg_buf_add_text(
		out,
		"},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":"
		"\"bearer\"}},\"responses\":{\"problem\":{\"description\":\"RFC 9457\",\"content\":"
		"{\"application/problem+json\":{\"schema\":{\"type\":\"object\",\"required\":"
		"[\"type\",\"status\",\"detail\",\"retry\"],\"properties\":{\"type\":{\"type\":"
		"\"string\"},\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
		"\"member\":{\"type\":\"string\"},\"exit\":{\"type\":\"integer\"},\"retry\":"
		"{\"enum\":[\"never\",\"same-key\"]}}}}}}}},\"security\":[{\"token\":[]}]}\n");
}
