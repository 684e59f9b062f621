/*
 * send, send_many: new messages, checked, numbered, stored in one commit.
 *
 * Recipients are resolved (groups, all) and looked up first; then the commit
 * is tried until it passes: a known key turns a send into its first result,
 * a limit makes the oldest read messages leave.
 */
#include "ops/mail/send.h"

#include "base/terminal.h"
#include "ops/caller.h"
#include "ops/mail/arrive.h"
#include "ops/mail/agents.h"
#include "ops/mail/room.h"
#include "facts/message.h"

enum { TRIES_MAX = 1000, COMPARED_MAX = 8 };

/* ----------------------------------------------------------- recipients -- */

static bool is_reserved(const struct rg_sending *sending, struct roger_str name)
{
	return rg_config_reserves(sending->roger->workspace->config, name);
}

static void add_recipient(struct rg_sending *sending, struct rg_draft *draft, struct roger_str name)
{
	if (!rg_str_among(draft->to, name))
		(void)!rg_arena_append(sending->arena, &draft->to.items, &draft->to.count, &name,
				       sizeof name);
}

/* Find the agents, groups and all that a new name may be a slip for. */
static int look_at_known(struct roger *roger, struct rg_arena *arena, struct rg_known *known,
			 struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	struct roger_str *words;
	size_t count;
	int r;

	if (known->agents.arena)
		return ROGER_OK;
	known->agents.arena = arena;
	r = rg_agents_names(roger, &known->agents, err);
	if (r < 0)
		return r;
	count = known->agents.count + config->group_count;
	words = rg_arena_get(arena, (count + 1) * sizeof *words);
	if (!words)
		return rg_fail_memory(err);
	if (known->agents.count)
		memcpy(words, known->agents.items, known->agents.count * sizeof *words);
	if (config->group_count)
		memcpy(words + known->agents.count, config->group_names.items,
		       config->group_count * sizeof *words);
	words[count] = RG_STR("all");
	known->words = (struct roger_strs){ words, count + 1 };
	return ROGER_OK;
}

/* Is the name itself a slip: did it only get mail, and is near one that sent or looked? */
static int is_phantom(struct roger *roger, struct rg_arena *arena, const struct rg_known *known,
		      struct roger_str name, bool *ret_phantom, struct roger_err *err)
{
	bool ghost;
	size_t i;
	int r;

	*ret_phantom = false;
	if (!rg_names_have(&known->agents, name))
		return ROGER_OK; /* a group, or all */
	r = rg_agents_is_ghost(roger, name, arena, &ghost, err);
	for (i = 0; r == ROGER_OK && ghost && !*ret_phantom && i < known->agents.count; i++) {
		if (!rg_is_slip(name, known->agents.items[i]))
			continue;
		r = rg_agents_is_ghost(roger, known->agents.items[i], arena, ret_phantom, err);
		*ret_phantom = !*ret_phantom;
	}
	return r;
}

/* Find the known name that this one is a slip for; "": none. */
static int find_slip(struct roger *roger, struct rg_arena *arena, struct rg_known *known,
		     struct roger_str name, struct roger_str *ret_slip, struct roger_err *err)
{
	bool phantom = true;
	size_t at = 0;
	int r = ROGER_OK;

	/* For a few names, a comparison with each word costs less than hashes of all words. */
	known->slips.names = known->words;
	if (known->asked++ == COMPARED_MAX && !rg_slips_init(&known->slips, known->words, arena))
		return rg_fail_memory(err);
	while (r == ROGER_OK && phantom) {
		*ret_slip = rg_slips_find(&known->slips, name, &at);
		r = is_phantom(roger, arena, known, *ret_slip, &phantom, err);
	}
	return r;
}

int rg_send_judge_unknown(struct roger *roger, struct rg_arena *arena, struct rg_known *known,
			  struct roger_str name, bool insists, const char *member,
			  struct rg_unknown *ret_unknown, struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	bool strict = config->recipients == RG_RECIPIENTS_STRICT;
	struct roger_str slip = { "", 0 }, session;
	int r;

	r = look_at_known(roger, arena, known, err);
	if (r == ROGER_OK)
		r = find_slip(roger, arena, known, name, &slip, err);
	if (r < 0)
		return r;
	/* Who sees only its own mail does not learn who else is here. */
	ret_unknown->near = roger->caller.own ? RG_STR("") : slip;
	ret_unknown->slip = slip.length > 0;
	ret_unknown->expected = rg_names_have(&known->agents, name);
	if (ret_unknown->expected ||
	    (!strict && (!slip.length || insists || config->recipients == RG_RECIPIENTS_OPEN)))
		return ROGER_OK;
	/* An agent is expected whose tool has begun a session here. */
	r = rg_arrive_last(roger, name, arena, &session, err);
	ret_unknown->expected = r == ROGER_OK && session.length;
	if (r < 0 || ret_unknown->expected)
		return r;
	return rg_fail_member(
		err, ROGER_EREFUSED, member, "%s: '%.*s' has never been seen here" RG_MEANT "%s",
		member, RG_STR_ARGS(name), RG_MEANT_ARGS(ret_unknown->near),
		strict ? " (recipients: strict)"
		: ret_unknown->near.length
			? " `roger send --new` insists on a new name"
			: ", but a name like it; `roger send --new` insists on a new name");
}

