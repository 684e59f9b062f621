/*
 * What verify promises: every line of a journal altered, taken out, put in
 * twice, swapped or moved is found and placed where it is, and nothing else is.
 */
#include "place.h"

enum { LINES = 12 };

struct text {
	char *data;
	size_t length;
	size_t starts[LINES + 2];
};

static void load(const struct place *place, struct text *text)
{
	FILE *file = fopen(place->journal, "r");
	size_t i, line = 0;

	assert_non_null(file);
	text->data = calloc(1, 65536);
	text->length = fread(text->data, 1, 65536, file);
	fclose(file);
	for (i = 0; i < text->length; i++)
		if (i == 0 || text->data[i - 1] == '\n')
			text->starts[line++] = i;
	assert_int_equal(line, LINES);
	text->starts[line] = text->length;
}

static void save(const struct place *place, const char *data, size_t length)
{
	char path[160];
	FILE *file;

	/* As an editor does it: a new file, so that nothing remembers the old one. */
	snprintf(path, sizeof path, "%s.new", place->journal);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
	assert_int_equal(rename(path, place->journal), 0);
	unlink(place->index);
	/* Nor what was found before. */
	snprintf(path, sizeof path, "%s/.roger/damage.jsonl", place->root);
	unlink(path);
}

/* The first damage that verify finds; 0: none. */
static int64_t first_damage(const struct place *place, int64_t *ret_count)
{
	const struct roger_verify_request request = { 0 };
	struct roger *roger = place_open(place);
	struct roger_verify_reply reply;
	struct roger_err err;
	int64_t line = 0;
	size_t i;

	if (roger_verify(roger, &request, &reply, &err) < 0)
		fail_msg("verify: %s", err.message);
	for (i = 0; i < reply.findings.count; i++)
		if (reply.findings.items[i].kind == ROGER_ALTERED && !line)
			line = reply.findings.items[i].line;
	*ret_count = reply.damaged;
	roger_reply_free(&reply);
	roger_close(roger);
	return line;
}

static void fill(struct place *place, struct text *text)
{
	struct roger *roger;
	char content[40];
	int i;

	place_make(place);
	roger = place_open(place);
	for (i = 0; i < LINES; i++) {
		snprintf(content, sizeof content, "message number %d", i);
		assert_int_equal(place_send(roger, "plan", "test", "i", content, "", NULL),
				 ROGER_OK);
	}
	roger_close(roger);
	load(place, text);
}

static void every_line_altered(void **state)
{
	struct place place;
	struct text text;
	int64_t count;
	size_t i;
	char *at;

	(void)state;
	fill(&place, &text);
	assert_int_equal(first_damage(&place, &count), 0);
	for (i = 0; i < LINES; i++) {
		at = strstr(text.data + text.starts[i], "number");
		*at = 'N';
		save(&place, text.data, text.length);
		assert_int_equal(first_damage(&place, &count), i + 1);
		assert_int_equal(count, 1);
		*at = 'n';
	}
	free(text.data);
	place_remove(&place);
}

static void every_line_taken_out(void **state)
{
	struct place place;
	struct text text;
	char copy[65536];
	int64_t count;
	size_t i, length;

	(void)state;
	fill(&place, &text);
	/* The last one cannot be missed by the chain. */
	for (i = 0; i + 1 < LINES; i++) {
		length = text.starts[i + 1] - text.starts[i];
		memcpy(copy, text.data, text.starts[i]);
		memcpy(copy + text.starts[i], text.data + text.starts[i + 1],
		       text.length - text.starts[i + 1]);
		save(&place, copy, text.length - length);
		assert_int_equal(first_damage(&place, &count), i + 1);
		/* That it is shorter than it was is told, too. */
		assert_in_range(count, 1, 2);
	}
	free(text.data);
	place_remove(&place);
}

static void lines_put_in(void **state)
{
	static const char foreign[] = "{\"planted\":true}\n";
	struct place place;
	struct text text;
	char copy[65536];
	int64_t count;
	size_t i;

	(void)state;
	fill(&place, &text);
	for (i = 0; i < LINES; i++) {
		memcpy(copy, text.data, text.starts[i]);
		memcpy(copy + text.starts[i], foreign, sizeof foreign - 1);
		memcpy(copy + text.starts[i] + sizeof foreign - 1, text.data + text.starts[i],
		       text.length - text.starts[i]);
		save(&place, copy, text.length + sizeof foreign - 1);
		assert_int_equal(first_damage(&place, &count), i + 1);
	}
	free(text.data);
	place_remove(&place);
}

