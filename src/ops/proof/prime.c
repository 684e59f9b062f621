/* prime: what an agent needs to know when it begins: its unread mail and its duties. */
#include "facts/message.h"
#include "ops/mail/send.h"
#include "ops/proof/concerns.h"

enum { PRIME_LIMIT = 20, DUTIES_MAX = 20 };

struct priming {
	struct roger *roger;
	const struct roger_prime_request *request;
	struct roger_prime_reply *reply;
	struct rg_concerns duties; /* its concerns are the duties */
};

static void find_mail(struct priming *priming)
{
	struct roger_prime_reply *reply = priming->reply;
	struct rg_query query = { .unread = true,
				  .to = priming->request->agent,
				  .gets = true,
				  .issue = priming->request->issue };
	struct rg_reading *reading = &priming->duties.reading;
	struct rg_engine *engine = priming->roger->engine;
	bool may;

	if (!rg_reading_got(reading,
			    rg_engine_may_have_mail(engine, query.to, &may, reading->err)) ||
	    !may)
		return;
	rg_reading_got(reading, rg_engine_count(engine, &query, &reply->unread, reading->err));
	query.limit = priming->request->limit ? priming->request->limit : PRIME_LIMIT;
	reply->messages = rg_read_messages(reading, &query);
}

/* What settles a message; while another worker holds it, what says who does. */
static struct roger_str next_of_message(struct priming *priming,
					const struct roger_message *message)
{
	const struct roger_str agent = priming->request->agent;
	const bool withheld = rg_message_withheld(message, agent, agent, rg_clock_ms(),
						  priming->roger->workspace->config->lease_ms_max);

	return rg_concerns_command(&priming->duties, withheld ? "why" : "ack", message->id, "");
}

/* Add a duty for each message whose sender waits for it to be read. */
static void look_at_mail(struct priming *priming)
{
	const struct roger_message_list *messages = &priming->reply->messages;
	const struct roger_message *message;
	struct roger_concern duty = { .count = 1 };
	size_t i;

	for (i = 0; i < messages->count; i++) {
		message = &messages->items[i];
		if (!message->confirm_by_ms)
			continue;
		duty.subject = message->id;
		duty.since_ms = message->confirm_by_ms;
		duty.next = next_of_message(priming, message);
		rg_concerns_add(&priming->duties, ROGER_SOON, "awaited", duty,
				"%.*s waits for you to read %.*s", RG_STR_ARGS(message->from),
				RG_STR_ARGS(message->id));
	}
}

static void add_run(struct priming *priming, const struct rg_run_document *document)
{
	struct roger_run run = document->run;
	struct roger_concern duty = { .subject = run.run, .count = 1, .next = document->way_out };
	const struct rg_query by_id = { .ids = &run.result_message, .id_count = 1 };
	struct roger_message_list result;

	rg_run_add_words(&run, priming->reply->memory);
	if (run.status == ROGER_RUN_NOT_FORWARDED && rg_run_is_unheard(document)) {
		duty.since_ms = document->receipts.completed_ms;
		result = rg_read_messages(&priming->duties.reading, &by_id);
		if (!duty.next.length)
			duty.next = result.count ? next_of_message(priming, &result.items[0])
						 : rg_concerns_command(&priming->duties, "runs",
								       run.run, "");
		rg_concerns_add(&priming->duties, ROGER_SOON, "done_but_not_forwarded", duty,
				"run %.*s is done, and you have not taken its result",
				RG_STR_ARGS(run.run));
		return;
	}
	/* A suspect or blocked run is a duty until somebody has dealt with it. */
	if (run.status != ROGER_RUN_SUSPECT &&
	    (run.status != ROGER_RUN_BLOCKED || !rg_run_wants_settling(&run)))
		return;
	duty.since_ms = document->receipts.expected_by_ms;
	duty.next = rg_concerns_command(&priming->duties, "runs", run.run, "");
	rg_concerns_add(&priming->duties, ROGER_SOON, rg_run_status_names[run.status], duty,
			"run %.*s, which you own: %.*s%s%.*s", RG_STR_ARGS(run.run),
			RG_STR_ARGS(run.words), run.why.length ? "; " : "", RG_STR_ARGS(run.why));
}

static void look_at_runs(struct priming *priming)
{
	const struct rg_run_list list =
		rg_read_runs(&priming->duties.reading, (struct rg_run_wish){ .readers = true });
	size_t i;

	for (i = 0; i < list.count; i++)
		if (rg_str_equal(list.documents[i].run.owner, priming->request->agent))
			add_run(priming, &list.documents[i]);
}

static void look_at_letters(struct priming *priming)
{
	const struct roger_dead_letters_request request = { .from = priming->request->agent,
							    .status = ROGER_UNDELIVERED };
	struct roger_dead_letters_reply letters = { .memory = priming->reply->memory };
	const struct roger_dead_letter *letter;
	struct roger_concern duty = { .count = 1 };
	size_t i;

	if (!rg_reading_got(&priming->duties.reading,
			    rg_verb_dead_letters(priming->roger, &request, &letters,
						 priming->duties.reading.err)))
		return;
	for (i = 0; i < letters.dead_letters.count; i++) {
		letter = &letters.dead_letters.items[i];
		if (letter->delivered_at_ms)
			continue;
		duty.subject = letter->id;
		duty.since_ms = letter->at_ms;
		duty.next = rg_concerns_letter_way_out(&priming->duties, letter);
		if (!duty.next.length)
			duty.next = rg_concerns_command(&priming->duties, "dead redeliver",
							letter->id, "");
		rg_concerns_add(&priming->duties, ROGER_SOON, "dead_letter", duty,
				"%.*s never read what you sent with %.*s", RG_STR_ARGS(letter->to),
				RG_STR_ARGS(letter->key));
	}
}

int rg_verb_prime(struct roger *roger, const struct roger_prime_request *request,
		  struct roger_prime_reply *reply, struct roger_err *err)
{
	struct priming priming = {
		.roger = roger,
		.request = request,
		.reply = reply,
		.duties = { .reading = { roger, reply->memory, err, ROGER_OK },
			    .arena = reply->memory },
	};
	size_t count;

	reply->agent = request->agent;
	find_mail(&priming);
	if (!reply->unread && rg_engine_knows(roger->engine, request->agent))
		rg_reading_got(&priming.duties.reading,
			       rg_send_note_reader(roger, reply->memory, request->agent,
						   &reply->notes, err));
	look_at_mail(&priming);
	look_at_runs(&priming);
	look_at_letters(&priming);
	count = priming.duties.found.count;
	reply->duties = priming.duties.found;
	if (count > DUTIES_MAX)
		reply->duties.count = DUTIES_MAX;
	reply->more_duties = (int64_t)(count - reply->duties.count);
	reply->workspace = rg_arena_str(reply->memory, rg_str(roger->workspace->root));
	return priming.duties.reading.r;
}
