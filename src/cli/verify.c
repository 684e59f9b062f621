/* verify, doctor, seal: is everything as it should be, and can that be proved? */
#include "base/escape.h"
#include "cli/command.h"
#include "cli/input.h"
#include "data/finding.h"
#include "data/record.h"

enum { SEAL_BYTES_MAX = 64 << 20, KEY_BYTES_MAX = 4096 };

static void print_place(enum cli_style style, struct roger_str file, int64_t line, int64_t byte)
{
	cli_say("%S%t%( line %d (byte %d)%)%.: ", style, file, line, byte);
}

/* ---------------------------------------------------------------- verify -- */

static void print_journals(const struct roger_journal_list *journals)
{
	size_t width = 0, i;

	/* The last line says what the first journal, of messages, has. */
	for (i = 1; i < journals->count; i++)
		if (cli_columns(journals->items[i].file) > width)
			width = cli_columns(journals->items[i].file);
	for (i = 1; i < journals->count; i++)
		cli_say("%*t  %8d lines, %8d chained, %d no entries\n", (int)width,
			journals->items[i].file, journals->items[i].lines,
			journals->items[i].chained, journals->items[i].strays);
}

static void print_verify(const struct cli_run *run)
{
	const struct roger_verify_reply *reply = run->reply;
	const struct roger_finding *finding, *stray = NULL;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf file = { .maximum = SIZE_MAX };
	int64_t accepted = 0, more = reply->damaged;
	size_t i;

	for (i = 0; i < reply->findings.count; i++) {
		finding = &reply->findings.items[i];
		more -= rg_finding_is_damage(finding->kind);
		print_place(rg_finding_is_damage(finding->kind) ? CLI_RED : CLI_YELLOW,
			    finding->file, finding->line, finding->byte);
		cli_say("%s%t\n", finding->kind == ROGER_ACCEPTED ? "accepted: " : "",
			finding->what);
		accepted += finding->kind == ROGER_ACCEPTED;
		stray = !stray && finding->kind == ROGER_STRAY ? finding : stray;
	}
	if (more)
		cli_say("... and %d more damaged place%p\n", more);
	print_journals(&reply->journals);
	if (reply->sealed_at_ms)
		cli_say("sealed at %w with key %t: %d file%p\n", reply->sealed_at_ms,
			reply->sealed_by, reply->sealed_files);
	cli_say("%d line%p, %d chained, %d with messages, %d without: ", reply->lines,
		reply->chained, reply->messages, reply->strays);
	if (reply->damaged)
		cli_say("%Sdamaged in %d place%p%.\n", CLI_RED, reply->damaged);
	else if (accepted)
		cli_say("%Sintact%., but for %d accepted place%p\n", CLI_GREEN, accepted);
	else
		cli_say("%Sintact%.\n", CLI_GREEN);
	if (!stray)
		return;
	rg_buf_add_typed_word(&file, stray->file);
	cli_say("once you have seen what is no entry: %Sroger dismiss %t:%d --reason TEXT%.\n",
		CLI_CYAN, rg_buf_str(&file), stray->line);
}

static int exit_of_verify(const struct cli_run *run)
{
	return ((const struct roger_verify_reply *)run->reply)->damaged ? CLI_DATA : CLI_DONE;
}

/* Replace a path by the text of that file, which must not be empty; without data none was named. */
static int read_file(struct cli_run *run, struct roger_str *field, const char *member,
		     size_t bytes_max, struct roger_err *err)
{
	const char *path = field->data;
	int r;

	if (!field->data)
		return ROGER_OK;
	r = cli_read_text(rg_str_is(*field, "-") ? NULL : path, member, bytes_max, run->arena,
			  field, err);
	if (r == ROGER_OK && !field->length)
		r = rg_fail_member(err, ROGER_EDATA, member, "%s: '%s' is empty", member, path);
	return r;
}

int cli_read_seal(struct cli_run *run, struct roger_verify_request *request, struct roger_err *err)
{
	int r = read_file(run, &request->seal, "seal", SEAL_BYTES_MAX, err);

	return r < 0 ? r : read_file(run, &request->key, "key", KEY_BYTES_MAX, err);
}

static int prepare_verify(struct cli_run *run, struct roger_err *err)
{
	return cli_read_seal(run, run->request, err);
}

CLI_COMMAND(verify, "verify", .prepare = prepare_verify, .print = print_verify,
	    .exit_of = exit_of_verify);

/* ---------------------------------------------------------------- doctor -- */

