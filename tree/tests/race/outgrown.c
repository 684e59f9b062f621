/*
 * A control file that is outgrown twice while somebody gives a lock back: the
 * one who releases looks at the new page, and that is outgrown under his hands.
 *
 * munmap() is wrapped (-Wl,--wrap), so that the next growth comes at exactly
 * that moment: the larger file is mapped and found good, the old one is left.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "store/file/journal.h"

int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);

static struct rg_journal *holder, *grower, *other;
static int growths_left; /* to come when a file is left */
static int number;

static void must(int r, const struct roger_err *err, const char *what)
{
	if (r == ROGER_OK)
		return;
	printf("# %s: %s\n", what, err->message);
	exit(1);
}

static size_t capacity(struct rg_journal *journal)
{
	return rg_control_page(rg_journal_control(journal))->agent_capacity;
}

/* More agents than the file has room for. */
static void grow(void)
{
	size_t before = capacity(grower);
	struct roger_err err;

	must(rg_journal_lock(grower, before, 0, &err), &err, "grow");
	rg_journal_unlock(grower);
	if (capacity(grower) <= before) {
		printf("# the control file did not grow\n");
		exit(1);
	}
}

int __wrap_munmap(void *at, size_t size)
{
	int left = growths_left - 1;

	if (left >= 0) {
		growths_left = 0; /* the grower leaves its old one as well */
		grow();
		growths_left = left;
	}
	return __real_munmap(at, size);
}

static bool adopt(void *context, struct rg_control *control, struct roger_str line, bool own)
{
	(void)context;
	(void)control;
	(void)line;
	(void)own;
	return true;
}

static struct rg_journal *open_one(int folder)
{
	struct rg_journal *journal;
	struct roger_err err;

	must(rg_journal_open(folder, "messages.jsonl", "messages.control", adopt, NULL, NULL,
			     &journal, &err),
	     &err, "open");
	return journal;
}

static void result(bool good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, name);
}

static bool is_free(enum rg_store_lock which)
{
	struct roger_err err;

	if (rg_journal_take(other, which, 100, &err) < 0) {
		printf("# %s\n", err.message);
		return false;
	}
	rg_journal_release(other, which);
	return true;
}

/* So many growths come while the lock is given back, the first just before. */
static void release_while(int growths, const char *name)
{
	struct roger_err err;

	must(rg_journal_take(holder, RG_LOCK_CHANGE, 100, &err), &err, "take");
	grow();
	growths_left = growths - 1;
	rg_journal_release(holder, RG_LOCK_CHANGE);
	growths_left = 0;
	result(is_free(RG_LOCK_CHANGE), name);
}

static void allow_files(rlim_t count)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = count;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Where the larger file cannot be opened at that moment, the next look at it gives the lock back.
 */
static void release_blind(bool closing, const char *name)
{
	struct roger_err err;

	must(rg_journal_take(holder, RG_LOCK_CHANGE, 100, &err), &err, "take");
	grow();
	allow_files(3);
	rg_journal_release(holder, RG_LOCK_CHANGE);
	allow_files(100);
	if (closing)
		holder = rg_journal_close(holder);
	else
		rg_journal_control(holder);
	result(is_free(RG_LOCK_CHANGE), name);
}

int main(int argc, char **argv)
{
	int folder = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;

	if (folder < 0)
		return 64;
	holder = open_one(folder);
	grower = open_one(folder);
	other = open_one(folder);
	release_while(1, "given back after the file was outgrown");
	release_while(2, "given back while the larger one is outgrown as well");
	release_while(4, "and again, and again");
	release_blind(false, "given back by the next look");
	release_blind(true, "given back on closing");
	rg_journal_close(other);
	rg_journal_close(grower);
	printf("1..%d\n", number);
	return 0;
}
