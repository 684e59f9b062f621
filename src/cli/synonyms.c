/* Words that people type for a command: what other tools call it, and what it was called. */
#include <stdio.h>

#include "base/escape.h"
#include "base/nearest.h"
#include "cli/command.h"

/* Names of commands before 0.1.0, which are accepted for one release, with a note. */
static const struct cli_old_name old_names[] = {
	{ "accept", "dismiss", "dismiss" },
	{ "activity", "log activity", "log" },
	{ "arrive", "_arrive", "hook" },
	{ "count", "list", "list --count", "count" },
	{ "cycle", "log cycle", "log cycle" },
	{ "dead stale", "dismiss", "dismiss" },
	{ "delete", "archive", "archive --unread", "unread" },
	{ "extend", "runs extend", "runs extend" },
	{ "forward", "runs forward", "runs forward" },
	{ "ingest", "bridge ingest", "bridge ingest" },
	{ "looked", "_looked", "hook" },
	{ "purge", "log purge", "log purge" },
	{ "rebuild", "doctor rebuild", "doctor rebuild" },
	{ "recover", "runs recover", "runs recover" },
	{ "search", "list", "list" },
	{ "sends", "log sends", "log sends" },
	{ "session", "agents session", "agents session" },
	{ "settle", "dismiss", "dismiss" },
	{ "stale", "dismiss", "dismiss" },
	{ "stats", "report stats", "report stats" },
	{ "sweep", "runs sweep", "runs sweep" },
	{ "thread", "show", "show --thread", "thread" },
};

const struct cli_old_name *cli_old_name(struct roger_strs words, size_t *ret_count)
{
	char two[40] = "";
	size_t i;

	if (words.count > 1)
		snprintf(two, sizeof two, "%.*s %.*s", RG_STR_CUT(words.items[0]),
			 RG_STR_CUT(words.items[1]));
	for (i = 0; i < sizeof old_names / sizeof *old_names; i++)
		if (strcmp(two, old_names[i].name) == 0 ||
		    (words.count && rg_str_is(words.items[0], old_names[i].name))) {
			*ret_count = 1 + (strchr(old_names[i].name, ' ') != NULL);
			return &old_names[i];
		}
	return NULL;
}

