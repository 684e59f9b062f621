#include "base/nearest.h"

#include <ctype.h>

#include "base/names.h"

enum { WORD_BYTES_MAX = 64, STEP = 2, SLIP_BYTES_MIN = 3 };

static size_t lesser_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The cost of one character in place of another, in half steps: case counts half. */
static size_t change_cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : STEP;
}

/* Optimal string alignment, three rows at a time, in half steps. */
static size_t half_steps(struct roger_str a, struct roger_str b)
{
	size_t rows[3][WORD_BYTES_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2],
					    *spare;
	size_t i, j;

	rg_assert(a.length <= WORD_BYTES_MAX && b.length <= WORD_BYTES_MAX);
	/* Skip what both words begin or end with: it costs nothing. */
	while (a.length && b.length && *a.data == *b.data)
		a.data++, b.data++, a.length--, b.length--;
	while (a.length && b.length && a.data[a.length - 1] == b.data[b.length - 1])
		a.length--, b.length--;
	for (j = 0; j <= b.length; j++)
		last[j] = j * STEP;
	for (i = 1; i <= a.length; i++) {
		now[0] = i * STEP;
		for (j = 1; j <= b.length; j++) {
			now[j] = lesser_of(last[j - 1] + change_cost(a.data[i - 1], b.data[j - 1]),
					   lesser_of(last[j], now[j - 1]) + STEP);
			if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
			    a.data[i - 2] == b.data[j - 1])
				now[j] = lesser_of(now[j], before[j - 2] + STEP);
		}
		spare = before, before = last, last = now, now = spare;
	}
	return last[b.length];
}

size_t rg_distance(struct roger_str a, struct roger_str b)
{
	if (a.length > WORD_BYTES_MAX || b.length > WORD_BYTES_MAX)
		return SIZE_MAX;
	return (half_steps(a, b) + 1) / STEP;
}

/* How many letters may be wrong. */
static size_t wrong_letters_max(struct roger_str typed)
{
	return typed.length < 4 ? 1 : typed.length < 8 ? 2 : 3;
}

/* The distance of two near words, else SIZE_MAX.  Their lengths alone tell most words apart. */
static size_t near_distance(struct roger_str typed, struct roger_str known)
{
	size_t apart = typed.length > known.length ? typed.length - known.length
						   : known.length - typed.length;
	size_t most = wrong_letters_max(typed);
	size_t distance = apart > most ? SIZE_MAX : rg_distance(typed, known);

	return distance <= most && distance < known.length ? distance : SIZE_MAX;
}

bool rg_is_near(struct roger_str typed, struct roger_str known)
{
	return near_distance(typed, known) != SIZE_MAX;
}

bool rg_nearest_look(struct rg_nearest *nearest, struct roger_str typed, struct roger_str known)
{
	/* Different words are at least 1 apart, so then no later word can be nearer. */
	const bool later = nearest->word.data && rg_str_compare(&known, &nearest->word) >= 0;
	size_t distance;

	if (later && nearest->distance == 1)
		return false;
	distance = near_distance(typed, known);
	if (distance == SIZE_MAX || (nearest->word.data && distance > nearest->distance) ||
	    (later && distance == nearest->distance))
		return false;
	*nearest = (struct rg_nearest){ known, distance };
	return true;
}

struct roger_str rg_nearest_of(struct roger_strs names, struct roger_str typed)
{
	struct rg_nearest nearest = { { "", 0 }, SIZE_MAX };
	size_t i;

	for (i = 0; i < names.count; i++)
		rg_nearest_look(&nearest, typed, names.items[i]);
	return nearest.word;
}

/* ---------------------------------------------------------------- slips -- */

/* The next character that counts where case and `-_.` do not; 0: none is left. */
static int next_plain(struct roger_str *name)
{
	while (name->length && strchr("-_.", *name->data))
		name->data++, name->length--;
	if (!name->length)
		return 0;
	name->length--;
	return tolower((unsigned char)*name->data++);
}

static bool same_plainly(struct roger_str a, struct roger_str b)
{
	int one = next_plain(&a);
	bool some = one != 0;

	for (; one == next_plain(&b); one = next_plain(&a))
		if (!one)
			return some;
	return false;
}

/*
 * The short last token that tells agents of a kind apart, as in worker-a or team/ab, with its
 * separator; empty if the name has none.
 */
static struct roger_str last_token(struct roger_str name)
{
	size_t at = name.length;

