/*
 * A record printed by its fields: for people and models a line "NAME VALUE" for each that is set,
 * and a table for each list; for programs as JSON, or one member of it.
 */
#include <errno.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "cli/screen.h"
#include "data/json.h"
#include "data/record.h"

/* Other programs' members and lists within lists are for --json. */
static bool is_shown(const struct roger_field *field)
{
	return !(field->flags & ROGER_DERIVED) && field->kind != ROGER_RECORDS &&
	       field->kind != ROGER_MEMBERS;
}

static void add_value(struct rg_buf *to, const struct roger_field *field, const void *record)
{
	const void *at = rg_field_at(field, record);
	const struct roger_strs *texts;
	char text[CLI_TIME_BYTES];
	size_t i;

	switch (field->kind) {
	case ROGER_INT:
		rg_buf_printf(to, "%lld", (long long)*(const int64_t *)at);
		return;
	case ROGER_BOOL:
		rg_buf_add_text(to, *(const bool *)at ? "yes" : "no");
		return;
	case ROGER_ENUM:
		rg_buf_add_text(to,
				(field->labels ? field->labels : field->names)[*(const int *)at]);
		return;
	case ROGER_TIME:
	case ROGER_INSTANT:
		if (*(const int64_t *)at)
			rg_buf_add_text(to, cli_when(*(const int64_t *)at, text));
		return;
	case ROGER_SPAN:
		rg_clock_print_span(*(const int64_t *)at, text);
		rg_buf_add_text(to, text);
		return;
	case ROGER_TEXTS:
		for (texts = at, i = 0; i < texts->count; i++) {
			rg_buf_add_text(to, i ? ", " : "");
			rg_buf_add_str(to, texts->items[i]);
		}
		return;
	case ROGER_TEXT:
	case ROGER_NAME:
	case ROGER_OBJECT:
		rg_buf_add_str(to, *(const struct roger_str *)at);
		return;
	case ROGER_MEMBERS:
	case ROGER_RECORDS:
		return;
	}
}

/* Members that JSON leaves out when they are unset are left out here, too. */
static bool is_left_out(const struct roger_field *field, const void *record)
{
	return (field->flags & ROGER_SPARE) && rg_field_unset(field, record);
}

/* Print a value into the arena.  false: out of memory, which is noted. */
static bool keep_value(struct rg_arena *arena, const struct roger_field *field, const void *record,
		       struct roger_str *ret)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	if (!is_left_out(field, record))
		add_value(&text, field, record);
	if (!text.failed && rg_arena_keep(arena, &text, ret))
		return true;
	cli_term_lose(ENOMEM);
	return false;
}

/* ---------------------------------------------------------------- a list -- */

/* A part of a number, time, id or word of a list says nothing, so these are not cut. */
static unsigned flags_of(const struct roger_field *field)
{
	static const unsigned flags[ROGER_RECORDS + 1] = {
		[ROGER_INT] = CLI_RIGHT | CLI_WHOLE,
		[ROGER_TIME] = CLI_WHOLE,
		[ROGER_INSTANT] = CLI_WHOLE,
		[ROGER_SPAN] = CLI_WHOLE,
		[ROGER_ENUM] = CLI_WHOLE,
		[ROGER_BOOL] = CLI_WHOLE,
	};

	return flags[field->kind] | (field->flags & ROGER_ID ? CLI_WHOLE : 0);
}

static void print_table(FILE *to, const struct roger_record *record, const struct rg_list *list)
{
	struct cli_grid grid = { .arena = rg_arena_new(), .titled = true };
	const struct roger_field *field;
	struct cli_cell cell;
	char words[64];
	size_t row;

	for (field = record->fields; field->name && grid.arena; field++) {
		if (!is_shown(field))
			continue;
		grid.columns++;
		cli_words_of(field, ' ', words);
		cli_grid_say(&grid, CLI_BOLD, flags_of(field), "%s", words);
	}
	for (row = 0; row < list->count && grid.arena; row++)
		for (field = record->fields; field->name; field++) {
			cell = (struct cli_cell){ .flags = flags_of(field) };
			if (is_shown(field) &&
			    keep_value(grid.arena, field, list->items + row * record->size,
				       &cell.text))
				cli_grid_add(&grid, cell);
		}
	if (grid.arena)
		cli_grid_print(to, &grid);
	else
		cli_term_lose(ENOMEM);
	rg_arena_free(grid.arena);
}

/* -------------------------------------------------------------- a record -- */

/* Only of the first list it is said that it is empty. */
void cli_print_lists(FILE *to, const struct roger_record *record, const void *item)
{
	const struct roger_field *field;
	size_t lists = 0;
	char words[64];

	for (field = record->fields; field->name; field++) {
		if (field->kind != ROGER_RECORDS || is_left_out(field, item))
			continue;
		if (!rg_field_unset(field, item))
			print_table(to, field->record, rg_field_at(field, item));
		else if (!lists)
			fprintf(to, "no %s\n", cli_words_of(field, ' ', words).data);
		lists++;
	}
}