int rg_send_note_stranger(struct roger *roger, struct rg_arena *arena, struct roger_str name,
			  struct roger_strs *notes, struct roger_err *err)
{
	struct rg_known known = { 0 };
	struct roger_str near = { "", 0 };
	int r;

	if (rg_engine_knows(roger->engine, name))
		return ROGER_OK;
	if (rg_config_reserves(roger->workspace->config, name))
		return rg_kept(rg_arena_note(arena, notes,
					     "'%.*s' is no agent: its mail is with its members",
					     RG_STR_ARGS(name)),
			       err);
	r = look_at_known(roger, arena, &known, err);
	if (r < 0 || rg_names_have(&known.agents, name))
		return r;
	r = roger->caller.own ? ROGER_OK : find_slip(roger, arena, &known, name, &near, err);
	if (r == ROGER_OK)
		rg_arena_note(arena, notes,
			      "'%.*s' has neither sent nor got anything here" RG_MEANT,
			      RG_STR_ARGS(name), RG_MEANT_ARGS(near));
	return r;
}

int rg_send_note_reader(struct roger *roger, struct rg_arena *arena, struct roger_str name,
			struct roger_strs *notes, struct roger_err *err)
{
	struct roger_retired_list retired;
	struct roger_str heir;
	int r = rg_engine_retired(roger->engine, arena, &retired, err);

	if (r < 0)
		return r;
	if (!rg_retired_find(&retired, name))
		return rg_send_note_stranger(roger, arena, name, notes, err);
	heir = rg_retired_heir(&retired, name);
	return rg_kept(rg_arena_note(arena, notes, "'%.*s' is retired: %s%.*s%s", RG_STR_ARGS(name),
				     heir.length ? "'" : "mail to it is refused", RG_STR_ARGS(heir),
				     heir.length ? "' gets its mail" : ""),
		       err);
}

static int add_unknown(struct rg_sending *sending, struct rg_draft *draft, struct roger_str name,
		       struct roger_err *err)
{
	struct rg_unknown unknown;
	int r;

	r = rg_send_judge_unknown(sending->roger, sending->arena, &sending->known, name,
				  draft->request->new_, "to", &unknown, err);
	if (r == ROGER_EREFUSED) {
		draft->cause = RG_CAUSE_UNKNOWN;
		draft->stranger = name;
	}
	if (r < 0 || unknown.expected)
		return r;
	rg_arena_note(sending->arena, &draft->reply->never_seen, "%.*s", RG_STR_ARGS(name));
	rg_arena_note(sending->arena, &draft->reply->notes,
		      "'%.*s' has never been seen here" RG_MEANT, RG_STR_ARGS(name),
		      RG_MEANT_ARGS(unknown.near));
	return ROGER_OK;
}

/* Add the members of a group, or of all, but not the sender. */
static int add_several(struct rg_sending *sending, struct rg_draft *draft, struct roger_str name,
		       struct roger_err *err)
{
	const struct roger_left_out *out;
	struct rg_everyone everyone;
	size_t i;
	int r;

	r = rg_agents_of(sending->roger, name, sending->arena, &everyone, err);
	if (r < 0)
		return r;
	for (i = 0; i < everyone.skipped.count; i++) {
		out = &everyone.skipped.items[i];
		if (!rg_str_equal(out->to, draft->from))
			rg_agents_skip(sending->arena, &draft->reply->skipped, out->to, out->why);
	}
	for (i = 0; i < everyone.names.count; i++) {
		name = everyone.names.items[i];
		if (!rg_str_equal(name, draft->from))
			add_recipient(sending, draft, name);
	}
	return ROGER_OK;
}

/* Find the agent that took over from a retired one; an error if nobody did. */
static int find_heir(struct rg_sending *sending, struct rg_draft *draft, struct roger_str *name,
		     struct roger_err *err)
{
	const struct roger_retired *retired = rg_retired_find(&sending->retired, *name);
	struct roger_str heir, why;

	if (!retired)
		return ROGER_OK;
	heir = rg_retired_heir(&sending->retired, *name);
	why = rg_agents_why_retired(retired, sending->arena);
	if (!heir.length) {
		draft->cause = RG_CAUSE_RETIRED;
		draft->stranger = *name;
		return rg_fail_member(err, ROGER_EREFUSED, "to", "to: '%.*s' %.*s",
				      RG_STR_ARGS(*name), RG_STR_ARGS(why));
	}
	rg_arena_note(sending->arena, &draft->reply->notes, "'%.*s' %.*s; it goes to '%.*s'",
		      RG_STR_ARGS(*name), RG_STR_ARGS(why), RG_STR_ARGS(heir));
	*name = heir;
	return rg_kept(!rg_arena_failed(sending->arena), err);
}

