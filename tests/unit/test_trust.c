/*
 * What host/trust.h and host/storage.h promise: what holds of a document, and
 * what does not; the machine's list; which files a command's digest covers; where
 * the configuration may let files be, and which files are added to.
 */
#include "folder.h"

#include "base/id.h"
#include "host/config.h"
#include "host/storage.h"
#include "host/trust.h"
#include "host/workspace.h"

struct fixture {
	struct folder folder;
	char root[220], state[220];
	struct rg_arena *arena;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);
	char *real;

	folder_make(&fixture->folder);
	real = realpath(fixture->folder.path, NULL);
	snprintf(fixture->root, sizeof fixture->root, "%s/w", real);
	snprintf(fixture->state, sizeof fixture->state, "%s/state", real);
	free(real);
	assert_int_equal(mkdirat(fixture->folder.open, "w", 0700), 0);
	assert_int_equal(mkdirat(fixture->folder.open, "w/.roger", 0700), 0);
	setenv("XDG_STATE_HOME", fixture->state, 1);
	unsetenv("ROGER_TRUST");
	unsetenv("ROGER_TRUST_COMMANDS");
	fixture->arena = rg_arena_new();
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rg_arena_free(fixture->arena);
	folder_remove(&fixture->folder);
	free(fixture);
	return 0;
}

static struct rg_trust *load_for(const struct fixture *fixture, int64_t owner)
{
	struct rg_trust *trust = NULL;

	assert_int_equal(rg_trust_load(fixture->root, owner, &trust, NULL), ROGER_OK);
	return trust;
}

static struct rg_trust *load(const struct fixture *fixture)
{
	return load_for(fixture, geteuid());
}

static bool is_trusted(const struct fixture *fixture, int64_t owner)
{
	struct rg_trust *trust = load_for(fixture, owner);
	bool trusted = trust->mailbox;

	rg_trust_free(trust);
	return trusted;
}

static void accept_all(const struct fixture *fixture, struct roger_strs commands,
		       struct roger_strs paths)
{
	struct rg_trust *trust = load(fixture);
	const struct rg_trusted wish = { .commands = commands, .paths = paths };

	assert_int_equal(rg_trust_accept(trust, &wish, NULL), ROGER_OK);
	rg_trust_free(trust);
}

static const struct roger_strs none;

static void path_of_document(const struct fixture *fixture, char to[600])
{
	size_t length = strlen(fixture->root);

	snprintf(to, 600, "%s/roger/trust/%016llx%016llx.json", fixture->state,
		 (unsigned long long)rg_hash(1, fixture->root, length),
		 (unsigned long long)rg_hash(2, fixture->root, length));
}

static void a_document_holds_for_one_mailbox(void **state)
{
	const struct fixture *fixture = *state;
	char path[600];
	bool was;

	assert_false(is_trusted(fixture, geteuid()));
	accept_all(fixture, none, none);
	assert_true(is_trusted(fixture, geteuid()));
	assert_false(is_trusted(fixture, geteuid() + 1)); /* another owner */
	path_of_document(fixture, path);
	/* One that others may write is nobody's word. */
	assert_int_equal(chmod(path, 0620), 0);
	assert_false(is_trusted(fixture, geteuid()));
	assert_int_equal(chmod(path, 0600), 0);
	assert_true(is_trusted(fixture, geteuid()));
	assert_int_equal(unlinkat(fixture->folder.open, "w/.roger/id", 0), 0);
	assert_false(is_trusted(fixture, geteuid()));
	folder_append_text(&fixture->folder, "w/.roger/id", "0123456789abcdef0123456789abcdef\n");
	assert_false(is_trusted(fixture, geteuid())); /* another id */
	accept_all(fixture, none, none);
	assert_true(is_trusted(fixture, geteuid()));
	assert_int_equal(rg_trust_revoke(fixture->root, &was, NULL), ROGER_OK);
	assert_true(was);
	assert_false(is_trusted(fixture, geteuid()));
}

