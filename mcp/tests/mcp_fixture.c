/*
 * mcp_fixture - the server that the public conformance suite of MCP expects.
 *
 *     mcp_fixture                    over standard input and output
 *     mcp_fixture --http [PORT]      prints its URL; ends when its input does
 *     mcp_fixture --http 0 --token   the same, for who has the token "fixture-token-0123"
 *
 * Only for tests: the names and texts are those of the suite, beside a few of
 * our own that begin with "own_".
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roger-mcp.h>

#include "mcp_fixture.h"

static const unsigned char red_png[] = {
	0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
	0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
	0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x08,
	0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d,
	0xb0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};
static const unsigned char silent_wav[] = {
	'R', 'I',  'F', 'F', 0x24, 0, 0,   0,	'W', 'A',  'V',	 'E', 'f', 'm',	 't',
	' ', 0x10, 0,	0,   0,	   1, 0,   1,	0,   0x40, 0x1f, 0,   0,   0x80, 0x3e,
	0,   0,	   2,	0,   0x10, 0, 'd', 'a', 't', 'a',  0,	 0,   0,   0,
};

static const char name_schema[] = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
				  "\"string\"}},\"required\":[\"name\"]}";

/* -------------------------------------------------------------- content -- */

static void simple_text(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_text(call, "This is a simple text response for testing.");
}

static void image_content(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_image(call, "image/png", red_png, sizeof red_png);
}

static void audio_content(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_audio(call, "audio/wav", silent_wav, sizeof silent_wav);
}

static void embedded_resource(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_resource_text(call, "test://embedded-resource", "text/plain",
				    "This is an embedded resource content.");
}

static void multiple_content(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_text(call, "Multiple content types test:");
	roger_mcp_add_image(call, "image/png", red_png, sizeof red_png);
	roger_mcp_add_resource_text(call, "test://mixed-content-resource", "application/json",
				    "{\"test\":\"data\",\"value\":123}");
}

static void error_handling(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_fail(call, "This tool intentionally returns an error for testing");
}

/* ------------------------------------------------------- while it lasts -- */

static void with_logging(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_log(call, "info", "fixture", "Tool execution started");
	roger_mcp_sleep(call, 50);
	roger_mcp_log(call, "info", "fixture", "Tool processing data");
	roger_mcp_sleep(call, 50);
	roger_mcp_log(call, "info", "fixture", "Tool execution completed");
	roger_mcp_add_text(call, "Tool with logging executed successfully");
}

static void with_progress(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_progress(call, 0, 100, NULL);
	roger_mcp_sleep(call, 50);
	roger_mcp_progress(call, 50, 100, "half of it");
	roger_mcp_sleep(call, 50);
	roger_mcp_progress(call, 100, 100, NULL);
	/* The public client forgets the token when both come in one piece. */
	roger_mcp_sleep(call, 300);
	roger_mcp_add_text(call, "Tool with progress executed successfully");
}

/* Waits until it is cancelled, at most for "ms". */
static void own_wait(struct roger_mcp_call *call, void *data)
{
	int64_t ms = roger_mcp_int_of(roger_mcp_member(roger_mcp_arguments(call), "ms"), 60000);
	bool cancelled = roger_mcp_sleep(call, ms);

	(void)data;
	roger_mcp_add_text(call, cancelled ? "cancelled" : "waited");
}

static void *finish_later(void *argument)
{
	struct roger_mcp_call *call = argument;

	roger_mcp_sleep(call, 20);
	roger_mcp_add_text(call, "later");
	roger_mcp_finish(call);
	return NULL;
}

/* Ends on another thread, without one of the library's. */
static void own_defer(struct roger_mcp_call *call, void *data)
{
	pthread_t thread;

	(void)data;
	roger_mcp_defer(call);
	if (pthread_create(&thread, NULL, finish_later, call) == 0) {
		pthread_detach(thread);
		return;
	}
	roger_mcp_fail(call, "no thread");
	roger_mcp_finish(call);
}

static void own_echo(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *arguments = roger_mcp_arguments(call);

	(void)data;
	roger_mcp_set_structured(call, roger_mcp_json_of(call, arguments));
}

/* Structured, but not as its schema says, if it is asked to. */
static void own_structured(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_set_structured(call, roger_mcp_argument_text(call, "wrong", NULL)
					       ? "{\"count\":\"many\"}"
					       : "{\"count\":3}");
}