static int add_named(struct rg_sending *sending, struct rg_draft *draft, struct roger_str name,
		     struct roger_err *err)
{
	int r;

	if (is_reserved(sending, name))
		return add_several(sending, draft, name, err);
	r = rg_name_check("to", name, err);
	if (r == ROGER_OK)
		r = find_heir(sending, draft, &name, err);
	if (r < 0)
		return r;
	if (rg_config_is_roger(name))
		return rg_fail_member(err, ROGER_EREFUSED, "to",
				      "to: '%.*s' is roger itself and reads no mail",
				      RG_STR_ARGS(name));
	if (!rg_str_among(draft->to, name) && !rg_engine_knows(sending->roger->engine, name)) {
		r = add_unknown(sending, draft, name, err);
		if (r < 0)
			return r;
	}
	add_recipient(sending, draft, name);
	return ROGER_OK;
}

static int resolve_recipients(struct rg_sending *sending, struct rg_draft *draft,
			      struct roger_err *err)
{
	const struct roger_send_request *request = draft->request;
	size_t i;
	int r;

	if (request->to.count == 0)
		return rg_fail_member(err, ROGER_EUSAGE, "to",
				      "no recipient: name an agent, a group, or `all`");
	for (i = 0; i < request->to.count; i++) {
		r = add_named(sending, draft, request->to.items[i], err);
		if (r < 0)
			return r;
	}
	rg_agents_note_skipped(sending->arena, &draft->reply->notes, &draft->reply->skipped);
	if (rg_arena_failed(sending->arena))
		return rg_fail_memory(err);
	if (draft->to.count == 0 && draft->reply->skipped.count) {
		draft->cause = RG_CAUSE_RETIRED;
		return rg_fail_member(
			err, ROGER_ENOENT, "to", "to: no recipient left: %s",
			draft->reply->notes.items[draft->reply->notes.count - 1].data);
	}
	if (draft->to.count == 0)
		return rg_fail_member(err, ROGER_ENOENT, "to", "to: nobody but the sender is here");
	if (draft->to.count > RG_BATCH_MAX)
		return rg_fail_member(err, ROGER_EDATA, "to", "to: expected at most %d recipients",
				      RG_BATCH_MAX);
	if (draft->to.count > RG_CONFIRM_MAX && request->confirm == ROGER_CONFIRM_READ)
		return rg_fail_member(err, ROGER_EDATA, "to",
				      "to: expected at most %d recipients with --confirm read",
				      RG_CONFIRM_MAX);
	return ROGER_OK;
}

/* ------------------------------------------------------------- messages -- */

/* May the caller send under that name? */
static int check_sender(const struct roger *roger, struct roger_str name, struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;

	if (rg_config_reserves_sender(config, name))
		return rg_fail_member(err, ROGER_EREFUSED, "from",
				      "from: '%.*s' is reserved; send under a name of your own",
				      RG_STR_ARGS(name));
	if (rg_config_is_person(name) && !rg_caller_proves(roger, name) &&
	    (roger->caller.how != RG_BY_FILES || !rg_terminal_has_person()))
		return rg_fail_member(err, ROGER_EREFUSED, "from",
				      "from: '%.*s' is a person: only from a terminal, without "
				      "ROGER_AGENT, and not under an agent's tool",
				      RG_STR_ARGS(name));
	return ROGER_OK;
}

/* A send from an unknown name is stored, unless the name is near a known one: likely a slip. */
static int check_new_sender(struct rg_sending *sending, struct rg_draft *draft,
			    struct roger_err *err)
{
	struct roger *roger = sending->roger;
	const enum rg_recipients recipients = roger->workspace->config->recipients;
	struct rg_unknown unknown = { 0 };
	int r;

	if (draft->request->new_ || recipients == RG_RECIPIENTS_OPEN ||
	    rg_engine_knows(roger->engine, draft->from) || rg_caller_proves(roger, draft->from))
		return ROGER_OK;
	r = rg_send_judge_unknown(roger, sending->arena, &sending->known, draft->from, false,
				  "from", &unknown, err);
	/* `recipients: strict` is only about recipients. */
	return r == ROGER_EREFUSED && !unknown.slip ? ROGER_OK : r;
}

