/* agents: everyone who ever sent or received.  retire: the mail of an agent ends, or goes to
 * another. */
#include "ops/mail/agents.h"

#include "facts/person.h"
#include "ops/note.h"
#include "ops/records.h"

enum {
	SESSIONS_MAX = 200, /* the newest sessions, whose agents are listed in any case */
};

/* Add names; that memory ran out, their arena remembers, as for all that is added below. */
static void add_all(struct rg_names *names, struct roger_strs more)
{
	size_t i;

	for (i = 0; i < more.count; i++)
		if (!rg_config_is_roger(more.items[i]))
			(void)!rg_names_add(names, more.items[i]);
}

/* Add the names that the configuration names. */
static void add_configured(const struct roger *roger, struct rg_names *names)
{
	const struct rg_config *config = roger->workspace->config;
	size_t i;

	add_all(names, config->file_only);
	for (i = 0; i < config->wake_agent_count; i++)
		add_all(names, (struct roger_strs){ &config->wake_agents[i].name, 1 });
	for (i = 0; i < config->group_count; i++)
		add_all(names, rg_names_list(&config->groups[i].members));
}

int rg_agents_names(struct roger *roger, struct rg_names *names, struct roger_err *err)
{
	struct roger_retired_list retired;
	struct roger_strs all;
	size_t i;
	int r;

	r = rg_engine_names(roger->engine, names->arena, &all, err);
	if (r == ROGER_OK)
		r = rg_engine_retired(roger->engine, names->arena, &retired, err);
	if (r < 0)
		return r;
	add_all(names, all);
	/* A successor may be a new name. */
	for (i = 0; i < retired.count; i++)
		if (retired.items[i].to.length)
			add_all(names, (struct roger_strs){ &retired.items[i].to, 1 });
	add_configured(roger, names);
	return rg_kept(!rg_arena_failed(names->arena), err);
}

/* --------------------------------------------------------------- retired -- */

struct roger_str rg_agents_why_retired(const struct roger_retired *retired, struct rg_arena *arena)
{
	char since[32];

	rg_clock_print_utc(retired->at_ms, since);
	return rg_arena_text(arena, "retired %s%s%.*s", since, retired->reason.length ? ": " : "",
			     RG_STR_ARGS(retired->reason));
}

static int check_heir(struct roger *roger, const struct roger_retire_request *request,
		      const struct roger_retired_list *list, struct roger_err *err)
{
	const struct roger_str to = request->to, heir = rg_retired_heir(list, to);

	if (!to.length)
		return ROGER_OK;
	if (rg_config_reserves(roger->workspace->config, to) || rg_config_is_roger(to))
		return rg_fail_member(err, ROGER_EREFUSED, "to", "to: '%.*s' is not one agent",
				      RG_STR_ARGS(to));
	if (rg_str_equal(heir, request->name) || rg_str_equal(to, request->name) || !heir.length)
		return rg_fail_member(err, ROGER_EREFUSED, "to", "to: '%.*s' gets no mail itself%s",
				      RG_STR_ARGS(to),
				      heir.length ? ": its mail goes to the one that retires" : "");
	if (request->new_ || rg_engine_knows(roger->engine, to))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_ENOENT, "to",
			      "to: nobody here knows '%.*s'; if it is new, say --new",
			      RG_STR_ARGS(to));
}

static int check_name(struct roger *roger, const struct roger_retire_request *request,
		      const struct roger_retired_list *list, struct rg_arena *arena,
		      struct roger_err *err)
{
	const struct roger_str name = request->name;
	struct rg_names known = { .arena = arena };
	int r;

	if (request->undo && !rg_retired_find(list, name))
		return rg_fail_member(err, ROGER_ENOENT, "name", "name: '%.*s' is not retired",
				      RG_STR_ARGS(name));
	r = request->undo ? ROGER_OK : rg_agents_names(roger, &known, err);
	if (r == ROGER_OK && !request->undo && !rg_names_have(&known, name))
		r = rg_fail_member(err, ROGER_ENOENT, "name",
				   "name: nobody here knows '%.*s'; see `roger agents`",
				   RG_STR_ARGS(name));
	return r == ROGER_OK && !request->undo ? check_heir(roger, request, list, err) : r;
}

