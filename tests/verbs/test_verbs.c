/*
 * Every verb does what it says, in one process and on every store.
 *
 * The rows are in the text files beside this one, a file for each noun:
 *
 *     == what the scenario shows, in a workspace of its own
 *     verb member=value ... -> member=value ...
 *         (a line that starts with a blank goes on with the one before)
 *     verb member=value ... -> CODE member "words of the error"
 *
 * row.h says what a value is.  Steps that are no verb: `settings YAML` first of all,
 * `pass 5m` for the clock, `outside NAME TEXT` writes somebody else's file, and
 * `damage LINE` of messages.  `meanwhile` before a row runs it in another thread,
 * with a handle of its own, while the next row runs; `upon` the same as soon as
 * the next row has stored something.  What roger.h's tables promise for each verb is
 * checked here without rows.  Each reply is as `roger schema` says.  After each scenario without
 * damage doctor has no complaint.
 */
#include "row.h"
#include "scene.h"
#include "schema.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "data/schema.h"
#include "data/record.h"

enum { SCENARIOS_MAX = 1000, STEPS_MAX = 10000 };

struct step {
	const char *text;
	int line;
};
static struct step steps[STEPS_MAX];
static size_t step_count;

struct scenario {
	char title[160];
	const char *file;
	size_t first, end; /* of steps */
	const struct scene_store *store;
};
static struct scenario scenarios[SCENARIOS_MAX];
static size_t scenario_count;

/* How many rows of each verb had a reply, in the order of roger_ops(). */
static int answered[128];

/* Of the test that runs. */
static struct scene scene;

static int close_scene(void **state)
{
	(void)state;
	scene_close(&scene);
	return 0;
}

/* A verb that is called, maybe beside the next one. */
struct call {
	const struct step *step;
	size_t which; /* of roger_ops() */
	void *request, *reply;
	const char *expected;
	struct roger *roger;
	struct roger_err err;
	int r;
	bool upon;     /* not before something was stored, */
	uint32_t mark; /* after this */
	pthread_t thread;
};

struct play {
	struct row row;
	const struct scenario *scenario;
	const struct step *step;
	const char *settings;
	bool damaged, failed;
	struct call *beside; /* NULL: none */
};

static void begin_row(struct play *play, const struct step *step, const char *text)
{
	play->step = step;
	play->row.at = text;
	play->row.why[0] = '\0';
}

_Noreturn static void fail_step(const struct play *play, const char *why)
{
	fail_msg("%s.txt:%d: %s", play->scenario->file, play->step->line, why);
	abort();
}

/* The scenario goes on, so that one run shows all there is to see. */
static void fail_row(struct play *play, const char *what, const struct rg_buf *is)
{
	printf("# %s.txt:%d: %s\n#    %.*s\n", play->scenario->file, play->step->line, what,
	       (int)(is->length < 4000 ? is->length : 4000), rg_buf_str(is).data);
	play->failed = true;
}

/* ----------------------------------------------------------------- verbs -- */

/* The words of an error, and before them which message it is about. */
static void print_words(const struct roger_err *err, struct rg_buf *out)
{
	if (err->item)
		rg_buf_printf(out, "message %d: ", err->item);
	rg_buf_add_text(out, err->message);
}

/* "REFUSED ids", and maybe some words of it. */
static bool error_matches(struct row *row, int code, const struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = SIZE_MAX };
	struct roger_str name = row_text(row);

	print_words(err, &words);
	rg_buf_add_char(&words, '\0');
	if (strcasecmp(name.data, rg_code_name(code)) != 0 ||
	    !rg_str_is(row_text(row), err->member[0] ? err->member : "-"))
		return false;
	return row_ends(row) || strstr(words.data, row_text(row).data);
}

/* What a verb fails with stands beside it in verbs/, but for what any may fail with. */
static bool is_told(const struct roger_op *op, int code, const struct roger_err *err)
{
	const char *line = op->errors;

	if ((code != ROGER_ENOENT && code != ROGER_EREFUSED) ||
	    strncmp(err->message, "no workspace here", 17) == 0)
		return true;
	/* A group, or another's name. */
	if (code == ROGER_EREFUSED && op->request->fields->flags & ROGER_SELF)
		return true;
	for (; line && *line; line = strchrnul(line, '\n') + 1)
		if (atoi(line) == -code)
			return true;
	return false;
}

