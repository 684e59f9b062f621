/*
 * Any bytes as an instant and as a span.  What is read lies within what can be stored, does not
 * depend on where the text lies, and printed it reads the same; the strict form is one of the
 * loose ones.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "fuzz.h"

/* At the end of memory of its own, so that a byte too far is seen. */
static struct roger_str copy(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1);

	rg_assert(text);
	if (size)
		memcpy(text, data, size);
	return (struct roger_str){ text, size };
}

static void check_instant(struct roger_str text, int64_t now_ms)
{
	int64_t ms = -1, again, strict;
	char printed[32];
	bool read = !rg_clock_read(text, now_ms, &ms);

	rg_assert(read ? ms >= 0 && ms <= RG_TIME_MS_MAX : ms == -1);
	if (rg_clock_read_rfc3339(text, &strict))
		rg_assert(read && strict == ms);
	if (!read)
		return;
	rg_clock_print_utc(ms, printed);
	rg_assert(rg_clock_read_rfc3339(rg_str(printed), &again) && again == ms);
}

static void check_span(struct roger_str text)
{
	int64_t ms = -1, again;
	char printed[32];
	bool read = rg_clock_read_span(text, &ms);

	rg_assert(read ? ms >= 0 && ms <= RG_TIME_MS_MAX : ms == -1);
	if (!read)
		return;
	rg_clock_print_span(ms, printed);
	rg_assert(rg_clock_read_span(rg_str(printed), &again) && again <= ms);
	rg_assert(ms - again < 3600000);
}

/* The first byte says the zone, the next five the clock. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const zones[] = { "UTC", "CET-1CEST,M3.5.0,M10.5.0/3",
					     "<-03>3<-02>,M11.1.0/0,M2.3.0/0", "<+14>-14",
					     "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0" };
	struct roger_str text;
	int64_t now_ms = 0;
	size_t i;

	if (size < 6)
		return 0;
	setenv("TZ", zones[data[0] % (sizeof zones / sizeof *zones)], 1);
	for (i = 1; i < 6; i++)
		now_ms = now_ms << 8 | data[i];
	text = copy(data + 6, size - 6);
	check_instant(text, now_ms * 230);
	check_span(text);
	free((char *)(uintptr_t)text.data);
	return 0;
}
