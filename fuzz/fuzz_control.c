/*
 * Patches (fuzz.h) to messages.control of a workspace with a few messages.
 * However it is damaged, what is asked of it and a send end, in an answer or an
 * error of one line; no byte of the journal changes, and what was sent stands at
 * its end.  Locks are cleared: one that names a living process is waited for.
 */
#include "fuzz.h"
#include "ops/op.h"
#include "store/file/control.h"

enum { SENT = 4 };

static const char *const names[] = { "messages.control", "messages.jsonl", "message-state.json" };
enum { CONTROL, JOURNAL, STATE, FILES };

static struct {
	int folder; /* .roger/ */
	struct {
		char *text;
		size_t size;
	} files[FILES];
} before;

static int send(struct roger *roger, struct roger_err *err)
{
	struct roger_str bob = RG_STR("bob");
	struct roger_send_request request = { .from = RG_STR("al"),
					      .to = { &bob, 1 },
					      .content = RG_STR("text") };
	struct roger_send_reply reply;
	int r = roger_send(roger, &request, &reply, err);

	if (r == ROGER_OK)
		roger_reply_free(&reply);
	return r;
}

/* What is answered from the file alone. */
static int ask(struct roger *roger, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_strs agents;
	bool may;
	size_t i;
	int r;

	rg_assert(arena);
	r = rg_engine_names(roger->engine, arena, &agents, err);
	for (i = 0; r == ROGER_OK && i < agents.count; i++)
		rg_assert(agents.items[i].length && agents.items[i].length <= RG_NAME_CHARS_MAX);
	if (r == ROGER_OK)
		r = rg_engine_may_have_mail(roger->engine, RG_STR("bob"), &may, err);
	(void)rg_engine_knows(roger->engine, RG_STR("nobody"));
	(void)rg_engine_may_know_key(roger->engine, RG_STR("al"), RG_STR("t:status-update:1"));
	(void)rg_engine_shown(roger->engine, RG_STR("bob"), RG_STR("msg-1"));
	rg_arena_free(arena);
	return r;
}

static int use(struct roger_err *err)
{
	struct roger *roger = NULL;
	int r = roger_open(fuzz_folder(), &roger, err);

	if (r == ROGER_OK)
		r = ask(roger, err);
	if (r == ROGER_OK)
		r = send(roger, err);
	roger_close(roger);
	return r;
}

static void make(void)
{
	static const char settings[] = "activity: {own: false}\n";
	struct roger_init_request request = { .path = rg_str(fuzz_folder()) };
	struct roger_init_reply reply;
	struct roger_err err;
	char path[300];
	int i, r = roger_init(&request, &reply, NULL);

	rg_assert(r == ROGER_OK);
	roger_reply_free(&reply);
	snprintf(path, sizeof path, "%s/.roger", fuzz_folder());
	before.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rg_assert(before.folder >= 0);
	fuzz_put(before.folder, "config.yaml", settings, sizeof settings - 1);
	for (i = 0; i < SENT; i++)
		rg_assert(use(&err) == ROGER_OK);
	for (i = 0; i < FILES; i++)
		before.files[i].text = fuzz_get(before.folder, names[i], &before.files[i].size);
}

static void clear_locks(struct rg_control_page *page)
{
	page->append_lock.word = page->sync_lock.word = page->change_lock.word = 0;
	page->index_lock.word = page->state_lock.word = page->record_lock.word = 0;
	page->bridge_lock.word = 0;
}

/* All as it was, but for the patches.  The journal stays the same file, by which it is known. */
static void restore(const uint8_t *data, size_t size)
{
	struct rg_control_page *control = malloc(before.files[CONTROL].size);

	rg_assert(control);
	memcpy(control, before.files[CONTROL].text, before.files[CONTROL].size);
	fuzz_patch((char *)control, before.files[CONTROL].size, data, size);
	clear_locks(control);
	fuzz_put(before.folder, names[CONTROL], control, before.files[CONTROL].size);
	fuzz_put(before.folder, names[JOURNAL], before.files[JOURNAL].text,
		 before.files[JOURNAL].size);
	fuzz_put(before.folder, names[STATE], before.files[STATE].text, before.files[STATE].size);
	free(control);
}

static void check_journal(int r)
{
	size_t was = before.files[JOURNAL].size, size;
	char *text = fuzz_get(before.folder, names[JOURNAL], &size);

	rg_assert(size >= was && memcmp(text, before.files[JOURNAL].text, was) == 0);
	if (r == ROGER_OK)
		rg_assert(size > was && text[size - 1] == '\n' &&
			  memmem(text + was, size - was, "\"content\":\"text\"", 16));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_err err = { 0 };
	int r;

	if (!before.files[CONTROL].text)
		make();
	restore(data, size);
	r = use(&err);
	if (r < 0)
		fuzz_check_error(&err, r);
	check_journal(r);
	return 0;
}
