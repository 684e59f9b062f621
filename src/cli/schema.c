/* schema: what a command's --json reply, or a verb's request, looks like to programs. */
#include "cli/command.h"
#include "data/schema.h"

/* Records that have a schema, but are no verb's reply. */
static const struct {
	const char *name, *about;
	const struct roger_record *record;
} others[] = {
	{ "error", "an error of any command, on standard error", &rg_error_record },
	{ "batch", "the reply of send --batch", &rg_batch_record },
	{ "queued", "the reply of send --queue, where the server did not answer",
	  &rg_queued_record },
	{ "help", "every command, option and exit status", &rg_help_reply_record },
};
enum { OTHERS = sizeof others / sizeof *others };

static bool add_item(struct rg_schema_reply *reply, const char *name, const char *about)
{
	const struct rg_schema item = { rg_str(name), rg_str(about) };

	return rg_arena_append(reply->memory, &reply->schemas.items, &reply->schemas.count, &item,
			       sizeof item);
}

static int run_list(struct cli_run *run, struct roger_err *err)
{
	struct rg_schema_reply reply = { .memory = rg_arena_new() };
	const struct cli_command *command;
	const struct roger_op *const *op;
	bool added = reply.memory;
	size_t i = 0;

	for (op = roger_ops(); added && *op; op++)
		added = add_item(&reply, (*op)->name, (*op)->summary);
	while (added && (command = cli_next_command(&i)))
		if (command->own && command->own->reply)
			added = add_item(&reply, command->name, cli_summary(command));
	for (i = 0; i < OTHERS && added; i++)
		added = add_item(&reply, others[i].name, others[i].about);
	if (added)
		return cli_answer(run, &reply), ROGER_OK;
	rg_arena_free(reply.memory);
	return rg_fail_memory(err);
}

/* ---------------------------------------------------------------- one -- */

/* Find the record of a command or a verb with that name, or one of the others. */
static int find_record(const struct rg_schema_request *request,
		       const struct roger_record **ret_record, struct roger_err *err)
{
	const struct cli_command *command = cli_find_command(request->verb);
	const struct roger_op *const *ops = roger_ops(), *op;
	size_t i = OTHERS;

	while (!command && *ops && !rg_str_is(request->verb, (*ops)->name))
		ops++;
	op = command ? cli_op(command) : *ops;
	*ret_record = !op ? NULL : !request->request ? op->reply : op->run ? op->request : NULL;
	while (i-- && !*ret_record && !request->request)
		if (rg_str_is(request->verb, others[i].name))
			*ret_record = others[i].record;
	return *ret_record ? ROGER_OK
			   : rg_fail(err, ROGER_EUSAGE, 0,
				     "no schema of '%.*s'; `roger schema` lists what has one",
				     RG_STR_CUT(request->verb));
}

static int run_schema(struct cli_run *run, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf body = { .maximum = SIZE_MAX };
	const struct rg_schema_request *request = run->request;
	const struct roger_record *record;
	int r;

	if (!request->verb.length)
		return run_list(run, err);
	r = find_record(request, &record, err);
	if (r < 0)
		return r;
	rg_buf_printf(
		&text,
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"%s "
		"of %.*s\",",
		request->request ? "request" : "reply", RG_STR_ARGS(request->verb));
	rg_schema_print(record, request->request ? RG_SCHEMA_REQUEST : RG_SCHEMA_REPLY, &body);
	if (text.failed || body.failed)
		return rg_fail_memory(err);
	rg_buf_add_str(&text, (struct roger_str){ body.data + 1, body.length - 1 });
	cli_print_json(cli_out, &text);
	return ROGER_OK;
}

CLI_COMMAND(schema, "schema", .own = &rg_op_schema, .joined = true, .run = run_schema);