static void print_breach(const struct roger_breach *breach)
{
	cli_say("  ");
	print_place(breach->fixed ? CLI_GREEN
				  : cli_look(rg_severity_tones, breach->severity, CLI_DIM),
		    breach->file, breach->line, breach->byte);
	cli_say("%t%s\n", breach->what, breach->fixed ? " [fixed]" : "");
}

/* Print the breaches of a severity; of notes the first of each kind, and how many more (maybe a
 * thousand), and what was mended. */
static void print_breaches(const struct roger_doctor_reply *reply, int severity, int64_t count,
			   const char *title)
{
	const struct roger_breach *breach;
	int64_t told = 0, alike;
	size_t i;
	int kind;

	if (count)
		cli_say("%S%s%. (%d)\n", CLI_BOLD, title, count);
	for (kind = ROGER_BREACH_CHAIN; kind <= ROGER_BREACH_SEAL; kind++) {
		for (alike = 0, i = 0; i < reply->breaches.count; i++) {
			breach = &reply->breaches.items[i];
			if (breach->severity != severity || breach->kind != kind)
				continue;
			told++;
			if (severity != ROGER_NOTE || breach->fixed || alike++ == 0)
				print_breach(breach);
		}
		if (alike > 1)
			cli_say("  ... and %d more of this kind\n", alike - 1);
	}
	if (told < count)
		cli_say("  ... and %d more\n", count - told);
}

/* Say why a link does not work, and how many do. */
static void print_links(const struct roger_link_list *links)
{
	const struct roger_link *link;
	size_t i, working = 0;

	for (i = 0; i < links->count; i++) {
		link = &links->items[i];
		working += link->works;
		if (link->works)
			continue;
		cli_say("%S%t%.: %t of %t: %t\n", CLI_RED, link->tool, link->what, link->file,
			link->trouble);
	}
	if (working)
		cli_say("%d link%p to agents' tools tried, and fine\n", (int64_t)working);
}

static void print_doctor(const struct cli_run *run)
{
	const struct roger_doctor_reply *reply = run->reply;

	/* The worst last, where it stays on the screen. */
	print_breaches(reply, ROGER_NOTE, reply->notes, "notes");
	print_links(&reply->links);
	print_breaches(reply, ROGER_REPAIRABLE, reply->repairable, "repairable");
	print_breaches(reply, ROGER_DAMAGE, reply->damaged, "damage");
	cli_say_place(cli_out, reply->store, reply->served_by, reply->standby);
	cli_say("%d line%p of messages, %d of attempts, %d run%p, %d MB: %(%d fixed, %)",
		reply->messages, reply->attempts, reply->runs, (reply->bytes + 500000) / 1000000,
		reply->fixed);
	if (!reply->left)
		cli_say("%Ssound%.\n", CLI_GREEN);
	else
		cli_say("%S%d %s%.%s\n", CLI_RED, reply->left,
			reply->left == 1 ? "breach" : "breaches",
			reply->repairable &&
					!((const struct roger_doctor_request *)run->request)->fix
				? "; `roger doctor --fix` mends what is repairable"
				: "");
}

static int exit_of_doctor(const struct cli_run *run)
{
	const struct roger_doctor_reply *reply = run->reply;

	return reply->left || reply->broken_links ? CLI_DATA : CLI_DONE;
}

CLI_COMMAND(doctor, "doctor", .print = print_doctor, .exit_of = exit_of_doctor);

/* ------------------------------------------------------------------ seal -- */

static int run_seal(struct cli_run *run, struct roger_err *err)
{
	const char *out = ((const struct rg_seal_options *)run->options)->out.data;
	RG_CLEANUP(roger_reply_free) struct roger_seal_reply seal = { 0 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	int r;

	r = roger_seal(run->roger, run->request, &seal, err);
	cli_progress_end();
	if (r < 0)
		return r;
	rg_record_encode(cli_op(run->command)->reply, &seal, &text);
	if (out) {
		rg_buf_add_char(&text, '\n');
		r = text.failed ? rg_fail_memory(err)
				: cli_write_output(out, rg_buf_str(&text), err);
	}
	if (r < 0)
		return r;
	if (run->form != CLI_HUMAN)
		cli_print_reply(run, cli_op(run->command)->reply, &seal);
	else if (!out)
		cli_print_json(cli_out, &text);
	else if (!run->quiet)
		cli_say("sealed %d file%p with key %t\n", (int64_t)seal.entries.count,
			seal.public_key);
	return r;
}

CLI_COMMAND(seal, "seal", .run = run_seal);
