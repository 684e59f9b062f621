/* Tools, resources, templates and prompts: adding, finding and listing them. */
#include <stdlib.h>

#include "base/limits.h"
#include "mcp.h"
#include "schema.h"

/* -------------------------------------------------------------- items -- */

void rg_mcp_item_release_locked(struct rg_mcp_item *item)
{
	char **name;

	if (!item || --item->users > 0)
		return;
	for (name = item->required; name && *name; name++)
		free(*name);
	free(item->required);
	free(item->key);
	free(item->listed);
	free(item->mime_type);
	rg_json_free(item->input_schema);
	rg_json_free(item->output_schema);
	free(item);
}

void rg_mcp_catalogue_free(struct roger_mcp_server *server)
{
	struct rg_mcp_item *item, *next;
	int kind;

	for (kind = 0; kind < RG_MCP_KINDS; kind++)
		for (item = server->items[kind]; item; item = next) {
			next = item->next;
			rg_mcp_item_release_locked(item);
		}
}

struct rg_mcp_item *rg_mcp_find_locked(struct roger_mcp_server *server, enum rg_mcp_kind kind,
				       struct roger_str key)
{
	struct rg_mcp_item *item;

	for (item = server->items[kind]; item; item = item->next)
		if (rg_str_is(key, item->key))
			return item;
	return NULL;
}

struct rg_mcp_item *rg_mcp_find_uri_locked(struct roger_mcp_server *server, struct roger_str uri,
					   struct rg_arena *arena, struct rg_uri_names *names)
{
	struct rg_mcp_item *item = rg_mcp_find_locked(server, RG_MCP_RESOURCES, uri);

	names->count = 0;
	if (item)
		return item;
	for (item = server->items[RG_MCP_TEMPLATES]; item; item = item->next)
		if (rg_uri_match(rg_str(item->key), uri, arena, names))
			return item;
	names->count = 0;
	return NULL;
}

/* ------------------------------------------------------------- adding -- */

/* Add a member that is JSON already, on one line. */
static int put_own_json(struct rg_buf *out, const char *key, const char *json,
			enum rg_json_kind kind, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_err inner = { 0 };

	if (!json)
		return ROGER_OK;
	if (rg_mcp_compact(json, kind, &text, &inner) < 0)
		return rg_fail(err, ROGER_EDATA, 0, "'%s': %s", key, inner.message);
	rg_mcp_put_json(out, key, rg_buf_str(&text));
	return ROGER_OK;
}

/* Add the members that end every kind of entry. */
static int put_common(struct rg_buf *out, const char *icons, const char *meta,
		      struct roger_err *err)
{
	int r = put_own_json(out, "icons", icons, RG_JSON_ARRAY, err);

	if (r == ROGER_OK)
		r = put_own_json(out, "_meta", meta, RG_JSON_OBJECT, err);
	rg_mcp_close(out, '}');
	return r;
}

/* Put the item at the end of the list, and tell clients. */
static int add_item(struct roger_mcp_server *server, struct rg_mcp_item *item,
		    struct rg_buf *listed, struct roger_err *err)
{
	struct rg_mcp_item **end;

	rg_buf_add_char(listed, 0);
	if (listed->failed || !item->key)
		return rg_fail_memory(err);
	rg_mcp_lock(server);
	if (rg_mcp_find_locked(server, item->kind, rg_str(item->key))) {
		rg_mcp_unlock(server);
		return rg_fail(err, ROGER_EUSAGE, 0, "'%s' is there already", item->key);
	}
	item->listed = listed->data;
	*listed = (struct rg_buf){ 0 };
	item->users = 1;
	item->number = ++server->last_number;
	for (end = &server->items[item->kind]; *end; end = &(*end)->next)
		;
	*end = item;
	server->offers[item->kind] = true;
	server->completes |= item->complete != NULL;
	rg_mcp_list_changed_locked(server, item->kind);
	rg_mcp_unlock(server);
	return ROGER_OK;
}

static int remove_item(struct roger_mcp_server *server, enum rg_mcp_kind kind, const char *key)
{
	struct rg_mcp_item **place, *item;

	rg_mcp_lock(server);
	for (place = &server->items[kind]; *place; place = &(*place)->next)
		if (strcmp((*place)->key, key) == 0)
			break;
	item = *place;
	if (item) {
		*place = item->next;
		rg_mcp_item_release_locked(item);
		rg_mcp_list_changed_locked(server, kind);
	}
	rg_mcp_unlock(server);
	return item ? ROGER_MCP_OK : ROGER_MCP_ENOENT;
}

static struct rg_mcp_item *item_new(enum rg_mcp_kind kind, const char *key, unsigned flags,
				    roger_mcp_handler *handler, void *data)
{
	struct rg_mcp_item *item = calloc(1, sizeof *item);

	if (!item)
		return NULL;
	item->users = 1;
	item->kind = kind;
	item->key = strdup(key);
	item->flags = flags;
	item->handler = handler;
	item->data = data;
	return item;
}

