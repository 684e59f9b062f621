/*
 * A program of another day: it is compiled against the header that ROGER_HEADER
 * names, with shorter or longer structs than the library's, and calls every verb with requests and
 * replies between guards.  Prints `ok` for each answer that is as it should be.
 */
#include ROGER_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 512
#define TEXT(words) ((struct roger_str){ words, sizeof words - 1 })

static int number;

static void tell(int right, const char *what)
{
	printf("%s %d - %s\n", right ? "ok" : "not ok", ++number, what);
}

/* Memory of just this size, with bytes that nobody may change on both sides. */
static void *guarded(size_t size)
{
	char *all = malloc(GUARD + size + GUARD);

	memset(all, 0xa5, GUARD + size + GUARD);
	memset(all + GUARD, 0, size);
	return all + GUARD;
}

static int intact(const void *piece, size_t size)
{
	const unsigned char *before = (const unsigned char *)piece - GUARD;
	const unsigned char *after = (const unsigned char *)piece + size;
	int i;

	for (i = 0; i < GUARD; i++)
		if (before[i] != 0xa5 || after[i] != 0xa5)
			return 0;
	return 1;
}

static void release(void *piece)
{
	free((char *)piece - GUARD);
}

/* Every verb of the header, asked for nothing. */
static void try_each(struct roger *roger)
{
	struct roger_err err;

#define TRY(verb, request_type, reply_type, call)                                                  \
	do {                                                                                       \
		struct request_type *request = guarded(sizeof *request);                           \
		struct reply_type *reply = guarded(sizeof *reply);                                 \
                                                                                                   \
		memset(reply, 0x5a, sizeof *reply);                                                \
		memset(&err, 0, sizeof err);                                                       \
		(void)call;                                                                        \
		tell(intact(request, sizeof *request) && intact(reply, sizeof *reply), verb);      \
		roger_reply_free(reply);                                                           \
		release(reply);                                                                    \
		release(request);                                                                  \
	} while (0);
#define EACH(verb, request_type, reply_type)                                                       \
	TRY(#verb, request_type, reply_type, roger_##verb(roger, request, reply, &err))
#define ALONE(verb, request_type, reply_type)
	ROGER_VERBS(EACH, ALONE)
	TRY("init", roger_init_request, roger_init_reply, roger_init(request, reply, &err))
}

static int send_both(struct roger *roger, struct roger_err *err)
{
	struct roger_str to[2] = { TEXT("bob"), TEXT("carol") };
	struct roger_send_request *items = guarded(2 * sizeof *items);
	struct roger_send_many_request request = { .from = TEXT("alice"),
						   .items = items,
						   .count = 2 };
	struct roger_send_many_reply *reply = guarded(sizeof *reply);
	int i, right;

	for (i = 0; i < 2; i++) {
		items[i].to = (struct roger_strs){ &to[i], 1 };
		items[i].content = i ? TEXT("second text") : TEXT("first text");
		items[i].issue = TEXT("older");
	}
	right = roger_send_many(roger, &request, reply, err) == ROGER_OK && reply->count == 2;
	for (i = 0; right && i < 2; i++)
		right = reply->items[i].seq == i + 1 && reply->items[i].messages.count == 1 &&
			strcmp(reply->items[i].messages.items[0].to.data, to[i].data) == 0;
	right = right && intact(reply, sizeof *reply) && intact(items, 2 * sizeof *items);
	roger_reply_free(reply);
	release(reply);
	release(items);
	return right;
}

static int read_both(struct roger *roger, struct roger_err *err)
{
	struct roger_list_request request = { .issue = TEXT("older") };
	struct roger_messages_reply *reply = guarded(sizeof *reply);
	const struct roger_message *at;
	int right;

	right = roger_list(roger, &request, reply, err) == ROGER_OK && reply->messages.count == 2;
	at = reply->messages.items;
	right = right && strcmp(at[0].content.data, "first text") == 0 && at[0].seq == 1 &&
		strcmp(at[1].content.data, "second text") == 0 && at[1].seq == 2 &&
		strcmp(at[1].to.data, "carol") == 0 && intact(reply, sizeof *reply);
	roger_reply_free(reply);
	release(reply);
	return right;
}

#ifdef NEWER
static void ask_for_more(struct roger *roger, struct roger_err *err)
{
	struct roger_str bob = TEXT("bob");
	struct roger_send_request request = {
		.from = TEXT("alice"), .to = { &bob, 1 }, .content = TEXT("more"), .later = 1
	};
	struct roger_send_reply reply;
	struct roger_send_many_request many = { .from = TEXT("alice"),
						.items = &request,
						.count = 1 };
	struct roger_send_many_reply many_reply;

	tell(roger_send(roger, &request, &reply, err) == ROGER_EUSAGE,
	     "what the library does not know is refused");
	tell(strstr(err->message, "newer") != NULL, err->message);
	tell(roger_send_many(roger, &many, &many_reply, err) == ROGER_EUSAGE, "also in a list");
}
#endif

int main(void)
{
	struct roger *roger = NULL;
	struct roger_err err = { 0 };

	tell(roger_open(NULL, &roger, &err) == ROGER_OK, "opens");
	if (!roger)
		return 1;
	tell(send_both(roger, &err), "sends two, and reads both receipts");
	tell(read_both(roger, &err), "lists two, and reads both");
#ifdef NEWER
	ask_for_more(roger, &err);
#endif
	try_each(roger);
	roger_close(roger);
	printf("1..%d\n", number);
	return 0;
}
