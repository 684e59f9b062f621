#include "scene.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/memory/memory.h"

/* ------------------------------------------------------------------ time -- */

static int64_t passed_ms;

/* tests/meson.build links every call of rg_clock_ms() to this. */
int64_t __real_rg_clock_ms(void);
int64_t __wrap_rg_clock_ms(void);

int64_t __wrap_rg_clock_ms(void)
{
	return __real_rg_clock_ms() + passed_ms;
}

void scene_pass(int64_t ms)
{
	passed_ms += ms;
}

/* ----------------------------------------------------------------- files -- */

static void write_file(const char *path, const char *text, size_t length)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, length), length);
	close(file);
}

void scene_outside(struct scene *scene, const char *name, struct roger_str text)
{
	char path[512], *slash;

	for (slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof path, "%s/%.*s", scene->root, (int)(slash - name), name);
		mkdir(path, 0700);
	}
	snprintf(path, sizeof path, "%s/%s", scene->root, name);
	write_file(path, text.data, text.length);
}

/* ---------------------------------------------------------------- stores -- */

static void make_workspace(struct scene *scene, const char *config)
{
	const struct roger_init_request request = { .path = rg_str(scene->root) };
	struct roger_init_reply reply;

	assert_int_equal(roger_init(&request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
	if (config)
		scene_outside(scene, ".roger/config.yaml", rg_str(config));
}

static void file_damage(struct scene *scene, long line)
{
	char path[256], *text = NULL, *place;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof path, "%s/.roger/messages.jsonl", scene->root);
	file = fopen(path, "r+");
	assert_non_null(file);
	while (line-- > 0)
		assert_true(getline(&text, &room, file) > 0);
	place = strstr(text, "\"content\":\"");
	assert_non_null(place);
	fseek(file, (place - text) + 11 - (long)strlen(text), SEEK_CUR);
	fputc('~', file);
	fclose(file);
	free(text);
}

static void file_cut(struct scene *scene, long bytes)
{
	char path[256];
	struct stat facts;

	snprintf(path, sizeof path, "%s/.roger/messages.jsonl", scene->root);
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(truncate(path, facts.st_size - bytes), 0);
}

static void memory_damage(struct scene *scene, long line)
{
	char path[256], *text;

	snprintf(path, sizeof path, "%s/.roger", scene->root);
	text = rg_memory_store_text(path);
	assert_non_null(text);
	while (--line > 0)
		text = strchr(text, '\n') + 1;
	text = strstr(text, "\"content\":\"");
	assert_non_null(text);
	text[11] = '~';
}

const struct scene_store scene_stores[] = {
	{ "file", rg_file_store_open, file_damage, file_cut },
	{ "memory", rg_memory_store_open, memory_damage },
#ifdef SCENE_POSTGRES
	{ "postgres", scene_postgres_open, scene_postgres_damage, scene_postgres_cut,
	  "TEST_POSTGRES", scene_postgres_forget, scene_postgres_follow },
#endif
	{ NULL, NULL, NULL },
};

/* ----------------------------------------------------------------- scene -- */

struct roger *scene_handle(const struct scene *scene)
{
	struct roger *roger = NULL;
	struct roger_err err;

	if (roger_open(scene->root, &roger, &err) < 0)
		fail_msg("open: %s", err.message);
	return roger;
}

void scene_open(struct scene *scene, const struct scene_store *store, const char *config)
{
	/* In memory: syncs are what most time would go into, and nothing here needs them. */
	const char *top = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
	char home[256], path[256];

	snprintf(scene->root, sizeof scene->root, "%s/roger-verbs.XXXXXX", top ? top : "/tmp");
	assert_non_null(mkdtemp(scene->root));
	snprintf(home, sizeof home, "%s/home", scene->root);
	assert_int_equal(mkdir(home, 0700), 0);
	assert_int_equal(setenv("HOME", home, 1), 0);
	assert_int_equal(chdir(scene->root), 0);
	/* What setup names in tools' settings, and doctor tries. */
	scene_outside(scene, "bin/roger", RG_STR("exit 1\n"));
	assert_int_equal(chmod("bin/roger", 0700), 0);
	snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", scene->root);
	assert_int_equal(setenv("PATH", path, 1), 0);
	passed_ms = 0;
	scene->store = store;
	rg_store_open = store->open;
	make_workspace(scene, config);
	scene->roger = scene_handle(scene);
}

static int drop(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
	(void)facts;
	(void)kind;
	(void)walk;
	return remove(path);
}

void scene_close(struct scene *scene)
{
	scene->next = roger_close(scene->next);
	scene->roger = roger_close(scene->roger);
	if (scene->root[0])
		nftw(scene->root, drop, 16, FTW_DEPTH | FTW_PHYS);
	scene->root[0] = '\0';
}
