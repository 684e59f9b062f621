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
	struct rg_figure figure;
	uint64_t bytes; /* fetched when messages had these, */
	unsigned turn;	/* in this transaction */
	bool there, dirty;
	char name[RG_NAME_CHARS_MAX];
};
_Static_assert(sizeof(struct known) % 8 == 0, "an entry of a table");

static struct known *find(struct postgres_store *store, const struct rg_figure_key *key)
{
	const bool agent = key->kind == RG_FIGURE_AGENT;
	struct known *known;
	bool fresh;

	known = rg_table_put(&store->known,
			     rg_hash(key->kind, agent ? key->name.data : (const char *)&key->hash,
				     agent ? key->name.length : sizeof key->hash),
			     &fresh);
	rg_assert(known != NULL);
	if (fresh) {
		rg_assert(key->name.length <= sizeof known->name);
		known->key = *key;
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
	return store->line_count > 0;
}

/* -------------------------------------------------------------- fetching -- */

void rg_pg_list_open(struct rg_buf *list)
{
	rg_buf_init(list, SIZE_MAX);
	rg_buf_add_char(list, '{');
}

void rg_pg_list_add(struct rg_buf *list, int64_t number)
{
	if (list->length > 1)
		rg_buf_add_char(list, ',');
	rg_buf_add_int(list, number);
}

/* As bytea in an array is written; a name needs no quoting then. */
static void add_name(struct rg_buf *list, const struct known *known)
{
	size_t i;

	rg_buf_add_text(list, list->length > 1 ? ",\"\\\\x" : "\"\\\\x");
	for (i = 0; i < known->key.name.length; i++)
		rg_buf_printf(list, "%02x", (unsigned char)known->name[i]);
	rg_buf_add_char(list, '"');
}

void rg_pg_list_close(struct rg_buf *list, struct rg_args *args)
{
	rg_buf_add(list, "}", 2);
	rg_assert(!list->failed);
	rg_arg_text(args, list->data);
}

static void ask(struct postgres_store *store, const struct rg_buf *names,
		const struct rg_buf *hashes)
{
	struct rg_args agents = { 0 }, counts = { 0 };

	rg_arg_int(&agents, store->ws);
	rg_arg_text(&agents, names->data);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT name, unread, epoch, seq FROM roger.agent WHERE ws = $1::int AND name "
		    "= ANY($2::bytea[])",
		    &agents);
	rg_arg_int(&counts, store->ws);
	rg_arg_text(&counts, hashes->data);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT hash, count FROM roger.count WHERE ws = $1::int AND hash = "
		    "ANY($2::bigint[])",
		    &counts);
}

/* Queue the question for all known figures; they are taken by rg_pg_take_known(). */
void rg_pg_ask_known(struct postgres_store *store)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf names, hashes;
	struct rg_args unused = { 0 };
	struct known *known;
	size_t i = 0;

	if (store->known.count > WARM_MAX)
		rg_pg_forget_known(store);
	rg_pg_list_open(&names);
	rg_pg_list_open(&hashes);
	while ((known = rg_table_next(&store->known, &i))) {
		known->turn = store->turn;
		known->there = known->dirty = false;
		known->figure = (struct rg_figure){ 0 };
		if (known->key.kind == RG_FIGURE_AGENT)
			add_name(&names, known);
		else
			rg_pg_list_add(&hashes, (int64_t)known->key.hash);
	}
	rg_pg_list_close(&names, &unused);
	rg_pg_list_close(&hashes, &unused);
	ask(store, &names, &hashes);
}

static struct rg_figure agent_of(const PGresult *result, int row)
{
	return (struct rg_figure){ .count = (uint64_t)rg_column_int(result, row, 1),
				   .epoch = rg_column_int(result, row, 2),
				   .seq = rg_column_int(result, row, 3) };
}

static void keep_figure(struct postgres_store *store, const struct rg_figure_key *key,
			const struct rg_figure *figure)
{
	struct known *known = find(store, key);

	known->figure = *figure;
	known->there = true;
	known->turn = store->turn;
	known->bytes = store->row.bytes;
}