static const struct {
	const char *words; /* separated by | */
	const char *answer;
} synonyms[] = {
	{ "ls|dir|ll|messages|history|export-mail", "`roger list` lists messages" },
	{ "find|grep|rg|query|lookup", "`roger list WORDS` finds messages by their words" },
	{ "read|fetch|recv|pop|take|pull|next",
	  "`roger receive` takes unread mail, `roger show ID` shows a message" },
	{ "cat|view|open|less|print|message", "`roger show ID` shows a message whole" },
	{ "mail|mails|mailbox|unread|new-mail", "`roger inbox` shows unread mail" },
	{ "write|new|compose|post|say|tell|msg|push|publish|add|create|put|email|mailto",
	  "`roger send NAME TEXT` sends a message" },
	{ "broadcast|announce|wall|everyone", "`roger send all TEXT` sends to every agent" },
	{ "reply-all|answer|respond|re", "`roger reply ID TEXT` answers the sender of a message" },
	{ "tail|follow|listen|subscribe|poll",
	  "`roger receive --wait 10m` waits for mail and takes it, `roger list -f` only shows it" },
	{ "watch|live|monitor|dashboard|info|st|overview",
	  "`roger top` shows all of it live, `roger status` what needs attention" },
	{ "ps|jobs|tasks|children", "`roger runs` lists the runs of sub-agents" },
	{ "exec|spawn|launch|start", "`roger run -- COMMAND` starts a program as a run" },
	{ "kill|abort|cancel|stop|quit|shutdown",
	  "`kill` or Ctrl-C ends a `roger run`; nothing of roger runs in the background" },
	{ "page|web|browser|gui|www|html", "`roger ui` opens the page of the workspace" },
	{ "server|daemon|up",
	  "roger needs no server; `roger serve` is one for browsers and other machines" },
	{ "done|close|finish|resolve|accept-mail",
	  "`roger ack ID` accepts a message, `roger complete RUN` ends a run" },
	{ "reject|release|requeue|unclaim|give-back", "`roger nack ID` gives a message back" },
	{ "lease|lock|reserve|checkout", "`roger claim` takes messages under a lease" },
	{ "rm|del|remove|trash|drop|erase|clear",
	  "`roger archive ID` moves read messages away, with --unread also unread ones" },
	{ "undo|unsend|recall|revert",
	  "a message cannot be unsent; `roger archive --unread ID` takes it away unread" },
	{ "clean|gc|prune|vacuum|expire", "`roger cleanup` archives old read messages" },
	{ "who|users|members|names|people|list-agents|online", "`roger agents` shows who is here" },
	{ "login|signin|logout", "`roger ui` lets a browser in, `roger token revoke` ends that" },
	{ "whoami|auth|register|join|id",
	  "you are --as NAME, or ROGER_AGENT; `roger agents` shows who is here" },
	{ "fsck|check|validate|health|repair|fix|lint",
	  "`roger doctor` checks the workspace, `roger doctor --fix` repairs it" },
	{ "audit|integrity|checksum|prove|verify-chain",
	  "`roger verify` checks every journal, `roger log` shows who did what" },
	{ "diff|changes|events|what|story", "`roger timeline` shows what happened" },
	{ "retry|resend|dlq|dead-letters|deadletters",
	  "`roger dead` lists what was given up, `roger dead redeliver ID` tries again" },
	{ "metrics|statistics|stat|figures", "`roger report` prints figures" },
	{ "install|connect|integrate|hooks", "`roger setup` connects agents' tools" },
	{ "uninstall|disconnect", "`roger setup --remove` takes roger out of agents' tools" },
	{ "settings|env|options|configure", "`roger config` shows every setting" },
	{ "import|load|batch", "`roger send --batch` sends from JSON lines" },
	{ "dump", "`roger list --jsonl` prints messages as JSON lines" },
	{ "index|reindex|rebuild-index", "`roger doctor rebuild` makes the index again" },
	{ "man|docs|manual|usage|commands|h|?", "`roger help` shows the commands" },
};

int cli_no_such_command(struct roger_strs typed, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf rest = { .maximum = 300 };
	struct roger_str word = typed.items[0];
	const struct cli_command *command;
	struct roger_str nearest = { "", 0 };
	const char *part;
	size_t i, k;

	for (i = 0; (command = cli_next_command(&i));) {
		part = strchr(command->name, ' ');
		/* Keep the other words that were typed. */
		for (k = 1; part && rg_str_is(word, part + 1) && k < typed.count; k++) {
			rg_buf_add_char(&rest, ' ');
			rg_buf_add_typed_word(&rest, typed.items[k]);
		}
		if (part && rg_str_is(word, part + 1))
			return rg_fail(
				err, ROGER_EUSAGE, 0, "`roger %.*s` is now `roger %s%.*s`",
				RG_STR_CUT(word), command->name,
				RG_STR_ARGS(rest.failed ? RG_STR(" ...") : rg_buf_str(&rest)));
		rg_nearest_look(&nearest, word, rg_str(command->name));
	}
	for (i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
		if (cli_is_one_of(synonyms[i].words, word))
			return rg_fail(err, ROGER_EUSAGE, 0, "unknown command '%.*s': %s",
				       RG_STR_CUT(word), synonyms[i].answer);
	return rg_fail(err, ROGER_EUSAGE, 0, "unknown command '%.*s'" RG_MEANT "%s",
		       RG_STR_CUT(word), RG_MEANT_ARGS(nearest),
		       nearest.length ? "" : "; see `roger help`");
}
