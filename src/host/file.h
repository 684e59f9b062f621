/*
 * file - the only place that opens, reads, writes, syncs and renames files.
 *
 * Files are reached through the descriptor of their folder and never through
 * a symbolic link; new ones are 0600, new folders 0700.  Interrupted calls are
 * taken up again; a short write is finished or is an error.
 */
#ifndef RG_FILE_H
#define RG_FILE_H

#include "base/arena.h"

#define RG_NO_FILE (-1)

enum rg_file_way {
	RG_FILE_READ,
	RG_FILE_CHANGE,	       /* read and write, must be there */
	RG_FILE_APPEND,	       /* read and append, must be there */
	RG_FILE_CREATE_APPEND, /* read and append, made when missing */
	RG_FILE_CREATE_NEW,    /* read and write, must not be there */
};

enum rg_file_kind { RG_FILE_NONE, RG_FILE_REGULAR, RG_FILE_FOLDER, RG_FILE_LINK, RG_FILE_OTHER };

struct rg_file_facts {
	uint64_t device;
	uint64_t inode;
	int64_t size;
	int64_t changed_ms;   /* since 1970: when anything of it last changed, by the system's clock
			       */
	int64_t written_ns;   /* since 1970: when its text last changed */
	int64_t owner;	      /* user id */
	int64_t links;	      /* names that lead to it */
	bool open_to_writers; /* its group or anybody may write it */
	bool open_to_others;  /* or use it in any other way */
	bool open_to_owner;   /* its owner may read it */
	enum rg_file_kind kind;
};

/* Open a regular file.  *ret_file is RG_NO_FILE, and the result ROGER_OK, when it is not there. */
RG_CHECKED int rg_file_open(int folder, const char *name, enum rg_file_way way, int *ret_file,
			    struct roger_err *err);
/* Like rg_file_open(), with the facts of the file. */
RG_CHECKED int rg_file_open_facts(int folder, const char *name, enum rg_file_way way, int *ret_file,
				  struct rg_file_facts *ret_facts, struct roger_err *err);
int rg_file_close(int file);
void rg_file_closep(int *file);

/* Open a folder; path may be absolute; RG_NO_FILE when it is not there. */
RG_CHECKED int rg_file_open_folder(int folder, const char *path, int *ret_folder,
				   struct roger_err *err);

/* Make a folder, and sync its parent; *ret_made (unless NULL) is false for one that is there. */
RG_CHECKED int rg_file_make_folder(int folder, const char *name, bool *ret_made,
				   struct roger_err *err);

/* Open a folder, which is made where it is missing. */
RG_CHECKED int rg_file_open_made_folder(int folder, const char *name, int *ret_folder,
					struct roger_err *err);

/*
 * Open a folder below another one step by step, so that no link is followed.  make: make missing
 * folders; else *ret_folder is RG_NO_FILE where one is missing.
 */
RG_CHECKED int rg_file_open_below(int folder, const char *path, bool make, int *ret_folder,
				  struct roger_err *err);

RG_CHECKED int rg_file_facts(int file, const char *name, struct rg_file_facts *ret_facts,
			     struct roger_err *err);

/* Like rg_file_facts(), by name; RG_FILE_NONE: it is not there.  ROGER_EREFUSED when it is not a
 * regular file. */
RG_CHECKED int rg_file_look(int folder, const char *name, struct rg_file_facts *ret_facts,
			    struct roger_err *err);

/* The facts of anything that has this name. */
RG_CHECKED int rg_file_examine(int folder, const char *name, struct rg_file_facts *ret_facts,
			       struct roger_err *err);
/* Only its kind; RG_FILE_NONE also where it cannot be looked at. */
enum rg_file_kind rg_file_kind(int folder, const char *name);

/* Make a file 0600, or a folder 0700; never through a symbolic link. */
RG_CHECKED int rg_file_close_to_others(int folder, const char *name, struct roger_err *err);

/* Is the disk of an open file almost full? */
bool rg_file_is_tight(int file);

/* The length of an open file, by seeking to its end; cheaper than rg_file_facts(). */
RG_CHECKED int rg_file_size(int file, const char *name, uint64_t *ret_size, struct roger_err *err);

/* Is there anything of that name? */
bool rg_file_is_there(int folder, const char *name);

/* Is the file of that name still this one? */
bool rg_file_is(int folder, const char *name, uint64_t device, uint64_t inode);

/* The user id of the owner of a path; false: unknown. */
bool rg_file_owner(const char *path, int64_t *ret_owner);

/* The inode number of what a path leads to; 0: unknown. */
uint64_t rg_file_inode(const char *path);

/* Read a whole file into out; ret_found NULL: a missing file is empty. */
RG_CHECKED int rg_file_read_all(int folder, const char *name, size_t bytes_max, struct rg_buf *out,
				bool *ret_found, struct roger_err *err);
/* Read a whole file into arena; the text's data is NULL if the file is missing. */
RG_CHECKED int rg_file_read_text(int folder, const char *name, size_t bytes_max,
				 struct rg_arena *arena, struct roger_str *ret_text,
				 struct roger_err *err);
/* Like rg_file_read_all(), of a file with secrets: ROGER_EREFUSED, with the name shown, if it is
 * not this user's alone.  Its facts say whether it is there. */
RG_CHECKED int rg_file_read_own(int folder, const char *name, const char *shown, size_t bytes_max,
				struct rg_buf *out, struct rg_file_facts *ret_facts,
				struct roger_err *err);

