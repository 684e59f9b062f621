/*
 * Patches (fuzz.h) to the index and, at the offsets after it, to messages.db of
 * a workspace with a few messages; the index may also be cut short.  However they
 * are damaged, every question is answered with all that was sent, word by word:
 * what contradicts its sum is rebuilt from the journal.
 */
#include "fuzz.h"

enum { SENT = 6 };

static const char *const names[] = { "messages.db-index", "messages.db" };
enum { INDEX, TABLE, FILES };

static struct {
	int folder;  /* .roger/ */
	char *bytes; /* of both files */
	size_t sizes[FILES];
} before;

static void send(struct roger *roger, int number)
{
	struct roger_str to = number % 2 ? RG_STR("bob") : RG_STR("eve");
	char text[32];
	struct roger_send_request request = { .from = RG_STR("al"),
					      .to = { &to, 1 },
					      .issue = RG_STR("i") };
	struct roger_send_reply reply;
	int r;

	snprintf(text, sizeof text, "text %d", number);
	request.content = rg_str(text);
	r = roger_send(roger, &request, &reply, NULL);
	rg_assert(r == ROGER_OK);
	roger_reply_free(&reply);
}

static struct roger *open_place(void)
{
	struct roger *roger = NULL;
	int r = roger_open(fuzz_folder(), &roger, NULL);

	rg_assert(r == ROGER_OK);
	return roger;
}

static void check_message(const struct roger_message *message, int number)
{
	char text[32];

	snprintf(text, sizeof text, "text %d", number);
	rg_assert(rg_str_is(message->from, "al") && rg_str_is(message->issue, "i"));
	rg_assert(rg_str_is(message->content, text) && message->seq == number + 1);
	rg_assert(rg_str_is(message->to, number % 2 ? "bob" : "eve"));
}

/* These, and no others. */
static void check_messages(const struct roger_message_list *messages, int first, int step)
{
	size_t i;

	rg_assert(messages->count == (size_t)((SENT - 1 - first) / step + 1));
	for (i = 0; i < messages->count; i++)
		check_message(&messages->items[i], first + (int)i * step);
}

static void ask(struct roger *roger)
{
	struct roger_inbox_request inbox = { .agent = RG_STR("bob") };
	struct roger_list_request all = { .issue = RG_STR("i") },
				  search = { .text = RG_STR("text") };
	struct roger_messages_reply found;
	struct roger_inbox_reply mail;

	rg_assert(roger_list(roger, &all, &found, NULL) == ROGER_OK);
	check_messages(&found.messages, 0, 1);
	roger_reply_free(&found);
	rg_assert(roger_list(roger, &search, &found, NULL) == ROGER_OK);
	rg_assert(found.messages.count == SENT);
	roger_reply_free(&found);
	rg_assert(roger_inbox(roger, &inbox, &mail, NULL) == ROGER_OK);
	check_messages(&mail.messages, 1, 2);
	roger_reply_free(&mail);
}

/* Both files, one behind the other. */
static void keep_files(void)
{
	char *texts[FILES];
	size_t i, at = 0;

	for (i = 0; i < FILES; i++)
		texts[i] = fuzz_get(before.folder, names[i], &before.sizes[i]);
	before.bytes = malloc(before.sizes[INDEX] + before.sizes[TABLE]);
	rg_assert(before.bytes);
	for (i = 0; i < FILES; at += before.sizes[i++]) {
		memcpy(before.bytes + at, texts[i], before.sizes[i]);
		free(texts[i]);
	}
}

static void make(void)
{
	struct roger_init_request request = { .path = rg_str(fuzz_folder()) };
	struct roger_init_reply reply;
	struct roger *roger;
	char path[300];
	int i, r = roger_init(&request, &reply, NULL);

	rg_assert(r == ROGER_OK);
	roger_reply_free(&reply);
	roger = open_place();
	for (i = 0; i < SENT; i++)
		send(roger, i);
	ask(roger);
	roger_close(roger);
	snprintf(path, sizeof path, "%s/.roger", fuzz_folder());
	before.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	keep_files();
}

static void restore(const uint8_t *data, size_t size)
{
	size_t all = before.sizes[INDEX] + before.sizes[TABLE];
	char *bytes = malloc(all);

	rg_assert(bytes);
	memcpy(bytes, before.bytes, all);
	fuzz_patch(bytes, all, data, size);
	fuzz_put(before.folder, names[INDEX], bytes, fuzz_cut(before.sizes[INDEX], data, size));
	fuzz_put(before.folder, names[TABLE], bytes + before.sizes[INDEX], before.sizes[TABLE]);
	unlinkat(before.folder, "messages.db-index-journal", 0);
	unlinkat(before.folder, "messages.db-journal", 0);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger *roger;

	if (!before.bytes)
		make();
	restore(data, size);
	roger = open_place();
	ask(roger);
	roger_close(roger);
	return 0;
}
