/*
 * hook: what an agent's tool runs when something happens in it.
 *
 * Without mail it prints nothing, else one JSON object in the tool's own form.  It never
 * takes long and never fails, whatever state roger is in: mail that is not shown now is
 * shown at the next event.  Messages count as looked at only after they were written.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/frame.h"
#include "cli/hook_event.h"
#include "cli/hook_host.h"
#include "data/caller.h"
#include "data/json.h"
#include "data/record.h"
#include "data/remote.h"

enum {
	INPUT_BYTES_MAX = 64 << 20, /* more is read and dropped */
	CONTEXT_CHARS = 8000,	    /* shown at one event */
	BUDGET_S = 5,		    /* for an event that a tool waits for */
	IDLE_WAIT_MS = 20000,	    /* between looks whether anybody still waits for us */
	IDLE_FIRST_MS = 1500,	    /* leave the mail to hooks that start at the same time */
	IDLE_S = 86400,		    /* then the hook ends, and the next turn waits */
	SHOWN_MAX = 50,
};

struct hook {
	struct roger *roger;
	struct rg_hook_request request;
	struct rg_buf input;  /* what the tool wrote */
	struct rg_json *said; /* that, parsed; texts of the event point into it */
	struct cli_hook_event event;
	enum cli_hook_host host;
	bool first;   /* its session begins, and nothing was said at its start */
	bool beside;  /* another session lives under the same name */
	bool unnamed; /* nobody said who the agent is: it has its tool's name */
	char own_name[RG_OWN_NAME_BYTES];
};

/* ------------------------------------------------------------------ input -- */

/* Read all input, so that the tool's write succeeds, but keep no more than the maximum. */
static void read_input(struct rg_buf *input)
{
	char piece[16384];
	ssize_t got;

	if (isatty(STDIN_FILENO))
		return;
	for (;;) {
		got = read(STDIN_FILENO, piece, sizeof piece);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		if (!input->failed)
			rg_buf_add(input, piece, (size_t)got);
	}
}

/* ------------------------------------------------------------------- host -- */

int cli_tool_above(int64_t *ret_pid)
{
	enum { ABOVE_MAX = 64 };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	int64_t id = getppid(), above = 0;
	struct roger_strs words;
	int tool = CLI_HOOK_NO_TOOL, i;

	for (i = 0; arena && i < ABOVE_MAX && id > 1; i++, id = above) {
		if (!rg_observe_command(id, arena, &words, &above))
			break;
		tool = cli_hook_tool_of(&words);
		if (tool)
			break;
	}
	if (ret_pid)
		*ret_pid = tool ? id : 0;
	return tool;
}

/* ----------------------------------------------------------------- output -- */

/* Printed when time is over; "": it is not for a person, or an answer is on its way. */
static const char *volatile late = "";

/* May a person be told of trouble?  At the start of a session and of a turn, not at each call. */
static bool is_for_person(const struct hook *hook)
{
	return hook->request.event == CLI_HOOK_SESSION_START ||
	       hook->request.event == CLI_HOOK_PROMPT;
}

/* Tell the person, and not the model, that nobody could look for mail. */
static void say_trouble(const struct hook *hook, const char *why)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	RG_CLEANUP(cli_page_free) struct cli_page line = { 0 };
	bool whole;

	if (!is_for_person(hook) || !cli_page_begin(&line))
		return;
	cli_say_to(line.to, "roger: %t", rg_str(why));
	whole = cli_page_end(&line);
	if (whole && hook->event.tool == CLI_HOOK_OTHER) {
		fprintf(stderr, "%.*s\n", (int)line.length, line.text);
	} else if (whole) {
		late = "";
		rg_buf_add_text(&out, "{\"systemMessage\":");
		rg_json_add_string(&out, (struct roger_str){ line.text, line.length });
		rg_buf_add_text(&out, "}\n");
		fwrite(out.data, 1, out.failed ? 0 : out.length, cli_out);
	}
}

/* Print an answer, in the form in which the tool takes it to its model, and note that it shows the
 * first `shown` messages. */