/*
 * Read the first lines of a small file of ours, each ending with a newline, into text (size bytes),
 * as C strings.  False: it is missing, cannot be read, or has fewer lines.
 */
RG_CHECKED bool rg_file_read_lines(int folder, const char *name, char *text, size_t size,
				   struct roger_str *lines, size_t count,
				   struct rg_file_facts *ret_facts);

/* Read the first bytes of a regular file, by path. */
RG_CHECKED int rg_file_read_first(const char *path, size_t bytes_max, struct rg_buf *out,
				  struct rg_file_facts *ret_facts, bool *ret_found,
				  struct roger_err *err);

/* Read with one system call: fewer bytes than length nearly always mean the end of the file. */
RG_CHECKED int rg_file_read_some(int file, void *to, size_t length, int64_t offset,
				 size_t *ret_length, struct roger_err *err);

/* Read length bytes from offset; fewer only at the end of the file. */
RG_CHECKED int rg_file_read_at(int file, void *to, size_t length, int64_t offset,
			       size_t *ret_length, struct roger_err *err);

/* Write all of it, at the end of an append-only descriptor, else at its offset. */
RG_CHECKED int rg_file_write(int file, const void *data, size_t length, const char *name,
			     struct roger_err *err);

/* The offset of a descriptor: after a write, the end of what was written. */
RG_CHECKED int rg_file_tell(int file, const char *name, uint64_t *ret_offset,
			    struct roger_err *err);

/* fdatasync; a failure is final for what was not yet on disk. */
RG_CHECKED int rg_file_sync(int file, const char *name, struct roger_err *err);

/* Make names in a folder durable. */
RG_CHECKED int rg_file_sync_folder(int folder, const char *name, struct roger_err *err);

/* A number for where this process's id and start time are valid: its pid namespace, combined with
 * its time namespace unless that is the first one; 0: unknown. */
uint64_t rg_file_own_namespace(void);

/*
 * The name of a file that will be renamed to `name`: NAME.new-SPACE-PID, used by this process
 * alone, even where containers have processes with the same id.  A file that a killed process left
 * is replaced by the next process with its id.
 */
enum { RG_SPARE_BYTES = 256 };
void rg_file_spare(const char *name, char to[RG_SPARE_BYTES]);

/*
 * Replace a document by a rename.  durable: sync it and its folder.  On an error the
 * old one stays whole.
 */
RG_CHECKED int rg_file_replace(int folder, const char *name, struct roger_str text, bool durable,
			       struct roger_err *err);

/* Rename a file; a file that has the new name is replaced.  durable: its folder is synced. */
RG_CHECKED int rg_file_rename(int folder, const char *from, const char *to, bool durable,
			      struct roger_err *err);

/*
 * Move a file to a name that nothing has, in another folder of the same file
 * system; *ret_moved false: it is gone.  To be durable, both folders must be synced.
 */
RG_CHECKED int rg_file_move(int from_folder, const char *from, int to_folder, const char *to,
			    bool *ret_moved, struct roger_err *err);

/*
 * Does any process have the file open for writing?  file is open for reading only.
 * Only the file's owner can ask, on most file systems.
 */
enum rg_file_writers { RG_FILE_NO_WRITER, RG_FILE_WRITER, RG_FILE_UNTOLD };
enum rg_file_writers rg_file_writers(int file);

/* Remove a file; one that is not there is fine. */
RG_CHECKED int rg_file_remove(int folder, const char *name, struct roger_err *err);

/* Remove a folder without anything in it; best effort. */
void rg_file_remove_folder(int folder, const char *name);

/* Every name in a folder but . and .., in no order; memory from arena. */
RG_CHECKED int rg_file_list_folder(int folder, const char *name, struct rg_arena *arena,
				   struct roger_strs *ret_names, struct roger_err *err);

/* Open /dev/null. */
RG_CHECKED int rg_file_open_nowhere(int *ret_file, struct roger_err *err);

/*
 * Open what a descriptor leads to a second time, for non-blocking writes; RG_NO_FILE
 * where that is not possible.
 */
int rg_file_open_unwaiting(int descriptor);

/* Give a descriptor a number beyond those of the standard streams; *file changes. */
RG_CHECKED int rg_file_move_up(int *file, struct roger_err *err);

/*
 * Lock an open file exclusively with flock(); the lock ends with the descriptor.
 * ROGER_ETIMEOUT when another holds it longer than wait_ms.
 */
RG_CHECKED int rg_file_lock(int file, const char *name, int64_t wait_ms, struct roger_err *err);
void rg_file_unlock(int file);

/*
 * Lock one byte of a file open for writing, without waiting; the lock ends with the
 * descriptor.  *ret_locked false: another process has it.
 */
RG_CHECKED int rg_file_lock_byte(int file, int64_t byte, const char *name, bool *ret_locked,
				 struct roger_err *err);
void rg_file_unlock_byte(int file, int64_t byte);

/* Has somebody else, in whatever pid namespace, one of these bytes locked? */
bool rg_file_bytes_locked(int file, int64_t from, int64_t count);

/* Map a file's first size bytes, shared and writable; with ROGER_OK, *ret_map is never NULL.
 */
RG_CHECKED int rg_file_map(int file, size_t size, const char *name, void **ret_map,
			   struct roger_err *err);
/* Replace a map by memory filled with zeros, when its file may have become too short for it. */
bool rg_file_map_zeros(void *map, size_t size);
void rg_file_unmap(void *map, size_t size);

#endif
