/* OpenAPI 3.1 of all routes, from the fields of the verbs. */
#include "data/json.h"
#include "data/schema.h"
#include "serve/serve.h"

/* Objects inside the request do not fit into an address. */
static bool is_parameter(const struct roger_field *field)
{
	return !(field->flags & ROGER_DERIVED) && field->kind != ROGER_MEMBERS &&
	       field->kind != ROGER_RECORDS && !strchr(field->name, '.');
}

static void add_parameters(struct rg_buf *out, const struct roger_record *record)
{
	const struct roger_field *field;
	struct roger_field schema;
	bool first = true;

	rg_json_add_key(out, RG_STR("parameters"));
	rg_buf_add_char(out, '[');
	for (field = record->fields; field->name; field++) {
		if (!is_parameter(field))
			continue;
		rg_buf_printf(out, "%s{\"name\":\"%s\",\"in\":\"query\",\"required\":%s",
			      first ? "" : ",", field->name,
			      (field->flags & ROGER_REQUIRED) && !(field->flags & ROGER_SELF)
				      ? "true"
				      : "false");
		if (field->flags & (ROGER_SELF | ROGER_ACTOR))
			rg_buf_add_text(out, ",\"x-actor\":true");
		schema = *field;
		schema.name = "schema";
		rg_schema_add_field(&schema, RG_SCHEMA_TOOL, field->help, out);
		rg_buf_add_char(out, '}');
		first = false;
	}
	rg_buf_add_char(out, ']');
}

static void add_verb(struct rg_buf *out, const struct roger_op *op)
{
	bool writes = op->flags & ROGER_WRITES;
	char path[64];

	snprintf(path, sizeof path, "/v1/%s", op->name);
	rg_json_add_key(out, rg_str(path));
	rg_buf_printf(out, "{\"%s\":{\"operationId\":\"%s\"", writes ? "post" : "get", op->name);
	rg_json_add_member(out, "summary", rg_str(op->summary));
	rg_buf_printf(out, ",\"x-right\":\"%s\"", rg_right_names[rg_right_of(op)]);
	if (writes) {
		rg_buf_add_text(out, ",\"requestBody\":{\"required\":true,\"content\":"
				     "{\"application/json\":{\"schema\":");
		rg_schema_print(op->request, RG_SCHEMA_REQUEST, out);
		rg_buf_add_text(out, "}}}");
	} else {
		add_parameters(out, op->request);
	}
	rg_buf_add_text(out, ",\"responses\":{\"200\":{\"description\":\"done\",\"content\":"
			     "{\"application/json\":{\"schema\":");
	rg_schema_print(op->reply, RG_SCHEMA_REPLY, out);
	rg_buf_add_text(out, "}}},\"default\":{\"$ref\":\"#/components/responses/problem\"}}}}");
}

void serve_print_openapi(struct rg_buf *out)
{
	const struct roger_op *verb;
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
