/* prime: what an agent is to know when it begins. */
#include <stdarg.h>
#include <stdio.h>

#include "ops/runs/run_list.h"
#include "facts/message.h"

enum { PRIME_LIMIT = 20, DUTIES_MAX = 20 };

struct priming {
	struct roger *roger;
	const struct roger_prime_request *request;
	struct roger_prime_reply *reply;
};

/* One more duty; a word for programs, what it is about, and what to do. */
RG_PRINTF(6, 7)
static int add(struct priming *priming, const char *kind, struct roger_str subject,
	       int64_t since_ms, const char *next, const char *format, ...)
{
	struct roger_prime_reply *reply = priming->reply;
	struct roger_concern *duty;
	char words[400];
	va_list arguments;

	if (reply->duties.count == DUTIES_MAX) {
		reply->more_duties++;
		return ROGER_OK;
	}
	duty = rg_arena_push(reply->memory, &reply->duties.items, &reply->duties.count,
			     sizeof *duty);
	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	if (!duty)
		return ROGER_ENOMEM;
	*duty = (struct roger_concern){ .urgency = ROGER_SOON,
					.kind = rg_str(kind),
					.subject = subject,
					.count = 1,
					.since_ms = since_ms };
	return rg_arena_copy(reply->memory, rg_str(words), &duty->words) &&
			       rg_arena_copy(reply->memory, rg_str(next), &duty->next)
		       ? ROGER_OK
		       : ROGER_ENOMEM;
}

static int find_mail(struct priming *priming, struct roger_err *err)
{
	struct roger_prime_reply *reply = priming->reply;
	struct rg_query query = { .unread = true,
				  .to = priming->request->agent,
				  .gets = true,
				  .issue = priming->request->issue };
	bool may;
	int r;

	r = rg_engine_may_have_mail(priming->roger->engine, query.to, &may, err);
	if (r < 0 || !may)
		return r;
	r = rg_engine_count(priming->roger->engine, &query, &reply->unread, err);
	if (r < 0)
		return r;
	query.limit = priming->request->limit ? priming->request->limit : PRIME_LIMIT;
	return rg_engine_find(priming->roger->engine, &query, reply->memory, &reply->messages, err);
}

/* Somebody waits for it to be read. */
static int look_at_mail(struct priming *priming)
{
	const struct roger_message_list *messages = &priming->reply->messages;
	char next[200];
	int r = ROGER_OK;
	size_t i;

	for (i = 0; i < messages->count && r == ROGER_OK; i++) {
		const struct roger_message *message = &messages->items[i];

		if (!message->confirm_by_ms)
			continue;
		snprintf(next, sizeof next, "roger ack %.*s", RG_STR_ARGS(message->id));
		r = add(priming, "awaited", message->id, message->confirm_by_ms, next,
			"%.*s waits for you to read %.*s", RG_STR_ARGS(message->from),
			RG_STR_ARGS(message->id));
	}
	return r;
}

static int add_run(struct priming *priming, const struct rg_run_document *document,
		   struct roger_err *err)
{
	struct roger_run said = document->run;
	const struct roger_run *run = &said;
	char next[300];
	int r = rg_run_add_words(&said, priming->reply->memory, err);

	if (r < 0)
		return r;
	switch ((enum roger_run_status)run->status) {
	case ROGER_RUN_NOT_FORWARDED:
		if (!rg_run_is_unheard(document))
			return ROGER_OK;
		snprintf(next, sizeof next, document->way_out.length ? "%.*s" : "roger ack %.*s",
			 RG_STR_ARGS(document->way_out.length ? document->way_out
							      : run->result_message));
		return add(priming, "done_but_not_forwarded", run->run,
			   document->receipts.completed_ms, next,
			   "run %.*s is done, and you have not taken its result",
			   RG_STR_ARGS(run->run));
	case ROGER_RUN_SUSPECT:
	case ROGER_RUN_BLOCKED:
		/* Somebody has dealt with it. */
		if (run->status == ROGER_RUN_BLOCKED && !rg_run_wants_settling(run))
			return ROGER_OK;
		snprintf(next, sizeof next, "roger runs %.*s", RG_STR_ARGS(run->run));
		return add(priming, rg_run_status_names[run->status], run->run,
			   document->receipts.expected_by_ms, next,
			   "run %.*s, which you own: %.*s%s%.*s", RG_STR_ARGS(run->run),
			   RG_STR_ARGS(run->words), run->why.length ? "; " : "",
			   RG_STR_ARGS(run->why));
	case ROGER_RUN_ACTIVE:
	case ROGER_RUN_COMPLETED:
	case ROGER_RUN_RECOVERED:
		break;
	}
	return ROGER_OK;
}

static int look_at_runs(struct priming *priming, struct roger_err *err)
{
	struct rg_run_list list;
	size_t i;
	int r;

	r = rg_run_list_load(priming->roger, (struct rg_run_wish){ .readers = true },
			     priming->reply->memory, &list, err);
	for (i = 0; r == ROGER_OK && i < list.count; i++)
		if (rg_str_equal(list.documents[i].run.owner, priming->request->agent))
			r = add_run(priming, &list.documents[i], err);
	return r;
}

static int look_at_letters(struct priming *priming, struct roger_err *err)
{
	const struct roger_dead_letters_request request = { .from = priming->request->agent,
							    .status = ROGER_UNDELIVERED };
	struct roger_dead_letters_reply letters = { .memory = priming->reply->memory };
	char next[300];
	size_t i;
	int r;

	r = rg_verb_dead_letters(priming->roger, &request, &letters, err);
	for (i = 0; r == ROGER_OK && i < letters.dead_letters.count; i++) {
		const struct roger_dead_letter *letter = &letters.dead_letters.items[i];

		if (letter->delivered_at_ms)
			continue;
		snprintf(next, sizeof next, "roger dead redeliver %.*s", RG_STR_ARGS(letter->id));
		r = add(priming, "dead_letter", letter->id, letter->at_ms, next,
			"%.*s never read what you sent with %.*s", RG_STR_ARGS(letter->to),
			RG_STR_ARGS(letter->key));
	}
	return r;
}

int rg_verb_prime(struct roger *roger, const struct roger_prime_request *request,
		  struct roger_prime_reply *reply, struct roger_err *err)
{
	struct priming priming = { .roger = roger, .request = request, .reply = reply };
	int r;

	r = rg_limit_check(priming.request->limit, RG_PAGE_MAX, err);
	reply->agent = priming.request->agent;
	if (r == ROGER_OK)
		r = find_mail(&priming, err);
	if (r == ROGER_OK)
		r = look_at_mail(&priming);
	if (r == ROGER_OK)
		r = look_at_runs(&priming, err);
	if (r == ROGER_OK)
		r = look_at_letters(&priming, err);
	if (r == ROGER_ENOMEM ||
	    !rg_arena_copy(reply->memory, rg_str(roger->workspace->root), &reply->workspace))
		return rg_fail_memory(err);
	return r;
}