/* Record the others and, unless this undoes it, the agent that retires. */
static int change_retired(struct roger *roger, const struct roger_retire_request *request,
			  const struct roger_retired_list *before, struct roger_retire_reply *reply,
			  struct roger_err *err)
{
	struct roger_retired *after =
		rg_arena_get(reply->memory, (before->count + 1) * sizeof *after);
	struct roger_retirement line = { .id = request->name, .at_ms = rg_clock_ms() };
	size_t count = 0, i;

	if (!after)
		return rg_fail_memory(err);
	for (i = 0; i < before->count; i++)
		if (!rg_str_equal(before->items[i].name, request->name))
			after[count++] = before->items[i];
	if (!request->undo)
		after[count++] = (struct roger_retired){ .name = request->name,
							 .to = request->to,
							 .reason = request->reason,
							 .at_ms = line.at_ms,
							 .by = request->by };
	line.retired = reply->retired = (struct roger_retired_list){ after, count };
	return rg_records_write(roger, RG_LOG_RETIRED, RG_STR(""), &line, 1, err);
}

int rg_verb_retire(struct roger *roger, const struct roger_retire_request *request,
		   struct roger_retire_reply *reply, struct roger_err *err)
{
	const struct rg_query unread = { .to = request->name, .gets = true, .unread = true };
	struct roger_retired_list before;
	int r = ROGER_OK;

	if (!request->undo)
		r = rg_engine_count(roger->engine, &unread, &reply->unread, err);
	if (r == ROGER_OK)
		r = rg_engine_records_begin(roger->engine, err);
	if (r < 0)
		return r;
	r = rg_engine_retired(roger->engine, reply->memory, &before, err);
	if (r == ROGER_OK)
		r = check_name(roger, request, &before, reply->memory, err);
	if (r == ROGER_OK)
		r = change_retired(roger, request, &before, reply, err);
	rg_engine_records_end(roger->engine);
	if (r == ROGER_OK && request->undo)
		r = rg_engine_count(roger->engine, &unread, &reply->unread, err);
	return r == ROGER_OK && !rg_record_keep(rg_op_retire.reply, reply, reply->memory)
		       ? rg_fail_memory(err)
		       : r;
}

/* ------------------------------------------------------------------- all -- */

/* Add the agents whose tools began the newest sessions here. */
static int add_arrived(struct roger *roger, struct rg_names *names, int64_t limit,
		       struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .step = rg_note_step_name(RG_STEP_SESSION),
					    .newest = true,
					    .limit = limit };
	struct rg_log_entries found;
	struct rg_note note;
	size_t i;
	int r;

	r = rg_engine_log_find(roger->engine, &query, names->arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		r = rg_note_read(found.items[i].text, names->arena, &note, err);
		if (r == ROGER_OK)
			(void)!rg_names_add(names, note.agent);
	}
	return r;
}

int rg_agents_all(struct roger *roger, struct rg_agent_page *page, struct rg_arena *arena,
		  struct roger_agent_list *ret_agents, struct roger_err *err)
{
	struct rg_names arrived = { .arena = arena };
	struct roger_agent *agent;
	size_t i;
	int r = rg_engine_agents(roger->engine, page, arena, ret_agents, err);

	if (r == ROGER_OK)
		r = add_arrived(roger, &arrived, SESSIONS_MAX, err);
	for (i = 0; r == ROGER_OK && i < arrived.count; i++)
		if (rg_agent_page_has(page, arrived.items[i]))
			r = rg_engine_agent(ret_agents, arrived.items[i], arena, &agent, err);
	return r;
}