static void own_who(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_printf(call, "%s|%s|%s|%s", roger_mcp_caller(call), roger_mcp_client_name(call),
			 roger_mcp_client_version(call), roger_mcp_revision(call));
}

/* As much text as is asked for. */
static void own_large(struct roger_mcp_call *call, void *data)
{
	int64_t bytes = roger_mcp_int_of(roger_mcp_member(roger_mcp_arguments(call), "bytes"), 0);
	char *text = calloc(1, (size_t)bytes + 1);

	(void)data;
	if (!text) {
		roger_mcp_fail(call, "out of memory");
		return;
	}
	memset(text, 'x', (size_t)bytes);
	roger_mcp_add_text(call, text);
	free(text);
}

/* --------------------------------------------------- asking the client -- */

static void sampling(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;
	char params[2048];

	(void)data;
	snprintf(params, sizeof params,
		 "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":%s}}],"
		 "\"maxTokens\":100}",
		 roger_mcp_json_of(call, roger_mcp_member(roger_mcp_arguments(call), "prompt")));
	answer = roger_mcp_ask(call, "sample", "sampling/createMessage", params);
	if (answer)
		roger_mcp_printf(
			call, "LLM response: %s",
			roger_mcp_text_of(
				roger_mcp_member(roger_mcp_member(answer, "content"), "text"),
				"?"));
}

static void elicitation(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;
	char params[2048];

	(void)data;
	snprintf(params, sizeof params,
		 "{\"message\":%s,\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
		 "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
		 "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
		 "\"required\":[\"username\",\"email\"]}}",
		 roger_mcp_json_of(call, roger_mcp_member(roger_mcp_arguments(call), "message")));
	answer = roger_mcp_ask(call, "user", "elicitation/create", params);
	if (answer)
		roger_mcp_printf(call, "User response: %s", roger_mcp_json_of(call, answer));
}

/* data: the properties of the form. */
static void elicit_form(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;
	const struct roger_mcp_value *content;
	char params[4096];

	snprintf(
		params, sizeof params,
		"{\"message\":\"Please fill in the form\",\"requestedSchema\":{\"type\":\"object\","
		"\"properties\":%s,\"required\":[]}}",
		(const char *)data);
	answer = roger_mcp_ask(call, "form", "elicitation/create", params);
	if (!answer)
		return;
	content = roger_mcp_member(answer, "content");
	roger_mcp_printf(call, "Elicitation completed: action=%s, content=%s",
			 roger_mcp_text_of(roger_mcp_member(answer, "action"), "?"),
			 content ? roger_mcp_json_of(call, content) : "{}");
}

static const struct roger_mcp_value *ask_name(struct roger_mcp_call *call, const char *key,
					      const char *question, const char *schema)
{
	char params[1024];

	snprintf(params, sizeof params, "{\"message\":\"%s\",\"requestedSchema\":%s}", question,
		 schema);
	return roger_mcp_ask(call, key, "elicitation/create", params);
}

static const char *name_in(const struct roger_mcp_value *answer, const char *name)
{
	return roger_mcp_text_of(roger_mcp_member(roger_mcp_member(answer, "content"), name), "?");
}

static void input_elicitation(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;

	(void)data;
	answer = ask_name(call, "user_name", "What is your name?", name_schema);
	if (answer)
		roger_mcp_printf(call, "Hello, %s!", name_in(answer, "name"));
}

static const char question[] = "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
			       "\"text\":\"What is the capital of France?\"}}],\"maxTokens\":100}";

static void input_sampling(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;

	(void)data;
	answer = roger_mcp_ask(call, "capital_question", "sampling/createMessage", question);
	if (answer)
		roger_mcp_printf(
			call, "Sampled: %s",
			roger_mcp_text_of(
				roger_mcp_member(roger_mcp_member(answer, "content"), "text"),
				"?"));
}

static void input_roots(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer =
		roger_mcp_ask(call, "client_roots", "roots/list", NULL);

	(void)data;
	if (answer)
		roger_mcp_printf(call, "Roots: %s",
				 roger_mcp_json_of(call, roger_mcp_member(answer, "roots")));
}

static const char confirm_schema[] = "{\"type\":\"object\",\"properties\":{\"ok\":{\"type\":"
				     "\"boolean\"}},\"required\":[\"ok\"]}";

