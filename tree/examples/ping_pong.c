/*
 * ping_pong - two agents in two processes hand a number back and forth.
 *
 *     ping_pong [ROUNDS]
 *
 * Uses the workspace of the current folder (see `roger init`).  Afterwards
 * `roger list --issue ping-pong` shows what went over the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roger.h>

static struct roger_str text(const char *string)
{
	struct roger_str result = { string, strlen(string) };

	return result;
}

static int say(struct roger *roger, const char *from, const char *to, long number,
	       struct roger_err *err)
{
	struct roger_str recipient = text(to);
	struct roger_send_request request = { 0 };
	struct roger_send_reply reply;
	char content[32];
	int r;

	snprintf(content, sizeof content, "%ld", number);
	request.from = text(from);
	request.to.items = &recipient;
	request.to.count = 1;
	request.content = text(content);
	request.issue = text("ping-pong");
	r = roger_send(roger, &request, &reply, err);
	if (r == ROGER_OK)
		roger_reply_free(&reply);
	return r;
}

/* The next number for agent. */
static int hear(struct roger *roger, const char *agent, long *ret_number, struct roger_err *err)
{
	struct roger_inbox_request request = { 0 };
	struct roger_inbox_reply reply;
	int r;

	request.agent = text(agent);
	request.issue = text("ping-pong");
	request.limit = 1;
	request.wait_ms = 10000;
	r = roger_receive(roger, &request, &reply, err);
	if (r < 0)
		return r;
	if (reply.messages.count) {
		*ret_number = atol(reply.messages.items[0].content.data);
		printf("%s got %ld\n", agent, *ret_number);
	} else {
		snprintf(err->message, sizeof err->message, "waited in vain");
		r = ROGER_ETIMEOUT;
	}
	roger_reply_free(&reply);
	return r;
}

static int ping(struct roger *roger, long rounds, struct roger_err *err)
{
	long number = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && number < 2 * rounds) {
		r = say(roger, "ping", "pong", number + 1, err);
		if (r == ROGER_OK)
			r = hear(roger, "ping", &number, err);
	}
	return r;
}

static int pong(struct roger *roger, long rounds, struct roger_err *err)
{
	long number = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK && number < 2 * rounds - 1) {
		r = hear(roger, "pong", &number, err);
		if (r == ROGER_OK)
			r = say(roger, "pong", "ping", number + 1, err);
	}
	return r;
}

/* One player, start to end.  A handle belongs to one process, so each opens its own. */
static int play(const char *name, int (*player)(struct roger *, long, struct roger_err *),
		long rounds)
{
	struct roger *roger = NULL;
	struct roger_err err = { 0 };
	int r;

	r = roger_open(NULL, &roger, &err);
	if (r == ROGER_OK)
		r = player(roger, rounds, &err);
	roger_close(roger);
	if (r < 0)
		fprintf(stderr, "ping_pong: %s: %s\n", name, err.message);
	fflush(stdout);
	return -r;
}

int main(int count, char **arguments)
{
	long rounds = count > 1 ? atol(arguments[1]) : 3;
	int status = 0, mine;
	pid_t child;

	if (rounds < 1) {
		fputs("usage: ping_pong [ROUNDS]\n", stderr);
		return 64;
	}
	child = fork();
	if (child < 0) {
		perror("ping_pong: fork");
		return 71;
	}
	if (child == 0)
		return play("pong", pong, rounds);
	mine = play("ping", ping, rounds);
	waitpid(child, &status, 0);
	return mine ? mine : WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
