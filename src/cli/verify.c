/* verify, accept, doctor, seal: is everything as it should be, and can that be proved? */
#include "cli/command.h"
#include "cli/input.h"
#include "cli/term.h"
#include "data/record.h"

enum { SEAL_BYTES_MAX = 64 << 20, KEY_BYTES_MAX = 4096 };

static void print_place(enum cli_style style, struct roger_str file, int64_t line, int64_t byte)
{
	fputs(cli_style(style), cli_out);
	cli_print_text(cli_out, file, false);
	if (line)
		fprintf(cli_out, " line %lld (byte %lld)", (long long)line, (long long)byte);
	fprintf(cli_out, "%s: ", cli_style(CLI_PLAIN));
}

static void print_count(int64_t count, const char *one, const char *many)
{
	fprintf(cli_out, "%lld %s", (long long)count, count == 1 ? one : many);
}

/* ---------------------------------------------------------------- verify -- */

static bool is_damage(int kind)
{
	switch ((enum roger_finding_kind)kind) {
	case ROGER_STRAY:
	case ROGER_FOREIGN:
	case ROGER_TORN:
	case ROGER_CHANGED:
	case ROGER_PURGED:
	case ROGER_ACCEPTED:
		return false;
	case ROGER_ALTERED:
	case ROGER_UNREADABLE:
	case ROGER_TRUNCATED:
	case ROGER_MISSING:
	case ROGER_OTHER_KEY:
		break;
	}
	return true;
}

static void print_finding(const struct roger_finding *finding)
{
	print_place(is_damage(finding->kind) ? CLI_RED : CLI_YELLOW, finding->file, finding->line,
		    finding->byte);
	cli_print_text(cli_out, finding->what, false);
	fputc('\n', cli_out);
}

static void print_journals(const struct roger_journals *journals)
{
	size_t width = 0, i;

	/* The one of messages has the last word. */
	for (i = 1; i < journals->count; i++)
		if (cli_columns(journals->items[i].file) > width)
			width = cli_columns(journals->items[i].file);
	for (i = 1; i < journals->count; i++) {
		cli_print_padded(cli_out, journals->items[i].file, width);
		fprintf(cli_out, "  %8lld lines, %8lld chained, %lld no entries\n",
			(long long)journals->items[i].lines, (long long)journals->items[i].chained,
			(long long)journals->items[i].strays);
	}
}

static void print_sealed(const struct roger_verify_reply *reply)
{
	fputs("sealed at ", cli_out);
	cli_print_time(cli_out, reply->sealed_at_ms);
	fprintf(cli_out, " with key %.*s: ", (int)reply->sealed_by.length, reply->sealed_by.data);
	print_count(reply->sealed_files, "file", "files");
	fputc('\n', cli_out);
}

static void print_verify(const struct cli_run *run, const void *reply_)
{
	const struct roger_verify_reply *reply = reply_;
	size_t i;

	(void)run;
	for (i = 0; i < reply->findings.count; i++)
		print_finding(&reply->findings.items[i]);
	print_journals(&reply->journals);
	if (reply->sealed_at_ms)
		print_sealed(reply);
	fprintf(cli_out, "%lld line%s, %lld chained, %lld with messages, %lld without: ",
		(long long)reply->lines, rg_plural(reply->lines), (long long)reply->chained,
		(long long)reply->messages, (long long)reply->strays);
	if (reply->damaged)
		fprintf(cli_out, "%sdamaged in %lld %s%s\n", cli_style(CLI_RED),
			(long long)reply->damaged, reply->damaged == 1 ? "place" : "places",
			cli_style(CLI_PLAIN));
	else
		fprintf(cli_out, "%sintact%s\n", cli_style(CLI_GREEN), cli_style(CLI_PLAIN));
}

static int exit_of_verify(const void *reply)
{
	return ((const struct roger_verify_reply *)reply)->damaged ? CLI_DATA : CLI_DONE;
}

/* What the command line names as a file the verb wants as its text. */
static int read_file(struct cli_run *run, struct roger_str *field, const char *member,
		     size_t bytes_max, struct roger_err *err)
{
	const char *path = field->data;
	int r;

	if (!field->length)
		return ROGER_OK;
	r = cli_read_text(rg_str_is(*field, "-") ? NULL : path, member, bytes_max, run->arena,
			  field, err);
	if (r == ROGER_OK && !field->length)
		r = rg_fail_member(err, ROGER_EDATA, member, "%s: '%s' is empty", member, path);
	return r;
}

static int prepare_verify(struct cli_run *run, struct roger_err *err)
{
	struct roger_verify_request *request = run->request;
	int r;

	r = read_file(run, &request->seal, "seal", SEAL_BYTES_MAX, err);
	return r < 0 ? r : read_file(run, &request->key, "key", KEY_BYTES_MAX, err);
}

const struct cli_command cli_verify = { .name = "verify",
					.prepare = prepare_verify,
					.print = print_verify,
					.exit_of = exit_of_verify };

/* ---------------------------------------------------------------- doctor -- */

static enum cli_style style_of(const struct roger_breach *breach)
{
	if (breach->fixed)
		return CLI_GREEN;
	switch ((enum roger_severity)breach->severity) {
	case ROGER_DAMAGE:
		return CLI_RED;
	case ROGER_REPAIRABLE:
		return CLI_YELLOW;
	case ROGER_NOTE:
		break;
	}
	return CLI_DIM;
}

