#include "request.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"

void rg_mcp_reject_with(struct rg_mcp_request *request, int code, struct roger_str data,
			struct roger_str words)
{
	struct rg_buf *out = rg_mcp_begin_locked(request->stream, true);
	int status = rg_mcp_status_of(request->revision, code);

	if (!out)
		return;
	/* A modern request that does not say how it is made is wrong as a whole. */
	if (code == RG_MCP_BAD_PARAMS && rg_mcp_is_modern(request->revision) &&
	    !request->capabilities)
		status = 400;
	rg_mcp_put_head(out, request->message->id);
	rg_mcp_put_error(out, code, words, data);
	rg_mcp_end_locked(request->stream, request->message->id, true, status);
}

void rg_mcp_reject(struct rg_mcp_request *request, int code, const char *format, ...)
{
	struct roger_err err;
	va_list arguments;
	char words[400];

	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	/* This makes it one line of valid text, wherever it was cut. */
	rg_fail(&err, ROGER_EDATA, 0, "%s", words);
	rg_mcp_reject_with(request, code, RG_STR(""), rg_str(err.message));
}

/* Begin a result, up to its members; NULL: nobody reads. */
struct rg_buf *rg_mcp_begin_result(struct rg_mcp_request *request)
{
	struct rg_buf *out = rg_mcp_begin_locked(request->stream, true);

	if (!out)
		return NULL;
	rg_mcp_put_head(out, request->message->id);
	rg_mcp_open(out, "result", '{');
	if (rg_mcp_is_modern(request->revision))
		rg_mcp_put_text(out, "resultType", "complete");
	return out;
}

void rg_mcp_end_result(struct rg_mcp_request *request, struct rg_buf *out)
{
	if (rg_mcp_is_modern(request->revision)) {
		rg_mcp_open(out, "_meta", '{');
		rg_mcp_put_server(request->server, out);
		rg_mcp_close(out, '}');
	}
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_end_locked(request->stream, request->message->id, true, 200);
}

void rg_mcp_answer_nothing(struct rg_mcp_request *request)
{
	struct rg_buf *out = rg_mcp_begin_result(request);

	if (out)
		rg_mcp_end_result(request, out);
}

void rg_mcp_put_versions(struct rg_buf *out, const char *key)
{
	rg_mcp_open(out, key, '[');
	rg_buf_add_text(out, "\"2026-07-28\",\"2025-11-25\",\"2025-06-18\"");
	rg_mcp_close(out, ']');
}

bool rg_mcp_is_id(const struct rg_value *value)
{
	return rg_json_kind(value) == RG_JSON_STRING || rg_json_kind(value) == RG_JSON_NUMBER;
}

void rg_mcp_reject_uri(struct rg_mcp_request *request, struct roger_str uri)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf data = { .maximum = SIZE_MAX };
	bool modern = rg_mcp_is_modern(request->revision);

	rg_buf_add_char(&data, '{');
	rg_mcp_put_str(&data, "uri", uri);
	rg_buf_add_char(&data, '}');
	rg_mcp_reject_with(request, modern ? RG_MCP_BAD_PARAMS : RG_MCP_NO_RESOURCE,
			   data.failed ? RG_STR("") : rg_buf_str(&data),
			   RG_STR("resource not found"));
}

/* Take the uri from the params; false: it was rejected. */
bool rg_mcp_take_uri(struct rg_mcp_request *request, struct roger_str *ret_uri)
{
	const struct rg_value *uri = rg_json_member(request->params, "uri");

	*ret_uri = rg_json_str(uri);
	if (rg_json_kind(uri) == RG_JSON_STRING && ret_uri->length <= RG_MCP_URI_BYTES_MAX)
		return true;
	rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "'uri' is no string of at most %d bytes",
		      RG_MCP_URI_BYTES_MAX);
	return false;
}