/* Keeps a word, and wants to see it again. */
static void input_state(struct roger_mcp_call *call, void *data)
{
	const char *kept = roger_mcp_kept(call);

	(void)data;
	roger_mcp_keep(call, "one round done");
	if (!ask_name(call, "confirm", "Please confirm", confirm_schema))
		return;
	if (kept && strcmp(kept, "one round done") == 0)
		roger_mcp_add_text(call, "state-ok");
	else
		roger_mcp_refuse(call, -32602, "the state is missing");
}

static void input_multiple(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *user, *greeting, *roots;

	(void)data;
	roger_mcp_keep(call, "asked for three");
	user = ask_name(call, "user_name", "What is your name?", name_schema);
	greeting = roger_mcp_ask(call, "greeting", "sampling/createMessage",
				 "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
				 "\"text\":\"Generate a greeting\"}}],\"maxTokens\":50}");
	roots = roger_mcp_ask(call, "client_roots", "roots/list", NULL);
	if (user && greeting && roots)
		roger_mcp_printf(call, "%s: all three are there", name_in(user, "name"));
}

static void input_rounds(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;
	const char *kept = roger_mcp_kept(call);
	char state[200];

	(void)data;
	if (!kept) {
		answer = ask_name(call, "step1", "Step 1: What is your name?", name_schema);
		roger_mcp_keep(call, "first");
		if (!answer)
			return;
	}
	if (!kept || strcmp(kept, "first") == 0) {
		answer = ask_name(call, "step1", "Step 1: What is your name?", name_schema);
		if (!answer)
			return;
		snprintf(state, sizeof state, "second %s", name_in(answer, "name"));
		roger_mcp_keep(call, state);
		ask_name(call, "step2", "Step 2: What is your favorite color?",
			 "{\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"string\"}},"
			 "\"required\":[\"color\"]}");
		return;
	}
	answer = ask_name(call, "step2", "Step 2: What is your favorite color?",
			  "{\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"string\"}},"
			  "\"required\":[\"color\"]}");
	roger_mcp_keep(call, kept);
	if (answer)
		roger_mcp_printf(call, "%s likes %s", kept + strlen("second "),
				 name_in(answer, "color"));
}

/* Only what the client can be asked. */
static void input_capabilities(struct roger_mcp_call *call, void *data)
{
	(void)data;
	if (roger_mcp_client_can(call, "elicitation") &&
	    !ask_name(call, "user_name", "What is your name?", name_schema))
		return;
	if (roger_mcp_client_can(call, "sampling") &&
	    !roger_mcp_ask(call, "capital_question", "sampling/createMessage", question))
		return;
	roger_mcp_add_text(call, "asked what could be asked");
}

static void missing_capability(struct roger_mcp_call *call, void *data)
{
	(void)data;
	if (roger_mcp_ask(call, "sample", "sampling/createMessage", question))
		roger_mcp_add_text(call, "sampled");
}

/* --------------------------------------------------------------- changes -- */

static void nothing(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_text(call, "nothing");
}

/* Adds a tool, or takes it away again. */
static void tool_change(struct roger_mcp_call *call, void *data)
{
	struct roger_mcp_tool tool = { .name = "test_dynamic",
				       .description = "Comes and goes",
				       .call = nothing };
	struct roger_mcp_server *server = data;

	if (roger_mcp_remove_tool(server, tool.name) != ROGER_MCP_OK)
		roger_mcp_add_tool(server, &tool, NULL);
	roger_mcp_add_text(call, "changed");
}

static void prompt_change(struct roger_mcp_call *call, void *data)
{
	struct roger_mcp_prompt prompt = { .name = "test_dynamic_prompt",
					   .description = "Comes and goes",
					   .get = nothing };
	struct roger_mcp_server *server = data;

	if (roger_mcp_remove_prompt(server, prompt.name) != ROGER_MCP_OK)
		roger_mcp_add_prompt(server, &prompt, NULL);
	roger_mcp_add_text(call, "changed");
}

/* Tells that a resource changed, so often. */
static void own_touch(struct roger_mcp_call *call, void *data)
{
	int64_t times = roger_mcp_int_of(roger_mcp_member(roger_mcp_arguments(call), "times"), 1);
	int64_t i;

	for (i = 0; i < times; i++)
		roger_mcp_resource_updated(data, roger_mcp_argument_text(call, "uri", ""));
	roger_mcp_add_text(call, "touched");
}