static void print_shown(const struct hook *hook, struct cli_page *page,
			const struct roger_message_list *messages, size_t shown)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	/* Asked again: a pull may have come while the mail was read. */
	const char *why = roger_distrust(hook->roger);
	bool whole = cli_page_end(page);

	if (*why) {
		say_trouble(hook, why);
	} else if (whole) {
		late = "";
		cli_hook_print(&hook->event, (struct roger_str){ page->text, page->length }, &out);
		if (out.failed)
			cli_term_lose(ENOMEM);
		else
			fwrite(out.data, 1, out.length, cli_out);
		/* They count as shown once they were written to a tool that shows them. */
		if (hook->host == CLI_HOOK_OWN && !cli_term_flush())
			cli_frame_shown(hook->roger, hook->request.agent, messages, shown);
	}
	free(page->text);
}

/*
 * Take the lock of doing this for an agent or a session.  It is in the workspace, and
 * ends with the process.  false: another process has it.
 */
static bool hold_turn(const struct hook *hook, const char *what, int64_t number,
		      struct roger_str who)
{
	char name[256];

	snprintf(name, sizeof name, "hook %s %lld %.128s", what, (long long)number, who.data);
	return roger_hold(hook->roger, name);
}

/* ----------------------------------------------------------------- events -- */

/* Record the session, by which the agent may be woken; if two have one name, both get a note. */
static void note_arrival(struct hook *hook)
{
	const struct roger_arrive_request request = { .agent = hook->request.agent,
						      .session = hook->event.session,
						      .tool = hook->request.tool };
	struct roger_arrive_reply reply = { 0 };

	if (hook->host == CLI_HOOK_OWN && rg_name_valid(hook->event.session) &&
	    roger_arrive(hook->roger, &request, &reply, NULL) == ROGER_OK) {
		hook->first = hook->event.by_prompt && reply.first;
		hook->beside = reply.back;
		roger_reply_free(&reply);
	}
}

static void print_beside(const struct hook *hook, FILE *to)
{
	if (hook->beside)
		fprintf(to,
			"\nAnother session is at work under your name, %.*s: each of you takes the "
			"other's mail. Tell the person, who can start one of you with another "
			"ROGER_AGENT.\n",
			RG_STR_ARGS(hook->request.agent));
}

static void say_prime(struct hook *hook)
{
	const struct roger_prime_request request = { .agent = hook->request.agent,
						     .limit = SHOWN_MAX };
	RG_CLEANUP(roger_reply_free) struct roger_prime_reply reply = { 0 };
	struct roger_err err = { 0 };
	/* Tell the agent a name that is not its tool's, since it cannot guess it. */
	const bool own = hook->unnamed && !rg_str_equal(hook->request.agent, hook->request.tool);
	struct cli_page page;
	size_t shown;

	if (roger_prime(hook->roger, &request, &reply, &err) < 0)
		say_trouble(hook, err.message);
	else if ((own || hook->beside || reply.unread || reply.duties.count ||
		  *roger_damage(hook->roger)) &&
		 cli_page_begin(&page)) {
		shown = cli_prime_print(page.to, &reply, hook->roger, CONTEXT_CHARS);
		print_beside(hook, page.to);
		print_shown(hook, &page, &reply.messages, shown);
	}
}

/* Find mail that was never shown, to be freed; none if it cannot be read. */
static int find_fresh(const struct hook *hook, struct roger_inbox_reply *ret_mail)
{
	const struct roger_inbox_request request = {
		.agent = hook->request.agent, .limit = SHOWN_MAX, .fresh = true, .unnoted = true
	};
	struct roger_err err = { 0 };
	int r = roger_inbox(hook->roger, &request, ret_mail, &err);

	if (r < 0)
		say_trouble(hook, err.message);
	return r;
}

static void say_mail(const struct hook *hook)
{
	RG_CLEANUP(roger_reply_free) struct roger_inbox_reply mail = { 0 };
	struct cli_page page;
	size_t shown = 0;

	(void)find_fresh(hook, &mail);
	if ((!mail.messages.count && !hook->beside) || !cli_page_begin(&page))
		return;
	if (mail.messages.count) {
		cli_frame_begin(page.to);
		shown = cli_frame_messages(page.to, &mail.messages, hook->request.agent,
					   CONTEXT_CHARS);
		fprintf(page.to,
			"\nYou are %.*s. Deal with it when it fits, answer with roger's send%s, "
			"then ack the id.%s\n",
			RG_STR_ARGS(hook->request.agent),
			/* Claude Code's own tool of that name reaches no other tool's agents. */
			hook->event.tool == CLI_HOOK_CLAUDE ? " (not SendMessage)" : "",
			shown < mail.messages.count ? " More is in the inbox." : "");
		cli_print_damage(page.to, hook->roger);
	}
	print_beside(hook, page.to);
	print_shown(hook, &page, &mail.messages, shown);
}

