/* roger's command line: find the command, parse, call, print, exit. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/screen.h"
#include "cli/serve.h"
#include "data/remote.h"
#include "data/record.h"

/* ------------------------------------------------------------ commands -- */

const struct roger_op *cli_op(const struct cli_command *command)
{
	return command->own ? command->own
			    : cli_op_named(command->verb ? command->verb : command->name);
}

const struct roger_op *cli_op_named(const char *name)
{
	const struct roger_op *const *op;

	for (op = roger_ops(); *op; op++)
		if (strcmp((*op)->name, name) == 0)
			return *op;
	rg_assert(!"a verb of that name");
	return NULL;
}

const struct roger_record *cli_item_record(const char *verb)
{
	return cli_op_named(verb)->reply->fields->record;
}

bool cli_is_agreed(const char *question)
{
	char answer[16] = "";

	cli_term_flush();
	fprintf(stderr, "%s [y/N] ", question);
	fflush(stderr);
	return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

extern const struct cli_command cli_version;

static int run_version(struct cli_run *run, struct roger_err *err)
{
	const struct rg_version_reply reply = { .version = RG_STR(ROGER_VERSION) };
	const struct rg_bare_options *options = run->options;

	if (run->command != &cli_version && !options->version)
		return rg_fail(err, ROGER_EUSAGE, 0, "which command? see `roger help`");
	if (run->form == CLI_HUMAN)
		fputs("roger " ROGER_VERSION "\n", cli_out);
	else
		cli_print_reply(run, &rg_version_reply_record, &reply);
	return ROGER_OK;
}

static const struct cli_command bare = { .name = "", .own = &rg_op_bare, .run = run_version };

CLI_COMMAND(version, "version", .own = &rg_op_version, .run = run_version);

/* -------------------------------------------------------------- errors -- */

static void print_error(const struct cli_run *run, int code, const struct roger_err *err)
{
	int status = cli_exit_of(code);
	const struct rg_error object = { .code = rg_str(rg_code_name(code)),
					 .exit = status,
					 .message = rg_str(err->message),
					 .member = rg_str(err->member),
					 .retryable = status == CLI_RETRY };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = 65536 };

	cli_progress_end();
	rg_words_encode(&rg_error_record, &object, &line);
	/* Plain words need no memory. */
	if (run->form == CLI_HUMAN || run->member.length || line.failed) {
		cli_complain("roger", object.message);
		return;
	}
	line.data[0] = ',';
	fputs(CLI_FORMAT, stderr);
	cli_print_json(stderr, &line);
}

/*
 * Output that was lost is an error.  If standard output was closed from the start, only
 * the exit status counts.
 */