static int check_draft(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	const struct roger_send_request *request = draft->request;
	const struct rg_config *config = sending->roger->workspace->config;
	size_t chars;
	int r;

	if (draft->from.length == 0)
		return rg_fail_member(err, ROGER_EUSAGE, "from",
				      "who are you? give --as NAME or set ROGER_AGENT");
	r = rg_name_check("from", draft->from, err);
	if (r == ROGER_OK && !sending->roger->own_mail)
		r = check_sender(sending->roger, draft->from, err);
	if (r == ROGER_OK && !sending->roger->own_mail)
		r = check_new_sender(sending, draft, err);
	if (r == ROGER_OK && request->issue.length)
		r = rg_name_check("issue", request->issue, err);
	if (r == ROGER_OK && (request->type < 0 || request->type > ROGER_DATA))
		r = rg_fail_member(err, ROGER_EDATA, "type",
				   "type: expected context, result, decision or data");
	if (r == ROGER_OK && (request->pass < 0 || request->pass > RG_SEQ_MAX))
		r = rg_fail_member(err, ROGER_EDATA, "pass", "pass: expected a number from 1 up");
	if (r == ROGER_OK)
		r = rg_message_check_content(request->content, config->content_chars_max, err);
	if (r == ROGER_EDATA && rg_utf8_count(request->content, &chars))
		draft->cause = RG_CAUSE_TOO_LONG;
	if (r == ROGER_OK && request->metadata.length)
		r = rg_message_check_metadata(request->metadata, config->metadata_chars_max, err);
	if (r == ROGER_OK)
		r = rg_send_check_key(sending, draft, err);
	if (r == ROGER_OK)
		r = rg_send_check_confirm(draft, err);
	if (r == ROGER_OK && request->reply_to.length > 2 * RG_NAME_CHARS_MAX)
		r = rg_fail_member(err, ROGER_EDATA, "reply_to",
				   "reply_to: expected the id of a message");
	return r;
}

/* Metadata may come in any layout; it is stored as one object on one line. */
static int tidy_metadata(struct rg_sending *sending, struct roger_str text, struct roger_str *ret,
			 struct roger_err *err)
{
	static const struct roger_field field = { "metadata", ROGER_OBJECT, 0, 0, NULL, NULL, "" };

	*ret = (struct roger_str){ "", 0 };
	return text.length ? rg_record_set(&field, text, 0, ret, sending->arena, err) : ROGER_OK;
}

static int make_messages(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	const struct roger_send_request *request = draft->request;
	struct roger_message message = {
		.issue = request->issue.length ? request->issue : RG_STR("general"),
		.from = draft->from,
		.pass = request->pass ? request->pass : 1,
		.type = request->type ? request->type : ROGER_CONTEXT,
		.content = request->content,
		.created_at_ms = sending->now_ms,
		.key = draft->key,
		.cycle = draft->cycle,
		.reply_to = request->reply_to,
	};
	const struct roger_str observed = sending->roger->caller.observed;
	size_t i;
	int r;

	rg_assert(draft->to.count > 0);
	if (rg_caller_proves(sending->roger, draft->from))
		message.proved = RG_STR("token");
	else if (observed.length && rg_str_equal(observed, draft->from))
		message.proved = RG_STR("observed");
	if (request->confirm == ROGER_CONFIRM_READ) {
		message.attempt = 1;
		message.confirm_by_ms = rg_clock_ms() + rg_send_within(sending, draft);
		message.retry_within_ms = request->retry ? rg_send_within(sending, draft) : 0;
	}
	draft->messages = rg_arena_get(sending->arena, draft->to.count * sizeof *draft->messages);
	if (!draft->messages)
		return rg_fail_memory(err);
	r = tidy_metadata(sending, request->metadata, &message.metadata, err);
	for (i = 0; i < draft->to.count && r == ROGER_OK; i++) {
		draft->messages[i] = message;
		draft->messages[i].to = draft->to.items[i];
		r = rg_op_new_id(sending->roger, sending->now_ms, sending->arena,
				 &draft->messages[i].id, err);
	}
	return r;
}

/* A reply without a recipient goes to the sender or, if that was us, to the recipient, in the
 * same issue. */
static int address_reply(struct rg_sending *sending, struct rg_draft *draft,
			 const struct roger_message *message, struct roger_err *err)
{
	bool own = rg_str_equal(message->from, draft->from);
	struct roger_send_request *request;

	if (draft->request->to.count)
		return ROGER_OK;
	request = rg_arena_get(sending->arena, sizeof *request);
	if (!request)
		return rg_fail_memory(err);
	*request = *draft->request;
	draft->request = request;
	if (!request->issue.length)
		request->issue = message->issue;
	return rg_kept(
		rg_arena_add(sending->arena, &request->to, own ? message->to : message->from), err);
}

/* The message that it answers must be there. */
static int check_reply_to(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	struct roger_message_list found;
	int r;

	if (!draft->request->reply_to.length)
		return ROGER_OK;
	r = rg_engine_find_ids(sending->roger->engine, &draft->request->reply_to, 1, sending->arena,
			       &found, err);
	if (r < 0)
		return r;
	if (found.count)
		return address_reply(sending, draft, &found.items[0], err);
	return rg_fail_member(
		err, ROGER_ENOENT, "reply_to",
		"reply_to: no message '%.*s'; `roger list` shows ids, @last is the newest",
		RG_STR_ARGS(draft->request->reply_to));
}

