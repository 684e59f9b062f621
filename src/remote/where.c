/*
 * where - which servers ROGER_SERVER names, and the token for each.
 *
 * Servers and tokens are never read from a workspace or a repository: who writes there could send
 * a token, or all mail, to a place of their own.  A token belongs to one server.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/file.h"
#include "remote/remote.h"

enum { SERVERS_BYTES_MAX = 64 << 10 };
static const char servers_name[] = "servers";

/* ------------------------------------------------------------------- addresses -- */

static int fail_expected(struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "ROGER_SERVER: expected https://HOST[:PORT][/PREFIX], http:// of this "
		       "machine alone, or unix:PATH of 107 bytes at most; several with commas");
}

static bool is_loopback(const char *host)
{
	struct in_addr address;

	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

/* Take a part of an address, up to one of ends after `skip`; false: it is empty, or too long. */
static bool take_part(const char **at, size_t skip, const char *ends, char *to, size_t room)
{
	const size_t length = skip + strcspn(*at + skip, ends);

	if (!length || length >= room)
		return false;
	memcpy(to, *at, length);
	to[length] = '\0';
	*at += length;
	return true;
}

static bool is_host(const char *host)
{
	const size_t length = strlen(host);

	if (host[0] == '[')
		return length > 3 && host[length - 1] == ']' &&
		       strspn(host + 1, "0123456789abcdef:.") == length - 2;
	return strspn(host, "0123456789abcdefghijklmnopqrstuvwxyz-._") == length;
}

/* A path without a query, a fragment, or anything that can be read in two ways. */
static bool is_path(const char *path)
{
	for (; *path; path++)
		if (*path <= ' ' || *path > '~' || strchr("?#\\", *path))
			return false;
	return true;
}

/* Read a URL.  The same server always gets the same name. */
static bool read_url(const char *text, struct remote_place *place)
{
	char scheme[8], *letter;
	const char *at = text;
	size_t path;
	int length;

	if (!take_part(&at, 0, ":", scheme, sizeof scheme) || strncmp(at, "://", 3) != 0)
		return false;
	at += 3;
	place->tls = strcasecmp(scheme, "https") == 0;
	if (!place->tls && strcasecmp(scheme, "http") != 0)
		return false;
	/* The colons of an address in brackets are its own. */
	if (!take_part(&at, *at == '[' ? strcspn(at, "]") : 0, ":/?#", place->host,
		       sizeof place->host))
		return false;
	for (letter = place->host; *letter; letter++)
		*letter = (char)tolower((unsigned char)*letter);
	snprintf(place->port, sizeof place->port, "%s", place->tls ? "443" : "80");
	if (*at == ':') {
		at++;
		if (!take_part(&at, 0, "/?#", place->port, sizeof place->port))
			return false;
	}
	path = strlen(at);
	while (path && at[path - 1] == '/')
		path--;
	if (!is_host(place->host) || strspn(place->port, "0123456789") != strlen(place->port) ||
	    atoi(place->port) > 65535 || !is_path(at) || path >= sizeof place->path ||
	    (!place->tls && !is_loopback(place->host)))
		return false;
	memcpy(place->path, at, path);
	length = snprintf(place->name, sizeof place->name, "%s://%s:%d%s",
			  place->tls ? "https" : "http", place->host, atoi(place->port),
			  place->path);
	return length > 0 && (size_t)length < sizeof place->name;
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

/* Keep the token, if it may stand in a header. */
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

/* Is the line "SERVER TOKEN" for this server? */
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

/* The file must not be open to others, who would know its tokens. */
static int read_servers(struct remote_place *place, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SERVERS_BYTES_MAX };
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	struct rg_file_facts facts;
	char path[4096], shown[4200];
	int r;

	if (!config_folder(path))
		return ROGER_OK;
	r = rg_file_open_folder(AT_FDCWD, path, &folder, err);
	if (r < 0 || folder == RG_NO_FILE)
		return r;
	snprintf(shown, sizeof shown, "%s/%s", path, servers_name);
	r = rg_file_read_own(folder, servers_name, shown, SERVERS_BYTES_MAX - 1, &text, &facts,
			     err);
	if (r < 0)
		return r;
	rg_buf_add_char(&text, '\0');
	return text.failed ? rg_fail_memory(err)
			   : find_token(place, text.data + rg_str_mark(rg_buf_str(&text)), err);
}

static int find_place(struct remote *remote, struct roger_str text, struct roger_err *err)
{
	const char *token = getenv("ROGER_TOKEN");
	struct remote_place *place = &remote->places[remote->place_count];
	char server[REMOTE_URL_BYTES];

	if (text.length >= sizeof server || remote->place_count == REMOTE_PLACES_MAX)
		return fail_expected(err);
	snprintf(server, sizeof server, "%.*s", RG_STR_ARGS(text));
	*place = (struct remote_place){ 0 };
	if (!read_place(server, place))
		return fail_expected(err);
	remote->place_count++;
	if (!token || !*token)
		return read_servers(place, err);
	return take_token(place, rg_str(token))
		       ? ROGER_OK
		       : rg_fail(err, ROGER_ECONFIG, 0,
				 "ROGER_TOKEN: expected a token, as `roger "
				 "token new` shows it");
}

/* ROGER_SERVER names one server, or several of one workspace with a comma between them. */
int remote_find(struct remote *remote, struct roger_err *err)
{
	const char *at = getenv("ROGER_SERVER");
	size_t length;
	int r = at && *at ? ROGER_OK : fail_expected(err);

	while (r == ROGER_OK && *at) {
		length = strcspn(at, ",");
		r = find_place(remote, (struct roger_str){ at, length }, err);
		at += length + (at[length] == ',');
	}
	return r;
}
