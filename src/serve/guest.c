/*
 * guest - further workspaces of one server.
 *
 * Each has its journals, keys, tokens, threads, chores and unix socket as if it had a server of its
 * own; the loop and the TCP port are the host's, where it is at /w/NAME.  The clock is one
 * for a process, so all are files, or all are of one database.
 */
#include <stdio.h>
#include <stdlib.h>

#include "data/record.h"
#include "serve/serve.h"

static struct roger_str store_of(const struct roger_config_reply *config)
{
	size_t i;

	for (i = 0; i < config->settings.count; i++)
		if (rg_str_is(config->settings.items[i].key, "store"))
			return config->settings.items[i].value;
	return RG_STR("");
}

/* Split "NAME=FOLDER"; folder has 4096 bytes. */
static int split_option(struct serve *guest, struct roger_str text, char *folder,
			struct roger_err *err)
{
	const char *equals = memchr(text.data, '=', text.length);
	const struct serve *other;

	guest->name = (struct roger_str){ text.data, equals ? (size_t)(equals - text.data) : 0 };
	if (!equals || !rg_name_valid(guest->name) ||
	    strcspn(text.data, "/%?#") < guest->name.length || text.length >= 4096 ||
	    text.data + text.length == equals + 1)
		return rg_fail_member(err, ROGER_EDATA, "also",
				      "also: expected NAME=FOLDER, such as team-b=/srv/team-b");
	for (other = guest->host->guests; other; other = other->next_guest)
		if (rg_str_equal(other->name, guest->name))
			return rg_fail_member(err, ROGER_EDATA, "also",
					      "also: '%.*s' is there twice",
					      RG_STR_ARGS(guest->name));
	snprintf(folder, 4096, "%.*s", (int)(text.data + text.length - equals - 1), equals + 1);
	return ROGER_OK;
}

/* Is the guest's store in files, as the host's, or in the same database? */
static int check_store(const struct serve *guest, struct roger_str host, struct roger_err *err)
{
	const struct roger_str own = store_of(&guest->config);
	const char *cut = host.length ? memchr(host.data, '#', host.length) : NULL;
	const size_t length = cut ? (size_t)(cut - host.data) : host.length;

	if (own.length && rg_str_equal(own, host))
		return rg_fail_member(err, ROGER_EUSAGE, "also",
				      "also: '%.*s' has the same store as the workspace of this "
				      "server; leave ROGER_STORE unset, and name each in its "
				      "config.yaml",
				      RG_STR_ARGS(guest->name));
	if (own.length >= length && memcmp(own.data, host.data, length) == 0 &&
	    (own.length == length || (length && own.data[length] == '#')))
		return ROGER_OK;
	return rg_fail_member(
		err, ROGER_EUSAGE, "also",
		"also: '%.*s' has its journals elsewhere; one server is for files, or "
		"for one database",
		RG_STR_ARGS(guest->name));
}

static int open_guest(struct serve *guest, struct roger_str text,
		      const struct roger_config_reply *host, struct roger_err *err)
{
	const struct roger_empty_request request = { 0 };
	const struct serve *other;
	bool twice = false;
	char folder[4096];
	int r = split_option(guest, text, folder, err);

	if (r == ROGER_OK)
		r = roger_open(folder, &guest->roger, err);
	if (r == ROGER_OK)
		r = roger_config(guest->roger, &request, &guest->config, err);
	if (r == ROGER_OK)
		r = check_store(guest, store_of(host), err);
	if (r < 0)
		return r;
	for (other = guest->host->guests; other; other = other->next_guest)
		twice |= strcmp(other->workspace, guest->config.workspace.data) == 0;
	if (twice || strcmp(guest->host->workspace, guest->config.workspace.data) == 0 ||
	    !roger_hold(guest->roger, "serve"))
		return rg_fail(err, ROGER_ETIMEOUT, 0, "'%s' has a server already", folder);
	guest->workspace = guest->config.workspace.data;
	guest->keeps_answers = rg_keeps_answers(guest->roger);
	r = serve_prepare(guest, err);
	return r < 0 ? r : serve_listen_local(guest, guest->workspace, err);
}

int serve_guests_open(struct serve *host, const struct roger_config_reply *config,
		      struct roger_err *err)
{
	const struct roger_strs *also = &host->options->also;
	struct serve *guest, **last = &host->guests;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < also->count && r == ROGER_OK; i++) {
		guest = calloc(1, sizeof *guest);
		if (!guest)
			return rg_fail_memory(err);
		guest->host = host;
		guest->base = host->base;
		guest->hosts = host->hosts;
		guest->wake = -1;
		guest->began_ms = host->began_ms;
		guest->own_options.behind_proxy = host->options->behind_proxy;
		guest->options = &guest->own_options;
		guest->gate.serve = guest;
		r = open_guest(guest, also->items[i], config, err);
		*last = guest;
		last = &guest->next_guest;
	}
	return r;
}

struct serve_door *serve_guest_door(struct serve_door *door, const char **path)
{
	const char *name = *path + strlen("/w/");
	const size_t length = strncmp(*path, "/w/", 3) == 0 ? strcspn(name, "/") : 0;
	struct serve *guest;

	if (!length || door->local)
		return door;
	for (guest = door->serve->guests; guest; guest = guest->next_guest)
		if (guest->name.length == length && memcmp(guest->name.data, name, length) == 0) {
			*path = name + length;
			return &guest->gate;
		}
	return NULL;
}
