/*
 * control - memory that all processes using one journal share.
 *
 * Everyone maps messages.control.  It holds the locks, how far the journal is
 * appended and synced, and the figures.  It can be rebuilt at any time: it belongs
 * to one boot and one journal, and when either differs, or the file is missing or
 * damaged, it is rebuilt by reading the journal from its start.  It is written in
 * full before it is mapped, since touching a hole of a mapped file on a full disk
 * raises SIGBUS.  When the figures outgrow it, a larger file is renamed over it
 * and the old one is marked retired: a process that has the old one mapped opens
 * the new one.
 *
 * Any process may corrupt the file.  So the fixed part, the tail, the synced
 * offset and each slot have checksums; a wrong one makes the handle unsound
 * (rg_control_sound()), and the file is retired and rebuilt.  A file cut short
 * while it is mapped raises SIGBUS: see rg_control_mend().
 *
 * The figures never say no when the answer is yes.  An agent has its last number
 * (exact) and the most messages that may be unread; an issue, and an issue with a
 * recipient, the most messages there may be; a key, whether it may be known; an
 * agent with a message, whether the activity log has a look of the agent at it.
 * Counts rise before the append, so a killed writer leaves them too high, never
 * too low; a process that counts exactly with the index corrects them.
 */
#ifndef RG_CONTROL_H
#define RG_CONTROL_H

#include "host/process.h"
#include "store/file/lock.h"
#include "store/store.h"

#include "base/limits.h"

/* A file format: read docs/FORMAT.md before changing it. */
#define RG_CONTROL_VERSION 7

/* Bytes of the journal from here on are locked by the handles of this version, one each. */
#define RG_CONTROL_PRESENCES (INT64_C(1) << 54)
#define RG_CONTROL_PRESENCE (RG_CONTROL_VERSION * RG_CONTROL_PRESENCES)

/* The journal's end, with the chain and epoch there.  Two slots; one is current. */
struct rg_tail {
	uint64_t appended; /* bytes of whole, known lines */
	uint64_t lines;	   /* how many lines these are */
	uint64_t chain;
	int64_t epoch;
	uint64_t sum;
};

struct rg_agent_slot {
	_Atomic uint32_t length; /* of name; 0: free */
	_Atomic uint32_t unread; /* at most this many */
	_Atomic int64_t epoch;	 /* in which seq counts */
	_Atomic int64_t seq;
	char name[RG_NAME_CHARS_MAX];
	_Atomic uint64_t sum;
};

struct rg_count_slot {
	_Atomic uint64_t hash; /* 0: free slot */
	_Atomic uint64_t word; /* count in the lower half, checksum in the upper */
};

struct rg_control_page {
	char magic[8];
	uint32_t version;
	_Atomic uint32_t retired;
	char boot_id[40]; /* rg_boot_id() */
	uint64_t journal_device;
	uint64_t journal_inode;
	uint32_t agent_capacity; /* powers of two */
	uint32_t count_capacity;
	/* Everything before this is the same in every version. */
	uint64_t generation; /* random, chosen at creation; a larger file keeps it */
	uint64_t found;	     /* length of the journal at creation; includes all earlier messages */
	uint64_t on_disk;    /* bytes written before this boot */
	uint64_t sum;	     /* checksum of all of the above but retired */

	struct rg_lock append_lock; /* append lines */
	struct rg_lock sync_lock;   /* lead a sync */
	struct rg_lock change_lock; /* change message states */
	struct rg_lock index_lock;  /* update the index */
	struct rg_lock state_lock;  /* write message-state.json */
	struct rg_lock record_lock; /* write logs and run documents */
	_Atomic uint64_t appends;   /* times the tail moved */
	_Atomic uint64_t adoptions; /* roger's lines found that no writer had announced */

	_Alignas(64) _Atomic uint32_t tail_in_force; /* 0 or 1; changed under append_lock */
	_Atomic uint32_t agents_used;
	_Atomic uint32_t counts_used;
	struct {
		_Atomic uint64_t appended, lines, chain;
		_Atomic int64_t epoch;
		_Atomic uint64_t sum;
	} tails[2]; /* struct rg_tail each; its checksum detects a torn read */
	struct rg_shared shared;

