#include "group.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lanes.h"

static void append(struct bench_group *group, int file, const char *data, size_t length,
		   uint64_t *ret_number)
{
	while (atomic_exchange(&group->lock, 1))
		sched_yield();
	if (write(file, data, length) != (ssize_t)length)
		bench_die("write: %s", strerror(errno));
	*ret_number = atomic_fetch_add(&group->appends, 1) + 1;
	atomic_store(&group->lock, 0);
}

/* Everybody was woken by the last sync, so as many as took part in the last two may come. */
static void gather(const struct bench_group *group)
{
	uint64_t company = group->last[0] + group->last[1];
	int64_t until_ns = bench_now_ns() + group->sync_ns / 3;

	/* One alone waits for nobody. */
	if (company <= 2)
		return;
	while (group->appends - group->synced < company && bench_now_ns() < until_ns)
		sched_yield();
}

static void lead(struct bench_group *group, int file)
{
	uint64_t appends, before = group->synced;
	int64_t start_ns;

	gather(group);
	appends = group->appends;
	start_ns = bench_now_ns();
	if (fdatasync(file) != 0)
		bench_die("fdatasync: %s", strerror(errno));
	group->sync_ns = bench_now_ns() - start_ns;
	group->last[1] = group->last[0];
	group->last[0] = appends - before;
	atomic_store(&group->synced, appends);
}

void bench_group_write(struct bench_group *group, int file, const char *data, size_t length)
{
	uint64_t number;
	unsigned wake;

	append(group, file, data, length, &number);
	while (group->synced < number) {
		wake = group->wake;
		if (atomic_exchange(&group->leading, 1)) {
			if (group->synced < number)
				syscall(SYS_futex, &group->wake, FUTEX_WAIT, wake, NULL, NULL, 0);
			continue;
		}
		if (group->synced < number)
			lead(group, file);
		atomic_store(&group->leading, 0);
		atomic_fetch_add(&group->wake, 1);
		syscall(SYS_futex, &group->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
}
