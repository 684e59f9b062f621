/*
 * Patches (fuzz.h) to messages.control of a workspace with a few messages, which
 * may also be cut short.
 *
 * No changed byte that has a sum is believed: the file holds exactly when its
 * fixed part and its tail are as they were, and whatever it then says of the end,
 * the sync, the witness, an agent or a count is what it said before, or "maybe".
 *
 * However it is damaged, what is asked of it and a send end, in an answer or an
 * error of one line; no byte of the journal changes, what was sent stands at its
 * end, no number is given twice, and a key that was used stays known.  Locks are
 * cleared: one that names a living process is waited for.
 */
#include "fuzz.h"
#include "ops/op.h"
#include "host/file.h"
#include "store/file/control.h"

enum { SENT = 4 };

#define KEY "t:status-update:1"

static const char *const names[] = { "messages.control", "messages.jsonl", "message-state.json" };
enum { CONTROL, JOURNAL, STATE, FILES };

static struct {
	int folder; /* .roger/ */
	struct {
		char *text;
		size_t size;
	} files[FILES];
} before;

/* ---------------------------------------------- the file by itself -- */

static const struct rg_control_page *page_before(void)
{
	return (const struct rg_control_page *)before.files[CONTROL].text;
}

static const struct rg_agent_slot *agents_of(const struct rg_control_page *page)
{
	return (const struct rg_agent_slot *)(page + 1);
}

static const struct rg_count_slot *counts_of(const struct rg_control_page *page)
{
	return (const struct rg_count_slot *)(agents_of(page) + page_before()->agent_capacity);
}

/* All that stands before the locks, and one of the tails as they were. */
static bool must_hold(const struct rg_control_page *page, size_t size)
{
	const struct rg_control_page *was = page_before();
	const size_t mark = offsetof(struct rg_control_page, retired), behind = mark + 4,
		     head = offsetof(struct rg_control_page, append_lock);
	uint32_t which;

	if (size != before.files[CONTROL].size || page->retired || memcmp(page, was, mark) ||
	    memcmp((const char *)page + behind, (const char *)was + behind, head - behind))
		return false;
	which = page->tail_in_force & 1;
	return was->tails[which].sum &&
	       !memcmp(&page->tails[which], &was->tails[which], sizeof was->tails[which]);
}

/* What of it means something: a free slot has no name, and nobody unread. */
static bool same_agent(const struct rg_agent_slot *slot, const struct rg_agent_slot *was)
{
	return slot->length == was->length && slot->epoch == was->epoch && slot->seq == was->seq &&
	       slot->sum == was->sum &&
	       (!was->length ||
		(slot->unread == was->unread && !memcmp(slot->name, was->name, was->length)));
}

static size_t changed_slots(const struct rg_control_page *page)
{
	const struct rg_control_page *was = page_before();
	size_t changed = 0, i;

	for (i = 0; i < was->agent_capacity; i++)
		changed += !same_agent(&agents_of(page)[i], &agents_of(was)[i]);
	for (i = 0; i < was->count_capacity; i++)
		changed += counts_of(page)[i].hash != counts_of(was)[i].hash ||
			   counts_of(page)[i].word != counts_of(was)[i].word;
	return changed;
}

static const struct rg_agent_slot *slot_before(struct roger_str name)
{
	const struct rg_agent_slot *slot = agents_of(page_before());
	size_t i;

	for (i = 0; i < page_before()->agent_capacity; i++, slot++)
		if (slot->length == name.length && !memcmp(slot->name, name.data, name.length))
			return slot;
	return NULL;
}

static void check_agent(struct roger_str name, const struct rg_agent *agent)
{
	const struct rg_agent_slot *was = slot_before(name);

	rg_assert(was && agent->unread == was->unread && agent->epoch == was->epoch &&
		  agent->seq == was->seq);
}

/* Whom it knew it knows, and nobody else. */
static void check_agents(struct rg_control *control)
{
	static const char *const known[] = { "al", "bob" };
	struct rg_named_agent found;
	struct rg_agent agent;
	size_t i = 0;

	while (rg_control_next_agent(control, &i, &found))
		check_agent((struct roger_str){ found.name, found.length }, &found.agent);
	for (i = 0; i < sizeof known / sizeof *known; i++) {
		rg_assert(rg_control_find_agent(control, rg_str(known[i]), &agent));
		if (agent.unread != RG_FIGURE_MAYBE)
			check_agent(rg_str(known[i]), &agent);
	}
}

static void check_counts(struct rg_control *control)
{
	const struct rg_count_slot *was = counts_of(page_before());
	size_t i, count;

	for (i = 0; i < page_before()->count_capacity; i++, was++) {
		count = was->hash ? rg_control_find_count(control, was->hash) : RG_FIGURE_MAYBE;
		rg_assert(count == (uint32_t)was->word || count == RG_FIGURE_MAYBE);
	}
}

static void check_ends(struct rg_control *control, uint32_t which)
{
	const struct rg_control_page *was = page_before();
	struct rg_witness witness = rg_control_witness(control);
	uint64_t synced = rg_control_synced(control);
	struct rg_tail tail;

	rg_assert(rg_control_tail(control, &tail));
	rg_assert(tail.appended == was->tails[which].appended &&
		  tail.lines == was->tails[which].lines && tail.chain == was->tails[which].chain &&
		  tail.epoch == was->tails[which].epoch);
	rg_assert(synced == was->synced || synced == was->on_disk);
	rg_assert(!witness.end ||
		  (witness.end == was->witness_end && witness.chain == was->witness_chain));
}