/* ------------------------------------------------------------ resources -- */

static void static_text(struct roger_mcp_call *call, void *data)
{
	roger_mcp_add_text(call, data);
}

static void static_binary(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_resource_blob(call, NULL, NULL, red_png, sizeof red_png);
}

static void template_data(struct roger_mcp_call *call, void *data)
{
	const char *id = roger_mcp_variable(call, "id");

	(void)data;
	if (strcmp(id, "missing") == 0) {
		roger_mcp_not_found(call);
		return;
	}
	if (strcmp(id, "bad") == 0) {
		roger_mcp_fail(call, "the resource cannot be read now");
		return;
	}
	roger_mcp_printf(call, "{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: %s\"}",
			 id, id);
}

static void template_ids(struct roger_mcp_call *call, void *data)
{
	char id[16];
	int i;

	(void)data;
	for (i = 0; i < 150; i++) {
		snprintf(id, sizeof id, "%d", i);
		if (strncmp(id, roger_mcp_completed_text(call),
			    strlen(roger_mcp_completed_text(call))) == 0)
			roger_mcp_add_completion(call, id);
	}
}

/* -------------------------------------------------------------- prompts -- */

static void simple_prompt(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_text(call, "This is a simple prompt for testing.");
}

static void prompt_with_arguments(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_printf(call, "Prompt with arguments: arg1='%s', arg2='%s'",
			 roger_mcp_argument_text(call, "arg1", ""),
			 roger_mcp_argument_text(call, "arg2", ""));
}

static void complete_argument(struct roger_mcp_call *call, void *data)
{
	static const char *const words[] = { "paris", "park", "party" };
	size_t i;

	(void)data;
	for (i = 0; i < 3; i++)
		if (strncmp(words[i], roger_mcp_completed_text(call),
			    strlen(roger_mcp_completed_text(call))) == 0)
			roger_mcp_add_completion(call, words[i]);
}

static void prompt_with_resource(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_resource_text(call, roger_mcp_argument_text(call, "resourceUri", ""),
				    "text/plain", "Embedded resource content for testing.");
	roger_mcp_add_text(call, "Please process the embedded resource above.");
}

static void prompt_with_image(struct roger_mcp_call *call, void *data)
{
	(void)data;
	roger_mcp_add_image(call, "image/png", red_png, sizeof red_png);
	roger_mcp_add_text(call, "Please analyze the image above.");
}

static void prompt_with_input(struct roger_mcp_call *call, void *data)
{
	const struct roger_mcp_value *answer;

	(void)data;
	answer = ask_name(call, "user_context", "What context should the prompt use?",
			  "{\"type\":\"object\",\"properties\":{\"context\":{\"type\":\"string\"}},"
			  "\"required\":[\"context\"]}");
	if (answer)
		roger_mcp_printf(call, "In the context of %s.", name_in(answer, "context"));
}

/* ------------------------------------------------------------- the list -- */

static const char defaults_form[] =
	"{\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
	"\"age\":{\"type\":\"integer\",\"default\":30},"
	"\"score\":{\"type\":\"number\",\"default\":95.5},"
	"\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
	"\"default\":\"active\"},\"verified\":{\"type\":\"boolean\",\"default\":true}}";
static const char enums_form[] =
	"{\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
	"\"titledSingle\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"value1\",\"title\":\"First "
	"Option\"},"
	"{\"const\":\"value2\",\"title\":\"Second "
	"Option\"},{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
	"\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
	"\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
	"\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
	"\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
	"\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
	"{\"const\":\"value1\",\"title\":\"First "
	"Choice\"},{\"const\":\"value2\",\"title\":\"Second Choice\"},"
	"{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}}";

#define ONE_TEXT(name)                                                                             \
	"{\"type\":\"object\",\"properties\":{\"" name                                             \
	"\":{\"type\":\"string\"}},\"required\":[\"" name "\"],\"additionalProperties\":false}"

