/*
 * process - the identity of a process, so that no later one with its id is taken for
 * it, and whether it still runs.
 *
 * A process is known by its id, the instant it was started, the boot and the pid
 * namespace.  One of another namespace cannot be looked at; one of another
 * boot is gone.
 */
#ifndef RG_PROCESS_H
#define RG_PROCESS_H

#include "base/arena.h"
#include "base/str.h"

/* The id of this boot, as text; "" where the system has none. */
enum { RG_BOOT_ID_BYTES = 40, RG_PROCESS_NAME_BYTES = 32 };
void rg_boot_id(char to[RG_BOOT_ID_BYTES]);

/* Begins the boot id of a process on another machine, which cannot be looked at and is not taken
 * for gone. */
#define RG_BOOT_ELSEWHERE "@"

struct rg_process {
	int64_t id;
	int64_t start; /* in ticks of the system since it was started; 0: unknown */
	int64_t space; /* as rg_file_own_namespace() numbers it; 0: unknown */
	char boot_id[RG_BOOT_ID_BYTES];
};

enum rg_process_fate {
	RG_PROCESS_UNKNOWN, /* it cannot be looked at from here */
	RG_PROCESS_LIVES,
	RG_PROCESS_GONE, /* or a zombie, which does nothing any more */
};

/* What /proc says of a process now. */
struct rg_process_look {
	char state;
	int64_t parent;
	long threads;
	int64_t start;
	char name[RG_PROCESS_NAME_BYTES]; /* printable ASCII, "?" for the rest */
};

/* False: it is not there, or may not be looked at. */
bool rg_process_look(int64_t id, struct rg_process_look *ret_look);

/* Are all its threads gone, while its parent has not waited for it yet? */
bool rg_process_is_zombie(const struct rg_process_look *look);

/* The identity of the process with this id in our namespace. */
void rg_process_find(int64_t id, struct rg_process *ret_process);

/* Who runs this process, for the record; "": not known, or no terminal. */
struct rg_ran {
	int64_t uid;
	char terminal[64];
	char parent[RG_PROCESS_NAME_BYTES]; /* the program that started it */
};
void rg_process_ran(struct rg_ran *ret_ran);

/*
 * Other processes, as far as they can be looked at, that have a file mapped; its
 * name is the end of the path.  Returns how many were put into ids, at most ids_max.
 */
size_t rg_process_find_mapping(uint64_t inode, const char *name, int64_t *ids, size_t ids_max);

/*
 * Read the name of a process, followed by the first words of its command line; and its
 * parent.  False: it cannot be looked at.
 */
bool rg_process_command(int64_t id, struct rg_arena *arena, struct roger_strs *ret_words,
			int64_t *ret_parent);

/* Read a variable that the process was started with; false: it is not set, does not fit, or the
 * process cannot be looked at. */
bool rg_process_variable(int64_t id, const char *name, char *to, size_t size);

/* Does a process of that id live, or one that cannot be told from it? */
bool rg_process_lives(int64_t id);

enum rg_process_fate rg_process_fate(const struct rg_process *process);

#endif
