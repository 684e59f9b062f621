/*
 * writers - long-lived processes that write durable lines, each in its own way.
 *
 *     writers WAY TARGET LANES SECONDS LINE_BYTES [TURNS]
 *
 * TARGET is a file, a workspace or a port of this machine; for "machines" the port of roger
 * serve and tokens, one a machine, among which the lanes are dealt.  A turn is over
 * when what it wrote is on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <roger.h>

#include "group.h"
#include "lanes.h"
#include "peer.h"
#include "text.h"

enum { BATCH = 512 };

struct task {
	const char *target;
	size_t line_bytes;
	struct bench_group *group;
};

struct writer {
	struct bench_line line;
	unsigned lane;
	int file;
	struct bench_group *group;
	struct bench_peer *peer;
	char *many; /* BATCH lines */
	struct roger *roger;
	char from[24];
	char to[24];
	char issue[24];
	char key[64], token[80];
	unsigned long keys;
	struct roger_str recipient;
	struct roger_send_request requests[BATCH];
};

static struct writer *new_writer(unsigned lane, const struct task *task)
{
	struct writer *writer = calloc(1, sizeof *writer);

	if (!writer)
		bench_die("out of memory");
	writer->lane = lane;
	writer->file = -1;
	writer->group = task->group;
	bench_line_init(&writer->line, lane, task->line_bytes);
	return writer;
}

static void close_writer(void *self)
{
	struct writer *writer = self;

	if (writer->file >= 0)
		close(writer->file);
	bench_peer_close(writer->peer);
	roger_close(writer->roger);
}

/* ------------------------------------------------------------- raw files -- */

static void *open_file(unsigned lane, const void *context)
{
	const struct task *task = context;
	struct writer *writer = new_writer(lane, task);

	writer->file = open(task->target, O_WRONLY | O_CREAT | O_APPEND, 0600);
	writer->many = malloc(BATCH * task->line_bytes);
	if (writer->file < 0 || !writer->many)
		bench_die("open '%s': %s", task->target, strerror(errno));
	return writer;
}

static void write_and_sync(int file, const char *data, size_t length)
{
	if (write(file, data, length) != (ssize_t)length || fdatasync(file) != 0)
		bench_die("write and sync: %s", strerror(errno));
}

static void turn_raw(void *self)
{
	struct writer *writer = self;

	bench_line_renew(&writer->line);
	write_and_sync(writer->file, writer->line.data, writer->line.length);
}

static void turn_locked(void *self)
{
	struct writer *writer = self;

	bench_line_renew(&writer->line);
	if (flock(writer->file, LOCK_EX) != 0)
		bench_die("flock: %s", strerror(errno));
	write_and_sync(writer->file, writer->line.data, writer->line.length);
	flock(writer->file, LOCK_UN);
}

static void turn_grouped(void *self)
{
	struct writer *writer = self;

	bench_line_renew(&writer->line);
	bench_group_write(writer->group, writer->file, writer->line.data, writer->line.length);
}

static void turn_raw_batch(void *self)
{
	struct writer *writer = self;
	size_t length = writer->line.length;
	int i;

	for (i = 0; i < BATCH; i++) {
		bench_line_renew(&writer->line);
		memcpy(writer->many + (size_t)i * length, writer->line.data, length);
	}
	write_and_sync(writer->file, writer->many, BATCH * length);
}

/* ----------------------------------------------------------------- roger -- */

static struct roger_str str(const char *text)
{
	return (struct roger_str){ text, strlen(text) };
}

static void *open_roger(unsigned lane, const void *context)
{
	const struct task *task = context;
	struct writer *writer = new_writer(lane, task);
	struct roger_err err;
	int i;

	if (roger_open(task->target, &writer->roger, &err) < 0)
		bench_die("open: %s", err.message);
	snprintf(writer->from, sizeof writer->from, "w%u", lane);
	snprintf(writer->to, sizeof writer->to, "r%u", lane);
	snprintf(writer->issue, sizeof writer->issue, "issue-%u", lane);
	writer->recipient = str(writer->to);
	for (i = 0; i < BATCH; i++) {
		writer->requests[i].from = str(writer->from);
		writer->requests[i].to = (struct roger_strs){ &writer->recipient, 1 };
		writer->requests[i].issue = str(writer->issue);
	}
	return writer;
}

static void renew_request(struct writer *writer, int i)
{
	size_t length = writer->line.content_bytes;

	writer->requests[i].content.data = bench_text_next(writer->line.text, length);
	writer->requests[i].content.length = length;
}