/* --------------------------------------------------------------- reply -- */

int rg_send_fill_reply(struct rg_sending *sending, struct rg_draft *draft,
		       const struct roger_message *messages, size_t count, struct roger_err *err)
{
	struct roger_receipt *receipts = rg_arena_get(sending->arena, count * sizeof *receipts);
	struct roger_send_reply *reply = draft->reply;
	size_t i;

	rg_assert(count > 0);
	if (!receipts)
		return rg_fail_memory(err);
	for (i = 0; i < count; i++) {
		(void)!rg_arena_copy(sending->arena, messages[i].id, &receipts[i].id);
		(void)!rg_arena_copy(sending->arena, messages[i].to, &receipts[i].to);
	}
	reply->messages = (struct roger_receipt_list){ receipts, count };
	reply->seq = messages[0].seq;
	reply->epoch = messages[0].epoch;
	reply->created_at_ms = messages[0].created_at_ms;
	reply->key = draft->key;
	reply->cycle = draft->cycle;
	reply->attempt = !draft->key.length ? 0 : messages[0].attempt ? messages[0].attempt : 1;
	(void)!rg_arena_copy(sending->arena, messages[0].issue, &reply->issue);
	return rg_kept(!rg_arena_failed(sending->arena), err);
}

static bool went_to(const struct roger_message_list *first, struct roger_str name)
{
	size_t i;

	for (i = 0; i < first->count; i++)
		if (rg_str_equal(first->items[i].to, name))
			return true;
	return false;
}

static bool is_to_several(const struct rg_sending *sending, const struct rg_draft *draft)
{
	const struct roger_strs *to = &draft->request->to;
	size_t i;

	for (i = 0; i < to->count; i++)
		if (is_reserved(sending, to->items[i]))
			return true;
	return false;
}

/* The members of a group or of all may change between two tries; named recipients may not. */
static bool same_recipients(const struct rg_sending *sending, const struct rg_draft *draft,
			    const struct roger_message_list *first)
{
	size_t i;

	if (is_to_several(sending, draft))
		return true;
	for (i = 0; i < draft->to.count; i++)
		if (!went_to(first, draft->to.items[i]))
			return false;
	return draft->to.count == first->count;
}

bool rg_send_same_text(struct roger_str a, struct roger_str b)
{
	if (a.length > b.length)
		return rg_send_same_text(b, a);
	if (b.length == a.length + 1 && b.data[a.length] == '\n')
		b.length--;
	return rg_str_equal(a, b);
}

const char *rg_send_difference(const struct rg_sending *sending, const struct rg_draft *draft,
			       const struct roger_message_list *first)
{
	const struct roger_message *ours = &draft->messages[0], *theirs = &first->items[0];

	rg_assert(first->count > 0);
	return !same_recipients(sending, draft, first)		    ? "recipient"
	       : !rg_send_same_text(ours->content, theirs->content) ? "text"
	       : !rg_str_equal(ours->metadata, theirs->metadata)    ? "metadata"
	       : !rg_str_equal(ours->issue, theirs->issue)	    ? "issue"
	       : !rg_str_equal(ours->reply_to, theirs->reply_to)    ? "reply_to"
	       : ours->type != theirs->type			    ? "type"
	       : ours->pass != theirs->pass			    ? "pass"
								    : NULL;
}

int rg_send_conflict(const struct rg_draft *draft, struct roger_str id, struct roger_str to,
		     const char *difference, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EREFUSED, "key",
			      "key: '%.*s' was used for '%.*s' to '%.*s', with another %s",
			      RG_STR_ARGS(draft->key), RG_STR_ARGS(id), RG_STR_ARGS(to),
			      difference);
}

/* Find the messages that the key stored; if only some copies are sent again, those, if any. */
static int find_first(struct rg_sending *sending, const struct rg_draft *draft,
		      struct roger_message_list *ret_first, struct roger_err *err)
{
	const bool some = draft->some_again && !is_to_several(sending, draft);
	struct rg_key_use use = { 0 };
	struct roger_message *items;
	size_t count = 0, asked = 0, i;
	int r;

	r = rg_key_look_up(sending->roger, draft->from, draft->key, sending->arena, &use, err);
	if (r < 0)
		return r;
	items = (struct roger_message *)(uintptr_t)use.messages.items;
	for (i = 0; i < use.messages.count; i++)
		if (rg_str_equal(items[i].cycle, draft->cycle))
			items[count++] = items[i];
	for (i = 0; some && i < count; i++)
		if (rg_str_among(draft->to, items[i].to))
			items[asked++] = items[i];
	*ret_first = (struct roger_message_list){ items, asked ? asked : count };
	return ROGER_OK;
}