void cli_print_record(FILE *to, const struct roger_record *record, const void *item)
{
	const struct roger_field *field;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	size_t width = 0, length;
	struct roger_str value;
	char words[64];

	for (field = record->fields; field->name; field++) {
		length = cli_words_of(field, ' ', words).length;
		if (is_shown(field) && !is_left_out(field, item) && length > width)
			width = length;
	}
	for (field = record->fields; field->name && arena; field++)
		if (is_shown(field) && !is_left_out(field, item)) {
			cli_say_to(to, "%*t  ", (int)width, cli_words_of(field, ' ', words));
			if (keep_value(arena, field, item, &value))
				cli_print_text(to, value, false);
			fputc('\n', to);
		}
	cli_print_lists(to, record, item);
}

enum cli_style cli_look(const unsigned char *tones, int value, enum cli_style otherwise)
{
	static const enum cli_style styles[] = { [RG_TONE_GOOD] = CLI_GREEN,
						 [RG_TONE_BAD] = CLI_RED,
						 [RG_TONE_DOUBTFUL] = CLI_YELLOW,
						 [RG_TONE_BEGUN] = CLI_CYAN };

	return tones[value] ? styles[tones[value]] : otherwise;
}

/* -------------------------------------------------------------- as JSON -- */

void cli_add_damage(const struct roger *roger, struct rg_buf *out)
{
	const char *damage = roger_damage(roger);

	if (*damage)
		rg_json_add_member(out, "damage", rg_str(damage));
}

void cli_print_damage(FILE *to, const struct roger *roger)
{
	const char *damage = roger_damage(roger);

	if (*damage)
		cli_say_to(to, "\nDamaged: %t. Tell the person you work for.\n", rg_str(damage));
}

const struct roger_field *cli_member(const struct roger_record *record, struct roger_str name)
{
	const struct roger_field *field;

	for (field = record->fields; field->name; field++)
		if (rg_str_is(name, field->name))
			return field;
	return NULL;
}

/* Print a member: text as it is, to a terminal made harmless; anything else as in JSON. */
static void print_member(const struct roger_field *field, const void *item)
{
	const struct roger_field fields[] = { *field, { 0 } };
	const struct roger_record alone = { "", 0, fields };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	struct roger_str text = { 0 };
	const char *value;

	if (rg_field_unset(field, item) && (field->flags & ROGER_SPARE)) {
		fputc('\n', cli_out);
		return;
	}
	if (field->kind == ROGER_TEXT || field->kind == ROGER_NAME || field->kind == ROGER_OBJECT) {
		text = *(const struct roger_str *)rg_field_at(field, item);
	} else if (field->kind == ROGER_ENUM) {
		text = rg_str(field->names[*(const int *)rg_field_at(field, item)]);
	} else {
		rg_words_encode(&alone, item, &line);
		value = memchr(line.data, ':', line.length);
		text = (struct roger_str){ value + 1,
					   line.length - (size_t)(value - line.data) - 2 };
	}
	if (cli_screen_width())
		cli_print_text(cli_out, text, true);
	else
		fwrite(text.data, 1, text.length, cli_out);
	fputc('\n', cli_out);
}

void cli_encode_reply(const struct roger *roger, const struct roger_record *record,
		      const void *reply, struct rg_buf *out)
{
	size_t start;

	rg_buf_add_text(out, CLI_FORMAT);
	start = out->length;
	rg_words_encode(record, reply, out);
	if (out->failed)
		return;
	out->length--;
	cli_add_damage(roger, out);
	rg_buf_add_char(out, '}');
	if (!out->failed)
		out->data[start] = out->data[start + 1] == '}' ? ' ' : ',';
}

void cli_print_item(const struct cli_run *run, const struct roger_record *record, const void *item)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	const struct roger_field *field =
		run->member.length ? cli_member(record, run->member) : NULL;

	if (field)
		print_member(field, item);
	if (run->member.length)
		return;
	rg_words_encode(record, item, &line);
	cli_print_json(cli_out, &line);
}

void cli_print_reply(const struct cli_run *run, const struct roger_record *record,
		     const void *reply)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	const struct roger_field *field = record->fields;
	const struct rg_list *list;
	size_t i;

	if (run->member.length &&
	    (field->kind != ROGER_RECORDS || !cli_member(field->record, run->member))) {
		cli_print_item(run, record, reply);
		return;
	}
	if (run->form != CLI_JSONL || field->kind != ROGER_RECORDS) {
		cli_encode_reply(run->roger, record, reply, &line);
		cli_print_json(cli_out, &line);
		return;
	}
	list = rg_field_at(field, reply);
	for (i = 0; i < list->count; i++)
		cli_print_item(run, field->record, list->items + i * field->record->size);
}

int cli_check_member(struct cli_run *run, struct roger_err *err)
{
	const struct roger_record *record = cli_op(run->command)->reply;
	const struct roger_field *first = record ? record->fields : NULL;

	if (!run->member.data)
		return ROGER_OK;
	run->form = CLI_JSONL;
	if (first && (cli_member(record, run->member) ||
		      (first->kind == ROGER_RECORDS && cli_member(first->record, run->member))))
		return ROGER_OK;
	return rg_fail(err, ROGER_EUSAGE, 0,
		       "option '--print': the answer of %s has no member '%.*s'; see its --json",
		       run->command->name, RG_STR_CUT(run->member));
}