/* Did it ever look at its mail, or was some of it read, perhaps by another program? */
static int has_looked(struct roger *roger, const struct roger_agent *agent, struct rg_arena *arena,
		      bool *ret_looked, struct roger_err *err)
{
	const struct rg_query read = { .to = agent->name, .read = true, .limit = 1 };
	struct roger_message_list found = { 0 };
	int r = ROGER_OK;

	if (!agent->last_looked_at_ms && agent->received > agent->unread)
		r = rg_engine_find(roger->engine, &read, arena, &found, err);
	*ret_looked = agent->last_looked_at_ms || found.count;
	return r;
}

/* Results of programs without a name of their own are sent by `run`, which reads nothing. */
static bool has_sent(const struct roger_agent *agent)
{
	return agent->sent > 0 && !rg_str_is(agent->name, "run");
}

/* Add each agent to `all`, or to the ghosts, which only ever got mail. */
static int add_seen(struct roger *roger, const struct roger_agent_list *agents,
		    struct rg_names *all, struct rg_names *ghosts, struct roger_err *err)
{
	const struct roger_agent *agent;
	bool looked;
	size_t i;
	int r;

	add_configured(roger, all);
	r = add_arrived(roger, all, RG_PAGE_MAX, err);
	for (i = 0; r == ROGER_OK && i < agents->count; i++) {
		agent = &agents->items[i];
		looked = has_sent(agent) || rg_names_have(all, agent->name);
		if (!looked)
			r = has_looked(roger, agent, all->arena, &looked, err);
		(void)!rg_names_add(looked ? all : ghosts, agent->name);
	}
	return r < 0 ? r : rg_kept(!rg_arena_failed(all->arena), err);
}

int rg_agents_ghosts(struct roger *roger, const struct roger_agent_list *agents,
		     struct rg_arena *arena, struct rg_names *ret_ghosts, struct roger_err *err)
{
	struct rg_names all = { .arena = arena };
	size_t i = 0;

	*ret_ghosts = all;
	while (i < agents->count && has_sent(&agents->items[i]))
		i++;
	return i == agents->count ? ROGER_OK : add_seen(roger, agents, &all, ret_ghosts, err);
}

int rg_agents_is_ghost(struct roger *roger, struct roger_str name, struct rg_arena *arena,
		       bool *ret_ghost, struct roger_err *err)
{
	const struct rg_query sent = { .from = name, .anywhere = true, .limit = 1 };
	struct roger_agent agent = { .name = name, .received = 1 };
	struct rg_names ghosts = { .arena = arena };
	struct roger_message_list found;
	int r;

	*ret_ghost = false;
	agent.sent = rg_engine_has_sent(roger->engine, name);
	if (has_sent(&agent))
		return ROGER_OK;
	r = rg_engine_find(roger->engine, &sent, arena, &found, err);
	agent.sent = r == ROGER_OK && found.count;
	if (r == ROGER_OK)
		r = rg_engine_last_looks(roger->engine, &agent, 1, err);
	if (r == ROGER_OK)
		r = rg_agents_ghosts(roger, &(struct roger_agent_list){ &agent, 1 }, arena, &ghosts,
				     err);
	*ret_ghost = ghosts.count > 0;
	return r;
}

static int find_all(struct roger *roger, struct rg_names *all, struct rg_names *ghosts,
		    struct roger_err *err)
{
	struct roger_agent_list agents;
	int r = rg_engine_agents(roger->engine, NULL, all->arena, &agents, err);

	if (r == ROGER_OK)
		r = rg_engine_last_looks(roger->engine,
					 (struct roger_agent *)(uintptr_t)agents.items,
					 agents.count, err);
	return r < 0 ? r : add_seen(roger, &agents, all, ghosts, err);
}

void rg_agents_skip(struct rg_arena *arena, struct roger_left_out_list *list, struct roger_str to,
		    struct roger_str why)
{
	struct roger_left_out out = { .why = why };

	(void)!(rg_arena_copy(arena, to, &out.to) &&
		rg_arena_append(arena, &list->items, &list->count, &out, sizeof out));
}

