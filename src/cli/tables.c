/* init, agents, session, stats, config, archive, cleanup, delete, rebuild: small tables. */
#include "cli/command.h"
#include "cli/term.h"
#include "data/record.h"

/* ----------------------------------------------------------------- init -- */

static int prepare_init(struct cli_run *run, struct roger_err *err)
{
	struct roger_init_request *request = run->request;

	(void)err;
	/* --workspace names the folder; a word that follows wins. */
	if (run->workspace)
		request->path = rg_str(run->workspace);
	return ROGER_OK;
}

static void print_init(const struct cli_run *run, const void *reply_)
{
	const struct roger_init_reply *reply = reply_;

	(void)run;
	fputs(reply->created ? "made a workspace in " : "there is a workspace in ", cli_out);
	cli_print_text(cli_out, reply->workspace, false);
	fputs("\n", cli_out);
	if (reply->above.length) {
		fputs("note: from here on the workspace in ", stderr);
		cli_print_text(stderr, reply->above, false);
		fputs(" is not seen any more\n", stderr);
	}
	if (reply->not_trusted.length) {
		fputs("not trusted: ", stderr);
		cli_print_text(stderr, reply->not_trusted, false);
		fputc('\n', stderr);
	}
	if (reply->created)
		fputs("next: export ROGER_AGENT=NAME, then roger send SOMEBODY 'hello'\n", cli_out);
}

static const struct roger_op *op_init(void)
{
	return cli_op_named("init");
}

const struct cli_command cli_init = {
	.name = "init", .op = op_init, .prepare = prepare_init, .print = print_init
};

/* ------------------------------------------------------ agents, session -- */

static void print_agent_table(const struct roger_agent_list *agents)
{
	size_t width = 5, i;

	for (i = 0; i < agents->count; i++)
		if (agents->items[i].name.length > width)
			width = agents->items[i].name.length;
	fprintf(cli_out, "%s%-*s  %6s  %8s  %8s  %8s  %s%s\n", cli_style(CLI_BOLD), (int)width,
		"agent", "#", "sent", "received", "unread", "last sent", cli_style(CLI_PLAIN));
	for (i = 0; i < agents->count; i++) {
		cli_print_padded(cli_out, agents->items[i].name, width);
		fprintf(cli_out, "  %6lld  %8lld  %8lld  %s%8lld%s  ",
			(long long)agents->items[i].seq, (long long)agents->items[i].sent,
			(long long)agents->items[i].received,
			agents->items[i].unread ? cli_style(CLI_YELLOW) : "",
			(long long)agents->items[i].unread,
			agents->items[i].unread ? cli_style(CLI_PLAIN) : "");
		cli_print_time(cli_out, agents->items[i].last_sent_at_ms);
		fputc('\n', cli_out);
	}
}

static void print_agents(const struct cli_run *run, const void *reply_)
{
	const struct roger_agents_reply *reply = reply_;

	(void)run;
	if (reply->agents.count)
		print_agent_table(&reply->agents);
	else
		fputs("nobody has sent anything yet\n", cli_out);
}

static void print_session(const struct cli_run *run, const void *reply_)
{
	const struct roger_session_reply *reply = reply_;

	(void)run;
	fprintf(cli_out, "session %lld\n", (long long)reply->epoch);
	if (reply->agents.count)
		print_agent_table(&reply->agents);
}

static const struct roger_op *op_agents(void)
{
	return cli_op_named("agents");
}

static const struct roger_op *op_session(void)
{
	return cli_op_named("session");
}

const struct cli_command cli_agents = { .name = "agents", .op = op_agents, .print = print_agents };
const struct cli_command cli_session = {
	.name = "session", .op = op_session, .words = "new|show", .print = print_session
};

/* ---------------------------------------------------------------- stats -- */

static void print_stats(const struct cli_run *run, const void *reply_)
{
	const struct roger_stats_reply *reply = reply_;
	const struct {
		const char *name;
		int64_t number;
	} rows[] = {
		{ "messages", reply->messages },
		{ "  unread", reply->unread },
		{ "  context", reply->context },
		{ "  result", reply->result },
		{ "  decision", reply->decision },
		{ "  data", reply->data },
		{ "archived", reply->archived },
		{ "agents", reply->agents },
		{ "issues", reply->issues },
		{ "session", reply->epoch },
		{ "journal lines", reply->journal_lines },
		{ "  no messages", reply->strays },
		{ "journal bytes", reply->journal_bytes },
	};
	size_t i;

	(void)run;
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		fprintf(cli_out, "%-14s %12lld\n", rows[i].name, (long long)rows[i].number);
	if (reply->messages) {
		fputs("from ", cli_out);
		cli_print_time(cli_out, reply->oldest_at_ms);
		fputs(" to ", cli_out);
		cli_print_time(cli_out, reply->newest_at_ms);
		fputc('\n', cli_out);
	}
}

