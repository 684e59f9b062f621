/*
 * Figures: rows of roger.agent and roger.count.  With RG_LOCK_APPEND they are fetched once and
 * kept until the transaction ends; what was asked before is fetched with the lock itself.
 */
#include "store/postgres/inside.h"

#include <stdlib.h>

#include "base/id.h"

enum { WARM_MAX = 64 };

struct known {
	uint64_t place; /* a hash of kind, and name or hash */
	struct rg_figure_key key;
	struct rg_figure figure, base; /* base: as the server has it */
	uint64_t bytes;		       /* fetched when messages had these, */
	unsigned turn;		       /* in this transaction; 0: never */
	bool there, dirty;
	char name[RG_NAME_CHARS_MAX];
};
_Static_assert(sizeof(struct known) % 8 == 0, "an entry of a table");

static struct known *find(struct postgres_store *store, const struct rg_figure_key *key)
{
	const bool agent = key->kind != RG_FIGURE_COUNT;
	struct known *known;
	bool fresh;

	known = rg_table_put(&store->known,
			     rg_hash(agent, agent ? key->name.data : (const char *)&key->hash,
				     agent ? key->name.length : sizeof key->hash),
			     &fresh);
	rg_assert(known != NULL);
	if (fresh) {
		rg_assert(key->name.length <= sizeof known->name);
		known->key = *key;
		known->key.kind = agent ? RG_FIGURE_AGENT : RG_FIGURE_COUNT;
		if (agent)
			memcpy(known->name, key->name.data, key->name.length);
	}
	known->key.name.data = known->name;
	return known;
}

void rg_pg_forget_known(struct postgres_store *store)
{
	rg_table_deinit(&store->known);
	rg_table_init(&store->known, sizeof(struct known));
}

bool rg_pg_is_dirty(const struct postgres_store *store)
{
	const struct known *known;
	size_t i = 0;

	while ((known = rg_table_next(&store->known, &i)))
		if (known->dirty)
			return true;
	return store->line_count > 0 || store->row.epoch != store->row_before.epoch;
}

/* -------------------------------------------------------------- fetching -- */

/* Queue the question for one figure, or for all that are known. */
static void ask(struct postgres_store *store, struct known *only)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf names, hashes;
	struct known *known;
	size_t i = 0;

	rg_array_open(&names, RG_ARRAY_BYTES);
	rg_array_open(&hashes, RG_ARRAY_INTS);
	while ((known = rg_table_next(&store->known, &i))) {
		if (only && known != only)
			continue;
		known->turn = store->turn;
		known->bytes = store->row.bytes;
		known->there = known->dirty = false;
		known->figure = known->base = (struct rg_figure){ 0 };
		if (known->key.kind == RG_FIGURE_AGENT)
			rg_array_add(&names,
				     (struct roger_str){ known->name, known->key.name.length });
		else
			rg_array_add_int(&hashes, (int64_t)known->key.hash);
	}
	rg_link_put(
		&store->link, RG_ROLE_ASKED,
		"SELECT name, 0::bigint, unread, epoch, seq FROM roger.agent WHERE ws = $1 AND "
		"name = ANY($2) UNION ALL SELECT NULL, hash, count, 0, 0 FROM roger.count WHERE "
		"ws = $1 AND hash = ANY($3)",
		RG_ARGS(RG_INT(store->ws), rg_array_close(&names), rg_array_close(&hashes)));
}

/* They are taken by rg_pg_take_known(). */
void rg_pg_ask_known(struct postgres_store *store)
{
	if (store->known.count > WARM_MAX)
		rg_pg_forget_known(store);
	ask(store, NULL);
}

static struct rg_figure figure_of(const PGresult *result, int row)
{
	return (struct rg_figure){ .count = (uint64_t)rg_column_int(result, row, 2),
				   .epoch = rg_column_int(result, row, 3),
				   .seq = rg_column_int(result, row, 4) };
}

int rg_pg_take_known(struct postgres_store *store, struct roger_err *err)
{
	PGresult *result = NULL;
	struct rg_figure_key key;
	struct known *known;
	int r, row;

	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	for (row = 0; r == ROGER_OK && row < PQntuples(result); row++) {
		key.kind = PQgetisnull(result, row, 0) ? RG_FIGURE_COUNT : RG_FIGURE_AGENT;
		key.name = rg_column_bytes(result, row, 0);
		key.hash = (uint64_t)rg_column_int(result, row, 1);
		known = find(store, &key);
		known->figure = known->base = figure_of(result, row);
		known->there = true;
	}
	PQclear(result);
	return r;
}

/* On failure within a transaction the connection is closed: then nothing is appended on it. */
static void fetch(struct postgres_store *store, struct known *known)
{
	ask(store, known);
	rg_link_sync(&store->link);
	if (rg_pg_take_known(store, NULL) < 0)
		rg_link_close(&store->link);
}

