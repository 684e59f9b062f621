/*
 * where - which server ROGER_SERVER names, and the token for it.
 *
 * Neither is ever read from a workspace or a repository, whose writers could send a
 * token, or all mail, to a place of theirs.  A token belongs to one server.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/file.h"
#include "remote/remote.h"

enum { SERVERS_BYTES_MAX = 64 << 10 };
static const char servers_name[] = "servers";

/* ------------------------------------------------------------------- addresses -- */

static int expected(struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "ROGER_SERVER: expected https://HOST[:PORT][/PREFIX], http:// of this "
		       "machine alone, or unix:PATH");
}

static bool is_loopback(const char *host)
{
	struct in_addr address;

	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

/* The parts of a URL; NULL: it has none of that kind. */
struct parts {
	char *scheme, *host, *port, *path, *user, *password, *query, *fragment;
};

static void read_parts(CURLU *url, struct parts *parts)
{
	curl_url_get(url, CURLUPART_SCHEME, &parts->scheme, 0);
	curl_url_get(url, CURLUPART_HOST, &parts->host, 0);
	curl_url_get(url, CURLUPART_PORT, &parts->port, CURLU_DEFAULT_PORT);
	curl_url_get(url, CURLUPART_PATH, &parts->path, 0);
	curl_url_get(url, CURLUPART_USER, &parts->user, 0);
	curl_url_get(url, CURLUPART_PASSWORD, &parts->password, 0);
	curl_url_get(url, CURLUPART_QUERY, &parts->query, 0);
	curl_url_get(url, CURLUPART_FRAGMENT, &parts->fragment, 0);
}

static void free_parts(struct parts *parts)
{
	char *all[] = { parts->scheme, parts->host,	parts->port,  parts->path,
			parts->user,   parts->password, parts->query, parts->fragment };
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		curl_free(all[i]);
}

static bool is_server(const struct parts *parts)
{
	return parts->scheme && parts->host && parts->port && parts->path && !parts->user &&
	       !parts->password && !parts->query && !parts->fragment &&
	       (strcmp(parts->scheme, "https") == 0 ||
		(strcmp(parts->scheme, "http") == 0 && is_loopback(parts->host)));
}

/* The same server always has the same name. */
static bool print_name(const struct parts *parts, struct remote_place *place)
{
	size_t path = strlen(parts->path), i;
	int length;

	while (path && parts->path[path - 1] == '/')
		path--;
	length = snprintf(place->name, sizeof place->name, "%s://%s:%s%.*s", parts->scheme,
			  parts->host, parts->port, (int)path, parts->path);
	for (i = 0; i < strlen(parts->scheme) + 3 + strlen(parts->host); i++)
		place->name[i] = (char)tolower((unsigned char)place->name[i]);
	place->tls = strcmp(parts->scheme, "https") == 0;
	return length > 0 && (size_t)length < sizeof place->name;
}

static bool read_url(const char *text, struct remote_place *place)
{
	struct parts parts = { 0 };
	CURLU *url = strlen(text) < REMOTE_URL_BYTES ? curl_url() : NULL;
	bool good = false;

	if (url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK) {
		read_parts(url, &parts);
		good = is_server(&parts) && print_name(&parts, place);
	}
	free_parts(&parts);
	curl_url_cleanup(url);
	return good;
}

static bool read_place(const char *text, struct remote_place *place)
{
	const char *path = strncmp(text, "unix:", 5) == 0 ? text + 5 : NULL;

	if (!path)
		return read_url(text, place);
	snprintf(place->name, sizeof place->name, "%s", text);
	return path[0] == '/' && snprintf(place->socket, sizeof place->socket, "%s", path) <
					 (int)sizeof place->socket;
}

/* ---------------------------------------------------------------------- tokens -- */

/* What may stand in a header. */
static bool take_token(struct remote_place *place, struct roger_str token)
{
	size_t i;

	if (!token.length || token.length >= sizeof place->token)
		return false;
	for (i = 0; i < token.length; i++)
		if (token.data[i] <= ' ' || token.data[i] > '~')
			return false;
	memcpy(place->token, token.data, token.length);
	place->token[token.length] = '\0';
	return true;
}

/* "SERVER TOKEN": is it this server's? */
static bool is_of(const struct remote_place *place, const char *line)
{
	struct remote_place other = { 0 };
	char server[REMOTE_URL_BYTES];

	snprintf(server, sizeof server, "%.*s", (int)strcspn(line, " \t"), line);
	return read_place(server, &other) && strcmp(other.name, place->name) == 0;
}

static int find_token(struct remote_place *place, char *text, struct roger_err *err)
{
	char *line, *rest = text, *token;

	while ((line = strsep(&rest, "\n"))) {
		token = line + strcspn(line, " \t");
		token += strspn(token, " \t");
		if (*line == '#' || !is_of(place, line))
			continue;
		token[strcspn(token, " \t\r")] = '\0';
		if (take_token(place, rg_str(token)))
			return ROGER_OK;
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "the file '%s' in the folder of roger's settings: expected SERVER "
			       "TOKEN in a line",
			       servers_name);
	}
	return ROGER_OK;
}

static bool config_folder(char to[4096])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && config[0] == '/')
		return snprintf(to, 4096, "%s/roger", config) < 4096;
	return home && home[0] == '/' && snprintf(to, 4096, "%s/.config/roger", home) < 4096;
}

/* A file that others may read has told them its tokens. */
static int check_file(int folder, const char *path, struct roger_err *err)
{
	struct rg_file_facts facts = { 0 };
	struct rg_file_look look;
	bool there = false;
	int r = rg_file_examine(folder, servers_name, &look, err);

	if (r == ROGER_OK && look.kind != RG_FILE_NONE)
		r = rg_file_look(folder, servers_name, &there, &facts, err);
	if (r < 0 || !there)
		return r;
	if (look.open_to_others || facts.owner != (int64_t)geteuid())
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%s/%s' is not a file that is yours alone; expected mode 0600",
			       path, servers_name);
	return ROGER_OK;
}

static int read_servers(struct remote_place *place, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SERVERS_BYTES_MAX };
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char path[4096];
	bool found = false;
	int r;

	if (!config_folder(path))
		return ROGER_OK;
	r = rg_file_open_folder(AT_FDCWD, path, &folder, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	r = check_file(folder, path, err);
	if (r == ROGER_OK)
		r = rg_file_read_all_at(folder, servers_name, SERVERS_BYTES_MAX - 1, &text, &found,
					err);
	if (r < 0 || !found)
		return r;
	rg_buf_add_char(&text, '\0');
	return text.failed ? rg_fail_memory(err) : find_token(place, text.data, err);
}

int remote_find(struct remote_place *ret_place, struct roger_err *err)
{
	const char *server = getenv("ROGER_SERVER"), *token = getenv("ROGER_TOKEN");

	*ret_place = (struct remote_place){ 0 };
	if (!server || !read_place(server, ret_place))
		return expected(err);
	if (!token || !*token)
		return read_servers(ret_place, err);
	return take_token(ret_place, rg_str(token))
		       ? ROGER_OK
		       : rg_fail(err, ROGER_ECONFIG, 0,
				 "ROGER_TOKEN: expected a token, as `roger "
				 "token new` shows it");
}