int rg_send_use_first(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	struct roger_message_list first;
	const char *difference;
	int r;

	rg_assert(draft->key.length > 0);
	r = find_first(sending, draft, &first, err);
	if (r < 0)
		return r;
	if (first.count == 0)
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "another send with the key is under way; try again");
	difference = rg_send_difference(sending, draft, &first);
	if (difference)
		return rg_send_conflict(draft, first.items[0].id, first.items[0].to, difference,
					err);
	draft->settled = true;
	draft->reply->duplicate = true;
	return rg_send_fill_reply(sending, draft, first.items, first.count, err);
}

/* In a request of several messages, let the error say which one it is about. */
static void say_which(const struct rg_sending *sending, const struct rg_draft *draft,
		      struct roger_err *err)
{
	if (err && sending->count > 1)
		err->item = (int)(draft - sending->drafts) + 1;
}

/* -------------------------------------------------------------- commit -- */

static int put_messages(struct rg_sending *sending, struct rg_outcome *ret_outcome,
			struct roger_err *err)
{
	struct rg_draft *draft;
	size_t i, k;
	int r;

	r = rg_engine_begin(sending->roger->engine, false, err);
	for (i = 0; i < sending->count && r == ROGER_OK; i++) {
		draft = &sending->drafts[i];
		for (k = 0; k < draft->to.count && r == ROGER_OK && !draft->settled; k++)
			r = rg_engine_add(sending->roger->engine, &draft->messages[k], k == 0, err);
	}
	if (r == ROGER_OK)
		r = rg_engine_commit(sending->roger->engine, ret_outcome, err);
	rg_engine_rollback(sending->roger->engine);
	return r;
}

static struct rg_draft *draft_of(struct rg_sending *sending, const struct roger_message *message)
{
	size_t i;

	for (i = 0; i < sending->count; i++)
		if (message >= sending->drafts[i].messages &&
		    message < sending->drafts[i].messages + sending->drafts[i].to.count)
			return &sending->drafts[i];
	rg_assert(!"a draft for every message");
	return NULL;
}

/* How many messages the first `count` drafts add to that mailbox or issue. */
static int64_t count_added(const struct rg_sending *sending, size_t count,
			   const struct rg_outcome *outcome)
{
	const struct rg_draft *draft;
	int64_t adds = 0;
	size_t i, k;

	rg_assert(count <= sending->count);
	for (i = 0; i < count; i++) {
		draft = &sending->drafts[i];
		for (k = 0; k < draft->to.count && !draft->settled; k++)
			adds += rg_str_equal(draft->messages[k].issue, outcome->which->issue) &&
				(outcome->verdict == RG_OVER_ISSUE ||
				 rg_str_equal(draft->messages[k].to, outcome->which->to));
	}
	return adds;
}

/* Did the request name this recipient, or an agent that it took over from? */
static bool is_named(const struct rg_sending *sending, const struct rg_draft *draft,
		     struct roger_str to)
{
	const struct roger_strs *names = &draft->request->to;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (!is_reserved(sending, names->items[i]) &&
		    rg_str_equal(rg_retired_heir(&sending->retired, names->items[i]), to))
			return true;
	return false;
}

void rg_send_drop(struct rg_draft *draft, size_t which)
{
	struct roger_str *to = (struct roger_str *)(uintptr_t)draft->to.items;
	size_t after = --draft->to.count - which;

	rg_assert(which <= draft->to.count);
	memmove(draft->messages + which, draft->messages + which + 1,
		after * sizeof *draft->messages);
	memmove(to + which, to + which + 1, after * sizeof *to);
}

/* A full mailbox refuses its own copy of a send to several.  If no copy is left, the send fails. */
static int refuse_copy(struct rg_sending *sending, struct rg_draft *draft,
		       const struct roger_message *message, struct roger_err *err)
{
	struct roger_message *refused;
	struct roger_str why;

	if (is_named(sending, draft, message->to))
		return ROGER_EREFUSED;
	if (draft->to.count == 1)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "no mailbox has room in issue '%.*s'; nothing was sent",
			       RG_STR_ARGS(message->issue));
	refused = rg_arena_push(sending->arena, &draft->refused, &draft->refused_count,
				sizeof *refused);
	why = rg_arena_text(sending->arena, "its mailbox is full in issue '%.*s'",
			    RG_STR_ARGS(message->issue));
	rg_arena_note(sending->arena, &draft->reply->notes, "'%.*s' did not get it: %.*s",
		      RG_STR_ARGS(message->to), RG_STR_ARGS(why));
	rg_agents_skip(sending->arena, &draft->reply->refused, message->to, why);
	if (rg_arena_failed(sending->arena))
		return rg_fail_memory(err);
	*refused = *message;
	rg_send_drop(draft, (size_t)(message - draft->messages));
	return ROGER_OK;
}