/*
 * Must it be asked for?  Outside of a transaction others may change it at any time, but no agent
 * is forgotten; who waits would ask in vain as long as there are no new lines.  For a guess any
 * agent's figure of this connection will do, and any count.
 */
static bool is_stale(const struct postgres_store *store, const struct rg_figure_key *key,
		     const struct known *known)
{
	if (store->appending && store->guessing)
		return key->kind == RG_FIGURE_AGENT && !known->turn;
	if (store->appending)
		return known->turn != store->turn && !store->blank;
	if (key->kind == RG_FIGURE_NAME && known->there)
		return false;
	return key->kind != RG_FIGURE_AGENT || store->listening != store->link.lives ||
	       known->turn != store->turn || known->bytes != store->row.bytes;
}

static bool find_figure(struct postgres_store *store, const struct rg_figure_key *key,
			struct rg_figure *ret_figure)
{
	struct known *known = find(store, key);

	if (is_stale(store, key, known) && rg_pg_ready(store, NULL) == ROGER_OK) {
		fetch(store, known);
		known = find(store, key);
	}
	*ret_figure = known->figure;
	return key->kind == RG_FIGURE_COUNT ? known->figure.count > 0 : known->there;
}

static int64_t fetch_epoch(struct postgres_store *store)
{
	/* With either lock nobody opens a session. */
	if (store->appending || rg_store_holds(&store->base, RG_LOCK_STATE))
		return store->row.epoch;
	(void)!rg_pg_look(store, false, NULL);
	return store->row.epoch;
}

bool rg_pg_figure(struct rg_store *base, const struct rg_figure_key *key,
		  struct rg_figure *ret_figure)
{
	struct postgres_store *store = rg_pg_enter(base);
	bool there = false;

	*ret_figure = (struct rg_figure){ 0 };
	switch (key->kind) {
	case RG_FIGURE_AGENT:
	case RG_FIGURE_NAME:
	case RG_FIGURE_COUNT:
		there = find_figure(store, key, ret_figure);
		break;
	case RG_FIGURE_SESSION:
		*ret_figure = (struct rg_figure){ .count = 1, .epoch = fetch_epoch(store) };
		there = true;
		break;
	case RG_FIGURE_WITNESS:
		*ret_figure = store->row.witness;
		there = ret_figure->count > 0;
		break;
	case RG_FIGURE_ON_DISK:
		ret_figure->count = store->row.bytes;
		ret_figure->chain = store->row.chain;
		ret_figure->chained = store->durable >= store->row.bytes;
		there = ret_figure->count > 0;
		break;
	case RG_FIGURE_STATE:
		ret_figure->count = store->row.state_bytes;
		there = ret_figure->count > 0;
		break;
	case RG_FIGURE_DAMAGED:
		break;
	}
	rg_pg_leave(store);
	return there;
}

/* -------------------------------------------------------------- changing -- */

static void put_witness(struct postgres_store *store, const struct rg_figure *figure)
{
	store->row.witness = *figure;
	if (!store->appending && rg_pg_ready(store, NULL) < 0)
		return;
	rg_link_put(
		&store->link, RG_ROLE_ASIDE,
		"UPDATE roger.workspace SET witness_bytes = $2, witness_chain = $3 WHERE ws = $1",
		RG_ARGS(RG_INT(store->ws), RG_INT(figure->count), RG_INT(figure->chain)));
	rg_link_sync(&store->link);
}

void rg_pg_put_figure(struct rg_store *base, const struct rg_figure_key *key,
		      const struct rg_figure *figure)
{
	struct postgres_store *store = rg_pg_enter(base);
	struct known *known;

	if (key->kind == RG_FIGURE_AGENT || key->kind == RG_FIGURE_COUNT) {
		known = find(store, key);
		known->figure = *figure;
		known->there = known->dirty = true;
		known->turn = store->guessing && !known->turn ? 0 : store->turn;
	} else if (key->kind == RG_FIGURE_SESSION) {
		store->row.epoch = figure->epoch;
	} else {
		put_witness(store, figure);
	}
	rg_pg_leave(store);
}

/* What changed: names and four numbers of each, three numbers of each count. */
struct changes {
	struct rg_buf names, agents, counts;
};

static void add_change(struct changes *changes, const struct known *known)
{
	const struct rg_figure *now = &known->figure, *base = &known->base;
	const int64_t step = now->seq - (now->epoch == base->epoch ? base->seq : 0);

	if (known->key.kind == RG_FIGURE_COUNT) {
		rg_array_add_int(&changes->counts, (int64_t)known->key.hash);
		rg_array_add_int(&changes->counts, (int64_t)(now->count - base->count));
		rg_array_add_int(&changes->counts, (int64_t)now->most);
		return;
	}
	rg_array_add(&changes->names, (struct roger_str){ known->name, known->key.name.length });
	rg_array_add_int(&changes->agents, (int64_t)(now->count - base->count));
	rg_array_add_int(&changes->agents, now->epoch);
	rg_array_add_int(&changes->agents, step);
	rg_array_add_int(&changes->agents, now->seq);
}

