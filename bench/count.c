/*
 * count - the same call of the library again and again, for a program that
 * counts what it costs: count WORKSPACE CALL TURNS.
 *
 * Nothing is timed.  The cost of one call is the difference between two runs
 * with different TURNS, divided by the difference of TURNS.  What "receive" and
 * "claim" take must be waiting for agent "taker".
 */
#include <string.h>

#include <roger.h>

#include "lanes.h"

static const struct roger_str sender = { "sender", 6 }, taker = { "taker", 5 },
			      nobody = { "nobody", 6 };
static char text[125];

static void check(int r, const struct roger_err *err)
{
	if (r < 0)
		bench_die("%s", err->message);
}

static void send(struct roger *roger, struct roger_str key)
{
	const struct roger_send_request request = {
		.from = sender, .to = { &taker, 1 }, .content = { text, sizeof text }, .key = key
	};
	struct roger_send_reply reply;
	struct roger_err err;

	check(roger_send(roger, &request, &reply, &err), &err);
	roger_reply_free(&reply);
}

static void look(struct roger *roger, struct roger_str agent, size_t want)
{
	const struct roger_inbox_request request = { .agent = agent, .limit = 10 };
	struct roger_inbox_reply reply;
	struct roger_err err;

	check(roger_inbox(roger, &request, &reply, &err), &err);
	if (reply.messages.count != want)
		bench_die("inbox: %zu messages", reply.messages.count);
	roger_reply_free(&reply);
}

static void receive(struct roger *roger)
{
	const struct roger_inbox_request request = { .agent = taker, .limit = 1 };
	struct roger_inbox_reply reply;
	struct roger_err err;

	check(roger_receive(roger, &request, &reply, &err), &err);
	if (reply.messages.count != 1)
		bench_die("receive: %zu messages", reply.messages.count);
	roger_reply_free(&reply);
}

static void claim(struct roger *roger)
{
	const struct roger_claim_request request = { .agent = taker, .worker = nobody };
	struct roger_ack_request settle = { .agent = taker, .worker = nobody };
	struct roger_messages_reply claimed, acked;
	struct roger_err err;

	check(roger_claim(roger, &request, &claimed, &err), &err);
	if (claimed.messages.count != 1)
		bench_die("claim: %zu messages", claimed.messages.count);
	settle.ids = (struct roger_strs){ &claimed.messages.items[0].id, 1 };
	check(roger_ack(roger, &settle, &acked, &err), &err);
	roger_reply_free(&acked);
	roger_reply_free(&claimed);
}

int main(int argc, char **argv)
{
	char key[] = "task:do:00";
	struct roger *roger;
	struct roger_err err;
	size_t turns, turn;
	const char *call;

	if (argc != 4)
		bench_die("usage: count WORKSPACE CALL TURNS");
	memset(text, 'x', sizeof text);
	call = argv[2];
	turns = bench_number(argv[3]);
	check(roger_open(argv[1], &roger, &err), &err);
	for (turn = 0; turn < turns; turn++) {
		key[8] = (char)('0' + turn / 10 % 10);
		key[9] = (char)('0' + turn % 10);
		if (strcmp(call, "send") == 0 || strcmp(call, "send-plain") == 0)
			send(roger, (struct roger_str){ "", 0 });
		else if (strcmp(call, "send-key") == 0)
			send(roger, (struct roger_str){ key, sizeof key - 1 });
		else if (strcmp(call, "inbox-nothing") == 0)
			look(roger, nobody, 0);
		else if (strcmp(call, "inbox") == 0)
			look(roger, taker, 10);
		else if (strcmp(call, "receive") == 0)
			receive(roger);
		else if (strcmp(call, "claim-ack") == 0)
			claim(roger);
		else
			bench_die("no call '%s'", call);
	}
	roger_close(roger);
	return 0;
}