/* Check the name of a tool by the specification; prompts are named likewise. */
static int check_name(const char *name, roger_mcp_handler *handler, struct roger_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";

	if (!name || !*name || strlen(name) > RG_MCP_NAME_BYTES_MAX ||
	    name[strspn(name, letters)] != 0)
		return rg_fail(err, ROGER_EDATA, 0,
			       "a name has 1 to %d characters of A-Z a-z 0-9 _ - .",
			       RG_MCP_NAME_BYTES_MAX);
	return handler ? ROGER_OK : rg_fail(err, ROGER_EUSAGE, 0, "'%s' has no handler", name);
}

/* -------------------------------------------------------------- tools -- */

static int put_schemas(const struct roger_mcp_tool *tool, struct rg_mcp_item *item,
		       struct rg_buf *out, struct roger_err *err)
{
	static const char nothing[] = "{\"type\":\"object\",\"additionalProperties\":false}";
	const char *schema = tool->input_schema ? tool->input_schema : nothing;
	struct roger_err inner = { 0 };
	int r;

	r = put_own_json(out, "inputSchema", schema, RG_JSON_OBJECT, err);
	if (r < 0)
		return r;
	r = rg_json_read(rg_str(schema), &item->input_schema, err);
	if (r < 0)
		return r;
	if (rg_schema_check(rg_json_root(item->input_schema), &inner) < 0)
		return rg_fail(err, ROGER_EDATA, 0, "'inputSchema': %s", inner.message);
	r = put_own_json(out, "outputSchema", tool->output_schema, RG_JSON_OBJECT, err);
	if (r == ROGER_OK && tool->output_schema)
		r = rg_json_read(rg_str(tool->output_schema), &item->output_schema, err);
	return r < 0 ? r : put_own_json(out, "annotations", tool->annotations, RG_JSON_OBJECT, err);
}

static int add_tool(struct roger_mcp_server *server, const struct roger_mcp_tool *tool,
		    struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf listed = { .maximum = SIZE_MAX };
	struct rg_mcp_item *item;
	int r;

	r = check_name(tool->name, tool->call, err);
	if (r < 0)
		return r;
	item = item_new(RG_MCP_TOOLS, tool->name, tool->flags, tool->call, tool->data);
	if (!item)
		return rg_fail_memory(err);
	rg_buf_add_char(&listed, '{');
	rg_mcp_put_text(&listed, "name", tool->name);
	rg_mcp_put_text(&listed, "title", tool->title);
	rg_mcp_put_text(&listed, "description", tool->description);
	r = put_schemas(tool, item, &listed, err);
	if (r == ROGER_OK)
		r = put_common(&listed, tool->icons, tool->meta, err);
	if (r == ROGER_OK)
		r = add_item(server, item, &listed, err);
	if (r < 0)
		rg_mcp_item_release_locked(item);
	return r;
}

int roger_mcp_add_tool(struct roger_mcp_server *server, const struct roger_mcp_tool *tool,
		       struct roger_mcp_err *err)
{
	struct roger_err inner = { 0 };

	return add_tool(server, tool, &inner) < 0 ? rg_mcp_tell(&inner, err) : ROGER_MCP_OK;
}

int roger_mcp_remove_tool(struct roger_mcp_server *server, const char *name)
{
	return remove_item(server, RG_MCP_TOOLS, name);
}

/* ---------------------------------------------------------- resources -- */

static int add_resource(struct roger_mcp_server *server, const struct roger_mcp_resource *resource,
			struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf listed = { .maximum = SIZE_MAX };
	struct rg_mcp_item *item;
	bool template;
	int r;

	if (!resource->uri || !resource->name || !resource->read)
		return rg_fail(err, ROGER_EUSAGE, 0, "a resource has a uri, a name and a handler");
	r = rg_uri_check(rg_str(resource->uri), err);
	if (r < 0)
		return r;
	template = rg_uri_is_template(rg_str(resource->uri));
	item = item_new(template ? RG_MCP_TEMPLATES : RG_MCP_RESOURCES, resource->uri,
			resource->flags, resource->read, resource->data);
	if (!item)
		return rg_fail_memory(err);
	item->complete = template ? resource->complete : NULL;
	item->mime_type = strdup(resource->mime_type ? resource->mime_type : "text/plain");
	rg_buf_add_char(&listed, '{');
	rg_mcp_put_text(&listed, template ? "uriTemplate" : "uri", resource->uri);
	rg_mcp_put_text(&listed, "name", resource->name);
	rg_mcp_put_text(&listed, "title", resource->title);
	rg_mcp_put_text(&listed, "description", resource->description);
	rg_mcp_put_text(&listed, "mimeType", resource->mime_type);
	r = put_own_json(&listed, "annotations", resource->annotations, RG_JSON_OBJECT, err);
	if (r == ROGER_OK)
		r = put_common(&listed, resource->icons, resource->meta, err);
	if (r == ROGER_OK && !item->mime_type)
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = add_item(server, item, &listed, err);
	if (r < 0)
		rg_mcp_item_release_locked(item);
	return r;
}

