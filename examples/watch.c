/*
 * watch - wait for mail and tell of it, without reading it.
 *
 *     watch AGENT [SECONDS]
 *
 * Prints one line for each unread message: when, its number, sender, issue and
 * length, but not the text.  Nothing is marked read.  Exits with 1 when nothing
 * comes in time (default 10 seconds).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <roger.h>

static struct roger_str text(const char *string)
{
	struct roger_str result = { string, strlen(string) };

	return result;
}

static int wait_for_mail(struct roger *roger, const char *agent, long seconds, bool *ret_found,
			 struct roger_err *err)
{
	struct roger_wait_request request = { 0 };
	struct roger_wait_reply reply;
	int r;

	request.agent = text(agent);
	request.timeout_ms = seconds * 1000;
	r = roger_wait(roger, &request, &reply, err);
	if (r < 0)
		return r;
	*ret_found = reply.found;
	roger_reply_free(&reply);
	return ROGER_OK;
}

static void print(const struct roger_message *message)
{
	printf("%lld  #%lld  %s  %s  %zu bytes\n", (long long)message->created_at_ms,
	       (long long)message->seq, message->from.data, message->issue.data,
	       message->content.length);
}

static int tell(struct roger *roger, const char *agent, struct roger_err *err)
{
	struct roger_inbox_request request = { 0 };
	struct roger_inbox_reply reply;
	size_t i;
	int r;

	request.agent = text(agent);
	r = roger_inbox(roger, &request, &reply, err);
	if (r < 0)
		return r;
	for (i = 0; i < reply.messages.count; i++)
		print(&reply.messages.items[i]);
	roger_reply_free(&reply);
	return ROGER_OK;
}

int main(int count, char **arguments)
{
	struct roger *roger = NULL;
	struct roger_err err = { 0 };
	bool found = false;
	int r;

	if (count < 2) {
		fputs("usage: watch AGENT [SECONDS]\n", stderr);
		return 64;
	}
	r = roger_open(NULL, &roger, &err);
	if (r == ROGER_OK)
		r = wait_for_mail(roger, arguments[1], count > 2 ? atol(arguments[2]) : 10, &found,
				  &err);
	if (r == ROGER_OK && found)
		r = tell(roger, arguments[1], &err);
	roger_close(roger);
	if (r < 0)
		fprintf(stderr, "watch: %s\n", err.message);
	return r < 0 ? -r : !found;
}
