/* arrive: an agent's tool began a session. */
#include "ops/mail/arrive.h"

#include "ops/note.h"

/* Two sessions that were both seen within this time are taken to live side by side. */
enum { BESIDE_MS = 3600 * 1000, NOTES_MAX = 200 };

/* Each turn of each agent asks for this, and mostly the end of the log answers it. */
enum { END_BYTES = 16 << 10 };

int rg_arrive_last(struct roger *roger, struct roger_str agent, struct rg_arena *arena,
		   struct roger_str *ret_session, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = agent,
					    .step = rg_note_step_name(RG_STEP_SESSION),
					    .newest = true,
					    .limit = 1 };
	struct rg_log_entries found;
	struct rg_note note;
	int r;

	*ret_session = (struct roger_str){ "", 0 };
	r = rg_engine_log_find(roger->engine, &query, arena, &found, err);
	if (r < 0 || !found.count)
		return r;
	r = rg_note_read(found.items[0].text, arena, &note, err);
	/* Other programs may write such entries, too, so take only a valid name. */
	if (r == ROGER_OK && rg_name_valid(note.session))
		*ret_session = note.session;
	return r;
}

/* Is this session new, or back?  If it came once lately, before the last one, both live. */
static int look_back(struct roger *roger, const struct roger_arrive_request *request,
		     struct roger_arrive_reply *reply, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = request->agent,
					    .step = rg_note_step_name(RG_STEP_SESSION),
					    .newest = true,
					    .limit = NOTES_MAX };
	struct rg_log_entries found;
	struct rg_note note;
	size_t ever = 0, lately = 0, i;
	int r = rg_engine_log_find(roger->engine, &query, reply->memory, &found, err);

	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		r = rg_note_read(found.items[i].text, reply->memory, &note, err);
		if (r < 0 || !rg_str_equal(note.session, request->session))
			continue;
		ever++;
		lately += found.items[i].at_ms >= rg_clock_ms() - BESIDE_MS;
	}
	reply->first = ever == 0;
	reply->back = lately == 1;
	return r;
}

/* Does the end of the log say that this session was the last?  False: no, or it does not say. */
static bool is_last(struct roger *roger, const struct roger_arrive_request *request,
		    struct rg_arena *arena)
{
	struct roger_str left, line;
	struct rg_note note;
	const char *newline;

	if (rg_engine_log_end(roger->engine, RG_LOG_ACTIVITY, END_BYTES, arena, &left, NULL) < 0)
		return false;
	while (left.length) {
		left.length--;
		newline = memrchr(left.data, '\n', left.length);
		line.data = newline ? newline + 1 : left.data;
		line.length = (size_t)(left.data + left.length - line.data);
		left.length -= line.length;
		if (rg_str_find_part(line, rg_str("\"session\"")) &&
		    rg_note_read(line, arena, &note, NULL) == ROGER_OK &&
		    note.kind == RG_NOTE_ARRIVED && rg_str_equal(note.agent, request->agent))
			return rg_str_equal(note.session, request->session);
	}
	return false;
}

int rg_verb_arrive(struct roger *roger, const struct roger_arrive_request *request,
		   struct roger_arrive_reply *reply, struct roger_err *err)
{
	const struct rg_note note = { .kind = RG_NOTE_ARRIVED,
				      .agent = request->agent,
				      .for_tool = request->tool,
				      .session = request->session };
	struct roger_str last;
	int r;

	if (is_last(roger, request, reply->memory))
		return ROGER_OK;
	r = rg_arrive_last(roger, request->agent, reply->memory, &last, err);
	if (r < 0 || rg_str_equal(last, request->session))
		return r;
	r = look_back(roger, request, reply, err);
	if (r < 0)
		return r;
	r = rg_note_write(roger, &note, false, err);
	reply->noted = r == ROGER_OK;
	return r;
}