static void check_error(struct play *play, const struct roger_op *op, int code,
			const struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf is = { .maximum = SIZE_MAX };

	rg_buf_printf(&is, "%s %s \"", rg_code_name(code), err->member[0] ? err->member : "-");
	print_words(err, &is);
	rg_buf_add_char(&is, '"');
	if (!error_matches(&play->row, code, err))
		fail_row(play, "another answer was expected", &is);
	if (!is_told(op, code, err))
		fail_row(play, "verbs/ does not say that it may fail so", &is);
}

/* The reply as --json prints it, and `roger schema`. */
static void check_schema(struct play *play, const struct roger_op *op, const struct rg_buf *reply)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf whole = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	RG_CLEANUP(rg_json_freep) struct rg_json *schema = NULL;
	char why[300];

	rg_buf_printf(&whole, "{\"format\":1%s%.*s", reply->length > 2 ? "," : "",
		      (int)reply->length - 1, reply->data + 1);
	rg_schema_print(op->reply, RG_SCHEMA_REPLY, &text);
	if (rg_json_read(rg_buf_str(&whole), &json, NULL) < 0 ||
	    rg_json_read(rg_buf_str(&text), &schema, NULL) < 0)
		fail_row(play, "the schema of the reply is no JSON", &text);
	else if (!schema_allows(rg_json_root(schema), rg_json_root(json), why))
		fail_row(play, why, reply);
}

static void check_reply(struct play *play, const struct roger_op *op, const void *reply)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf is = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;

	rg_words_encode(op->reply, reply, &text);
	if (rg_json_read(rg_buf_str(&text), &json, NULL) < 0) {
		fail_row(play, "the reply is no JSON", &text);
		return;
	}
	check_schema(play, op, &text);
	if (!row_matches(&play->row, rg_json_root(json))) {
		row_print(&play->row, rg_json_root(json), &is);
		fail_row(play, play->row.why, &is);
	}
}

static struct call *read_call(struct play *play, size_t which)
{
	const struct roger_op *op = roger_ops()[which];
	struct call *call = rg_arena_get(play->row.arena, sizeof *call);

	call->step = play->step;
	call->which = which;
	call->roger = scene.roger;
	call->request = rg_arena_get(play->row.arena, op->request->size);
	call->reply = rg_arena_get(play->row.arena, op->reply->size);
	row_request(&play->row, op->request, call->request);
	if (play->row.why[0])
		fail_step(play, play->row.why);
	row_next(&play->row, "->");
	call->expected = play->row.at;
	return call;
}

static void *run_call(void *context)
{
	struct call *call = context;

	if (call->upon)
		roger_watch(call->roger, &call->mark, 10000);
	call->r = roger_call(call->roger, roger_ops()[call->which], call->request, call->reply,
			     &call->err);
	return NULL;
}

static void check_call(struct play *play, struct call *call)
{
	begin_row(play, call->step, call->expected);
	if (call->r < 0) {
		check_error(play, roger_ops()[call->which], call->r, &call->err);
		return;
	}
	answered[call->which]++;
	check_reply(play, roger_ops()[call->which], call->reply);
	roger_reply_free(call->reply);
}

static void start_beside(struct play *play, size_t which, bool upon)
{
	struct call *call = play->beside = read_call(play, which);

	call->upon = upon;
	call->roger = scene_handle(&scene);
	roger_watch(call->roger, &call->mark, 0);
	assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
}

static void end_beside(struct play *play)
{
	struct call *call = play->beside;

	if (!call)
		return;
	play->beside = NULL;
	assert_int_equal(pthread_join(call->thread, NULL), 0);
	check_call(play, call);
	roger_close(call->roger);
}

static void run_verb(struct play *play, size_t which)
{
	struct call *call = read_call(play, which);

	run_call(call);
	check_call(play, call);
	end_beside(play);
}

/* ----------------------------------------------------------------- steps -- */

static size_t find_op(struct roger_str name)
{
	const struct roger_op *const *ops = roger_ops();
	size_t i;

	for (i = 0; ops[i] && !rg_str_is(name, ops[i]->name);)
		i++;
	return i;
}

