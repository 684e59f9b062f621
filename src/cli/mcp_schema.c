/* mcp: the schemas of tools, read from the fields of verbs. */
#include "cli/mcp.h"
#include "data/json.h"

const struct roger_op *mcp_verb(const struct mcp_tool *tool, const char *action)
{
	const struct mcp_action *one = tool->words->actions;

	for (; one && one->name; one++)
		if (strcmp(one->name, action) == 0)
			return cli_op_named(one->verb);
	return tool->words->actions ? NULL : tool->op;
}

/* Of a tool is what its record marks so; where that marks none, all that JSON always has. */
static bool is_of_tool(const struct roger_record *record, const struct roger_field *field,
		       unsigned never)
{
	const struct roger_field *one;

	if ((field->flags & (never | ROGER_SELF | ROGER_HIDDEN | ROGER_DERIVED)) ||
	    field->kind == ROGER_MEMBERS)
		return false;
	for (one = record->fields; one->name; one++)
		if (one->flags & ROGER_OF_TOOL)
			return field->flags & ROGER_OF_TOOL;
	return true;
}

struct mcp_argument mcp_argument_of(const struct mcp_tool *tool, const struct roger_field *field)
{
	const struct mcp_argument *one = tool->words->arguments;

	for (; one && one->field; one++)
		if (strcmp(one->field, field->name) == 0)
			return *one;
	return (struct mcp_argument){ field->name, field->name, field->help };
}

const struct roger_field *mcp_field(const struct mcp_tool *tool, const struct roger_record *record,
				    const char *name)
{
	const struct roger_field *field;

	for (field = record->fields; field->name; field++)
		if (is_of_tool(record, field, 0) &&
		    strcmp(mcp_argument_of(tool, field).name, name) == 0)
			return field;
	return NULL;
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

static void print_argument(const struct mcp_tool *tool, const struct roger_field *field,
			   const char *comma, struct rg_buf *out)
{
	struct mcp_argument argument = mcp_argument_of(tool, field);

	rg_buf_printf(out, "%s\"%s\":{", comma, argument.name);
	print_type(field, out);
	if (*argument.help && field->kind != ROGER_ENUM) {
		rg_buf_add_text(out, ",\"description\":");
		rg_json_add_string(out, rg_str(argument.help));
	}
	rg_buf_add_char(out, '}');
}

/* An argument of several actions is told once, as the first of them has it. */
static bool is_told(const struct mcp_tool *tool, const struct mcp_action *action,
		    const struct roger_field *field)
{
	const struct mcp_action *before;

	for (before = tool->words->actions; before != action; before++)
		if (mcp_field(tool, cli_op_named(before->verb)->request, field->name))
			return true;
	return false;
}

static void print_actions(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct mcp_action *action;
	const struct roger_record *record;
	const struct roger_field *field;

	rg_buf_add_text(out, "\"action\":{\"type\":\"string\",\"enum\":[");
	for (action = tool->words->actions; action->name; action++)
		rg_buf_printf(out, "%s\"%s\"", action == tool->words->actions ? "" : ",",
			      action->name);
	rg_buf_add_text(out, "]}");
	for (action = tool->words->actions; action->name; action++) {
		record = cli_op_named(action->verb)->request;
		for (field = record->fields; field->name; field++)
			if (is_of_tool(record, field, 0) && !is_told(tool, action, field))
				print_argument(tool, field, ",", out);
	}
}

static void print_required(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct roger_field *field;
	const char *comma = ",\"required\":[";

	if (tool->words->actions) {
		rg_buf_add_text(out, ",\"required\":[\"action\"]");
		return;
	}
	for (field = tool->op->request->fields; field->name; field++)
		if ((field->flags & ROGER_REQUIRED) && is_of_tool(tool->op->request, field, 0)) {
			rg_buf_printf(out, "%s\"%s\"", comma, mcp_argument_of(tool, field).name);
			comma = ",";
		}
	rg_buf_add_text(out, comma[1] ? "" : "]");
}

void mcp_print_input_schema(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct roger_record *record = tool->op->request;
	const struct roger_field *field;
	const char *comma = "";

	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	if (tool->words->actions)
		print_actions(tool, out);
	for (field = record->fields; field->name && !tool->words->actions; field++)
		if (is_of_tool(record, field, 0)) {
			print_argument(tool, field, comma, out);
			comma = ",";
		}
	rg_buf_add_char(out, '}');
	print_required(tool, out);
	rg_buf_add_text(out, ",\"additionalProperties\":false}");
}

void mcp_print_output_schema(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct roger_record *record = tool->op->reply;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf names = { .maximum = SIZE_MAX };
	const struct roger_field *field;

	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	for (field = record->fields; field->name; field++) {
		if (!is_of_tool(record, field, ROGER_SPARE))
			continue;
		rg_buf_printf(out, "%s\"%s\":{", names.length ? "," : "", field->name);
		print_type(field, out);
		rg_buf_add_char(out, '}');
		rg_buf_printf(&names, "%s\"%s\"", names.length ? "," : "", field->name);
	}
	rg_buf_printf(out, "},\"required\":[%.*s]}", RG_STR_ARGS(rg_buf_str(&names)));
	out->failed |= names.failed;
}