	_Alignas(64) _Atomic uint32_t wake; /* futex: incremented after every sync */
	_Atomic uint32_t failures;	    /* failed syncs */
	_Atomic uint64_t lost_from;	    /* bytes that a failed sync should have covered */
	_Atomic uint64_t lost_to;
	_Atomic uint64_t synced;
	_Atomic uint64_t synced_sum; /* checksum: see rg_control_synced() */
	_Atomic uint64_t synced_appends;
	_Atomic uint32_t groups[2];   /* appends covered by the last sync; left at its end */
	_Atomic uint32_t sync_ns;     /* duration of a sync, smoothed */
	struct rg_lock bridge_lock;   /* take in trigger files */
	_Atomic uint64_t sleepers;    /* at least this many wait for wake; a killed one stays */
	_Atomic uint64_t witness_end; /* struct rg_witness; valid only with its checksum */
	_Atomic uint64_t witness_chain;
	_Atomic uint64_t witness_sum;
	_Atomic uint32_t witness_chained;
	_Atomic uint32_t checkpoint_at;	 /* when the last one was made: seconds since the boot */
	_Atomic uint64_t checkpoint_end; /* up to which byte it was made */
	struct rg_lock checkpoint_lock;	 /* make a checkpoint */
};
_Static_assert(sizeof(struct rg_control_page) == 512, "the slots begin at byte 512");

/* A record of a sync: this much of the journal was on disk, with this chain at its end. */
struct rg_witness {
	uint64_t end; /* bytes; 0: no record */
	uint64_t chain;
	bool chained; /* chain is known */
};

/* Called while a control file is rebuilt: give what other records say about the journal. */
typedef void rg_witness_source(void *context, struct rg_witness *ret_witness);

/* Judge the bytes of a control file for a journal and boot.  Reads nothing else, so any bytes are
 * safe to pass. */
struct rg_file_facts;
enum rg_control_kind {
	RG_CONTROL_INVALID,
	RG_CONTROL_HOLDS,
	RG_CONTROL_OTHER_BOOT,	/* sound, of this journal, but of an earlier boot */
	RG_CONTROL_OTHER_BUILD, /* of this journal and boot, but another version's layout */
};
enum rg_control_kind rg_control_judge(const void *bytes, size_t size,
				      const struct rg_file_facts *journal,
				      const char boot_id[RG_BOOT_ID_BYTES]);

struct rg_control; /* one handle's mapping */

/* Map the control file of a journal; rebuild it if needed, asking source (may be NULL).  journal
 * is the journal's open descriptor, folder the folder of both; both are borrowed.  *until_ns:
 * until when to wait for another build at work; 0: none was met.  The caller keeps it, so that
 * opening again waits no longer; NULL: for this call alone.  ROGER_EREFUSED: that build is still
 * at work. */
RG_CHECKED int rg_control_open(int folder, const char *name, int journal, rg_witness_source *source,
			       void *context, int64_t *until_ns, struct rg_control **ret_control,
			       struct roger_err *err);
/* Fail with ROGER_EREFUSED: another build is at work, nobody knows in which process. */
RG_CHECKED int rg_control_fail_other_build(struct roger_err *err);
struct rg_control *rg_control_close(struct rg_control *control);

struct rg_control_page *rg_control_page(struct rg_control *control);

/* A random number, chosen when the file was created; a larger replacement keeps it. */
uint64_t rg_control_generation(const struct rg_control *control);

/* For a SIGBUS handler.  If the address is in one of our maps, its file was cut short, or the disk
 * is full: replace the map by memory marked retired, so that the library opens a new file.  False:
 * not our map. */
bool rg_control_mend(const void *address);
/* Was the map replaced so?  A lock in a file that cannot be written nobody could release: then the
 * file is removed, so that another takes its place. */
bool rg_control_leave_lost(struct rg_control *control);

/* Was the file replaced by a larger one?  Ordered with the locks that the new file takes over. */
static inline bool rg_control_retired(const struct rg_control_page *page)
{
	return atomic_load(&page->retired) != 0;
}

/* Is the file not retired, and was every checksum right that was read so far? */
bool rg_control_sound(const struct rg_control *control);

/* Is the file still the one of its name, and whole?  An error means unknown. */
RG_CHECKED int rg_control_look(const struct rg_control *control, bool *ret_in_place,
			       struct roger_err *err);

/* Mark the file retired: everyone opens a new one. */
void rg_control_retire(struct rg_control *control);

/* Record whether this handle holds append_lock: only then does a wrong checksum mean damage. */
void rg_control_hold(struct rg_control *control, bool held);

/* The current tail; false: its checksum is wrong, and the handle is now unsound. */
bool rg_control_tail(struct rg_control *control, struct rg_tail *ret_tail);

