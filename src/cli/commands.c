/*
 * The commands: one for each verb, in the order of roger.h, then those without a verb.
 * Only commands with words of their own are listed here; the others need only their verb.
 */
#include <stdio.h>

#include "cli/command.h"

#define EACH(ROW)                                                                                  \
	ROW(init), ROW(setup), ROW(trust), ROW(prime), ROW(send), ROW(reply), ROW(inbox),          \
		ROW(receive), ROW(wait), ROW(wake), ROW(claim), ROW(ack), ROW(nack), ROW(show),    \
		ROW(stats), ROW(rebuild), ROW(purge), ROW(looked), ROW(arrive), ROW(trace),        \
		ROW(list), ROW(agents), ROW(retire), ROW(cleanup), ROW(session), ROW(cycle),       \
		ROW(sends), ROW(dead), ROW(redeliver), ROW(dismiss), ROW(log), ROW(activity),      \
		ROW(dispatch), ROW(complete_run), ROW(forward), ROW(extend), ROW(recover),         \
		ROW(sweep), ROW(runs), ROW(run_program), ROW(timeline), ROW(report), ROW(status),  \
		ROW(why), ROW(bridge), ROW(ingest), ROW(verify), ROW(doctor), ROW(seal),           \
		ROW(config), ROW(hook), ROW(mcp), ROW(top), ROW(help), ROW(completion),            \
		ROW(version), ROW(complete), ROW(export), ROW(serve), ROW(ui), ROW(token),         \
		ROW(schema), ROW(move), ROW(upgrade)
#define NAME(command) cli_##command
#define PLACE(command) &cli_##command
extern const struct cli_command EACH(NAME);
static const struct cli_command *const own[] = { EACH(PLACE) };
#define OWN_COUNT (sizeof own / sizeof *own)

enum { NAME_BYTES = 40 };

/* Only hooks call these; what people typed for them is in synonyms.c. */
CLI_COMMAND(looked, "_looked", .verb = "looked");
CLI_COMMAND(arrive, "_arrive", .verb = "arrive");

/* The command of a verb: from the list, or made from the verb; "dead_letters" is dead-letters. */
static const struct cli_command *of_verb(size_t i)
{
	static struct cli_command plain[ROGER_VERB_COUNT];
	static char names[ROGER_VERB_COUNT][NAME_BYTES];
	const char *verb = roger_ops()[i]->name;
	size_t k;

	for (k = 0; k < OWN_COUNT; k++)
		if (!own[k]->own && strcmp(own[k]->verb ? own[k]->verb : own[k]->name, verb) == 0)
			return own[k];
	for (k = 0; verb[k] && k + 1 < NAME_BYTES; k++)
		names[i][k] = verb[k] == '_' ? '-' : verb[k];
	plain[i] = (struct cli_command){ .name = names[i], .verb = verb };
	return &plain[i];
}

const struct cli_command *cli_next_command(size_t *i)
{
	const struct cli_command *command;

	for (; *i < ROGER_VERB_COUNT; ++*i)
		if (!(roger_ops()[*i]->flags & ROGER_NO_COMMAND))
			return of_verb((*i)++);
	for (; *i < ROGER_VERB_COUNT + OWN_COUNT; ++*i) {
		command = own[*i - ROGER_VERB_COUNT];
		if (command->own && command->name[0] != '_')
			return own[(*i)++ - ROGER_VERB_COUNT];
	}
	return NULL;
}

bool cli_is_typed(struct roger_str word, const char *name)
{
	size_t i;

	for (i = 0; i < word.length && name[i]; i++)
		if (word.data[i] != (name[i] == '_' ? '-' : name[i]))
			return false;
	return i == word.length && !name[i];
}

const struct cli_command *cli_find_command(struct roger_str name)
{
	const struct cli_command *command;
	size_t i;

	for (i = 0; i < OWN_COUNT; i++)
		if (rg_str_is(name, own[i]->name))
			return own[i];
	for (i = 0; i < ROGER_VERB_COUNT; i++) {
		if (!cli_is_typed(name, roger_ops()[i]->name))
			continue;
		command = of_verb(i);
		return rg_str_is(name, command->name) && !(roger_ops()[i]->flags & ROGER_NO_COMMAND)
			       ? command
			       : NULL;
	}
	return NULL;
}

const struct cli_command *cli_command_of(struct roger_strs words, size_t *ret_count)
{
	const struct cli_command *command = NULL;
	char two[NAME_BYTES];

	*ret_count = 2;
	if (words.count > 1) {
		snprintf(two, sizeof two, "%.*s %.*s", RG_STR_CUT(words.items[0]),
			 RG_STR_CUT(words.items[1]));
		command = cli_find_command(rg_str(two));
	}
	if (!command && words.count) {
		*ret_count = 1;
		command = cli_find_command(words.items[0]);
	}
	return command;
}

/* --------------------------------------------------------------- groups -- */

const struct cli_group cli_groups[] = {
	{ "start", "init|setup",
	  "trust|hook|prime|mcp|serve|ui|token|config|version|help|completion" },
	{ "mail", "send|reply|inbox|receive|ack|list|show",
	  "claim|nack|wait|wake|bridge|bridge ingest|archive" },
	{ "see", "status|why|trace|timeline",
	  "top|log|log activity|log sends|log cycle|log purge|report|report stats|export|schema" },
	{ "work", "run|runs|agents",
	  "agents retire|agents session|dispatch|complete|runs forward|runs extend|runs "
	  "recover|runs sweep" },
	{ "care", "",
	  "dismiss|doctor|doctor rebuild|verify|seal|cleanup|dead|dead "
	  "redeliver|move|upgrade|backup|restore" },
	{ 0 },
};

const struct cli_group *cli_group_of(const struct cli_command *command)
{
	const struct cli_group *group;

	for (group = cli_groups; group->name; group++)
		if (cli_is_one_of(group->commands, rg_str(command->name)) ||
		    cli_is_one_of(group->plumbing, rg_str(command->name)))
			return group;
	return NULL;
}
