/*
 * The mapped-file protocol under ThreadSanitizer: threads with handles of their
 * own, as processes would have them, append, sync, follow, adopt, receive,
 * claim and outgrow the control file at once.
 *
 * The sanitizer knows memory by its address, and every handle maps the control
 * file anew; so mmap() is wrapped here (-Wl,--wrap) to give one file one place.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <roger.h>

enum { THREADS = 6, ROUNDS = 60, MAPS_MAX = 64 };

/* ------------------------------------------------- one place for one file -- */

void *__real_mmap(void *at, size_t size, int access, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t size);
void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t offset);
int __wrap_munmap(void *at, size_t size);

static struct {
	dev_t device;
	ino_t inode;
	void *at;
	int users;
} maps[MAPS_MAX];
static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int shared_maps;

void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t offset)
{
	struct stat facts;
	int i, spare = -1;

	if (file < 0 || !(flags & MAP_SHARED) || fstat(file, &facts) < 0)
		return __real_mmap(at, size, access, flags, file, offset);
	pthread_mutex_lock(&maps_lock);
	for (i = 0; i < MAPS_MAX; i++) {
		if (maps[i].users && maps[i].device == facts.st_dev &&
		    maps[i].inode == facts.st_ino)
			break;
		if (!maps[i].users)
			spare = i;
	}
	if (i == MAPS_MAX) {
		i = spare;
		maps[i].device = facts.st_dev;
		maps[i].inode = facts.st_ino;
		maps[i].at = __real_mmap(at, size, access, flags, file, offset);
	} else {
		atomic_fetch_add(&shared_maps, 1);
	}
	maps[i].users++;
	at = maps[i].at;
	pthread_mutex_unlock(&maps_lock);
	return at;
}

int __wrap_munmap(void *at, size_t size)
{
	int i, r = 0;

	pthread_mutex_lock(&maps_lock);
	for (i = 0; i < MAPS_MAX; i++)
		if (maps[i].users && maps[i].at == at)
			break;
	if (i == MAPS_MAX || --maps[i].users == 0)
		r = __real_munmap(at, size);
	pthread_mutex_unlock(&maps_lock);
	return r;
}

/* --------------------------------------------------------------- the work -- */

static const char *root;
static atomic_int stored, handed, wrong;

static struct roger_str str(const char *text)
{
	return (struct roger_str){ text, strlen(text) };
}

static void check(int r, const struct roger_err *err, const char *what)
{
	if (r == ROGER_OK)
		return;
	atomic_fetch_add(&wrong, 1);
	fprintf(stderr, "%s: %s\n", what, err->message);
}

/* Names that nobody else has, so that the tally outgrows its file; and one mailbox that all share.
 */
static void send(struct roger *roger, int me, int round)
{
	char from[32], other[32], issue[32], key[32];
	struct roger_str to[2];
	struct roger_send_request request = { .to = { to, 2 }, .content = str("text") };
	struct roger_send_reply reply;
	struct roger_err err;
	int r;

	snprintf(from, sizeof from, "from-%d", me);
	snprintf(other, sizeof other, "to-%d-%d", me, round);
	snprintf(issue, sizeof issue, "issue-%d-%d", me, round);
	snprintf(key, sizeof key, "t:v:%d-%d", me, round);
	to[0] = str("pool");
	to[1] = str(other);
	request.from = str(from);
	request.issue = str(issue);
	request.key = str(key);
	r = roger_send(roger, &request, &reply, &err);
	check(r, &err, "send");
	if (r < 0)
		return;
	atomic_fetch_add(&stored, (int)reply.messages.count);
	roger_reply_free(&reply);
}

static void receive(struct roger *roger)
{
	struct roger_inbox_request request = { .agent = str("pool"), .limit = 2 };
	struct roger_inbox_reply reply;
	struct roger_err err;
	int r = roger_receive(roger, &request, &reply, &err);

	check(r, &err, "receive");
	if (r < 0)
		return;
	atomic_fetch_add(&handed, (int)reply.messages.count);
	roger_reply_free(&reply);
}

static void claim(struct roger *roger, int me)
{
	struct roger_claim_request request = { .agent = str("pool"), .limit = 1 };
	struct roger_messages_reply reply, acked;
	struct roger_ack_request ack = { .agent = str("pool") };
	struct roger_err err;
	char worker[32];
	int r;

	snprintf(worker, sizeof worker, "worker-%d", me);
	request.worker = ack.worker = str(worker);
	r = roger_claim(roger, &request, &reply, &err);
	check(r, &err, "claim");
	if (r < 0)
		return;
	if (reply.messages.count) {
		ack.ids = (struct roger_strs){ &reply.messages.items[0].id, 1 };
		r = roger_ack(roger, &ack, &acked, &err);
		check(r, &err, "ack");
		if (r == ROGER_OK)
			roger_reply_free(&acked);
		atomic_fetch_add(&handed, 1);
	}
	roger_reply_free(&reply);
}