/* Does our plugin run the hook?  It takes what a hook says at any time. */
static bool is_by_plugin(const struct hook *hook)
{
	return hook->event.tool == CLI_HOOK_OPENCODE || hook->event.tool == CLI_HOOK_KILO;
}

/*
 * Does the tool go on while a hook waits?  Claude Code does, but without a person (-p, its
 * SDK) it waits for such a hook before it continues or ends; OpenCode and Kilo do by our plugin.
 */
static bool is_wanted(const struct hook *hook)
{
	const char *attended = getenv("CLAUDE_CODE_SESSION_ATTENDED"), *wake = getenv("ROGER_WAKE");

	if (hook->host != CLI_HOOK_OWN || hook->event.tool != CLI_HOOK_CLAUDE)
		return hook->host == CLI_HOOK_OWN && is_by_plugin(hook);
	return !attended || strcmp(attended, "0") != 0 || (wake && strcmp(wake, "always") == 0);
}

/*
 * Does the tool still read our output?  Waits up to the timeout for it to stop.  A shell
 * may be between the tool and us, and somebody else may hold open what we write to, so no
 * one of these shows it alone.
 */
static bool is_waited_for(pid_t parent, int tool, int timeout_ms)
{
	struct pollfd said[] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };

	return poll(said, 2, timeout_ms) <= 0 && getppid() == parent &&
	       cli_tool_above(NULL) == tool;
}

/* Sleep until there is mail that was never shown; false: the tool no longer waits. */
static bool wait_for_mail(const struct hook *hook, char from[129], size_t *ret_count)
{
	struct roger_inbox_reply mail;
	pid_t parent = getppid();
	int tool = cli_tool_above(NULL);
	int pause_ms = IDLE_FIRST_MS, r;
	uint32_t mark = 0;

	roger_watch(hook->roger, &mark, 0);
	for (; is_waited_for(parent, tool, pause_ms); pause_ms = r < 0 ? IDLE_WAIT_MS : 0) {
		mail = (struct roger_inbox_reply){ 0 };
		r = find_fresh(hook, &mail);
		*ret_count = mail.messages.count;
		if (*ret_count)
			snprintf(from, 129, "%.*s", RG_STR_ARGS(mail.messages.items[0].from));
		roger_reply_free(&mail);
		if (*ret_count)
			return is_waited_for(parent, tool, 0);
		/* A failed look, as where the folder was removed, may itself look like news. */
		if (r == ROGER_OK)
			roger_watch(hook->roger, &mark, IDLE_WAIT_MS);
	}
	return false;
}

static int wait_and_say(struct hook *hook)
{
	const struct roger_str session = hook->event.session;
	char from[129];
	size_t count;

	/* One waiting hook is enough for a session. */
	if (!is_wanted(hook) ||
	    !hold_turn(hook, "idle", session.length ? 0 : (int)getppid(),
		       session.length ? session : hook->request.agent) ||
	    !wait_for_mail(hook, from, &count))
		return 0;
	if (is_by_plugin(hook)) {
		say_mail(hook);
		return 0;
	}
	/* A pointer without content: the model asks for the mail itself. */
	fprintf(stderr,
		"roger: %zu new message%s for %.*s, the first from %s. Look with roger's inbox.\n",
		count, rg_plural((int64_t)count), RG_STR_ARGS(hook->request.agent), from);
	return 2; /* "wake up", to the tool that asked to be woken like this */
}

/* Handle the alarm: end as if there was no mail, after the line `late`. */
static void give_up(int signal)
{
	const char *line = late;

	(void)signal;
	/* An error of this write cannot be reported. */
	(void)!write(STDOUT_FILENO, line, strlen(line));
	_exit(0);
}

