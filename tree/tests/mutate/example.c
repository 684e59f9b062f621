/* What script/mutate changes and what it does not: if (a < b) return 1; */
#include "facts/example.h"

#define LIMIT(x) ((x) < 10)
enum colour { RED, GREEN, BLUE };
static const int table[] = { 1, 2, 3 };

/* A declaration keeps its type and its size, a text its words. */
static bool checks(const char *text, int64_t count)
{
	char room[32] = "a < b && c";
	const int64_t *numbers = &count;

	rg_assert(count < 100 && text);
	note(room, sizeof *numbers); /* x == y */
	return *numbers >= 0 && !text;
}

static int sums(enum colour colour, int count)
{
	int i, sum = 0;

	for (i = 0; i < count; i++) {
		if (i == 5)
			continue;
		sum += i;
	}
	switch (colour) {
	case RED:
		sum = (int)-1;
		break;
	default:
		return rg_fail(err, ROGER_EIO, 0, "no < %d", BLUE);
	}
	return sum > RG_NAME_CHARS_MAX ? sum : (1 << 2);
}
