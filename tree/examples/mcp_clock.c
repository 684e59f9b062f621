/*
 * mcp_clock - a whole MCP server with one tool and one resource.
 *
 *     mcp_clock
 *
 * Speaks over standard input and output; an agent starts it by a line like
 * `claude mcp add clock -- mcp_clock`.
 */
#include <stdio.h>
#include <time.h>

#include <roger-mcp.h>

static void tell_time(struct roger_mcp_call *call, void *data)
{
	int64_t hours =
		roger_mcp_int_of(roger_mcp_member(roger_mcp_arguments(call), "hours_from_utc"), 0);
	time_t now = time(NULL) + (time_t)hours * 3600;
	struct tm parts;
	char text[32];

	(void)data;
	gmtime_r(&now, &parts);
	strftime(text, sizeof text, "%H:%M:%S", &parts);
	roger_mcp_printf(call, "It is %s.", text);
}

static void read_zone(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_text(call, "UTC");
}

int main(void)
{
	struct roger_mcp_options options = { 0 };
	struct roger_mcp_tool tool = { 0 };
	struct roger_mcp_resource resource = { 0 };
	struct roger_mcp_server *server;
	struct roger_mcp_err err = { 0 };
	int r;

	options.name = "clock";
	options.version = "1.0";
	server = roger_mcp_server_new(&options);
	if (!server)
		return 71;

	tool.name = "time";
	tool.description = "What time it is";
	tool.input_schema =
		"{\"type\":\"object\",\"additionalProperties\":false,\"properties\":"
		"{\"hours_from_utc\":{\"type\":\"integer\",\"minimum\":-12,\"maximum\":14}}}";
	tool.annotations = "{\"readOnlyHint\":true}";
	tool.call = tell_time;
	resource.uri = "clock://zone";
	resource.name = "zone";
	resource.read = read_zone;
	r = roger_mcp_add_tool(server, &tool, &err);
	if (r == ROGER_MCP_OK)
		r = roger_mcp_add_resource(server, &resource, &err);
	if (r == ROGER_MCP_OK)
		r = roger_mcp_serve_stdio(server, 0, 1, &err);
	if (r < 0)
		fprintf(stderr, "mcp_clock: %s\n", err.message);
	roger_mcp_server_free(server);
	return -r;
}
