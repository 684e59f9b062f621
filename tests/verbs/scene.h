/*
 * scene - a workspace for one scenario, on a store of which the rows know nothing.
 *
 * A store is a row of scene_stores[]: how it is opened, and how a line of its journal
 * of messages is damaged.  What rows do goes through roger.h; they never see a file
 * of a store.
 */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <roger.h>

#include "store/store.h"

struct scene {
	char root[128]; /* the workspace, and the current folder; "home" in it is HOME */
	struct roger *roger;
	const struct scene_store *store;
	struct roger *next; /* a handle of a second server, the follower; NULL: there is none */
};

struct scene_store {
	const char *name;
	rg_store_opener *open;
	/* Changes a letter in a line of the journal of messages, from 1; NULL: scenarios with
	 * damage are passed over. */
	void (*damage)(struct scene *scene, long line);
	/* Takes so many bytes off its end, or the lines that have them; NULL: nobody can. */
	void (*cut)(struct scene *scene, long bytes);
	const char *needs; /* only where this is in the environment */
	/* From now on what is kept is read where it is kept; NULL: it always is, or never. */
	void (*forget)(struct scene *scene);
	/* Another server comes, and follows; at the next call it leads in place of the first one.
	 * NULL: there is no server. */
	void (*follow)(struct scene *scene);
};
extern const struct scene_store scene_stores[]; /* ends with one without a name */

/* scene_postgres.c */
rg_store_opener scene_postgres_open;
void scene_postgres_damage(struct scene *scene, long line);
void scene_postgres_cut(struct scene *scene, long bytes);
void scene_postgres_forget(struct scene *scene);
void scene_postgres_follow(struct scene *scene);

void scene_open(struct scene *scene, const struct scene_store *store, const char *config);
/* Another handle of it, for another thread. */
struct roger *scene_handle(const struct scene *scene);

void scene_close(struct scene *scene);

/* A file of somebody else in the workspace's folder, such as a trigger file. */
void scene_outside(struct scene *scene, const char *name, struct roger_str text);

/* From now on it is so much later than it was. */
void scene_pass(int64_t ms);

#endif