int roger_mcp_add_resource(struct roger_mcp_server *server,
			   const struct roger_mcp_resource *resource, struct roger_mcp_err *err)
{
	struct roger_err inner = { 0 };

	return add_resource(server, resource, &inner) < 0 ? rg_mcp_tell(&inner, err) : ROGER_MCP_OK;
}

int roger_mcp_remove_resource(struct roger_mcp_server *server, const char *uri)
{
	return remove_item(
		server, rg_uri_is_template(rg_str(uri)) ? RG_MCP_TEMPLATES : RG_MCP_RESOURCES, uri);
}

/* ------------------------------------------------------------ prompts -- */

static int put_arguments(const struct roger_mcp_prompt *prompt, struct rg_mcp_item *item,
			 struct rg_buf *out, struct roger_err *err)
{
	const struct roger_mcp_argument *argument;
	size_t i, count = 0;

	item->required = calloc(prompt->argument_count + 1, sizeof *item->required);
	if (!item->required)
		return rg_fail_memory(err);
	rg_mcp_open(out, "arguments", '[');
	for (i = 0; i < prompt->argument_count; i++) {
		argument = &prompt->arguments[i];
		if (!argument->name || !*argument->name)
			return rg_fail(err, ROGER_EDATA, 0, "an argument has no name");
		rg_mcp_open(out, NULL, '{');
		rg_mcp_put_text(out, "name", argument->name);
		rg_mcp_put_text(out, "title", argument->title);
		rg_mcp_put_text(out, "description", argument->description);
		rg_mcp_put_bool(out, "required", argument->required);
		rg_mcp_close(out, '}');
		if (!argument->required)
			continue;
		item->required[count] = strdup(argument->name);
		if (!item->required[count++])
			return rg_fail_memory(err);
	}
	rg_mcp_close(out, ']');
	return ROGER_OK;
}

static int add_prompt(struct roger_mcp_server *server, const struct roger_mcp_prompt *prompt,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf listed = { .maximum = SIZE_MAX };
	struct rg_mcp_item *item;
	int r;

	r = check_name(prompt->name, prompt->get, err);
	if (r < 0)
		return r;
	item = item_new(RG_MCP_PROMPTS, prompt->name, prompt->flags, prompt->get, prompt->data);
	if (!item)
		return rg_fail_memory(err);
	item->complete = prompt->complete;
	rg_buf_add_char(&listed, '{');
	rg_mcp_put_text(&listed, "name", prompt->name);
	rg_mcp_put_text(&listed, "title", prompt->title);
	rg_mcp_put_text(&listed, "description", prompt->description);
	r = put_arguments(prompt, item, &listed, err);
	if (r == ROGER_OK)
		r = put_common(&listed, prompt->icons, prompt->meta, err);
	if (r == ROGER_OK)
		r = add_item(server, item, &listed, err);
	if (r < 0)
		rg_mcp_item_release_locked(item);
	return r;
}

int roger_mcp_add_prompt(struct roger_mcp_server *server, const struct roger_mcp_prompt *prompt,
			 struct roger_mcp_err *err)
{
	struct roger_err inner = { 0 };

	return add_prompt(server, prompt, &inner) < 0 ? rg_mcp_tell(&inner, err) : ROGER_MCP_OK;
}

int roger_mcp_remove_prompt(struct roger_mcp_server *server, const char *name)
{
	return remove_item(server, RG_MCP_PROMPTS, name);
}

/* -------------------------------------------------------------- lists -- */

/* A cursor is the number behind which its page starts: "p" and hexadecimal digits. */
static bool read_cursor(const struct rg_value *cursor, int64_t *ret_number)
{
	static const char digits[] = "0123456789abcdef";
	struct roger_str text = rg_json_str(cursor);
	int64_t number = 0;
	size_t i;
	const char *digit;

	if (rg_json_kind(cursor) != RG_JSON_STRING || text.length < 2 || text.length > 14 ||
	    text.data[0] != 'p')
		return false;
	for (i = 1; i < text.length; i++) {
		digit = memchr(digits, text.data[i], 16);
		if (!digit)
			return false;
		number = number << 4 | (digit - digits);
	}
	*ret_number = number;
	return true;
}

bool rg_mcp_list_locked(struct roger_mcp_server *server, enum rg_mcp_kind kind,
			const struct rg_value *cursor, struct rg_buf *out)
{
	static const char *const names[] = { "tools", "resources", "resourceTemplates", "prompts" };
	const struct rg_mcp_item *item;
	size_t left = server->options.page_items;
	int64_t behind = 0, last = 0;

	if (cursor && (!read_cursor(cursor, &behind) || behind > server->last_number))
		return false;
	rg_mcp_open(out, names[kind], '[');
	for (item = server->items[kind]; item && left; item = item->next) {
		if (item->number <= behind)
			continue;
		rg_mcp_next_item(out);
		rg_buf_add_text(out, item->listed);
		last = item->number;
		left--;
	}
	rg_mcp_close(out, ']');
	if (item) {
		rg_json_add_key(out, RG_STR("nextCursor"));
		rg_buf_printf(out, "\"p%llx\"", (unsigned long long)last);
	}
	return true;
}
