/* schema: what a command's --json reply, or a verb's request, looks like to programs. */
#include "cli/command.h"
#include "cli/term.h"
#include "data/schema.h"

struct schema_request {
	struct roger_str verb;
	bool request;
};
#define AT(member) offsetof(struct schema_request, member)
static const struct roger_field request_fields[] = {
	{ "verb", ROGER_TEXT, AT(verb), ROGER_PLACE, NULL, NULL,
	  "a command, or a verb of roger.h" },
	{ "request", ROGER_BOOL, AT(request), 0, NULL, NULL,
	  "of the request, as send --batch and the library take it, in place of the reply" },
	{ 0 },
};
#undef AT
static const struct roger_record request_record = { "schema", sizeof(struct schema_request),
						    request_fields };

struct schema_item {
	struct roger_str name, about;
};
#define AT(member) offsetof(struct schema_item, member)
static const struct roger_field item_fields[] = {
	{ "name", ROGER_TEXT, AT(name), ROGER_REQUIRED, NULL, NULL, "what follows roger schema" },
	{ "about", ROGER_TEXT, AT(about), ROGER_REQUIRED, NULL, NULL, "what it does" },
	{ 0 },
};
#undef AT
static const struct roger_record item_record = { "schema", sizeof(struct schema_item),
						 item_fields };

struct schema_reply {
	struct rg_arena *memory;
	struct {
		struct schema_item *items;
		size_t count;
	} schemas;
};
static const struct roger_field reply_fields[] = {
	{ "schemas", ROGER_RECORDS, offsetof(struct schema_reply, schemas), 0, NULL, &item_record,
	  "verbs, and what else has a schema" },
	{ 0 },
};
static const struct roger_record reply_record = { "schemas", sizeof(struct schema_reply),
						  reply_fields };

/* What has a schema, and is no verb's reply. */
static const struct {
	const char *name, *about;
	const struct roger_record *record;
} others[] = {
	{ "error", "an error of any command, on standard error", &cli_error_record },
	{ "batch", "the reply of send --batch", &cli_batch_record },
	{ "queued", "the reply of send --queue, where the server did not answer",
	  &cli_queued_record },
	{ "help", "every command, option and exit status", &cli_help_record },
};
enum { OTHERS = sizeof others / sizeof *others };

static bool add_item(struct schema_reply *reply, const char *name, const char *about)
{
	struct schema_item *item = rg_arena_push(reply->memory, &reply->schemas.items,
						 &reply->schemas.count, sizeof *item);

	if (item)
		*item = (struct schema_item){ rg_str(name), rg_str(about) };
	return item;
}

static int list(struct roger *roger, const void *request, void *reply, struct roger_err *err)
{
	const struct cli_command *command;
	const struct roger_op *const *op;
	bool added = true;
	size_t i = 0;

	(void)roger;
	(void)request;
	for (op = roger_ops(); *op && added; op++)
		added = add_item(reply, (*op)->name, (*op)->summary);
	while (added && (command = cli_next_command(&i)))
		if (command->own && command->own->reply)
			added = add_item(reply, command->name,
					 command->summary ? command->summary
							  : command->own->summary);
	for (i = 0; i < OTHERS && added; i++)
		added = add_item(reply, others[i].name, others[i].about);
	return added ? ROGER_OK : rg_fail_memory(err);
}

static const struct roger_op schema_op = { .name = "schema",
					   .flags = ROGER_NO_WORKSPACE,
					   .request = &request_record,
					   .reply = &reply_record,
					   .run = list };

/* ---------------------------------------------------------------- one -- */

/* A command of that name, or a verb. */
static const struct roger_op *find_op(struct roger_str name)
{
	const struct cli_command *command = cli_find_command(name);
	const struct roger_op *const *op = roger_ops();

	if (command)
		return cli_op(command);
	while (*op && !rg_str_is(name, (*op)->name))
		op++;
	return *op;
}

static int find(const struct schema_request *request, const struct roger_record **ret_record,
		struct roger_err *err)
{
	const struct roger_op *op = find_op(request->verb);
	size_t i = OTHERS;

	*ret_record = !op ? NULL : !request->request ? op->reply : op->run ? op->request : NULL;
	while (i-- && !*ret_record && !request->request)
		if (rg_str_is(request->verb, others[i].name))
			*ret_record = others[i].record;
	return *ret_record ? ROGER_OK
			   : rg_fail(err, ROGER_EUSAGE, 0,
				     "no schema of '%.*s'; `roger schema` lists what has one",
				     RG_STR_CUT(request->verb));
}

/* Before the rest of an object: which schema it is, and of what. */
static void add_title(const struct schema_request *request, struct rg_buf *out)
{
	rg_buf_printf(
		out,
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"%s "
		"%.*s\",",
		request->request ? "request of" : "reply of", RG_STR_ARGS(request->verb));
}

static int run_schema(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf body = { .maximum = SIZE_MAX };
	const struct schema_request *request = run->request;
	const struct roger_record *record;
	int r;

	if (!request->verb.length)
		return cli_call(run, ret_exit, err);
	r = find(request, &record, err);
	if (r < 0)
		return r;
	add_title(request, &text);
	rg_schema_print(record, request->request ? RG_SCHEMA_REQUEST : RG_SCHEMA_REPLY, &body);
	if (text.failed || body.failed)
		return rg_fail_memory(err);
	rg_buf_add_str(&text, (struct roger_str){ body.data + 1, body.length - 1 });
	cli_print_json(cli_out, &text);
	*ret_exit = CLI_DONE;
	return ROGER_OK;
}

const struct cli_command cli_schema = {
	.name = "schema",
	.own = &schema_op,
	.summary = "print the JSON Schema of what a command prints with --json",
	.examples = "roger schema send\nroger schema send --request\nroger schema error\nroger "
		    "schema\n",
	.run = run_schema,
};