static void look(struct roger *roger)
{
	struct roger_inbox_request inbox = { .agent = str("pool"), .limit = 1 };
	struct roger_list_request all = { 0 };
	struct roger_inbox_reply mail;
	struct roger_count_reply count;
	struct roger_err err;
	int r;

	r = roger_inbox(roger, &inbox, &mail, &err);
	check(r, &err, "inbox");
	if (r == ROGER_OK)
		roger_reply_free(&mail);
	r = roger_count(roger, &all, &count, &err);
	check(r, &err, "count");
	if (r == ROGER_OK)
		roger_reply_free(&count);
}

/* A line of another program, which somebody then adopts. */
static void write_foreign(int me, int round)
{
	char path[256], line[400];
	FILE *journal;

	snprintf(path, sizeof path, "%s/.roger/messages.jsonl", root);
	snprintf(line, sizeof line,
		 "{\"id\":\"far-%d-%d\",\"issue_id\":\"far\",\"from_phase\":\"far-%d\",\"to_"
		 "phase\":\"away\","
		 "\"run_counter\":1,\"message_type\":\"data\",\"content\":\"c\",\"read\":true,"
		 "\"created_at\":1}\n",
		 me, round, me);
	journal = fopen(path, "a");
	if (!journal || fputs(line, journal) == EOF || fclose(journal) == EOF)
		atomic_fetch_add(&wrong, 1);
}

#ifdef RACE_ON_PURPOSE
static pthread_barrier_t all_here;
static struct roger *mapper;
static volatile char *mapped;

static void prepare_race(void)
{
	struct roger_err err;
	int i;

	pthread_barrier_init(&all_here, NULL, THREADS);
	check(roger_open(root, &mapper, &err), &err, "open");
	for (i = 0; i < MAPS_MAX; i++)
		if (maps[i].users)
			mapped = maps[i].at;
}

/*
 * In the mapped file itself, and nothing orders it: all write before any of
 * them can learn of another.  The byte becomes what it is.
 */
static void race(void)
{
	pthread_barrier_wait(&all_here);
	mapped[0] = mapped[0];
}
#endif

static void do_round(struct roger *roger, int me, int round)
{
	send(roger, me, round);
	if (round % 3 == 0)
		receive(roger);
	if (round % 4 == 1)
		claim(roger, me);
	if (round % 5 == 2)
		look(roger);
	if (round % 7 == 3)
		write_foreign(me, round);
}

static void *work(void *context)
{
	int me = (int)(intptr_t)context, round;
	struct roger *roger = NULL;
	struct roger_err err;

#ifdef RACE_ON_PURPOSE
	race();
#endif
	for (round = 0; round < ROUNDS; round++) {
		/* Short lives and long ones. */
		if (!roger)
			check(roger_open(root, &roger, &err), &err, "open");
		if (!roger)
			break;
		do_round(roger, me, round);
		if (me % 2 && round % 10 == 9)
			roger = roger_close(roger);
	}
	roger_close(roger);
	return NULL;
}

static int receive_rest(void)
{
	struct roger *roger = NULL;
	int before;

	if (roger_open(root, &roger, NULL) < 0)
		return 1;
	do {
		before = atomic_load(&handed);
		receive(roger);
	} while (atomic_load(&handed) != before);
	roger_close(roger);
	return 0;
}

int main(int argc, char **argv)
{
	struct roger_init_request request = { 0 };
	struct roger_init_reply reply;
	pthread_t threads[THREADS];
	int i;

	if (argc != 2)
		return 64;
	root = argv[1];
	request.path = str(root);
	if (roger_init(&request, &reply, NULL) < 0)
		return 1;
	roger_reply_free(&reply);
#ifdef RACE_ON_PURPOSE
	prepare_race();
#endif
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) != 0)
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
#ifdef RACE_ON_PURPOSE
	roger_close(mapper);
#endif
	if (receive_rest())
		return 1;
	printf("%d stored, %d handed over, %d wrong, %d maps shared\n", stored, handed, wrong,
	       shared_maps);
	return !(stored == 2 * THREADS * ROUNDS && handed == THREADS * ROUNDS && wrong == 0 &&
		 shared_maps > 0);
}