static const char full_schema[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
	"\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
	"\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
	"\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
	"\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
	"\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
	"\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
	"\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":["
	"\"contactMethod\"]},"
	"\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
	"\"additionalProperties\":false}";

static const struct roger_mcp_tool tools[] = {
	{ .name = "test_simple_text",
	  .description = "Answers with text",
	  .call = simple_text,
	  .annotations = "{\"readOnlyHint\":true}" },
	{ .name = "test_image_content",
	  .description = "Answers with an image",
	  .call = image_content },
	{ .name = "test_audio_content",
	  .description = "Answers with a sound",
	  .call = audio_content },
	{ .name = "test_embedded_resource",
	  .description = "Answers with a resource",
	  .call = embedded_resource },
	{ .name = "test_multiple_content_types",
	  .description = "Answers with several",
	  .call = multiple_content },
	{ .name = "test_tool_with_logging",
	  .description = "Logs",
	  .flags = ROGER_MCP_BLOCKING,
	  .call = with_logging },
	{ .name = "test_tool_with_progress",
	  .description = "Tells how far it is",
	  .flags = ROGER_MCP_BLOCKING,
	  .call = with_progress },
	{ .name = "test_error_handling",
	  .description = "Always goes wrong",
	  .call = error_handling },
	{ .name = "test_sampling",
	  .description = "Asks the client's model",
	  .input_schema = ONE_TEXT("prompt"),
	  .call = sampling },
	{ .name = "test_elicitation",
	  .description = "Asks the user",
	  .input_schema = ONE_TEXT("message"),
	  .call = elicitation },
	{ .name = "test_elicitation_sep1034_defaults",
	  .description = "A form with defaults",
	  .call = elicit_form,
	  .data = (void *)(uintptr_t)defaults_form },
	{ .name = "test_elicitation_sep1330_enums",
	  .description = "A form with choices",
	  .call = elicit_form,
	  .data = (void *)(uintptr_t)enums_form },
	{ .name = "test_input_required_result_elicitation",
	  .description = "Asks for a name",
	  .call = input_elicitation },
	{ .name = "test_input_required_result_sampling",
	  .description = "Asks the client's model",
	  .call = input_sampling },
	{ .name = "test_input_required_result_list_roots",
	  .description = "Asks for roots",
	  .call = input_roots },
	{ .name = "test_input_required_result_request_state",
	  .description = "Keeps a state",
	  .call = input_state },
	{ .name = "test_input_required_result_multiple_inputs",
	  .description = "Asks for three things",
	  .call = input_multiple },
	{ .name = "test_input_required_result_multi_round",
	  .description = "Asks twice",
	  .call = input_rounds },
	{ .name = "test_input_required_result_tampered_state",
	  .description = "Keeps a state",
	  .call = input_state },
	{ .name = "test_input_required_result_capabilities",
	  .description = "Asks what it may",
	  .call = input_capabilities },
	{ .name = "test_missing_capability",
	  .description = "Needs sampling",
	  .call = missing_capability },
	{ .name = "test_streaming_elicitation",
	  .description = "Asks for a name",
	  .call = input_elicitation },
	{ .name = "test_logging_tool",
	  .description = "Logs",
	  .flags = ROGER_MCP_BLOCKING,
	  .call = with_logging },
	{ .name = "json_schema_2020_12_tool",
	  .description = "Tool with JSON Schema 2020-12 features",
	  .input_schema = full_schema,
	  .call = own_echo },
	{ .name = "test_custom_header",
	  .description = "An argument that is a header, too",
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
			  "\"x-mcp-header\":\"Region\"},\"count\":{\"type\":\"integer\","
			  "\"x-mcp-header\":\"Count\"}},\"required\":[\"region\"]}",
	  .call = own_echo },
	{ .name = "own_wait",
	  .description = "Waits",
	  .flags = ROGER_MCP_BLOCKING,
	  .call = own_wait,
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\","
			  "\"minimum\":0,\"maximum\":600000}},\"additionalProperties\":false}" },
	{ .name = "own_defer", .description = "Ends later", .call = own_defer },
	{ .name = "own_echo",
	  .description = "Gives its arguments back",
	  .call = own_echo,
	  .input_schema = "{\"type\":\"object\"}" },
	{ .name = "own_structured",
	  .description = "Has a schema for its answer",
	  .call = own_structured,
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"wrong\":{\"type\":\"string\"}}}",
	  .output_schema = "{\"type\":\"object\",\"properties\":{\"count\":{\"type\":\"integer\"}},"
			   "\"required\":[\"count\"]}" },
	{ .name = "own_who", .description = "Says who calls", .call = own_who },
	{ .name = "own_large",
	  .description = "Says much",
	  .call = own_large,
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"bytes\":{\"type\":\"integer\","
			  "\"minimum\":0,\"maximum\":50000000}},\"required\":[\"bytes\"]}" },
};

/* Those that change the server need it. */
static const struct roger_mcp_tool changing_tools[] = {
	{ .name = "test_trigger_tool_change",
	  .description = "Changes the tools",
	  .call = tool_change },
	{ .name = "test_trigger_prompt_change",
	  .description = "Changes the prompts",
	  .call = prompt_change },
	{ .name = "own_touch",
	  .description = "Tells that a resource changed",
	  .call = own_touch,
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"uri\":{\"type\":\"string\"},"
			  "\"times\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000}},"
			  "\"required\":[\"uri\"]}" },
};

static const struct roger_mcp_resource resources[] = {
	{ .uri = "test://static-text",
	  .name = "Static text",
	  .description = "Text for testing",
	  .mime_type = "text/plain",
	  .read = static_text,
	  .data = (void *)(uintptr_t) "This is the content of the static text resource." },
	{ .uri = "test://static-binary",
	  .name = "Static binary",
	  .description = "An image",
	  .mime_type = "image/png",
	  .read = static_binary },
	{ .uri = "test://watched-resource",
	  .name = "Watched",
	  .description = "Changes at times",
	  .mime_type = "text/plain",
	  .read = static_text,
	  .data = (void *)(uintptr_t) "This resource is watched." },
	{ .uri = "test://example-resource",
	  .name = "Example",
	  .description = "An example",
	  .mime_type = "text/plain",
	  .read = static_text,
	  .data = (void *)(uintptr_t) "This is an example." },
	{ .uri = "test://template/{id}/data",
	  .name = "Template",
	  .description = "Data by id",
	  .mime_type = "application/json",
	  .read = template_data,
	  .complete = template_ids },
};

static const struct roger_mcp_argument two_arguments[] = {
	{ .name = "arg1", .description = "First test argument", .required = true },
	{ .name = "arg2", .description = "Second test argument", .required = true },
};
static const struct roger_mcp_argument uri_argument[] = {
	{ .name = "resourceUri", .description = "The resource to embed", .required = true },
};

static const struct roger_mcp_prompt prompts[] = {
	{ .name = "test_simple_prompt", .description = "A prompt", .get = simple_prompt },
	{ .name = "test_prompt_with_arguments",
	  .description = "A prompt with arguments",
	  .arguments = two_arguments,
	  .argument_count = 2,
	  .get = prompt_with_arguments,
	  .complete = complete_argument },
	{ .name = "test_prompt_with_embedded_resource",
	  .description = "A prompt with a resource",
	  .arguments = uri_argument,
	  .argument_count = 1,
	  .get = prompt_with_resource },
	{ .name = "test_prompt_with_image",
	  .description = "A prompt with an image",
	  .get = prompt_with_image },
	{ .name = "test_input_required_result_prompt",
	  .description = "A prompt that asks",
	  .get = prompt_with_input },
};

#define COUNT(array) (sizeof array / sizeof *array)

void mcp_fixture_add(struct roger_mcp_server *server)
{
	struct roger_mcp_err err = { 0 };
	struct roger_mcp_tool tool;
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < COUNT(tools); i++)
		r = roger_mcp_add_tool(server, &tools[i], &err);
	for (i = 0; r == 0 && i < COUNT(changing_tools); i++) {
		tool = changing_tools[i];
		tool.data = server;
		r = roger_mcp_add_tool(server, &tool, &err);
	}
	for (i = 0; r == 0 && i < COUNT(resources); i++)
		r = roger_mcp_add_resource(server, &resources[i], &err);
	for (i = 0; r == 0 && i < COUNT(prompts); i++)
		r = roger_mcp_add_prompt(server, &prompts[i], &err);
	if (r < 0) {
		fprintf(stderr, "mcp_fixture: %s\n", err.message);
		abort();
	}
}

struct roger_mcp_server *mcp_fixture_new(const struct roger_mcp_options *given)
{
	struct roger_mcp_options options = given ? *given : (struct roger_mcp_options){ 0 };
	struct roger_mcp_server *server;

	options.name = "mcp_fixture";
	options.version = "1.0.0";
	options.title = "Fixture";
	options.instructions = "A server for tests.";
	options.logging = true;
	server = roger_mcp_server_new(&options);
	if (server)
		mcp_fixture_add(server);
	return server;
}