static int flush_output(const struct cli_run *run)
{
	const int status = run->exit;
	const struct roger_op *op = cli_op(run->command);
	struct roger_err err;
	int error = cli_term_flush();

	/* A person who left the pager has seen enough. */
	if (cli_screen_end() && error == EPIPE)
		return status;
	if (!error)
		return status;
	if (error == EBADF || fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return status;
	if (error == EPIPE)
		return status ? status : CLI_IO;
	rg_fail(&err, ROGER_EIO, error, "%swrite to standard output",
		(op->flags & ROGER_WRITES) && status == CLI_DONE ? "done, but its output was lost: "
								 : "");
	print_error(run, ROGER_EIO, &err);
	return CLI_IO;
}

/* -------------------------------------------------------------- running -- */

/* Say that nothing is changed, if the request is a dry run. */
static void say_dry(const struct cli_run *run)
{
	const struct roger_field *field =
		cli_member(cli_op(run->command)->request, RG_STR("dry_run"));

	if (field && !rg_field_unset(field, run->request))
		fputs("dry run: nothing is changed\n", cli_out);
}

void cli_answer(struct cli_run *run, void *reply)
{
	const struct cli_command *command = run->command;
	const struct roger_record *record = cli_op(command)->reply;

	run->reply = reply;
	cli_progress_end();
	if (run->form != CLI_HUMAN) {
		cli_print_reply(run, record, reply);
	} else if (!run->quiet && command->print) {
		command->print(run);
	} else if (!run->quiet) {
		cli_print_record(cli_out, record, reply);
		say_dry(run);
	}
	run->exit = command->exit_of ? command->exit_of(run)
		    : command->nothing && rg_field_unset(record->fields, reply) ? CLI_NOTHING
										: CLI_DONE;
	roger_reply_free(reply);
}

int cli_call(struct cli_run *run, struct roger_err *err)
{
	const struct roger_op *op = cli_op(run->command);
	void *reply = rg_arena_get(run->arena, op->reply->size);
	int r;

	if (!reply)
		return rg_fail_memory(err);
	r = roger_call(run->roger, op, run->request, reply, err);
	cli_progress_end();
	if (r == ROGER_OK)
		cli_answer(run, reply);
	return r;
}

int cli_open(const char *path, struct roger **ret_roger, struct roger_err *err)
{
	const struct cli_run run = { .workspace = path };

	return cli_is_elsewhere(&run) ? rg_open_remote(ret_roger, err)
				      : roger_open(path, ret_roger, err);
}

/* Connect to the server that ROGER_SERVER names; TLS is in another program. */
static int open_elsewhere(struct cli_run *run, struct roger_err *err)
{
	const struct roger_op *op = cli_op(run->command);
	int r = rg_open_remote(&run->roger, err);

	if (r == ROGER_EENGINE && strcmp(err->member, "wire") == 0)
		return cli_become("roger-remote", run->argv,
				  "ROGER_SERVER; install the whole package of roger (from source "
				  "it is built where libcurl is: libcurl4-openssl-dev)",
				  err);
	if (r < 0 || !(op->flags & ROGER_NO_WORKSPACE))
		return r;
	/* Such verbs are for this machine; a command without a verb opens what it needs. */
	run->roger = roger_close(run->roger);
	return op->run ? cli_need_workspace(run, op->name, err) : ROGER_OK;
}

static int open_and_run(struct cli_run *run, struct roger_err *err)
{
	const struct roger_op *op = cli_op(run->command);
	int r;

	r = cli_check_member(run, err);
	/* A verb checks its request itself; this is for commands without one. */
	if (r == ROGER_OK && !op->run)
		r = rg_request_check(op->request, run->request, err);
	if (r < 0)
		return r;
	if (run->command != &bare && cli_is_elsewhere(run))
		r = open_elsewhere(run, err);
	else if (!(op->flags & ROGER_NO_WORKSPACE))
		r = roger_open(run->workspace, &run->roger, err);
	if (r < 0)
		return r;
	roger_on_progress(run->roger, cli_progress, NULL);
	return run->command->run ? run->command->run(run, err) : cli_call(run, err);
}

static int prepare_run(struct cli_run *run, struct roger_err *err)
{
	const struct roger_op *op = cli_op(run->command);
	const struct roger_record *options = op->options;

	run->request = rg_arena_get(run->arena, op->request->size + 1);
	run->options = rg_arena_get(run->arena, options ? options->size : 1);
	return rg_kept(run->request && run->options, err);
}

/* Run the command by its words, or print its help. */
static int parse_and_run(struct cli_run *run, int argc, char **argv, struct roger_err *err)
{
	const char *colour;
	bool help = false;
	int r = prepare_run(run, err);

	if (r == ROGER_OK)
		r = cli_parse(run, argc, argv, &colour, &help, err);
	if (r < 0)
		return r;
	if (help || run->form == CLI_HUMAN)
		cli_screen_begin((help || run->command->paged) && !run->no_pager);
	if (help && run->command == &bare)
		cli_print_help(cli_out, false);
	else if (help)
		cli_print_command_help(cli_out, run->command);
	if (help)
		return ROGER_OK;
	cli_term_init(colour, run->quiet);
	r = open_and_run(run, err);
	cli_print_zone();
	return r;
}

static int run_command(struct cli_run *run, int argc, char **argv)
{
	struct roger_err err = { 0 };
	int r = parse_and_run(run, argc, argv, &err);

	/* On a terminal, notes and errors come after the answer. */
	if (cli_screen_folds())
		cli_term_flush();
	/* Only roger-serve opens a database. */
	if (r == ROGER_EENGINE && strcmp(err.member, "store") == 0)
		r = cli_become(
			serve_run ? NULL : "roger-serve", run->argv,
			"PostgreSQL; install the package roger-serve-postgres (from source it "
			"is built where libevent and libpq are: libevent-dev, libpq-dev)",
			&err);
	if (r == ROGER_OK && !run->quiet && *roger_notice(run->roger))
		cli_print_note(rg_str(roger_notice(run->roger)));
	if (r == ROGER_OK && !run->quiet && run->old)
		cli_say_to(stderr, "note: `roger %s` is now `roger %s`\n", run->old->name,
			   run->old->told);
	/* Write out the answer before closing does what can wait. */
	(void)fflush(cli_out);
	run->roger = roger_close(run->roger);
	if (r == ROGER_EENGINE && run->command == &cli_hook)
		cli_hook_fail(run, err.message);
	if (r < 0) {
		print_error(run, r, &err);
		run->exit = run->command->forgiving && !isatty(STDERR_FILENO) ? CLI_DONE
									      : cli_exit_of(r);
	}
	return flush_output(run);
}

/* Find the form of answers before parsing, since the first error needs it. */
static enum cli_form wanted_form(int argc, char **argv)
{
	enum cli_form form = CLI_HUMAN;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0)
			form = CLI_JSON;
		else if (strcmp(argv[i], "--jsonl") == 0)
			form = CLI_JSONL;
	}
	return form;
}

