#include <stdlib.h>

#include "base/clock.h"
#include "base/sign.h"
#include "base64.h"
#include "mcp.h"

/*
 * A sealed state is "TIME.MAC.STATE": when it ends (ms, decimal), HMAC-SHA-256
 * in hexadecimal digits, base64.  The MAC covers the time, the caller, the
 * method, what is called, its arguments and the state, so it serves for this
 * call of this caller only, and only while this server runs.
 */

/* Sign a state; false: out of memory. */
static bool sign_state(const struct roger_mcp_call *call, struct roger_str until,
		       struct roger_str state, char to[RG_DIGEST_DIGITS + 1])
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	/* Each part is a JSON string, so none can pass for another. */
	rg_json_add_string(&text, until);
	rg_json_add_string(&text, rg_str(call->caller));
	rg_json_add_string(&text, call->message.method);
	rg_json_add_string(&text, call->name);
	if (call->arguments)
		rg_json_print(call->arguments, &text);
	rg_json_add_string(&text, state);
	if (!text.failed)
		rg_mac(call->server->secret, rg_buf_str(&text), to);
	return !text.failed;
}

void rg_mcp_seal(const struct roger_mcp_call *call, const char *state, int64_t now_ms,
		 struct rg_buf *out)
{
	char until[24], mac[RG_DIGEST_DIGITS + 1];
	size_t length = rg_print_int(until, now_ms + call->server->options.state_ttl_ms);

	if (!sign_state(call, (struct roger_str){ until, length }, rg_str(state), mac)) {
		out->failed = true;
		return;
	}
	rg_buf_add(out, until, length);
	rg_buf_add_char(out, '.');
	rg_buf_add(out, mac, RG_DIGEST_DIGITS);
	rg_buf_add_char(out, '.');
	rg_base64_add(out, state, strlen(state));
}

/* Cut off the text before the next '.'; return false if there is no '.'. */
static bool cut_part(struct roger_str *rest, struct roger_str *ret)
{
	const char *dot = memchr(rest->data, '.', rest->length);

	if (!dot)
		return false;
	*ret = (struct roger_str){ rest->data, (size_t)(dot - rest->data) };
	rest->length -= ret->length + 1;
	rest->data = dot + 1;
	return true;
}

const char *rg_mcp_unseal(const struct roger_mcp_call *call, struct roger_str sealed,
			  int64_t now_ms)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf state = { .maximum = sealed.length + 1 };
	char expected[RG_DIGEST_DIGITS + 1];
	struct roger_str until, mac, copy;
	int64_t until_ms;

	if (!cut_part(&sealed, &until) || !cut_part(&sealed, &mac) ||
	    !rg_base64_read(sealed, &state))
		return NULL;
	if (memchr(rg_buf_str(&state).data, 0, state.length))
		return NULL;
	if (!sign_state(call, until, rg_buf_str(&state), expected))
		return NULL;
	if (!rg_same_secret(mac, rg_str(expected)))
		return NULL;
	if (!rg_str_number(until, &until_ms) || until_ms < now_ms)
		return NULL;
	return rg_arena_copy(call->arena, rg_buf_str(&state), &copy) ? copy.data : NULL;
}