static void damaged_documents_and_ids_trust_nothing(void **state)
{
	static const char *const texts[] = { "",	   "{",
					     "[]",	   "{\"version\":1}",
					     "\xff\xfe{}", "{\"version\":\"x\",\"path\":7}" };
	static const char *const ids[] = { "", "\n", "0123456789abcdef0123456789abcde\n",
					   "0123456789ABCDEF0123456789ABCDEF\n",
					   "0123456789abcdef0123456789abcdef" };
	const struct fixture *fixture = *state;
	struct rg_trust *trust;
	char path[600];
	FILE *file;
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		accept_all(fixture, none, none);
		path_of_document(fixture, path);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(texts[i], file);
		fclose(file);
		assert_false(is_trusted(fixture, geteuid()));
	}
	for (i = 0; i < sizeof ids / sizeof *ids; i++) {
		unlinkat(fixture->folder.open, "w/.roger/id", 0);
		folder_append_text(&fixture->folder, "w/.roger/id", ids[i]);
		trust = load(fixture);
		assert_int_equal(trust->id.length, 0);
		rg_trust_free(trust);
	}
}

static void to_be_told_is_not_to_be_trusted(void **state)
{
	const struct fixture *fixture = *state;
	struct rg_trust *trust = load(fixture);

	assert_false(rg_trust_has_document(fixture->root));
	rg_trust_note_warned(trust);
	rg_trust_free(trust);
	assert_true(rg_trust_has_document(fixture->root));
	trust = load(fixture);
	assert_false(trust->mailbox);
	rg_trust_free(trust);
}

static void the_machine_may_trust(void **state)
{
	const struct fixture *fixture = *state;
	struct roger_str command = RG_STR("any"), place = RG_STR("/srv/mail box");
	char path[300], text[1000];
	struct rg_trust *trust;

	if (geteuid() != 0)
		skip(); /* the list counts when it is root's */
	snprintf(path, sizeof path, "%s/list", fixture->folder.path);
	/* Some editors put a mark before a text. */
	snprintf(text, sizeof text, "\xef\xbb\xbfmailbox %s\n# a comment\n\nnonsense %s\npath %s",
		 fixture->root, fixture->root, place.data);
	folder_append_text(&fixture->folder, "list", text);
	trust = load(fixture);
	assert_int_equal(rg_trust_read_machine(trust, path, NULL), ROGER_OK);
	assert_true(trust->mailbox);
	assert_false(rg_trust_has_command(trust, command));
	assert_true(rg_trust_has_path(trust, place));
	rg_trust_free(trust);
	folder_append_text(&fixture->folder, "list", "\ncommands ");
	folder_append_text(&fixture->folder, "list", fixture->root);
	trust = load(fixture);
	assert_int_equal(rg_trust_read_machine(trust, path, NULL), ROGER_OK);
	assert_true(rg_trust_has_command(trust, command));
	rg_trust_free(trust);
	assert_int_equal(chmod(path, 0664), 0);
	trust = load(fixture);
	assert_int_equal(rg_trust_read_machine(trust, path, NULL), ROGER_OK);
	assert_false(trust->mailbox);
	rg_trust_free(trust);
}

/* The digest of a command of up to three words. */
static struct roger_str digest(const struct fixture *fixture, const char *one, const char *two,
			       const char *three, size_t *ret_files)
{
	struct roger_str items[3] = { rg_str(one), rg_str(two), rg_str(three) }, sha256;
	struct roger_strs words = { items, three ? 3 : two ? 2 : 1 };
	struct rg_trust_named named;

	assert_int_equal(
		rg_trust_digest(fixture->root, words, fixture->arena, &sha256, &named, NULL),
		ROGER_OK);
	assert_int_equal(sha256.length, 64);
	*ret_files = named.files.count;
	return sha256;
}