void rg_agents_note_skipped(struct rg_arena *arena, struct roger_strs *notes,
			    const struct roger_left_out_list *skipped)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_str note;
	size_t i;

	if (!skipped->count)
		return;
	for (i = 0; i < skipped->count; i++)
		rg_buf_printf(&text, "%s%.*s (%.*s)",
			      i ? ", " : "skipped: ", RG_STR_ARGS(skipped->items[i].to),
			      RG_STR_ARGS(skipped->items[i].why));
	note = rg_arena_take(arena, &text);
	rg_arena_note(arena, notes, "%.*s", RG_STR_ARGS(note));
}

static int leave_out_retired(struct roger *roger, const struct rg_names *names,
			     struct rg_names *staying, struct roger_left_out_list *skipped,
			     struct roger_err *err)
{
	struct roger_retired_list retired;
	const struct roger_retired *found;
	struct roger_str name, heir;
	size_t i;
	int r;

	r = rg_engine_retired(roger->engine, names->arena, &retired, err);
	for (i = 0; r == ROGER_OK && i < names->count; i++) {
		name = names->items[i];
		/* No agent has it, but another program may have written under it. */
		if (rg_config_is_roger(name) || rg_config_reserves(roger->workspace->config, name))
			continue;
		found = rg_retired_find(&retired, name);
		heir = rg_retired_heir(&retired, name);
		if (heir.length)
			(void)!rg_names_add(staying, heir);
		else
			rg_agents_skip(names->arena, skipped, name,
				       rg_agents_why_retired(found, names->arena));
	}
	return r < 0 ? r : rg_kept(!rg_arena_failed(names->arena), err);
}

int rg_agents_of(struct roger *roger, struct roger_str name, struct rg_arena *arena,
		 struct rg_everyone *ret_everyone, struct roger_err *err)
{
	const struct rg_group *group = rg_config_group(roger->workspace->config, name);
	struct rg_names names = { .arena = arena }, ghosts = names, staying = names;
	struct roger_left_out_list skipped = { 0 };
	size_t i;
	int r = ROGER_OK;

	for (i = 0; group && i < group->members.count; i++)
		(void)!rg_names_add(&names, group->members.items[i]);
	if (!group)
		r = find_all(roger, &names, &ghosts, err);
	if (r == ROGER_OK)
		r = leave_out_retired(roger, &names, &staying, &skipped, err);
	for (i = 0; i < ghosts.count; i++)
		rg_agents_skip(arena, &skipped, ghosts.items[i],
			       RG_STR("never looked at its mail here"));
	ret_everyone->names = rg_names_list(&staying);
	ret_everyone->skipped = skipped;
	return r < 0 ? r : rg_kept(!rg_arena_failed(arena), err);
}

/* ----------------------------------------------------------------- verbs -- */

int rg_verb_agents(struct roger *roger, const struct roger_agents_request *request,
		   struct roger_agents_reply *reply, struct roger_err *err)
{
	const int64_t limit = request->limit == -1 ? 0 : request->limit;
	struct rg_agent_page page = { request->after, limit, { NULL, 0 } };
	struct roger_retired_list retired;
	struct roger_agent *agents;
	size_t i;
	int r;

	r = rg_agents_all(roger, limit || page.after.length ? &page : NULL, reply->memory,
			  &reply->agents, err);
	if (r == ROGER_OK && limit && (int64_t)reply->agents.count > limit) {
		reply->agents.count = (size_t)limit;
		reply->next = reply->agents.items[limit - 1].name;
	}
	if (r == ROGER_OK)
		r = rg_engine_retired(roger->engine, reply->memory, &retired, err);
	agents = (struct roger_agent *)(uintptr_t)reply->agents.items;
	for (i = 0; r == ROGER_OK && i < reply->agents.count; i++) {
		agents[i].retired = rg_retired_find(&retired, agents[i].name) != NULL;
		if (agents[i].retired)
			agents[i].successor = rg_retired_heir(&retired, agents[i].name);
	}
	return r < 0 ? r : rg_engine_last_looks(roger->engine, agents, reply->agents.count, err);
}
