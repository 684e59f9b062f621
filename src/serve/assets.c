/* The page: its files, which are in the program, and index.html for each of its views. */
#include <event2/buffer.h>
#include <stdio.h>

#include "cli/input.h"
#include "serve/serve.h"

enum { ASSET_BYTES_MAX = 1 << 20 };

/*
 * Made by script/embed: the hash of all files; then for each its name, two lengths, its bytes, and
 * these compressed; an empty name ends the list.  Names and hash end with a NUL.
 */
extern const char serve_assets[];

struct asset {
	const char *name;
	struct roger_str plain, packed; /* packed: compressed; "": it is not */
};

static uint32_t read_length(const char *at)
{
	uint32_t length;

	memcpy(&length, at, sizeof length);
	return length;
}

static bool find_embedded(const char *name, struct asset *ret)
{
	const char *at = serve_assets + strlen(serve_assets) + 1;

	for (; *at; at = ret->packed.data + ret->packed.length) {
		ret->name = at;
		at += strlen(at) + 1;
		ret->plain = (struct roger_str){ at + 8, read_length(at) };
		ret->packed = (struct roger_str){ at + 8 + ret->plain.length, read_length(at + 4) };
		if (strcmp(ret->name, name) == 0)
			return true;
	}
	return false;
}

/* Read a file from --assets, as it is now; bytes is to be freed. */
static bool read_asset(const char *folder, const char *name, struct rg_buf *bytes,
		       struct asset *ret)
{
	char path[4096];

	if (!*name || *name == '.' || strchr(name, '/'))
		return false;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	*ret = (struct asset){ .name = name };
	if (cli_read_input(path, "assets", ASSET_BYTES_MAX, bytes, NULL) < 0)
		return false;
	ret->plain = rg_buf_str(bytes);
	return true;
}

static const char *type_of(const char *name)
{
	static const struct {
		const char *ending, *type;
	} types[] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".css", "text/css; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
		{ ".svg", "image/svg+xml" },
	};
	const char *ending = strrchr(name, '.');
	size_t i;

	for (i = 0; ending && i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].ending, ending) == 0)
			return types[i].type;
	return "application/octet-stream";
}

/* Tell the browser what the page may do. */
static void set_policy(struct evhttp_request *request)
{
	serve_set_header(request, "Content-Security-Policy",
			 "default-src 'none'; script-src 'self'; style-src 'self'; "
			 "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; "
			 "frame-ancestors 'none'; require-trusted-types-for 'script'; "
			 "trusted-types 'none'");
	serve_set_header(request, "Referrer-Policy", "no-referrer");
	serve_set_header(request, "Cross-Origin-Opener-Policy", "same-origin");
}

/* Does the client take gzip, and not with q=0? */
static bool takes_gzip(struct evhttp_request *request)
{
	const char *said = serve_header(request, "Accept-Encoding");
	const char *found = said ? strstr(said, "gzip") : NULL;

	return found && strncmp(found + 4, ";q=0", 4) != 0;
}

static void send_asset(struct evhttp_request *request, const struct asset *asset, bool lasts)
{
	bool packed = asset->packed.length && takes_gzip(request);
	struct roger_str bytes = packed ? asset->packed : asset->plain;

	evbuffer_add(evhttp_request_get_output_buffer(request), bytes.data, bytes.length);
	serve_set_header(request, "Content-Type", type_of(asset->name));
	serve_set_header(request, "X-Content-Type-Options", "nosniff");
	serve_set_header(request, "Cache-Control",
			 lasts ? "public, max-age=31536000, immutable" : "no-store");
	serve_set_header(request, "Vary", "Accept-Encoding");
	if (packed)
		serve_set_header(request, "Content-Encoding", "gzip");
	set_policy(request);
	serve_reply(request, 200);
}

static bool send_named(const struct serve *serve, struct evhttp_request *request, const char *name,
		       bool lasts)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf bytes = { .maximum = ASSET_BYTES_MAX };
	struct roger_str folder = serve->options->assets;
	struct asset asset;
	bool found;

	/* Files that are made while roger is built are not in that folder. */
	found = (folder.length && read_asset(folder.data, name, &bytes, &asset)) ||
		find_embedded(name, &asset);
	if (found)
		send_asset(request, &asset, lasts && !folder.length);
	return found;
}

/* The first part of the path names a view: "/inbox/bob" is of "inbox", "/" of the first one. */
static bool is_view(const char *path)
{
	static const char *const views[] = { "",	"inbox", "timeline", "message", "thread",
					     "threads", "runs",	 "dead",     "list",	"activity",
					     "status",	"send",	 "verb" };
	size_t length = *path == '/' ? strcspn(path + 1, "/") : 0, i;

	for (i = 0; *path == '/' && i < sizeof views / sizeof *views; i++)
		if (length == strlen(views[i]) && strncmp(path + 1, views[i], length) == 0)
			return true;
	return false;
}

/* The name in "/assets/HASH/NAME"; NULL: the hash is not that of these files. */
static const char *name_in(const struct serve *serve, const char *path)
{
	const char *hash = path + strlen("/assets/"), *slash;

	if (strncmp(path, "/assets/", strlen("/assets/")) != 0)
		return NULL;
	slash = strchr(hash, '/');
	if (!slash)
		return NULL;
	if (!serve->options->assets.length &&
	    !rg_str_is((struct roger_str){ hash, (size_t)(slash - hash) }, serve_assets))
		return NULL;
	return slash + 1;
}

bool serve_on_page(struct serve *serve, struct evhttp_request *request, const char *path)
{
	const char *name = name_in(serve, path);

	if (name)
		return send_named(serve, request, name, true);
	return is_view(path) && send_named(serve, request, "index.html", false);
}