static void a_digest_covers_words_and_files(void **state)
{
	const struct fixture *fixture = *state;
	static const struct {
		const char *one, *two, *three;
		size_t files;
	} cases[] = {
		{ "true", NULL, NULL, 0 },
		{ "./run.sh", NULL, NULL, 1 },
		{ "sh", "run.sh", NULL, 1 },
		{ "sh", "-c", "exec ./run.sh 'a b' >sub/x.py", 2 },
		{ "tool", "--script=sub/x.py", "--with=./run.sh,sub/x.py", 2 },
		{ "tool", "sub/../run.sh", NULL, 1 },
		{ "tool", "sub", NULL, 0 },	      /* a folder */
		{ "tool", "../outside.sh", NULL, 0 }, /* not of the workspace */
		{ "tool", "link.sh", NULL, 1 },	      /* its name is */
		{ "tool", ".roger/messages.jsonl", NULL, 1 },
		{ "perl", "-Isub/x.py", NULL, 1 },
		{ "sh", "-c", "./[r]un.sh; ./{run.sh,}", 1 },
		{ "tool", ".roger/wake.sh", NULL, 1 },
	};
	struct roger_str before, after;
	size_t i, files;
	char outside[300];

	assert_int_equal(mkdirat(fixture->folder.open, "w/sub", 0700), 0);
	folder_append_text(&fixture->folder, "w/run.sh", "1");
	folder_append_text(&fixture->folder, "w/sub/x.py", "2");
	folder_append_text(&fixture->folder, "w/.roger/messages.jsonl", "3");
	folder_append_text(&fixture->folder, "w/.roger/wake.sh", "4");
	folder_append_text(&fixture->folder, "outside.sh", "5");
	snprintf(outside, sizeof outside, "%s/../outside.sh", fixture->root);
	assert_int_equal(symlinkat(outside, fixture->folder.open, "w/link.sh"), 0);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		before = digest(fixture, cases[i].one, cases[i].two, cases[i].three, &files);
		assert_int_equal(files, cases[i].files);
		after = digest(fixture, cases[i].one, cases[i].two, cases[i].three, &files);
		assert_true(rg_str_equal(before, after));
	}
	/* Words do not run into each other. */
	assert_false(rg_str_equal(digest(fixture, "a", "b", NULL, &files),
				  digest(fixture, "ab", NULL, NULL, &files)));
	before = digest(fixture, "sh", "-c", "exec ./run.sh", &files);
	folder_append_text(&fixture->folder, "w/run.sh", "more");
	after = digest(fixture, "sh", "-c", "exec ./run.sh", &files);
	assert_false(rg_str_equal(before, after));
	before = digest(fixture, "tool", "link.sh", NULL, &files);
	folder_append_text(&fixture->folder, "outside.sh", "more");
	after = digest(fixture, "tool", "link.sh", NULL, &files);
	assert_false(rg_str_equal(before, after));
}

static void a_program_along_path_may_lie_in_the_workspace(void **state)
{
	const struct fixture *fixture = *state;
	char *path = strdup(getenv("PATH")), bin[300];
	size_t files;

	assert_int_equal(mkdirat(fixture->folder.open, "w/bin", 0700), 0);
	folder_append_text(&fixture->folder, "w/bin/notify", "1");
	assert_int_equal(fchmodat(fixture->folder.open, "w/bin/notify", 0700, 0), 0);
	snprintf(bin, sizeof bin, "%s/bin:/usr/bin", fixture->root);
	setenv("PATH", bin, 1);
	digest(fixture, "notify", NULL, NULL, &files);
	assert_int_equal(files, 1);
	setenv("PATH", "bin", 1);
	digest(fixture, "notify", NULL, NULL, &files);
	assert_int_equal(files, 1);
	setenv("PATH", path, 1);
	digest(fixture, "notify", NULL, NULL, &files);
	assert_int_equal(files, 0);
	free(path);
}