/* Open the workspace; false: there is none, or its mail may not be shown. */
static bool open_workspace(const struct cli_run *run, struct hook *hook)
{
	const char *named = run->workspace;
	const char *project = getenv("CLAUDE_PROJECT_DIR");
	struct roger_err err = { 0 };
	const char *why = err.message;
	struct roger_str name;
	int64_t pid;
	int r;

	if (is_for_person(hook) && hook->event.tool != CLI_HOOK_OTHER)
		late = "{\"systemMessage\":\"roger: the mailbox did not answer within 5 s; mail is "
		       "shown at the next event\"}\n";
	r = cli_open(named, &hook->roger, &err);
	if (r == ROGER_ENOENT && !named && project && *project)
		r = roger_open(project, &hook->roger, &err);
	if (rg_is_remote(hook->roger) && hook->request.event != CLI_HOOK_IDLE)
		rg_remote_hurry(hook->roger);
	if (r == ROGER_OK)
		why = roger_distrust(hook->roger);
	else if (r == ROGER_ENOENT && !named && !getenv("ROGER_WORKSPACE"))
		why = ""; /* a project that has nothing to do with roger */
	if (*why)
		say_trouble(hook, why);
	if (r == ROGER_OK && !*why && hook->unnamed) {
		cli_tool_above(&pid);
		name = rg_name_by_itself(hook->roger, hook->request.agent, pid, hook->own_name);
		hook->request.agent = name.length ? name : hook->request.agent;
	}
	return r == ROGER_OK && !*why;
}

/* Fill in what is asked for, what the tool wrote, and which tool it is. */
static void begin_hook(const struct cli_run *run, struct hook *hook)
{
	struct cli_hook_clues clues = { .program = cli_tool_above, .variable = getenv };
	struct sigaction action = { .sa_handler = give_up };
	int tool;

	*hook = (struct hook){ .request = *(const struct rg_hook_request *)run->request,
			       .input = { .maximum = INPUT_BYTES_MAX } };
	hook->unnamed = !hook->request.agent.length;
	if (hook->unnamed)
		hook->request.agent = hook->request.tool;
	sigaction(SIGALRM, &action, NULL);
	alarm(hook->request.event == CLI_HOOK_IDLE ? IDLE_S : BUDGET_S);
	read_input(&hook->input);
	tool = rg_enum_find(rg_hook_tool_names, hook->request.tool);
	hook->event = (struct cli_hook_event){ .tool = tool > 0 ? tool : CLI_HOOK_OTHER,
					       .kind = hook->request.event };
	hook->said = cli_hook_read(&hook->event, rg_buf_str(&hook->input));
	clues.input = hook->said ? rg_json_root(hook->said) : NULL;
	/* Tools run each other's hooks.  Nothing is known of an unlisted tool, but that a person
	 * has a terminal. */
	hook->host = hook->event.tool != CLI_HOOK_OTHER ? cli_hook_host(hook->event.tool, &clues)
		     : isatty(STDIN_FILENO)		? CLI_HOOK_BY_HAND
							: CLI_HOOK_OWN;
}

static void end_hook(struct hook *hook)
{
	roger_close(hook->roger);
	rg_json_free(hook->said);
	rg_buf_deinit(&hook->input);
}

void cli_hook_fail(const struct cli_run *run, const char *why)
{
	struct hook hook;

	begin_hook(run, &hook);
	if (hook.host == CLI_HOOK_FOREIGN)
		_exit(CLI_DONE);
	say_trouble(&hook, why);
	cli_term_flush();
	end_hook(&hook);
}

static int run_hook(struct cli_run *run, struct roger_err *err)
{
	struct hook hook;

	(void)err;
	begin_hook(run, &hook);
	run->quiet = true;
	if (hook.host != CLI_HOOK_FOREIGN && !hook.event.in_subagent &&
	    !(hook.event.by_prompt && hook.request.event == CLI_HOOK_SESSION_START) &&
	    open_workspace(run, &hook)) {
		/* At each turn, so that two sessions under one name are both seen. */
		if (is_for_person(&hook))
			note_arrival(&hook);
		if (hook.request.event == CLI_HOOK_IDLE)
			run->exit = wait_and_say(&hook);
		else if (!hold_turn(&hook, "say", 0, hook.request.agent))
			; /* tools run hooks in parallel: only the first shows the mail */
		else if (hook.first ||
			 (hook.request.event == CLI_HOOK_SESSION_START && !hook.event.resumed))
			say_prime(&hook);
		else if (hook.request.event != CLI_HOOK_STOP || !hook.event.stopped_before)
			say_mail(&hook);
	}
	end_hook(&hook);
	/* An answer that nobody read is not an error for the agent. */
	if (cli_term_flush())
		_exit(run->exit);
	return ROGER_OK;
}

/* ---------------------------------------------------------------- command -- */

CLI_COMMAND(hook, "hook", .own = &rg_op_hook, .forgiving = true, .run = run_hook);