static enum rg_control_kind judge(const void *bytes, size_t size)
{
	char boot_id[RG_BOOT_ID_BYTES];
	struct rg_file_facts journal;

	rg_assert(rg_file_look(before.folder, names[JOURNAL], &journal, NULL) == ROGER_OK);
	rg_boot_id(boot_id);
	return rg_control_judge(bytes, size, &journal, boot_id);
}

/* In a block of just this size, behind which the sanitizer watches. */
static void check_control(const struct rg_control_page *page, size_t size)
{
	int journal = openat(before.folder, names[JOURNAL], O_RDWR | O_CLOEXEC);
	struct rg_control *control = NULL;
	bool holds = must_hold(page, size);

	rg_assert((judge(page, size) == RG_CONTROL_HOLDS) == holds);
	if (holds) {
		rg_assert(rg_control_open(before.folder, names[CONTROL], journal, NULL, NULL, NULL,
					  &control, NULL) == ROGER_OK);
		rg_assert(rg_control_generation(control) == page_before()->generation);
		rg_control_hold(control, true);
		rg_assert(rg_control_count_damaged(control) == changed_slots(page));
		rg_control_hold(control, false);
		check_ends(control, page->tail_in_force & 1);
		check_agents(control);
		check_counts(control);
		rg_control_close(control);
	}
	close(journal);
}

/* ------------------------------------------------------- the program -- */

static int send(struct roger *roger, const char *key, int64_t *ret_seq, struct roger_err *err)
{
	struct roger_str bob = RG_STR("bob");
	struct roger_send_request request = { .from = RG_STR("al"),
					      .to = { &bob, 1 },
					      .content = RG_STR("text"),
					      .key = rg_str(key) };
	struct roger_send_reply reply;
	int r = roger_send(roger, &request, &reply, err);

	if (r < 0)
		return r;
	rg_assert(reply.epoch == 1 && !reply.duplicate);
	*ret_seq = reply.seq;
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
	rg_assert(rg_engine_may_know_key(roger->engine, RG_STR("al"), RG_STR(KEY)));
	(void)rg_engine_shown(roger->engine, RG_STR("bob"), RG_STR("msg-1"));
	rg_arena_free(arena);
	return r;
}

static int use(struct roger_err *err)
{
	struct roger *roger = NULL;
	int64_t seq = 0;
	int r = roger_open(fuzz_folder(), &roger, err);

	if (r == ROGER_OK)
		r = ask(roger, err);
	if (r == ROGER_OK)
		r = send(roger, "", &seq, err);
	rg_assert(r < 0 || seq == SENT + 1);
	roger_close(roger);
	return r;
}

static void send_first(void)
{
	struct roger *roger = NULL;
	int64_t seq;
	int i, r = roger_open(fuzz_folder(), &roger, NULL);

	rg_assert(r == ROGER_OK);
	for (i = 1; i <= SENT; i++) {
		r = send(roger, i == 1 ? KEY : "", &seq, NULL);
		rg_assert(r == ROGER_OK && seq == i);
	}
	roger_close(roger);
}

static void make(void)
{
	static const char settings[] = "activity: {own: false}\n";
	struct roger_init_request request = { .path = rg_str(fuzz_folder()) };
	struct roger_init_reply reply;
	char path[300];
	int i, r = roger_init(&request, &reply, NULL);

	rg_assert(r == ROGER_OK);
	roger_reply_free(&reply);
	snprintf(path, sizeof path, "%s/.roger", fuzz_folder());
	before.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rg_assert(before.folder >= 0);
	fuzz_put(before.folder, "config.yaml", settings, sizeof settings - 1);
	send_first();
	for (i = 0; i < FILES; i++)
		before.files[i].text = fuzz_get(before.folder, names[i], &before.files[i].size);
}

static void clear_locks(struct rg_control_page *page)
{
	page->append_lock.word = page->sync_lock.word = page->change_lock.word = 0;
	page->index_lock.word = page->state_lock.word = page->record_lock.word = 0;
	page->bridge_lock.word = 0;
}

static void *aligned(size_t size)
{
	void *block;

	rg_assert(posix_memalign(&block, _Alignof(struct rg_control_page), size ? size : 1) == 0);
	return block;
}

/* All as it was, but for the patches.  The journal stays the same file, by which it is known. */
static void restore(const uint8_t *data, size_t size)
{
	size_t length = fuzz_cut(before.files[CONTROL].size, data, size);
	struct rg_control_page *control = aligned(before.files[CONTROL].size), *shorter;

	memcpy(control, before.files[CONTROL].text, before.files[CONTROL].size);
	fuzz_patch((char *)control, before.files[CONTROL].size, data, size);
	clear_locks(control);
	shorter = aligned(length);
	memcpy(shorter, control, length);
	fuzz_put(before.folder, names[CONTROL], shorter, length);
	fuzz_put(before.folder, names[JOURNAL], before.files[JOURNAL].text,
		 before.files[JOURNAL].size);
	fuzz_put(before.folder, names[STATE], before.files[STATE].text, before.files[STATE].size);
	check_control(shorter, length);
	free(shorter);
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