int rg_pg_take_known(struct postgres_store *store, struct roger_err *err)
{
	PGresult *result = NULL;
	struct rg_figure figure;
	int r, row;

	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	for (row = 0; r == ROGER_OK && row < PQntuples(result); row++) {
		figure = agent_of(result, row);
		keep_figure(store,
			    &(struct rg_figure_key){ .kind = RG_FIGURE_AGENT,
						     .name = rg_column_bytes(result, row, 0) },
			    &figure);
	}
	rg_result_clear(&result);
	if (r == ROGER_OK)
		r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, err);
	for (row = 0; r == ROGER_OK && row < PQntuples(result); row++)
		keep_figure(
			store,
			&(struct rg_figure_key){ .kind = RG_FIGURE_COUNT,
						 .hash = (uint64_t)rg_column_int(result, row, 0) },
			&(struct rg_figure){ .count = (uint64_t)rg_column_int(result, row, 1) });
	rg_result_clear(&result);
	return r;
}

/* One figure.  On failure the connection is closed: then nothing is appended on it either. */
static void fetch(struct postgres_store *store, struct known *known)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf names, hashes;
	struct rg_args unused = { 0 };

	rg_pg_list_open(&names);
	rg_pg_list_open(&hashes);
	if (known->key.kind == RG_FIGURE_AGENT)
		add_name(&names, known);
	else
		rg_pg_list_add(&hashes, (int64_t)known->key.hash);
	rg_pg_list_close(&names, &unused);
	rg_pg_list_close(&hashes, &unused);
	known->turn = store->turn;
	known->bytes = store->row.bytes;
	known->there = false;
	known->figure = (struct rg_figure){ 0 };
	ask(store, &names, &hashes);
	rg_link_sync(&store->link);
	if (rg_pg_take_known(store, NULL) < 0)
		rg_link_close(&store->link);
}

/* Must it be asked for?  Outside of a transaction others may change it at any time; who waits
 * would ask in vain as long as there are no new lines. */
static bool is_stale(const struct postgres_store *store, const struct known *known)
{
	if (store->appending)
		return known->turn != store->turn && !store->blank;
	return known->key.kind != RG_FIGURE_AGENT || store->listening != store->link.lives ||
	       known->turn != store->turn || known->bytes != store->row.bytes;
}

static bool find_figure(struct postgres_store *store, const struct rg_figure_key *key,
			struct rg_figure *ret_figure)
{
	struct known *known = find(store, key);

	if (is_stale(store, known) && (store->appending || rg_pg_ready(store, NULL) == ROGER_OK)) {
		fetch(store, known);
		known = find(store, key);
	}
	*ret_figure = known->figure;
	return key->kind == RG_FIGURE_AGENT ? known->there : known->figure.count > 0;
}

static int64_t fetch_epoch(struct postgres_store *store)
{
	/* With either lock nobody opens a session. */
	if (store->appending || rg_store_holds(&store->base, RG_LOCK_STATE) ||
	    rg_pg_ready(store, NULL) < 0)
		return store->row.epoch;
	rg_pg_ask_row(store);
	rg_link_sync(&store->link);
	(void)!rg_pg_take_row(store, NULL);
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
	struct rg_args args = { 0 };

	store->row.witness = *figure;
	if (!store->appending && rg_pg_ready(store, NULL) < 0)
		return;
	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, (int64_t)figure->count);
	rg_arg_int(&args, (int64_t)figure->chain);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "UPDATE roger.workspace SET witness_bytes = $2::bigint, witness_chain = "
		    "$3::bigint WHERE ws = $1::int",
		    &args);
	rg_link_sync(&store->link);
	(void)!rg_link_expect(&store->link, RG_ANSWER_MS, NULL, NULL);
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
		known->turn = store->turn;
	} else if (key->kind == RG_FIGURE_SESSION) {
		store->row.epoch = figure->epoch;
	} else {
		put_witness(store, figure);
	}
	rg_pg_leave(store);
}

/* Agents and counts that changed, as columns. */
struct changes {
	struct rg_buf names, unread, epochs, seqs, hashes, counts;
};

static void gather(struct postgres_store *store, struct changes *changes)
{
	struct known *known;
	size_t i = 0;

	while ((known = rg_table_next(&store->known, &i))) {
		if (!known->dirty)
			continue;
		known->dirty = false;
		known->key.name.data = known->name;
		if (known->key.kind == RG_FIGURE_AGENT) {
			add_name(&changes->names, known);
			rg_pg_list_add(&changes->unread, (int64_t)known->figure.count);
			rg_pg_list_add(&changes->epochs, known->figure.epoch);
			rg_pg_list_add(&changes->seqs, known->figure.seq);
		} else {
			rg_pg_list_add(&changes->hashes, (int64_t)known->key.hash);
			rg_pg_list_add(&changes->counts, (int64_t)known->figure.count);
		}
	}
}