/* The tail before it; false: its checksum is wrong, since another process may be replacing it. */
bool rg_control_previous_tail(const struct rg_control *control, struct rg_tail *ret_tail);

/* End of the known lines; 0: unknown. */
uint64_t rg_control_appended(struct rg_control *control);

/* Write the tail to the unused slot, then make it current with one store.  lines: how many were
 * added; own: by this process.  Needs append_lock. */
void rg_control_set_end(struct rg_control *control, uint64_t appended, uint64_t chain,
			uint64_t lines, bool own);
void rg_control_set_epoch(struct rg_control *control, int64_t epoch);

/* The current epoch; 1 if unknown. */
int64_t rg_control_epoch(struct rg_control *control);

/* How far the journal is certainly on disk.  Changed under sync_lock. */
uint64_t rg_control_synced(const struct rg_control *control);
void rg_control_set_synced(struct rg_control *control, uint64_t synced);

/* The recorded witness, and one of what is on disk now.  Bytes in doubt never become a witness. */
struct rg_witness rg_control_witness(const struct rg_control *control);
void rg_control_set_witness(struct rg_control *control, struct rg_witness witness);
struct rg_witness rg_control_testify(struct rg_control *control);

/* How far the send logs hold the journal's messages; 0: unknown. */
uint64_t rg_control_logged(struct rg_control *control);

/* Is there space for this many more agents and counts?  Needs append_lock. */
bool rg_control_has_room(struct rg_control *control, size_t agents, size_t counts);

/*
 * Replace this control file by one with space for this many more, and retire this one.  Needs its
 * append_lock and the system's lock on the journal; the holder then releases both and opens the
 * new file.  Long-held locks move over as they are; after taking or releasing one, check whether
 * the file was retired meanwhile.
 */
RG_CHECKED int rg_control_grow(struct rg_control *control, size_t agents, size_t counts,
			       struct roger_err *err);

/*
 * A checkpoint is a synced copy of the figures: with it the journal need not all be read again when
 * the control file is lost or from another boot.  It says where in the journal it was made; what
 * follows there is adopted.
 */
enum { RG_CHECKPOINT_NAME_BYTES = 300 };
void rg_control_checkpoint_name(const char *name, char to[RG_CHECKPOINT_NAME_BYTES]);

/* Was enough appended since the last checkpoint?  Cheap. */
bool rg_control_checkpoint_due(struct rg_control *control);
void rg_control_note_checkpoint(struct rg_control *control, uint64_t end);

/* How far the send logs are, or were at the last checkpoint.  The next one needs them on disk. */
uint64_t rg_control_carried(struct rg_control *control);

/* Write a checkpoint to an empty file; nothing is synced.  carried: how far the send logs are;
 * *ret_end: where in the journal it was made; *ret_needs: it may be used once the journal is on
 * disk up to here.  Needs no lock. */
RG_CHECKED int rg_control_write_checkpoint(struct rg_control *control, int journal_file,
					   uint64_t carried, int file, const char *name,
					   uint64_t *ret_end, uint64_t *ret_needs,
					   struct roger_err *err);

struct rg_agent {
	uint32_t unread; /* at most this many */
	int64_t epoch;
	int64_t seq;
};

/* Look up an agent; false: none.  Needs no lock. */
bool rg_control_find_agent(struct rg_control *control, struct roger_str name,
			   struct rg_agent *ret_agent);

/* Store an agent, adding it if it is new.  Needs append_lock, and space. */
void rg_control_put_agent(struct rg_control *control, struct roger_str name,
			  const struct rg_agent *agent);

/* Iterate over agents, in no order: start with *i = 0; false at the end. */
struct rg_named_agent {
	char name[RG_NAME_CHARS_MAX];
	size_t length;
	struct rg_agent agent;
	bool wanted; /* it has the name that was looked for, which is not copied */
};
bool rg_control_next_agent(struct rg_control *control, size_t *i, struct rg_named_agent *ret_agent);

/* The counter of a hash, 0 if there is none.  Needs no lock. */
uint64_t rg_control_find_count(struct rg_control *control, uint64_t hash);

/* Store a counter.  Needs append_lock, and space if it is new. */
void rg_control_put_count(struct rg_control *control, uint64_t hash, uint64_t count);

/* The number of slots with a wrong checksum.  Needs append_lock. */
size_t rg_control_count_damaged(struct rg_control *control);

#endif