static const struct roger_op *op_stats(void)
{
	return cli_op_named("stats");
}

const struct cli_command cli_stats = { .name = "stats", .op = op_stats, .print = print_stats };

/* --------------------------------------------------------------- config -- */

static void print_config(const struct cli_run *run, const void *reply_)
{
	const struct roger_config_reply *reply = reply_;
	size_t i;

	(void)run;
	fputs("workspace ", cli_out);
	cli_print_text(cli_out, reply->workspace, false);
	fputc('\n', cli_out);
	for (i = 0; i < reply->settings.count; i++) {
		cli_print_padded(cli_out, reply->settings.items[i].key, 42);
		fputc(' ', cli_out);
		cli_print_padded(cli_out, reply->settings.items[i].value, 16);
		fprintf(cli_out, " %s", cli_style(CLI_DIM));
		cli_print_text(cli_out, reply->settings.items[i].origin, false);
		fprintf(cli_out, "%s\n", cli_style(CLI_PLAIN));
	}
}

static const struct roger_op *op_config(void)
{
	return cli_op_named("config");
}

const struct cli_command cli_config = {
	.name = "config", .op = op_config, .words = "show", .print = print_config
};

/* ------------------------------------------------ archive, cleanup, delete -- */

static bool is_dry(const struct cli_run *run)
{
	const struct roger_field *field = cli_op(run->command)->request->fields;

	while (field->name && !(field->flags & ROGER_DRY_RUN))
		field++;
	return field->name && !rg_field_unset(field, run->request);
}

static void print_moved(const struct cli_run *run, const struct roger_archive_reply *reply,
			const char *what)
{
	fprintf(cli_out, "%lld message%s %s", (long long)reply->archived,
		rg_plural(reply->archived), what);
	if (reply->by_age || reply->by_count || reply->by_run)
		fprintf(cli_out,
			" (%lld too old, %lld with enough newer ones, %lld of earlier runs)",
			(long long)reply->by_age, (long long)reply->by_count,
			(long long)reply->by_run);
	if (reply->kept_unread)
		fprintf(cli_out, "; %lld kept because unread", (long long)reply->kept_unread);
	fputs(is_dry(run) ? " (dry run: nothing done)\n" : "\n", cli_out);
}

static void print_archived(const struct cli_run *run, const void *reply)
{
	print_moved(run, reply, "archived");
}

static void print_deleted(const struct cli_run *run, const void *reply)
{
	print_moved(run, reply, "deleted");
}

static const struct roger_op *op_archive(void)
{
	return cli_op_named("archive");
}

static const struct roger_op *op_cleanup(void)
{
	return cli_op_named("cleanup");
}

static const struct roger_op *op_delete(void)
{
	return cli_op_named("delete");
}

const struct cli_command cli_archive = { .name = "archive",
					 .op = op_archive,
					 .print = print_archived };
const struct cli_command cli_cleanup = { .name = "cleanup",
					 .op = op_cleanup,
					 .print = print_archived };
const struct cli_command cli_delete = { .name = "delete", .op = op_delete, .print = print_deleted };

/* -------------------------------------------------------------- rebuild -- */

static void print_rebuild(const struct cli_run *run, const void *reply_)
{
	const struct roger_rebuild_reply *reply = reply_;

	(void)run;
	fprintf(cli_out, "%lld line%s read, %lld message%s", (long long)reply->lines,
		rg_plural(reply->lines), (long long)reply->messages, rg_plural(reply->messages));
	if (reply->strays)
		fprintf(cli_out, ", %lld line%s without a message", (long long)reply->strays,
			rg_plural(reply->strays));
	fputc('\n', cli_out);
}

static const struct roger_op *op_rebuild(void)
{
	return cli_op_named("rebuild");
}

const struct cli_command cli_rebuild = { .name = "rebuild",
					 .op = op_rebuild,
					 .print = print_rebuild };