static void turn_roger(void *self)
{
	struct writer *writer = self;
	struct roger_send_reply reply;
	struct roger_err err;

	renew_request(writer, 0);
	if (roger_send(writer->roger, writer->requests, &reply, &err) < 0)
		bench_die("send: %s", err.message);
	if (reply.messages.count != 1 || reply.duplicate)
		bench_die("send: an answer that is not a plain one");
	roger_reply_free(&reply);
}

/* The same with a key that nobody has used. */
static void turn_roger_keyed(void *self)
{
	struct writer *writer = self;

	snprintf(writer->key, sizeof writer->key, "bench:status-update:%ld-%lu", (long)getpid(),
		 writer->keys++);
	writer->requests[0].key = str(writer->key);
	turn_roger(self);
}

static void turn_roger_batch(void *self)
{
	struct writer *writer = self;
	struct roger_send_many_request request = { .items = { writer->requests, BATCH } };
	struct roger_send_many_reply reply;
	struct roger_err err;
	int i;

	for (i = 0; i < BATCH; i++)
		renew_request(writer, i);
	if (roger_send_many(writer->roger, &request, &reply, &err) < 0)
		bench_die("send_many: %s", err.message);
	if (reply.stored != BATCH)
		bench_die("send_many: %lld stored", (long long)reply.stored);
	roger_reply_free(&reply);
}

/* ----------------------------------------------------------------- peers -- */

static void *open_peer(unsigned lane, const void *context)
{
	const struct task *task = context;
	struct writer *writer = new_writer(lane, task);

	writer->peer = bench_peer_open((uint16_t)bench_number(task->target), task->line_bytes);
	return writer;
}

static void turn_redis(void *self)
{
	struct writer *writer = self;

	bench_line_renew(&writer->line);
	bench_peer_lpush(writer->peer, writer->lane, writer->line.data, writer->line.length);
}

static void turn_beanstalkd(void *self)
{
	struct writer *writer = self;

	bench_line_renew(&writer->line);
	bench_peer_put(writer->peer, writer->line.data, writer->line.length);
}

static void *open_machine(unsigned lane, const void *context)
{
	const struct task *task = context;
	struct writer *writer = new_writer(lane, task);
	char *text = strdup(task->target), *tokens[8] = { 0 },
	     *next = text ? strtok(text, " ") : NULL;
	unsigned count = 0;

	if (!next)
		bench_die("no port");
	writer->peer = bench_peer_open((uint16_t)bench_number(next), task->line_bytes);
	while ((next = strtok(NULL, " ")) && count < 8)
		tokens[count++] = next;
	if (!count)
		bench_die("no token");
	snprintf(writer->token, sizeof writer->token, "%s", tokens[lane % count]);
	snprintf(writer->from, sizeof writer->from, "w%u", lane);
	snprintf(writer->to, sizeof writer->to, "r%u", lane);
	free(text);
	return writer;
}

static void turn_machine(void *self)
{
	struct writer *writer = self;
	size_t length = writer->line.content_bytes;

	bench_peer_send(writer->peer, writer->token, writer->from, writer->to,
			bench_text_next(writer->line.text, length), length);
}

/* ------------------------------------------------------------------ ways -- */

static const struct bench_way ways[] = {
	{ "raw", { open_file, turn_raw, close_writer } },
	{ "locked", { open_file, turn_locked, close_writer } },
	{ "grouped", { open_file, turn_grouped, close_writer } },
	{ "raw-batch", { open_file, turn_raw_batch, close_writer } },
	{ "roger", { open_roger, turn_roger, close_writer } },
	{ "roger-keyed", { open_roger, turn_roger_keyed, close_writer } },
	{ "roger-batch", { open_roger, turn_roger_batch, close_writer } },
	{ "redis", { open_peer, turn_redis, close_writer } },
	{ "beanstalkd", { open_peer, turn_beanstalkd, close_writer } },
	{ "machines", { open_machine, turn_machine, close_writer } },
	{ 0 },
};

int main(int argc, char **argv)
{
	struct bench_limits limits = { 0 };
	struct task task;

	if (argc != 6 && argc != 7)
		bench_die("usage: writers WAY TARGET LANES SECONDS LINE_BYTES [TURNS]");
	task.target = argv[2];
	limits.lanes = (unsigned)bench_number(argv[3]);
	limits.seconds = bench_seconds(argv[4]);
	task.line_bytes = bench_number(argv[5]);
	limits.turns_max = argv[6] ? bench_number(argv[6]) : 0;
	task.group = bench_shared(sizeof *task.group);
	bench_lanes_run(bench_find_way(ways, argv[1]), &task, limits);
	return 0;
}
