/* trace, show --trace: the way of each message as a table, a dash where it has not got yet. */
#include "cli/command.h"

/* Steps that each message is asked for; others are printed where they happened. */
enum {
	ALWAYS = 1 << ROGER_STEP_STORED | 1 << ROGER_STEP_WAKE | 1 << ROGER_STEP_LOOKED |
		 1 << ROGER_STEP_READ | 1 << ROGER_STEP_ACKNOWLEDGED | 1 << ROGER_STEP_TIMEOUT |
		 1 << ROGER_STEP_DEAD,
};

enum { NAME_COLUMNS = 14, TIME_COLUMNS = 19 };

static void print_step(const char *name, const struct roger_trace_step *step)
{
	char when[CLI_TIME_BYTES], ms[8];

	snprintf(ms, sizeof ms, ".%03d", (int)(step->at_ms % 1000));
	cli_say("  %S%*s%.  %*s%s", cli_look(rg_step_tones, step->step, CLI_CYAN), NAME_COLUMNS,
		name, step->at_ms ? 0 : TIME_COLUMNS + 4,
		step->at_ms ? cli_time(step->at_ms, when) : "time not known",
		step->at_ms ? ms : "");
	cli_say("%(  %t%)%(  %t%)%(  %S%t:%d%.%)\n", step->who, step->words, CLI_DIM, step->file,
		step->line);
}

static void print_row(const struct roger_trace *trace, int row)
{
	const char *name = rg_step_labels[row];
	size_t i;

	for (i = 0; i < trace->steps.count; i++)
		if (trace->steps.items[i].step == row) {
			print_step(name, &trace->steps.items[i]);
			name = "";
		}
	if (*name && ALWAYS & 1 << row)
		cli_say("  %S%*s  -%.\n", CLI_DIM, NAME_COLUMNS, name);
}

static void print_trace(const struct roger_trace *trace)
{
	int row;

	cli_say("%S%t%.  %t%( #%d%) -> %t  %t%(  key %t%)", CLI_BOLD, trace->id, trace->from,
		trace->seq, trace->to, trace->issue, trace->key);
	cli_say(rg_str_is(trace->proved, "token") ? "  sender proved by %t" : "%(  sender %t%)",
		trace->proved);
	cli_say("\n  %t\n", trace->summary);
	for (row = 1; rg_step_labels[row]; row++)
		print_row(trace, row);
}

static void print_traces(const struct cli_run *run)
{
	const struct roger_trace_reply *reply = run->reply;
	size_t i;

	for (i = 0; i < reply->traces.count; i++) {
		if (i)
			fputc('\n', cli_out);
		print_trace(&reply->traces.items[i]);
	}
	if (reply->more)
		fputs("\n... and further recipients\n", cli_out);
}

CLI_COMMAND(trace, "trace", .paged = true, .print = print_traces);
