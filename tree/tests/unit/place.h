/*
 * place - a workspace for one test: made, filled, looked at, taken away.
 */
#ifndef TEST_PLACE_H
#define TEST_PLACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <roger.h>

struct place {
	char root[64];
	char journal[128];
	char database[128]; /* messages.db, */
	char index[128];    /* and what decides */
};

static inline struct roger_str str(const char *text)
{
	return (struct roger_str){ text, strlen(text) };
}

static inline void place_make(struct place *place)
{
	struct roger_init_request request = { 0 };
	struct roger_init_reply reply;

	snprintf(place->root, sizeof place->root, "/tmp/roger-unit-XXXXXX");
	assert_non_null(mkdtemp(place->root));
	snprintf(place->journal, sizeof place->journal, "%s/.roger/messages.jsonl", place->root);
	snprintf(place->database, sizeof place->database, "%s/.roger/messages.db", place->root);
	snprintf(place->index, sizeof place->index, "%s/.roger/messages.db-index", place->root);
	request.path = str(place->root);
	assert_int_equal(roger_init(&request, &reply, NULL), ROGER_OK);
	roger_reply_free(&reply);
}

static inline void place_configure(const struct place *place, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/.roger/config.yaml", place->root);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static inline void place_remove(const struct place *place)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", place->root);
	assert_int_equal(system(command), 0);
}

static inline struct roger *place_open(const struct place *place)
{
	struct roger *roger = NULL;
	struct roger_err err;

	if (roger_open(place->root, &roger, &err) < 0)
		fail_msg("open: %s", err.message);
	return roger;
}

/* Send; returns the code, the id in id (64) where it is wanted. */
static inline int place_send(struct roger *roger, const char *from, const char *to,
			     const char *issue, const char *content, const char *key, char *id)
{
	struct roger_str recipient = str(to);
	struct roger_send_request request = { .from = str(from),
					      .to = { &recipient, 1 },
					      .content = str(content),
					      .issue = str(issue),
					      .key = str(key) };
	struct roger_send_reply reply;
	int r = roger_send(roger, &request, &reply, NULL);

	if (r == ROGER_OK) {
		if (id)
			snprintf(id, 64, "%s", reply.messages.items[0].id.data);
		roger_reply_free(&reply);
	}
	return r;
}

static inline void place_append(const struct place *place, const char *bytes, size_t length)
{
	FILE *file = fopen(place->journal, "a");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

#endif