static void run_other(struct play *play, struct roger_str word)
{
	struct roger_str text = row_text(&play->row);
	int64_t ms;

	if (rg_str_is(word, "pass") && rg_clock_read_span(text, &ms))
		scene_pass(ms);
	else if (rg_str_is(word, "damage") && (play->damaged = true))
		scene.store->damage(&scene, strtol(text.data, NULL, 10));
	else if (rg_str_is(word, "outside"))
		scene_outside(&scene, text.data, row_text(&play->row));
	else if (rg_str_is(word, "meanwhile") || rg_str_is(word, "upon"))
		start_beside(play, find_op(text), rg_str_is(word, "upon"));
	else
		fail_step(play, "no such step");
}

static void run_step(struct play *play, const struct step *step)
{
	struct roger_str word;
	size_t which;

	begin_row(play, step, step->text);
	word = row_text(&play->row);
	which = find_op(word);
	if (rg_str_is(word, "settings")) {
		play->settings = play->row.at;
		return;
	}
	if (!scene.roger) {
		scene_open(&scene, play->scenario->store, play->settings);
		row_name(&play->row, RG_STR("here"), rg_str(scene.root));
	}
	if (roger_ops()[which])
		run_verb(play, which);
	else
		run_other(play, word);
}

static void run_scenario(void **state)
{
	static const struct step health[] = { { "doctor -> left=- damaged=- ..", 0 },
					      { "verify -> damaged=- strays=- ..", 0 } };
	const struct scenario *scenario = *state;
	struct play play = { .row.arena = rg_arena_new(), .scenario = scenario };
	size_t i;

	for (i = scenario->first; i < scenario->end; i++)
		if (!scenario->store->damage && !strncmp(steps[i].text, "damage", 6))
			skip();
	for (i = scenario->first; i < scenario->end; i++)
		run_step(&play, &steps[i]);
	for (i = 0; i < 2 && !play.damaged; i++)
		run_step(&play, &health[i]);
	rg_arena_free(play.row.arena);
	assert_false(play.failed);
}

/* ---------------------------------------------------------------- tables -- */

static void set_plausibly(const struct roger_field *field, void *at)
{
	static const struct roger_str text = { "x", 1 };

	if (field->kind == ROGER_TEXTS)
		*(struct roger_strs *)at = (struct roger_strs){ &text, 1 };
	else if (field->kind == ROGER_TEXT || field->kind == ROGER_NAME)
		*(struct roger_str *)at = text;
	else
		*(int64_t *)at = 1;
}

/* What goes wrong with a field: it is missing, no name, no such word, not one agent's. */
static void check_refused(struct roger *roger, const struct roger_op *op, const void *request,
			  const struct roger_field *field, int code)
{
	void *reply = calloc(1, op->reply->size);
	struct roger_err err;
	int r = roger_call(roger, op, request, reply, &err);

	if (r != code || strcmp(err.member, field->name) != 0)
		fail_msg("%s: %s: expected %d, not %d for %s: %s", op->name, field->name, code, r,
			 r < 0 ? err.member : "", r < 0 ? err.message : "");
	free(reply);
}

static void check_field(struct roger *roger, const struct roger_op *op, void *request,
			const struct roger_field *field)
{
	void *at = rg_field_at(field, request);

	if (field->flags & ROGER_REQUIRED)
		check_refused(roger, op, request, field, ROGER_EUSAGE);
	if (field->kind == ROGER_NAME) {
		*(struct roger_str *)at = RG_STR("not a name");
		check_refused(roger, op, request, field, ROGER_EDATA);
		*(struct roger_str *)at = RG_STR("");
	}
	if (field->kind == ROGER_ENUM) {
		*(int *)at = 99;
		check_refused(roger, op, request, field, ROGER_EDATA);
		*(int *)at = -1;
		check_refused(roger, op, request, field, ROGER_EDATA);
		*(int *)at = 0;
	}
	if (field->flags & ROGER_REQUIRED)
		set_plausibly(field, at);
}

static void check_self(struct roger *roger, const struct roger_op *op, void *request)
{
	const struct roger_field *field;
	struct roger_str *at;

	for (field = op->request->fields; field->name; field++) {
		at = rg_field_at(field, request);
		if (!(field->flags & ROGER_SELF))
			continue;
		*at = RG_STR("all");
		check_refused(roger, op, request, field, ROGER_EREFUSED);
		*at = RG_STR("team");
		check_refused(roger, op, request, field, ROGER_EREFUSED);
	}
}