static void print_breach(const struct roger_breach *breach)
{
	fputs("  ", cli_out);
	print_place(style_of(breach), breach->file, breach->line, breach->byte);
	cli_print_text(cli_out, breach->what, false);
	fputs(breach->fixed ? " [fixed]\n" : "\n", cli_out);
}

static void print_breaches(const struct roger_breaches *breaches, enum roger_severity severity,
			   int64_t count, const char *title)
{
	size_t i, told = 0;

	if (!count)
		return;
	fprintf(cli_out, "%s%s%s (%lld)\n", cli_style(CLI_BOLD), title, cli_style(CLI_PLAIN),
		(long long)count);
	for (i = 0; i < breaches->count; i++) {
		if (breaches->items[i].severity != (int)severity)
			continue;
		print_breach(&breaches->items[i]);
		told++;
	}
	if ((int64_t)told < count)
		fprintf(cli_out, "  ... and %lld more\n", (long long)(count - (int64_t)told));
}

/* Those that work in a line for each tool; of others, all there is to say. */
static void print_links(const struct roger_links *links)
{
	const struct roger_link *link;
	size_t i, working = 0;

	for (i = 0; i < links->count; i++) {
		link = &links->items[i];
		working += link->works;
		if (link->works)
			continue;
		fprintf(cli_out, "%s%.*s%s: ", cli_style(CLI_RED), (int)link->tool.length,
			link->tool.data, cli_style(CLI_PLAIN));
		cli_print_text(cli_out, link->what, false);
		fputs(" of ", cli_out);
		cli_print_text(cli_out, link->file, false);
		fputs(": ", cli_out);
		cli_print_text(cli_out, link->trouble, false);
		fputc('\n', cli_out);
	}
	if (working) {
		print_count((int64_t)working, "link", "links");
		fputs(" to agents' tools tried, and fine\n", cli_out);
	}
}

static void print_doctor(const struct cli_run *run, const void *reply_)
{
	const struct roger_doctor_reply *reply = reply_;

	print_breaches(&reply->breaches, ROGER_DAMAGE, reply->damage, "damage");
	print_breaches(&reply->breaches, ROGER_REPAIRABLE, reply->repairable, "repairable");
	print_breaches(&reply->breaches, ROGER_NOTE, reply->notes, "notes");
	print_links(&reply->links);
	print_count(reply->messages, "line of messages, ", "lines of messages, ");
	print_count(reply->attempts, "of attempts, ", "of attempts, ");
	print_count(reply->runs, "run, ", "runs, ");
	fprintf(cli_out, "%lld MB: ", (long long)(reply->bytes + 500000) / 1000000);
	if (reply->fixed)
		fprintf(cli_out, "%lld fixed, ", (long long)reply->fixed);
	if (!reply->left)
		fprintf(cli_out, "%ssound%s\n", cli_style(CLI_GREEN), cli_style(CLI_PLAIN));
	else
		fprintf(cli_out, "%s%lld %s%s%s\n", cli_style(CLI_RED), (long long)reply->left,
			reply->left == 1 ? "breach" : "breaches", cli_style(CLI_PLAIN),
			reply->repairable &&
					!((const struct roger_doctor_request *)run->request)->fix
				? "; `roger doctor --fix` mends what is repairable"
				: "");
}

static int exit_of_doctor(const void *reply)
{
	const struct roger_doctor_reply *doctor = reply;

	return doctor->left || doctor->broken_links ? CLI_DATA : CLI_DONE;
}

const struct cli_command cli_doctor = { .name = "doctor",
					.print = print_doctor,
					.exit_of = exit_of_doctor };

/* ------------------------------------------------------------------ seal -- */

static const struct cli_option seal_options[] = {
	{ "out", "FILE", "write it there, into a file that is not there yet" },
	{ 0 },
};

static int put_seal(struct cli_run *run, const struct roger_seal_reply *seal, struct roger_err *err)
{
	struct rg_buf text;
	int r = ROGER_OK;

	rg_buf_init(&text, SIZE_MAX);
	rg_record_encode(cli_op(run->command)->reply, seal, &text);
	if (!cli_given(run, "out")) {
		cli_print_json(cli_out, &text);
	} else {
		rg_buf_add_char(&text, '\n');
		r = text.failed
			    ? rg_fail_memory(err)
			    : cli_write_output(cli_value(run, "out").data, rg_buf_str(&text), err);
	}
	rg_buf_deinit(&text);
	return r;
}

static int run_seal(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	struct roger_seal_reply seal;
	int r;

	r = roger_seal(run->roger, run->request, &seal, err);
	cli_progress_end();
	if (r < 0)
		return r;
	r = put_seal(run, &seal, err);
	if (r == ROGER_OK && cli_given(run, "out") && !run->quiet && run->form == CLI_HUMAN) {
		fputs("sealed ", cli_out);
		print_count((int64_t)seal.entries.count, "file", "files");
		fprintf(cli_out, " with key %.*s\n", (int)seal.public_key.length,
			seal.public_key.data);
	}
	roger_reply_free(&seal);
	*ret_exit = CLI_DONE;
	return r;
}

const struct cli_command cli_seal = { .name = "seal", .options = seal_options, .run = run_seal };
