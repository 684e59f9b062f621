/* mcp: the schemas of tools, read from the fields of verbs. */
#include "cli/mcp.h"
#include "data/json.h"

static const char *const run_verbs[][2] = { { "dispatch", "dispatch" },
					    { "complete", "complete" },
					    { "status", "runs" } };

const struct roger_op *mcp_verb(const struct mcp_tool *tool, const char *action)
{
	size_t i;

	if (tool->verb)
		return cli_op_named(tool->verb);
	for (i = 0; i < sizeof run_verbs / sizeof *run_verbs; i++)
		if (strcmp(run_verbs[i][0], action) == 0)
			return cli_op_named(run_verbs[i][1]);
	return NULL;
}

const struct roger_field *mcp_field(const struct mcp_argument *argument,
				    const struct roger_record *record)
{
	const char *name = argument->field ? argument->field : argument->name;
	const struct roger_field *field;

	for (field = record->fields; field->name; field++)
		if (strcmp(field->name, name) == 0)
			return field;
	return NULL;
}

/* The field that an argument stands for, in whichever verb has it. */
static const struct roger_field *find_field(const struct mcp_tool *tool,
					    const struct mcp_argument *argument)
{
	const struct roger_field *field = NULL;
	size_t i;

	if (tool->verb)
		return mcp_field(argument, mcp_verb(tool, "")->request);
	for (i = 0; !field && i < sizeof run_verbs / sizeof *run_verbs; i++)
		field = mcp_field(argument, mcp_verb(tool, run_verbs[i][0])->request);
	return field;
}

static void print_values(const char *const *values, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_text(out, "\"type\":\"string\",\"enum\":[");
	for (i = 0; values[i]; i++) {
		if (i)
			rg_buf_add_char(out, ',');
		rg_json_add_string(out, rg_str(values[i]));
	}
	rg_buf_add_char(out, ']');
}

static void print_type(const struct roger_field *field, struct rg_buf *out)
{
	switch (field->kind) {
	case ROGER_INT:
		rg_buf_add_text(out, "\"type\":\"integer\"");
		return;
	case ROGER_BOOL:
		rg_buf_add_text(out, "\"type\":\"boolean\"");
		return;
	case ROGER_OBJECT:
		rg_buf_add_text(out, "\"type\":\"object\"");
		return;
	case ROGER_TEXTS:
		rg_buf_add_text(out, "\"type\":\"array\",\"items\":{\"type\":\"string\"}");
		return;
	case ROGER_RECORDS:
		rg_buf_add_text(out, "\"type\":\"array\",\"items\":{\"type\":\"object\"}");
		return;
	case ROGER_ENUM:
		print_values(field->names, out);
		return;
	case ROGER_TEXT:
	case ROGER_NAME:
	case ROGER_TIME:
	case ROGER_INSTANT:
	case ROGER_SPAN:
	case ROGER_MEMBERS:
		break;
	}
	rg_buf_add_text(out, "\"type\":\"string\"");
}

void mcp_print_input_schema(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct mcp_argument *argument;
	const char *comma = "";

	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	for (argument = tool->arguments; argument->name; argument++, comma = ",") {
		rg_buf_printf(out, "%s\"%s\":{", comma, argument->name);
		if (argument->values)
			print_values(argument->values, out);
		else
			print_type(find_field(tool, argument), out);
		if (argument->help) {
			rg_buf_add_text(out, ",\"description\":");
			rg_json_add_string(out, rg_str(argument->help));
		}
		rg_buf_add_char(out, '}');
	}
	rg_buf_add_char(out, '}');
	comma = ",\"required\":[";
	for (argument = tool->arguments; argument->name; argument++)
		if (argument->required) {
			rg_buf_printf(out, "%s\"%s\"", comma, argument->name);
			comma = ",";
		}
	rg_buf_add_text(out, *comma == ',' && comma[1] ? "" : "]");
	rg_buf_add_text(out, ",\"additionalProperties\":false}");
}

void mcp_print_output_schema(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct roger_record *record = mcp_verb(tool, "status")->reply;
	const char *name = tool->gives;
	size_t length;

	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	for (; *name; name += length + (name[length] == ' ')) {
		char word[32];
		struct mcp_argument argument = { .name = word };

		length = strcspn(name, " ");
		snprintf(word, sizeof word, "%.*s", (int)length, name);
		rg_buf_printf(out, "%s\"%s\":{", name == tool->gives ? "" : ",", word);
		print_type(mcp_field(&argument, record), out);
		rg_buf_add_char(out, '}');
	}
	rg_buf_add_text(out, "},\"required\":[");
	for (name = tool->gives; *name; name += length + (name[length] == ' ')) {
		length = strcspn(name, " ");
		rg_buf_printf(out, "%s\"%.*s\"", name == tool->gives ? "" : ",", (int)length, name);
	}
	rg_buf_add_text(out, "]}");
}
