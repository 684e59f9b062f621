/*
 * A record for people and models, printed by its fields: a line "NAME VALUE" for each that
 * is set, a table for each list.
 */
#include <errno.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/term.h"
#include "data/record.h"

enum { COLUMN_MAX = 60 };

struct list {
	const char *items;
	size_t count;
};

/* Other programs' members and lists within lists are for --json. */
static bool is_shown(const struct roger_field *field)
{
	return !(field->flags & ROGER_HIDDEN) && field->kind != ROGER_RECORDS &&
	       field->kind != ROGER_MEMBERS;
}

static void add_texts(struct rg_buf *to, const struct roger_strs *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++) {
		rg_buf_add_text(to, i ? ", " : "");
		rg_buf_add_str(to, texts->items[i]);
	}
}

static void add_value(struct rg_buf *to, const struct roger_field *field, const void *record)
{
	const void *at = rg_field_at(field, record);
	char text[CLI_TIME_BYTES];

	switch (field->kind) {
	case ROGER_INT:
		rg_buf_printf(to, "%lld", (long long)*(const int64_t *)at);
		return;
	case ROGER_BOOL:
		rg_buf_add_text(to, *(const bool *)at ? "yes" : "no");
		return;
	case ROGER_ENUM:
		rg_buf_add_text(to, field->names[*(const int *)at]);
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
		add_texts(to, at);
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

/* What is left out of JSON when it is unset is left out here, too. */
static bool is_left_out(const struct roger_field *field, const void *record)
{
	return (field->flags & ROGER_SPARE) && rg_field_unset(field, record);
}

static void print_value(FILE *to, const struct roger_field *field, const void *record, size_t width)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	if (!is_left_out(field, record))
		add_value(&text, field, record);
	if (text.failed)
		cli_term_lose(ENOMEM);
	else if (field->kind == ROGER_INT)
		fprintf(to, "%*.*s", (int)width, RG_STR_ARGS(rg_buf_str(&text)));
	else
		cli_print_padded(to, rg_buf_str(&text), width);
}

/* ---------------------------------------------------------------- a list -- */

/* The width of a column; 0: no item has a value for it. */
static size_t width_of(const struct roger_field *field, const struct list *list, size_t size)
{
	size_t least, widest = 0, columns, i;
	char words[64];

	for (i = 0; i < list->count; i++) {
		RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

		if (!is_left_out(field, list->items + i * size))
			add_value(&text, field, list->items + i * size);
		columns = cli_columns(rg_buf_str(&text));
		widest = columns > widest ? columns : widest;
	}
	least = cli_words_of(field, ' ', words).length;
	widest = widest < COLUMN_MAX ? widest : COLUMN_MAX;
	return !widest ? 0 : widest > least ? widest : least;
}

enum { COLUMNS_MAX = 40 };

static void print_table(FILE *to, const struct roger_record *record, const struct list *list)
{
	const struct roger_field *columns[COLUMNS_MAX], *field;
	size_t widths[COLUMNS_MAX], count = 0, row, i;
	char words[64];

	for (field = record->fields; field->name && count < COLUMNS_MAX; field++)
		if (is_shown(field) && (widths[count] = width_of(field, list, record->size)))
			columns[count++] = field;
	if (count)
		widths[count - 1] = 0; /* the last column is not padded */
	fputs(cli_style(CLI_BOLD), to);
	for (i = 0; i < count; i++) {
		fputs(i ? "  " : "", to);
		cli_words_of(columns[i], ' ', words);
		fprintf(to, "%*s", columns[i]->kind == ROGER_INT ? (int)widths[i] : -(int)widths[i],
			words);
	}
	fprintf(to, "%s\n", cli_style(CLI_PLAIN));
	for (row = 0; row < list->count; row++) {
		for (i = 0; i < count; i++) {
			fputs(i ? "  " : "", to);
			print_value(to, columns[i], list->items + row * record->size, widths[i]);
		}
		fputc('\n', to);
	}
}

/* -------------------------------------------------------------- a record -- */

void cli_print_lists(FILE *to, const struct roger_record *record, const void *item)
{
	const struct roger_field *field;
	char words[64];

	for (field = record->fields; field->name; field++) {
		if (field->kind != ROGER_RECORDS || (field->flags & ROGER_HIDDEN) ||
		    is_left_out(field, item))
			continue;
		if (rg_field_unset(field, item))
			fprintf(to, "no %s\n", cli_words_of(field, ' ', words).data);
		else
			print_table(to, field->record, rg_field_at(field, item));
	}
}

void cli_print_record(FILE *to, const struct roger_record *record, const void *item)
{
	const struct roger_field *field;
	size_t width = 0, length;
	char words[64];

	for (field = record->fields; field->name; field++) {
		length = cli_words_of(field, ' ', words).length;
		if (is_shown(field) && !is_left_out(field, item) && length > width)
			width = length;
	}
	for (field = record->fields; field->name; field++)
		if (is_shown(field) && !is_left_out(field, item)) {
			cli_say_to(to, "%*t  ", (int)width, cli_words_of(field, ' ', words));
			print_value(to, field, item, 0);
			fputc('\n', to);
		}
	cli_print_lists(to, record, item);
}

const char *cli_value_name(const struct roger_record *record, const char *member, int value)
{
	const struct roger_field *field = record->fields;

	while (strcmp(field->name, member) != 0)
		field++;
	return field->names[value];
}