static int commit_messages(struct rg_sending *sending, struct roger_err *err)
{
	struct rg_outcome outcome;
	struct rg_draft *draft;
	int tries, r;

	for (tries = 0; tries < TRIES_MAX; tries++) {
		r = put_messages(sending, &outcome, err);
		if (r < 0)
			return r;
		switch (outcome.verdict) {
		case RG_COMMITTED:
			return ROGER_OK;
		case RG_KEY_KNOWN:
			draft = draft_of(sending, outcome.which);
			r = rg_send_use_first(sending, draft, err);
			break;
		case RG_OVER_MAILBOX:
		case RG_OVER_ISSUE:
			draft = draft_of(sending, outcome.which);
			r = rg_room_make(sending->roger, &outcome,
					 count_added(sending, sending->count, &outcome),
					 &draft->reply->archived, err);
			if (r == ROGER_EREFUSED && outcome.verdict == RG_OVER_MAILBOX)
				r = refuse_copy(sending, draft, outcome.which, err);
			draft->no_room = r == ROGER_EREFUSED;
			if (outcome.verdict == RG_OVER_MAILBOX)
				draft->full = outcome.which->to;
			break;
		}
		if (r < 0) {
			say_which(sending, draft, err);
			return r;
		}
	}
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "too many messages arrive in this issue at once; try again");
}

static int store_messages(struct rg_sending *sending, struct roger_err *err)
{
	int r;

	r = rg_send_look_back(sending, err);
	if (r < 0)
		return r;
	r = commit_messages(sending, err);
	rg_send_failed(sending, r);
	if (r == ROGER_OK)
		rg_send_keep(sending);
	return r;
}

/* ------------------------------------------------------------- dry runs -- */

/* A send whose key was used needs no room, or is refused for another reason. */
static int check_key_use(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	const struct rg_query query = {
		.key = draft->key, .cycle = draft->cycle, .from = draft->from, .anywhere = true
	};
	int64_t count = 0;
	int r;

	if (!draft->key.length || draft->settled ||
	    !rg_engine_may_know_key(sending->roger->engine, draft->from, draft->key))
		return ROGER_OK;
	r = rg_engine_count(sending->roger->engine, &query, &count, err);
	return r < 0 || !count ? r : rg_send_use_first(sending, draft, err);
}

/* Check with the drafts before it, so that the error is about the one that exceeds the limit. */
static int check_room(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	static const enum rg_verdict limits[] = { RG_OVER_MAILBOX, RG_OVER_ISSUE };
	size_t so_far = (size_t)(draft - sending->drafts) + 1;
	struct rg_outcome outcome;
	size_t i, k, left;
	int r = ROGER_OK;

	for (i = 0; i < draft->to.count && !draft->settled && r == ROGER_OK; i++) {
		left = draft->to.count;
		for (k = 0; k < 2 && r == ROGER_OK && left == draft->to.count; k++) {
			outcome = (struct rg_outcome){ limits[k], &draft->messages[i], 0 };
			r = rg_room_check(sending->roger, &outcome,
					  count_added(sending, so_far, &outcome), err);
			if (r == ROGER_EREFUSED && limits[k] == RG_OVER_MAILBOX)
				r = refuse_copy(sending, draft, outcome.which, err);
		}
		i -= left != draft->to.count;
	}
	return r;
}

/* Check what store() would say, as far as that can be known in advance. */
static int check_store(struct rg_sending *sending, struct roger_err *err)
{
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < sending->count && r == ROGER_OK; i++) {
		r = check_key_use(sending, &sending->drafts[i], err);
		if (r < 0)
			say_which(sending, &sending->drafts[i], err);
	}
	for (i = 0; i < sending->count && r == ROGER_OK; i++) {
		r = check_room(sending, &sending->drafts[i], err);
		if (r < 0)
			say_which(sending, &sending->drafts[i], err);
	}
	return r;
}

/* ----------------------------------------------------------------- twins -- */

/* Send a key that comes twice in one request only once. */
static int find_twin(struct rg_sending *sending, size_t which, struct roger_err *err)
{
	struct rg_draft *draft = &sending->drafts[which];
	struct roger_message_list first;
	const char *difference;
	size_t i;

	rg_assert(which < sending->count);
	if (!draft->key.length)
		return ROGER_OK;
	for (i = 0; i < which && !draft->twin; i++)
		if (!sending->drafts[i].twin && rg_str_equal(draft->key, sending->drafts[i].key) &&
		    rg_str_equal(draft->from, sending->drafts[i].from))
			draft->twin = &sending->drafts[i];
	if (!draft->twin)
		return ROGER_OK;
	first = (struct roger_message_list){ draft->twin->messages, draft->twin->to.count };
	difference = rg_send_difference(sending, draft, &first);
	if (difference)
		return rg_fail_member(err, ROGER_EREFUSED, "key",
				      "key: '%.*s' comes twice here, with another %s",
				      RG_STR_ARGS(draft->key), difference);
	draft->settled = true;
	return ROGER_OK;
}

