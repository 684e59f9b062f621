/*
 * Patches (fuzz.h) to messages.db of a workspace with a few messages.  However
 * it is damaged, every question ends, in an answer or an error of one line, and
 * each message of an answer is one that was sent, word by word.
 */
#include "fuzz.h"

enum { SENT = 6 };

static struct {
	int folder; /* .roger/ */
	char *database;
	size_t size;
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

static void check_message(const struct roger_message *message)
{
	int64_t number = -1;

	rg_assert(rg_str_is(message->from_phase, "al") && rg_str_is(message->issue_id, "i"));
	rg_assert(message->content.length == 6 && memcmp(message->content.data, "text ", 5) == 0);
	number = message->content.data[5] - '0';
	rg_assert(number >= 0 && number < SENT);
	rg_assert(rg_str_is(message->to_phase, number % 2 ? "bob" : "eve"));
}

static void check_messages(const struct roger_messages *messages)
{
	size_t i;

	for (i = 0; i < messages->count; i++)
		check_message(&messages->items[i]);
}

static void ask(struct roger *roger)
{
	struct roger_inbox_request inbox = { .agent = RG_STR("bob") };
	struct roger_list_request search = { .text = RG_STR("text") };
	struct roger_messages_reply found;
	struct roger_inbox_reply mail;
	struct roger_err err = { 0 };
	int r = roger_search(roger, &search, &found, &err);

	if (r == ROGER_OK) {
		check_messages(&found.messages);
		roger_reply_free(&found);
		r = roger_inbox(roger, &inbox, &mail, &err);
		if (r == ROGER_OK) {
			check_messages(&mail.messages);
			roger_reply_free(&mail);
		}
	}
	if (r < 0)
		fuzz_check_error(&err, r);
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
	before.database = fuzz_get(before.folder, "messages.db", &before.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger *roger;
	char *database;

	if (!before.database)
		make();
	database = malloc(before.size);
	rg_assert(database);
	memcpy(database, before.database, before.size);
	fuzz_patch(database, before.size, data, size);
	fuzz_put(before.folder, "messages.db", database, before.size);
	unlinkat(before.folder, "messages.db-journal", 0);
	free(database);
	roger = open_place();
	ask(roger);
	roger_close(roger);
	return 0;
}