static void for_each(struct changes *changes, void (*act)(struct rg_buf *list))
{
	act(&changes->names);
	act(&changes->unread);
	act(&changes->epochs);
	act(&changes->seqs);
	act(&changes->hashes);
	act(&changes->counts);
}

static const char write_sql[] =
	"WITH lines AS (INSERT INTO roger.line SELECT $2::bigint, $3::bigint + o, "
	"substring($4::bytea FROM (o + 1)::int FOR l), $5::bigint "
	"FROM unnest($6::bigint[], $7::int[]) AS p(o, l)), "
	"agents AS (INSERT INTO roger.agent SELECT $1::int, n, u, e, s FROM unnest($8::bytea[], "
	"$9::bigint[], $10::bigint[], $11::bigint[]) AS a(n, u, e, s) ON CONFLICT (ws, name) DO "
	"UPDATE SET unread = excluded.unread, epoch = excluded.epoch, seq = excluded.seq), "
	"counts AS (INSERT INTO roger.count SELECT $1::int, h, c FROM unnest($12::bigint[], "
	"$13::bigint[]) AS k(h, c) ON CONFLICT (ws, hash) DO UPDATE SET count = excluded.count) "
	"UPDATE roger.workspace SET bytes = $14::bigint, chain = $15::bigint, last_start = "
	"$16::bigint, last_chain = $17::bigint, epoch = $18::bigint WHERE ws = $1::int";

void rg_pg_put_changes(struct postgres_store *store)
{
	const struct row *row = &store->row;
	struct changes changes;
	struct rg_args args = { 0 };

	for_each(&changes, rg_pg_list_open);
	gather(store, &changes);
	rg_arg_int(&args, store->ws);
	rg_arg_int(&args, row->messages);
	rg_arg_int(&args, (int64_t)store->from);
	rg_arg_bytes(&args, rg_buf_str(&store->lines));
	rg_arg_int(&args, store->token);
	rg_pg_list_close(&store->starts, &args);
	rg_pg_list_close(&store->lengths, &args);
	rg_pg_list_close(&changes.names, &args);
	rg_pg_list_close(&changes.unread, &args);
	rg_pg_list_close(&changes.epochs, &args);
	rg_pg_list_close(&changes.seqs, &args);
	rg_pg_list_close(&changes.hashes, &args);
	rg_pg_list_close(&changes.counts, &args);
	rg_arg_int(&args, (int64_t)row->bytes);
	rg_arg_int(&args, (int64_t)row->chain);
	rg_arg_int(&args, (int64_t)row->last);
	rg_arg_int(&args, (int64_t)row->before_last);
	rg_arg_int(&args, row->epoch);
	rg_link_put(&store->link, RG_ROLE_WRITE, write_sql, &args);
	for_each(&changes, rg_buf_deinit);
}

/* --------------------------------------------------------------- walking -- */

static int load_agents(struct postgres_store *store)
{
	PGresult *result = NULL;
	struct rg_args args = { 0 };
	struct roger_str name;
	int r, row;

	free(store->agents);
	store->agents = NULL;
	store->agent_count = 0;
	r = store->appending ? ROGER_OK : rg_pg_ready(store, NULL);
	if (r < 0)
		return r;
	rg_arg_int(&args, store->ws);
	rg_link_put(&store->link, RG_ROLE_OTHER,
		    "SELECT name, unread, epoch, seq FROM roger.agent WHERE ws = $1::int", &args);
	rg_link_sync(&store->link);
	r = rg_link_expect(&store->link, RG_ANSWER_MS, &result, NULL);
	if (r == ROGER_OK)
		store->agents = calloc((size_t)PQntuples(result) + 1, sizeof *store->agents);
	for (row = 0; store->agents && row < PQntuples(result); row++) {
		name = rg_column_bytes(result, row, 0);
		store->agents[row].length = name.length;
		memcpy(store->agents[row].name, name.data, name.length);
		store->agents[row].figure = agent_of(result, row);
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
