#include "base/nearest.h"

#include <ctype.h>

enum { WORD_BYTES_MAX = 64, STEP = 2 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The cost of one character in place of another, in half steps: case counts half. */
static size_t change(char a, char b)
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

	for (j = 0; j <= b.length; j++)
		last[j] = j * STEP;
	for (i = 1; i <= a.length; i++) {
		now[0] = i * STEP;
		for (j = 1; j <= b.length; j++) {
			now[j] = least(last[j - 1] + change(a.data[i - 1], b.data[j - 1]),
				       least(last[j], now[j - 1]) + STEP);
			if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
			    a.data[i - 2] == b.data[j - 1])
				now[j] = least(now[j], before[j - 2] + STEP);
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

/* The distance of words that are near, else SIZE_MAX.  Most differ too much in their length alone.
 */
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
	size_t distance = near_distance(typed, known);

	if (distance == SIZE_MAX || (nearest->word.data && distance >= nearest->distance))
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