/* A copy of a line, put in anywhere, is the one that is wrong: what follows it is as it was. */
static void lines_put_in_twice(void **state)
{
	struct place place;
	struct text text;
	char copy[65536];
	int64_t count;
	size_t i, from, length;

	(void)state;
	fill(&place, &text);
	for (i = 0; i < LINES; i++) {
		from = (i + LINES / 2) % LINES;
		length = text.starts[from + 1] - text.starts[from];
		memcpy(copy, text.data, text.starts[i]);
		memcpy(copy + text.starts[i], text.data + text.starts[from], length);
		memcpy(copy + text.starts[i] + length, text.data + text.starts[i],
		       text.length - text.starts[i]);
		save(&place, copy, text.length + length);
		assert_int_equal(first_damage(&place, &count), i + 1);
		/* That it is another file is told, too. */
		assert_in_range(count, 1, 2);
	}
	free(text.data);
	place_remove(&place);
}

/* Nor do two lines in a row, whose chains no other line has, take the next one with them. */
static void unknown_lines_put_in(void **state)
{
	struct place place;
	struct text text;
	char copy[65536];
	int64_t count;
	size_t i, two;

	(void)state;
	fill(&place, &text);
	for (i = 1; i + 2 < LINES; i++) {
		two = text.starts[2];
		memcpy(copy, text.data, text.starts[i]);
		memcpy(copy + text.starts[i], text.data, two);
		memcpy(copy + text.starts[i] + text.starts[1] - 19, "0123456789abcdef", 16);
		memcpy(copy + text.starts[i] + two - 19, "fedcba9876543210", 16);
		memcpy(copy + text.starts[i] + two, text.data + text.starts[i],
		       text.length - text.starts[i]);
		save(&place, copy, text.length + two);
		assert_int_equal(first_damage(&place, &count), i + 1);
		/* Both lines are reported, and that it is another file. */
		assert_in_range(count, 2, 3);
	}
	free(text.data);
	place_remove(&place);
}

static void neighbours_swapped(void **state)
{
	struct place place;
	struct text text;
	char copy[65536];
	int64_t count;
	size_t i, first, second;

	(void)state;
	fill(&place, &text);
	for (i = 0; i + 1 < LINES; i++) {
		first = text.starts[i + 1] - text.starts[i];
		second = text.starts[i + 2] - text.starts[i + 1];
		memcpy(copy, text.data, text.length);
		memcpy(copy + text.starts[i], text.data + text.starts[i + 1], second);
		memcpy(copy + text.starts[i] + second, text.data + text.starts[i], first);
		save(&place, copy, text.length);
		assert_int_equal(first_damage(&place, &count), i + 1);
	}
	free(text.data);
	place_remove(&place);
}

static void foreign_lines_at_the_end_are_no_damage(void **state)
{
	struct place place;
	struct roger *roger;
	struct text text;
	int64_t count;

	(void)state;
	fill(&place, &text);
	place_append(&place, "garbage\n", 8);
	/* A copy of one of ours, as a tool that marks it read would append it. */
	place_append(&place, text.data + text.starts[3], text.starts[4] - text.starts[3]);
	place_append(&place, "torn", 4);
	assert_int_equal(first_damage(&place, &count), 0);
	roger = place_open(&place);
	assert_int_equal(place_send(roger, "plan", "test", "i", "after", "", NULL), ROGER_OK);
	roger_close(roger);
	assert_int_equal(first_damage(&place, &count), 0);
	free(text.data);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_altered),
		cmocka_unit_test(every_line_taken_out),
		cmocka_unit_test(lines_put_in),
		cmocka_unit_test(lines_put_in_twice),
		cmocka_unit_test(unknown_lines_put_in),
		cmocka_unit_test(neighbours_swapped),
		cmocka_unit_test(foreign_lines_at_the_end_are_no_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
