/* mcp: the schemas of tools, read from the fields of verbs. */
#include "cli/mcp.h"
#include "data/schema.h"

enum { MCP_ACTIONS_MAX = 16, MCP_FIELDS_MAX = 64 };

const struct roger_op *mcp_verb(const struct mcp_tool *tool, const char *action)
{
	const struct mcp_action *one = tool->words->actions;

	for (; one && one->name; one++)
		if (strcmp(one->name, action) == 0)
			return cli_op_named(one->verb);
	return tool->words->actions ? NULL : tool->op;
}

/* Does a tool have this member?  It has those that its record marks, or where that marks none, all
 * that JSON always has. */
static bool is_of_tool(const struct roger_record *record, const struct roger_field *field,
		       unsigned never)
{
	const struct roger_field *one;

	if ((field->flags & (never | ROGER_SELF | ROGER_DERIVED)) || field->kind == ROGER_MEMBERS)
		return false;
	for (one = record->fields; one->name; one++)
		if (one->flags & ROGER_OF_TOOL)
			return field->flags & ROGER_OF_TOOL;
	return true;
}

const struct roger_field *mcp_field(const struct roger_record *record, const char *name)
{
	const struct roger_field *field;

	for (field = record->fields; field->name; field++)
		if (is_of_tool(record, field, 0) && strcmp(field->name, name) == 0)
			return field;
	return NULL;
}

/* An argument of several actions is described once, as the first of them has it. */
static bool is_described(const struct mcp_tool *tool, const struct mcp_action *action,
			 const struct roger_field *field)
{
	const struct mcp_action *before;

	for (before = tool->words->actions; before != action; before++)
		if (mcp_field(cli_op_named(before->verb)->request, field->name))
			return true;
	return false;
}

/* The help of an argument; the help of an enum repeats its words. */
static const char *help_of(const struct roger_field *field)
{
	return field->model || field->kind == ROGER_ENUM ? field->model : field->help;
}

static void print_actions(const struct mcp_tool *tool, struct rg_buf *out)
{
	const char *names[MCP_ACTIONS_MAX + 1] = { 0 };
	const struct mcp_action *action;
	const struct roger_record *record;
	const struct roger_field *field;
	size_t count = 0;

	for (action = tool->words->actions; action->name && count < MCP_ACTIONS_MAX; action++)
		names[count++] = action->name;
	rg_buf_add_text(out, "\"action\":{\"type\":\"string\"");
	rg_schema_add_names("enum", names, out);
	rg_buf_add_char(out, '}');
	for (action = tool->words->actions; action->name; action++) {
		record = cli_op_named(action->verb)->request;
		for (field = record->fields; field->name; field++)
			if (is_of_tool(record, field, 0) && !is_described(tool, action, field))
				rg_schema_add_field(field, RG_SCHEMA_TOOL, help_of(field), out);
	}
}

void mcp_print_input_schema(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct roger_record *record = tool->op->request;
	const char *required[MCP_FIELDS_MAX + 1] = { 0 };
	const struct roger_field *field;
	size_t count = 0;

	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	if (tool->words->actions) {
		print_actions(tool, out);
		required[count++] = "action";
	}
	for (field = record->fields; field->name && !tool->words->actions; field++) {
		if (!is_of_tool(record, field, 0))
			continue;
		rg_schema_add_field(field, RG_SCHEMA_TOOL, help_of(field), out);
		if ((field->flags & ROGER_REQUIRED) && count < MCP_FIELDS_MAX)
			required[count++] = field->name;
	}
	rg_buf_add_char(out, '}');
	if (count)
		rg_schema_add_names("required", required, out);
	rg_buf_add_text(out, ",\"additionalProperties\":false}");
}

void mcp_print_output_schema(const struct mcp_tool *tool, struct rg_buf *out)
{
	const struct roger_record *record = tool->op->reply;
	const char *names[MCP_FIELDS_MAX + 1] = { 0 };
	const struct roger_field *field;
	size_t count = 0;

	rg_buf_add_text(out, "{\"type\":\"object\",\"properties\":{");
	for (field = record->fields; field->name && count < MCP_FIELDS_MAX; field++) {
		if (!is_of_tool(record, field, ROGER_SPARE))
			continue;
		rg_schema_add_field(field, RG_SCHEMA_TOOL, NULL, out);
		names[count++] = field->name;
	}
	rg_buf_add_char(out, '}');
	rg_schema_add_names("required", names, out);
	rg_buf_add_char(out, '}');
}