/* Fields are checked in their order: those before one are as they should be. */
static void every_verb_refuses_what_its_table_forbids(void **state)
{
	const struct roger_op *const *op;
	const struct roger_field *field;
	void *request;

	(void)state;
	scene_open(&scene, scene_stores, "groups: {team: [amy, bob]}\n");
	for (op = roger_ops(); *op; op++) {
		request = calloc(1, (*op)->request->size);
		for (field = (*op)->request->fields; field->name; field++)
			check_field(scene.roger, *op, request, field);
		check_self(scene.roger, *op, request);
		free(request);
	}
}

static void a_verb_without_a_workspace_is_refused(void **state)
{
	static const char request[4096];
	const struct roger_op *const *op;
	static char reply[4096];

	(void)state;
	for (op = roger_ops(); *op; op++) {
		rg_assert(sizeof request >= (*op)->request->size &&
			  sizeof reply >= (*op)->reply->size);
		if (!((*op)->flags & ROGER_NO_WORKSPACE))
			assert_int_equal(roger_call(NULL, *op, request, reply, NULL), ROGER_EUSAGE);
	}
}

static void every_verb_has_a_row(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; roger_ops()[i]; i++)
		if (!answered[i])
			fail_msg("no row with a reply of '%s'; see tests/verbs/test_verbs.c",
				 roger_ops()[i]->name);
}

/* ----------------------------------------------------------------- files -- */

static char *read_text(const char *name)
{
	const char *source = getenv("ROGER_SOURCE");
	char path[512], *text = calloc(1, 1 << 20);
	FILE *file;

	snprintf(path, sizeof path, "%s/tests/verbs/%s.txt", source ? source : ".", name);
	file = fopen(path, "r");
	if (!file || !text || !fread(text, 1, (1 << 20) - 1, file)) {
		printf("Bail out! no '%s'; set ROGER_SOURCE\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

/* The line at text ends where the next one does not go on with it. */
static char *end_line(char *text, int *line)
{
	do {
		text = strchrnul(text, '\n');
		text += *text == '\n';
		++*line;
	} while (*text == ' ');
	if (text[-1] == '\n')
		text[-1] = '\0';
	return text;
}

static void find_scenarios(const char *file, const struct scene_store *store, char *text)
{
	struct scenario *scenario = NULL;
	int line = 1, first;
	char *start;

	while (*text) {
		start = text;
		first = line;
		text = end_line(text, &line);
		rg_assert(scenario_count < SCENARIOS_MAX && step_count < STEPS_MAX);
		if (strncmp(start, "== ", 3) == 0) {
			scenario = &scenarios[scenario_count++];
			*scenario = (struct scenario){ "", file, step_count, step_count, store };
			snprintf(scenario->title, sizeof scenario->title, "%s, %s: %s", store->name,
				 file, start + 3);
		} else if (*start && *start != '#' && scenario) {
			steps[step_count++] = (struct step){ start, first };
			scenario->end = step_count;
		}
	}
}

/* Those of whoever runs this; with an agent's name nobody is a person at a terminal. */
static void forget_settings(void)
{
	static const char *const prefixes[] = { "ROGER", "XDG_", "CLAUDE", "CODEX", "GIT_" };
	char name[64], **variable = environ;
	size_t i;

	for (i = 0; *variable; i = (i + 1) % 5, variable += i == 0)
		if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0) {
			snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="),
				 *variable);
			unsetenv(name);
			i = 4;
			variable--;
		}
	setenv("ROGER_AGENT", "tester", 1);
}

/* With a pattern, such as "memory, mail*": those alone. */
int main(int argc, char **argv)
{
	static const char *const files[] = { "mail",  "keys",  "runs", "edge",
					     "tools", "proof", "care", NULL };
	static struct CMUnitTest tests[SCENARIOS_MAX + 3] = {
		cmocka_unit_test_teardown(every_verb_refuses_what_its_table_forbids, close_scene),
		cmocka_unit_test(a_verb_without_a_workspace_is_refused),
	};
	const struct scene_store *store;
	size_t i, count = 2;

	for (store = scene_stores; store->name; store++)
		for (i = 0; files[i] && (!store->needs || getenv(store->needs)); i++)
			find_scenarios(files[i], store, read_text(files[i]));
	setvbuf(stdout, NULL, _IOLBF, 0);
	forget_settings();
	for (i = 0; i < scenario_count; i++)
		tests[count++] = (struct CMUnitTest){ scenarios[i].title, run_scenario, NULL,
						      close_scene, &scenarios[i] };
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_verb_has_a_row);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("verbs", tests, count, NULL, NULL);
}
