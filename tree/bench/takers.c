/*
 * takers - long-lived processes that take and settle waiting messages one by
 * one, each in its own way.
 *
 *     takers WAY TARGET LANES MESSAGES
 *
 * TARGET is a workspace or a port of this machine.  MESSAGES must be waiting,
 * for agent "taker" in the workspace; each process takes its share of them.  For
 * "exchange" none is waiting: processes answer each other, two and two.
 * "fill-redis" and "fill-beanstalkd" add messages to a peer.  A turn is over
 * when the message cannot come again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roger.h>

#include "lanes.h"
#include "peer.h"
#include "text.h"

enum { LINE_BYTES = 400, LIST = 1000 };

struct taker {
	struct roger *roger;
	struct bench_peer *peer;
	struct bench_line line;
	unsigned lane;
	char name[24];
};

static const struct roger_str agent = { "taker", 5 };

static struct taker *new_taker(unsigned lane)
{
	struct taker *taker = calloc(1, sizeof *taker);

	if (!taker)
		bench_die("out of memory");
	taker->lane = lane;
	snprintf(taker->name, sizeof taker->name, "worker-%u", lane);
	bench_line_init(&taker->line, lane, LINE_BYTES);
	return taker;
}

static void close_taker(void *self)
{
	struct taker *taker = self;

	roger_close(taker->roger);
	bench_peer_close(taker->peer);
}

/* ----------------------------------------------------------------- roger -- */

static void *open_roger(unsigned lane, const void *target)
{
	struct taker *taker = new_taker(lane);
	struct roger_err err;

	if (roger_open(target, &taker->roger, &err) < 0)
		bench_die("open: %s", err.message);
	return taker;
}

static void receive_one(struct taker *taker, const struct roger_inbox_request *request)
{
	struct roger_inbox_reply reply;
	struct roger_err err;

	if (roger_receive(taker->roger, request, &reply, &err) < 0)
		bench_die("receive: %s", err.message);
	if (reply.messages.count != 1)
		bench_die("receive: %zu messages", reply.messages.count);
	roger_reply_free(&reply);
}

static void turn_receive(void *self)
{
	const struct roger_inbox_request request = { .agent = agent, .limit = 1 };

	receive_one(self, &request);
}

static void turn_claim(void *self)
{
	struct taker *taker = self;
	const struct roger_str worker = { taker->name, strlen(taker->name) };
	const struct roger_claim_request request = { .agent = agent, .worker = worker };
	struct roger_ack_request settle = { .agent = agent, .worker = worker };
	struct roger_messages_reply claimed, acked;
	struct roger_err err;

	if (roger_claim(taker->roger, &request, &claimed, &err) < 0)
		bench_die("claim: %s", err.message);
	if (claimed.messages.count != 1)
		bench_die("claim: %zu messages", claimed.messages.count);
	settle.ids = (struct roger_strs){ &claimed.messages.items[0].id, 1 };
	if (roger_ack(taker->roger, &settle, &acked, &err) < 0)
		bench_die("ack: %s", err.message);
	roger_reply_free(&acked);
	roger_reply_free(&claimed);
}

/* Two and two answer each other: a turn is a message each way. */
static void answer(struct taker *taker)
{
	char partner[24];
	const struct roger_str to = { partner, (size_t)snprintf(partner, sizeof partner,
								"worker-%u", taker->lane ^ 1) };
	const struct roger_send_request request = { .from = { taker->name, strlen(taker->name) },
						    .to = { &to, 1 },
						    .content = { taker->line.data, 125 } };
	struct roger_send_reply reply;
	struct roger_err err;

	if (roger_send(taker->roger, &request, &reply, &err) < 0)
		bench_die("send: %s", err.message);
	roger_reply_free(&reply);
}

static void await(struct taker *taker)
{
	const struct roger_inbox_request request = { .agent = { taker->name, strlen(taker->name) },
						     .wait_ms = 10000 };

	receive_one(taker, &request);
}

static void turn_exchange(void *self)
{
	struct taker *taker = self;

	if (taker->lane % 2 == 0)
		answer(taker);
	await(taker);
	if (taker->lane % 2 != 0)
		answer(taker);
}

/* ----------------------------------------------------------------- peers -- */

static void *open_peer(unsigned lane, const void *target)
{
	struct taker *taker = new_taker(lane);

	taker->peer = bench_peer_open((uint16_t)bench_number(target), LINE_BYTES);
	return taker;
}

static void turn_redis(void *self)
{
	struct taker *taker = self;

	bench_peer_take_redis(taker->peer, LIST, taker->lane);
}

static void turn_beanstalkd(void *self)
{
	bench_peer_take_beanstalkd(((struct taker *)self)->peer);
}

static void turn_fill_redis(void *self)
{
	struct taker *taker = self;

	bench_line_renew(&taker->line);
	bench_peer_lpush(taker->peer, LIST, taker->line.data, taker->line.length);
}

static void turn_fill_beanstalkd(void *self)
{
	struct taker *taker = self;

	bench_line_renew(&taker->line);
	bench_peer_put(taker->peer, taker->line.data, taker->line.length);
}

/* ------------------------------------------------------------------ ways -- */

static const struct bench_way ways[] = {
	{ "receive", { open_roger, turn_receive, close_taker } },
	{ "claim", { open_roger, turn_claim, close_taker } },
	{ "exchange", { open_roger, turn_exchange, close_taker } },
	{ "redis", { open_peer, turn_redis, close_taker } },
	{ "beanstalkd", { open_peer, turn_beanstalkd, close_taker } },
	{ "fill-redis", { open_peer, turn_fill_redis, close_taker } },
	{ "fill-beanstalkd", { open_peer, turn_fill_beanstalkd, close_taker } },
	{ 0 },
};

int main(int argc, char **argv)
{
	struct bench_limits limits = { .seconds = 3600 };

	if (argc != 5)
		bench_die("usage: takers WAY TARGET LANES MESSAGES");
	limits.lanes = (unsigned)bench_number(argv[3]);
	limits.turns_max = bench_number(argv[4]) / limits.lanes;
	if (limits.turns_max == 0)
		bench_die("fewer messages than processes");
	bench_lanes_run(bench_find_way(ways, argv[1]), argv[2], limits);
	return 0;
}