static int compare(const void *a, const void *b)
{
	const struct known *x = *(struct known *const *)a, *y = *(struct known *const *)b;

	return (x->place > y->place) - (x->place < y->place);
}

/* In an order that is the same for everybody, so that none waits for another in a circle. */
static void gather(struct postgres_store *store, struct changes *changes)
{
	struct known *known, **changed;
	size_t i = 0, count = 0;

	while ((known = rg_table_next(&store->known, &i)))
		count += known->dirty;
	changed = count ? calloc(count, sizeof *changed) : NULL;
	rg_assert(changed || !count);
	for (i = count = 0; (known = rg_table_next(&store->known, &i));)
		if (known->dirty)
			changed[count++] = known;
	if (count)
		qsort(changed, count, sizeof *changed, compare);
	for (i = 0; i < count; i++)
		add_change(changes, changed[i]);
	free(changed);
}

/* Does the shared word go on with these lines, from their start to their end? */
static bool passes(const struct postgres_store *store, int64_t now[WORDS])
{
	if (!store->line_count || now[4] != (int64_t)store->row.bytes ||
	    store->row.words[4] != (int64_t)store->row_before.bytes)
		return false;
	now[4] = store->row.words[4];
	return true;
}

void rg_pg_put_step(struct postgres_store *store)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf before = { 0 }, after = { 0 };
	struct changes c;
	int64_t now[WORDS];
	bool pass, same;

	rg_pg_read_words(store, now);
	pass = passes(store, now);
	same = !memcmp(now, store->row.words, sizeof now);
	rg_array_open(&c.names, RG_ARRAY_BYTES);
	rg_array_open(&c.agents, RG_ARRAY_INTS);
	rg_array_open(&c.counts, RG_ARRAY_INTS);
	gather(store, &c);
	rg_link_put(
		&store->link, RG_ROLE_ASKED,
		"SELECT * FROM roger.append_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
		"$13)",
		RG_ARGS(RG_INT(store->ws),
			RG_INT(rg_pg_lock_number(store, RG_LOCK_APPEND, RG_STR(""))),
			RG_TEXT(store->guessing ? "t" : "f"), RG_INT(store->row_before.epoch),
			RG_INT(store->row.epoch), rg_array_close(&store->lines),
			RG_INT(store->token), rg_array_close(&c.names), rg_array_close(&c.agents),
			rg_array_close(&c.counts),
			same ? RG_NULL : rg_ints(&before, store->row.words, WORDS),
			same ? RG_NULL : rg_ints(&after, now, WORDS), RG_TEXT(pass ? "t" : "f")));
	rg_buf_deinit(&c.names);
	rg_buf_deinit(&c.agents);
	rg_buf_deinit(&c.counts);
}

void rg_pg_end_step(struct postgres_store *store, bool stored)
{
	struct known *known;
	size_t i = 0;

	while ((known = rg_table_next(&store->known, &i))) {
		if (known->dirty && stored)
			known->base = known->figure;
		else if (known->dirty)
			known->turn = 0;
		known->figure = known->base;
		known->dirty = false;
	}
}

/* --------------------------------------------------------------- walking -- */

static int load_agents(struct postgres_store *store)
{
	PGresult *result = NULL;
	struct roger_str name;
	int r, row;

	free(store->agents);
	store->agents = NULL;
	store->agent_count = 0;
	r = rg_pg_ask(store,
		      "SELECT name, 0::bigint, unread, epoch, seq FROM roger.agent WHERE ws = $1",
		      RG_ARGS(RG_INT(store->ws)), &result, NULL);
	if (r == ROGER_OK)
		store->agents = calloc((size_t)PQntuples(result) + 1, sizeof *store->agents);
	for (row = 0; store->agents && row < PQntuples(result); row++) {
		name = rg_column_bytes(result, row, 0);
		store->agents[row].length = name.length;
		memcpy(store->agents[row].name, name.data, name.length);
		store->agents[row].figure = figure_of(result, row);
		store->agent_count++;
	}
	PQclear(result);
	return r;
}

bool rg_pg_next_figure(struct rg_store *base, size_t *i, struct rg_named_figure *ret_named)
{
	struct postgres_store *store = rg_pg_enter(base);
	bool found = *i > 0 || load_agents(store) == ROGER_OK;

	found = found && *i < store->agent_count;
	if (found)
		*ret_named = store->agents[(*i)++];
	rg_pg_leave(store);
	return found;
}