static int answer_draft(struct rg_sending *sending, struct rg_draft *draft, struct roger_err *err)
{
	struct roger_message_list stored = { draft->messages, draft->to.count };
	int r = ROGER_OK;

	if (draft->twin) {
		*draft->reply = *draft->twin->reply;
		draft->reply->duplicate = true;
	}
	if (draft->settled)
		return ROGER_OK;
	if (draft->some_again && !draft->request->dry_run)
		r = find_first(sending, draft, &stored, err);
	return r < 0 ? r : rg_send_fill_reply(sending, draft, stored.items, stored.count, err);
}

static int send_all(struct rg_sending *sending, struct roger_err *err)
{
	size_t i, messages = 0;
	struct rg_draft *draft;
	int r;

	r = rg_engine_retired(sending->roger->engine, sending->arena, &sending->retired, err);
	for (i = 0; i < sending->count && r == ROGER_OK; i++) {
		draft = &sending->drafts[i];
		r = check_draft(sending, draft, err);
		if (r == ROGER_OK)
			r = check_reply_to(sending, draft, err);
		if (r == ROGER_OK)
			r = resolve_recipients(sending, draft, err);
		if (r == ROGER_OK)
			r = make_messages(sending, draft, err);
		if (r == ROGER_OK)
			r = find_twin(sending, i, err);
		messages += draft->to.count;
		if (r == ROGER_OK && messages > RG_BATCH_MAX)
			r = rg_fail_member(err, ROGER_EDATA, "to",
					   "to: expected at most %d messages in one request",
					   RG_BATCH_MAX);
		if (r < 0) {
			rg_send_refused(sending, &sending->drafts[i]);
			say_which(sending, &sending->drafts[i], err);
		}
	}
	if (r == ROGER_OK)
		r = sending->drafts[0].request->dry_run ? check_store(sending, err)
							: store_messages(sending, err);
	for (i = 0; i < sending->count && r == ROGER_OK; i++)
		r = answer_draft(sending, &sending->drafts[i], err);
	return r;
}

/* ----------------------------------------------------------------- verbs -- */

int rg_verb_send(struct roger *roger, const struct roger_send_request *request,
		 struct roger_send_reply *reply, struct roger_err *err)
{
	struct rg_draft draft = { .request = request, .reply = reply, .from = request->from };
	struct rg_sending sending = { roger, rg_op_memory(reply), rg_clock_ms(), &draft, 1, { 0 } };
	int r;

	r = send_all(&sending, err);
	if (r < 0 || request->dry_run || request->confirm != ROGER_CONFIRM_READ)
		return r;
	return rg_send_confirm(&sending, &draft, err);
}

int rg_verb_reply(struct roger *roger, const struct roger_send_request *request,
		  struct roger_send_reply *reply, struct roger_err *err)
{
	return rg_verb_send(roger, request, reply, err);
}

int rg_verb_send_many(struct roger *roger, const struct roger_send_many_request *request,
		      struct roger_send_many_reply *reply, struct roger_err *err)
{
	struct rg_arena *arena = rg_op_memory(reply);
	struct rg_sending sending = {
		roger, arena, rg_clock_ms(), NULL, request->items.count, { 0 }
	};
	struct roger_send_reply *items;
	size_t i;
	int r;

	if (request->items.count == 0)
		return ROGER_OK;
	items = rg_arena_get(arena, request->items.count * sizeof *items);
	sending.drafts = rg_arena_get(arena, request->items.count * sizeof *sending.drafts);
	if (!items || !sending.drafts)
		return rg_fail_memory(err);
	for (i = 0; i < request->items.count; i++) {
		if (request->items.items[i].confirm == ROGER_CONFIRM_READ)
			return rg_fail_member(err, ROGER_EUSAGE, "confirm",
					      "confirm: several messages at once can only be "
					      "confirmed as stored");
		if (request->items.items[i].dry_run != request->items.items[0].dry_run)
			return rg_fail_member(err, ROGER_EUSAGE, "dry_run",
					      "dry_run: expected the same for all of one request");
		sending.drafts[i] = (struct rg_draft){
			.request = &request->items.items[i],
			.reply = &items[i],
			.from = request->items.items[i].from.length ? request->items.items[i].from
								    : request->from,
		};
	}
	r = send_all(&sending, err);
	if (r < 0)
		return r;
	reply->items = (struct roger_send_reply_list){ items, request->items.count };
	for (i = 0; i < request->items.count; i++)
		reply->stored +=
			sending.drafts[i].settled ? 0 : (int64_t)sending.drafts[i].to.count;
	return ROGER_OK;
}
