#include "base/nearest.h"

#include <ctype.h>

#include "base/names.h"

enum { SLIP_BYTES_MIN = 3 };

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

/* Put the shorter word first. */
static void order_words(struct roger_str *a, struct roger_str *b)
{
	const struct roger_str longer = *a;

	if (a->length <= b->length)
		return;
	*a = *b;
	*b = longer;
}

static void skip_common(struct roger_str *a, struct roger_str *b)
{
	while (a->length && *a->data == *b->data)
		a->data++, a->length--, b->data++, b->length--;
}

/* Are two rests that begin differently one character apart?  a is not the longer one. */
static bool one_differs(struct roger_str a, struct roger_str b)
{
	if (a.length < b.length)
		return same_after(a, 0, b, 1);
	return same_after(a, 1, b, 1) || (a.length > 1 && a.data[0] == b.data[1] &&
					  a.data[1] == b.data[0] && same_after(a, 2, b, 2));
}

bool rg_is_near(struct roger_str a, struct roger_str b)
{
	order_words(&a, &b);
	if (same_plainly(a, b))
		return true;
	if (a.length < 2 || b.length > a.length + 1)
		return false;
	skip_common(&a, &b);
	return one_differs(a, b);
}

bool rg_is_slip(struct roger_str typed, struct roger_str known)
{
	order_words(&typed, &known);
	if (rg_str_equal(typed, known))
		return false;
	if (same_plainly(typed, known))
		return true;
	if (typed.length < SLIP_BYTES_MIN || known.length > typed.length + 1 ||
	    !rg_str_equal(last_token(typed), last_token(known)))
		return false;
	skip_common(&typed, &known);
	return is_letter(known.data[0]) &&
	       (typed.length < known.length || is_letter(typed.data[0])) &&
	       one_differs(typed, known);
}

bool rg_nearest_look(struct roger_str *nearest, struct roger_str typed, struct roger_str known)
{
	const bool same = rg_str_equal(typed, known);

	if (!same && (!rg_is_near(typed, known) || rg_str_equal(*nearest, typed) ||
		      (nearest->length && rg_str_compare(&known, nearest) >= 0)))
		return false;
	*nearest = known;
	return true;
}

struct roger_str rg_nearest_of(struct roger_strs names, struct roger_str typed)
{
	struct roger_str nearest = { "", 0 };
	size_t i;

	for (i = 0; i < names.count; i++)
		rg_nearest_look(&nearest, typed, names.items[i]);
	return nearest;
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