/* An unknown word may be the value of an option that is wrong here: then name that option. */
static int no_such_command(struct cli_run *run, int word, int argc, char **argv)
{
	struct roger_strs typed = { 0 };
	struct roger_err err = { 0 };
	const char *colour;
	bool help;
	int r;

	run->command = &bare;
	r = prepare_run(run, &err);
	if (r == ROGER_OK)
		r = cli_parse(run, word - 1, argv + 1, &colour, &help, &err);
	for (; r == ROGER_OK && word < argc; word++)
		r = rg_kept(rg_arena_add(run->arena, &typed, rg_str(argv[word])), &err);
	if (r == ROGER_OK)
		r = cli_no_such_command(typed, &err);
	print_error(run, r, &err);
	return cli_exit_of(r);
}

/* Options may stand before the command: find where it is. */
static int find_word(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--workspace") == 0 || strcmp(argv[i], "--as") == 0 ||
		    strcmp(argv[i], "--color") == 0 || strcmp(argv[i], "--print") == 0)
			i++;
		else if (argv[i][0] != '-' || !argv[i][1])
			return i;
	}
	return argc;
}

/* Find the command, which options may precede, and run it with the words that are left. */
static int run_words(struct cli_run *run, int argc, char **argv)
{
	int word = find_word(argc, argv);
	struct roger_str names[2] = { { 0 } };
	struct roger_strs words = { names, 0 };
	size_t count;

	for (; words.count < 2 && word + (int)words.count < argc; words.count++)
		names[words.count] = rg_str(argv[word + (int)words.count]);
	run->old = cli_old_name(words, &count);
	run->command = run->old	     ? cli_find_command(rg_str(run->old->command))
		       : words.count ? cli_command_of(words, &count)
				     : &bare;
	if (!run->command)
		return no_such_command(run, word, argc, argv);
	if (run->command == &bare)
		return run_command(run, argc - 1, argv + 1);
	memmove(argv + 1 + count, argv + 1, (size_t)(word - 1) * sizeof *argv);
	/* The name comes first again, for a program that this one may become. */
	argv[1] = (char *)(uintptr_t)names[0].data;
	if (count == 2)
		argv[2] = (char *)(uintptr_t)names[1].data;
	argc -= 1 + (int)count;
	argv += 1 + count;
	if (run->command->else_is && !cli_is_meant(run->command, argc, argv))
		run->command = run->command->else_is;
	return run_command(run, argc, argv);
}

/* A mapped file that was cut short raises SIGBUS; for any other address it kills, as usual. */
static void mend_map(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!roger_mend_map(info->si_addr))
		signal(number, SIG_DFL);
}

/* Print, under the help, the one step that comes next in this folder. */
static void print_next_step(void)
{
	static const char *const signs[] = { ".claude", "CLAUDE.md", ".codex",	  "AGENTS.md",
					     ".gemini", "GEMINI.md", ".opencode", "opencode.json" };
	const char *step = "`roger init` makes a workspace in this folder";
	struct roger *roger = NULL;
	size_t i;

	for (i = 0; i < sizeof signs / sizeof *signs; i++)
		if (access(signs[i], F_OK) == 0)
			step = "`roger init && roger setup` connects the agents of this project";
	if (roger_open(NULL, &roger, NULL) != ROGER_ENOENT)
		step = "`roger status` shows what needs attention in this workspace";
	if (roger && *roger_distrust(roger))
		step = "`roger trust` shows what came with this workspace, and asks whether it is "
		       "yours";
	fprintf(stderr, "\nNext: %s.\n", step);
	roger_close(roger);
}

int main(int argc, char **argv)
{
	struct sigaction on_bus = { .sa_sigaction = mend_map, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct cli_run run = { .form = wanted_form(argc, argv), .argv = argv };
	static char line[4096];
	int status;

	/* Commands that run side by side on one terminal each write whole lines. */
	setvbuf(stderr, line, _IOLBF, sizeof line);
	/* A closed pipe or a file that may not grow is an error of a write, not a death in the
	 * middle of something. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigaction(SIGBUS, &on_bus, NULL);
	cli_file_mask = umask(077);
	if (argc < 2) {
		cli_print_help(stderr, false);
		print_next_step();
		return CLI_USAGE;
	}
	run.arena = rg_arena_new();
	if (!run.arena || !cli_term_open()) {
		fputs("roger: out of memory\n", stderr);
		return CLI_IO;
	}
	status = run_words(&run, argc, argv);
	rg_arena_free(run.arena);
	return status;
}