	while (at && !strchr("-_.:/", name.data[at - 1]))
		at--;
	at = at && name.length - at < SLIP_BYTES_MIN ? at - 1 : name.length;
	return (struct roger_str){ name.data + at, name.length - at };
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Are two rests equal once that many characters of each are skipped? */
static bool same_after(struct roger_str a, size_t skip_a, struct roger_str b, size_t skip_b)
{
	return a.length >= skip_a && a.length - skip_a == b.length - skip_b &&
	       memcmp(a.data + skip_a, b.data + skip_b, a.length - skip_a) == 0;
}

/* Are two names one letter apart?  a and b start where the names differ; a is not the longer
 * one. */
static bool one_letter_differs(struct roger_str a, struct roger_str b)
{
	if (!is_letter(b.data[0]))
		return false;
	if (a.length < b.length)
		return same_after(a, 0, b, 1);
	return is_letter(a.data[0]) &&
	       (same_after(a, 1, b, 1) || (a.length > 1 && a.data[0] == b.data[1] &&
					   a.data[1] == b.data[0] && same_after(a, 2, b, 2)));
}

bool rg_is_slip(struct roger_str typed, struct roger_str known)
{
	struct roger_str a = typed.length <= known.length ? typed : known;
	struct roger_str b = typed.length <= known.length ? known : typed;

	if (rg_str_equal(a, b))
		return false;
	if (same_plainly(a, b))
		return true;
	if (a.length < SLIP_BYTES_MIN || b.length > a.length + 1 ||
	    !rg_str_equal(last_token(a), last_token(b)))
		return false;
	while (a.length && *a.data == *b.data)
		a.data++, a.length--, b.data++, b.length--;
	return one_letter_differs(a, b);
}

/* ----------------------------------------------------------- many names -- */

/* The hash of a name's plain form, one of those that next_hash() gives. */
static uint64_t plain_hash(struct roger_str name)
{
	uint64_t hash = 1;
	int c = next_plain(&name);
	char byte;

	for (; c; c = next_plain(&name)) {
		byte = (char)c;
		hash = rg_names_hash(hash, &byte, 1);
	}
	return hash;
}

/* The next hash of a name, from *i = 0; false: no more.  A name and a slip for it share a hash. */
static bool next_hash(struct roger_str name, size_t *i, uint64_t *ret_hash)
{
	size_t at, end = name.length - last_token(name).length;

	if (*i == 0)
		*ret_hash = plain_hash(name);
	else if (name.length < SLIP_BYTES_MIN)
		return false;
	else if (*i == 1)
		*ret_hash = rg_names_hash(0, name.data, name.length);
	else {
		for (at = *i - 2; at < end && !is_letter(name.data[at]); at++)
			;
		if (at >= end)
			return false;
		*ret_hash = rg_names_hash(rg_names_hash(0, name.data, at), name.data + at + 1,
					  name.length - at - 1);
		*i = at + 2;
	}
	++*i;
	return true;
}

static uint32_t *head_of(const struct rg_slips *slips, uint64_t hash)
{
	return &slips->heads[(hash ^ hash >> 32) & (slips->head_count - 1)];
}

bool rg_slips_init(struct rg_slips *slips, struct roger_strs names, struct rg_arena *arena)
{
	struct rg_slip slip;
	size_t i, k;

	*slips = (struct rg_slips){ .names = names, .head_count = 1 };
	for (i = 0; i < names.count; i++) {
		slip = (struct rg_slip){ .name = (uint32_t)i };
		for (k = 0; next_hash(names.items[i], &k, &slip.hash);)
			if (!rg_arena_append(arena, &slips->slips, &slips->slip_count, &slip,
					     sizeof slip))
				return false;
	}
	while (slips->head_count < slips->slip_count)
		slips->head_count *= 2;
	slips->heads = rg_arena_get(arena, slips->head_count * sizeof *slips->heads);
	for (i = 0; slips->heads && i < slips->slip_count; i++) {
		slips->slips[i].next = *head_of(slips, slips->slips[i].hash);
		*head_of(slips, slips->slips[i].hash) = (uint32_t)i + 1;
	}
	return slips->heads;
}

struct roger_str rg_slips_find(const struct rg_slips *slips, struct roger_str typed, size_t *at)
{
	size_t k = 0, best = slips->names.count;
	const struct rg_slip *slip;
	uint64_t hash;
	uint32_t place;

	while (!slips->heads && *at < best) {
		if (rg_is_slip(typed, slips->names.items[*at]))
			best = *at;
		++*at;
	}
	while (slips->heads && next_hash(typed, &k, &hash))
		for (place = *head_of(slips, hash); place; place = slip->next) {
			slip = &slips->slips[place - 1];
			if (slip->hash == hash && slip->name >= *at && slip->name < best &&
			    rg_is_slip(typed, slips->names.items[slip->name]))
				best = slip->name;
		}
	*at = best + 1;
	return best < slips->names.count ? slips->names.items[best] : RG_STR("");
}