static void places_are_usual_or_asked_for(void **state)
{
	const struct fixture *fixture = *state;
	static const struct {
		const char *yaml;
		size_t places;
		bool outside;
	} cases[] = {
		{ "groups: {a: [b]}", 0, false },
		{ "storage: {data_dir: .roger}", 0, false },
		{ "storage: {data_dir: .agent-shepherd/data/more}", 0, false },
		{ "storage: {data_dir: ./workspace}", 0, false },
		{ "storage: {data_dir: logs, send_log_dir: state/x, trigger_dir: .roger/t}", 0,
		  false },
		{ "storage: {data_dir: workspaces}", 1, false },
		{ "storage: {data_dir: .}", 1, false },
		{ "storage: {data_dir: logs/../src}", 1, false },
		{ "storage: {data_dir: ..}", 1, true },
		{ "storage: {data_dir: /tmp}", 1, true },
		{ "storage: {trigger_dir: out}", 1, true },
		{ "storage: {trigger_dir: logs/out/x}", 1, true },
		{ "storage: {activity_file: x.jsonl}", 1, false },
		{ "storage: {activity_file: there.jsonl}", 0, false },
		{ "storage: {activity_file: logs/x.jsonl, data_dir: src, trigger_dir: ..}", 2,
		  false },
	};
	struct rg_trusted_place_list places;
	const struct rg_trusted_place *first;
	struct rg_config *config;
	size_t i, k, count;

	assert_int_equal(mkdirat(fixture->folder.open, "w/logs", 0700), 0);
	assert_int_equal(symlinkat("..", fixture->folder.open, "w/out"), 0);
	assert_int_equal(symlinkat("../..", fixture->folder.open, "w/logs/out"), 0);
	folder_append_text(&fixture->folder, "w/there.jsonl", "");
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(rg_config_new(&config, NULL), ROGER_OK);
		assert_int_equal(rg_config_read(config, rg_str(cases[i].yaml), "c", false, NULL),
				 ROGER_OK);
		assert_int_equal(
			rg_storage_all(config, fixture->root, fixture->arena, &places, NULL),
			ROGER_OK);
		first = NULL;
		for (k = 0, count = 0; k < places.count; k++)
			if (rg_storage_needs_trust(fixture->root, &places.items[k])) {
				first = first ? first : &places.items[k];
				count++;
			}
		if (count != cases[i].places)
			fail_msg("%s: %zu", cases[i].yaml, count);
		if (first)
			assert_int_equal(!rg_workspace_below(fixture->root, first->path.data),
					 cases[i].outside);
		rg_config_free(config);
	}
}

static void files_are_added_to_when_they_are_of_the_kind(void **state)
{
	const struct fixture *fixture = *state;
	static const char message[] =
		"{\"id\":\"msg-1\",\"issue_id\":\"i\",\"from_phase\":\"a\",\"to_phase\":\"b\","
		"\"run_counter\":1,\"message_type\":\"context\",\"content\":\"x\",\"metadata\":"
		"null,"
		"\"created_at\":\"2026-01-01T00:00:00.000Z\",\"read\":false,\"read_at\":null}\n";
	static const struct {
		const char *text;
		int kind, code;
	} cases[] = {
		{ "", RG_LOG_MESSAGES, ROGER_OK },
		{ message, RG_LOG_MESSAGES, ROGER_OK },
		{ message, RG_LOG_ACTIVITY, ROGER_ECONFIG },
		{ "alias ls=ls\n", RG_LOG_MESSAGES, ROGER_ECONFIG },
		{ "alias ls=ls", RG_LOG_SENDS, ROGER_ECONFIG },
		{ "\n", RG_LOG_MESSAGES, ROGER_ECONFIG },
		{ "{}\n", RG_LOG_ACTIVITY, ROGER_ECONFIG },
		{ "{\"id\":\"msg-17", RG_LOG_MESSAGES, ROGER_OK }, /* cut off by a kill */
		{ "{\"i", RG_LOG_MESSAGES, ROGER_OK },
		{ "{\"timestamp\":\"20\n", RG_LOG_ACTIVITY, ROGER_OK }, /* and fenced off */
		{ "{\"timestamp\":1}\n", RG_LOG_SENDS, ROGER_ECONFIG },
	};
	struct roger_err err;
	size_t i;

	assert_int_equal(rg_storage_check_file(fixture->folder.open, "no", RG_LOG_MESSAGES, &err),
			 ROGER_OK);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		unlinkat(fixture->folder.open, "f", 0);
		folder_append_text(&fixture->folder, "f", cases[i].text);
		if (rg_storage_check_file(fixture->folder.open, "f", (enum rg_log)cases[i].kind,
					  &err) != cases[i].code)
			fail_msg("%s", cases[i].text);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_document_holds_for_one_mailbox),
		TEST(damaged_documents_and_ids_trust_nothing),
		TEST(to_be_told_is_not_to_be_trusted),
		TEST(the_machine_may_trust),
		TEST(a_digest_covers_words_and_files),
		TEST(a_program_along_path_may_lie_in_the_workspace),
		TEST(places_are_usual_or_asked_for),
		TEST(files_are_added_to_when_they_are_of_the_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
