/* http - one request to the server, over libcurl. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "remote/curl/curl.h"

enum { CONNECT_MS = 5000, KEEP_ALIVE_S = 20 };

/* What the callbacks of libcurl work on. */
struct exchange {
	struct remote *remote;
	struct remote_answer *answer;
};

static size_t take_header(char *line, size_t size, size_t count, void *exchange_)
{
	struct remote_answer *answer = ((struct exchange *)exchange_)->answer;
	size_t length = size * count;

	/* Another head follows one that only said to go on. */
	if (length > 5 && strncmp(line, "HTTP/", 5) == 0)
		answer->sized = false;
	answer->sized |= (length > 15 && strncasecmp(line, "content-length:", 15) == 0) ||
			 (length > 18 && strncasecmp(line, "transfer-encoding:", 18) == 0);
	return length;
}

static size_t take_body(char *data, size_t size, size_t count, void *exchange_)
{
	struct remote_answer *answer = ((struct exchange *)exchange_)->answer;

	rg_buf_add(&answer->body, data, size * count);
	answer->too_long = answer->body.failed;
	return answer->body.failed ? 0 : size * count;
}

static int go_on(void *exchange_, curl_off_t total_in, curl_off_t in, curl_off_t total_out,
		 curl_off_t out)
{
	const struct remote *remote = ((struct exchange *)exchange_)->remote;

	(void)total_in;
	(void)in;
	(void)total_out;
	(void)out;
	return remote_is_interrupted() ||
	       (remote->tell && !remote->tell(remote->tell_context, "wait for the server", 0, 0));
}

/* The file of authorities, if libcurl was built for another system than this; NULL: libcurl's
 * own. */
static const char *find_authorities(CURL *curl)
{
	static const char *const places[] = { "/etc/pki/tls/certs/ca-bundle.crt",
					      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem" };
	const char *named = getenv("SSL_CERT_FILE"), *usual = NULL;
	size_t i;

	if (named && *named)
		return named;
	curl_easy_getinfo(curl, CURLINFO_CAINFO, &usual);
	for (i = 0; usual && access(usual, R_OK) != 0 && i < sizeof places / sizeof *places; i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return NULL;
}

/* Make a handle.  Plain HTTP stays on this machine, so no proxy of the environment may see it. */
CURL *remote_curl_new(const struct remote *remote)
{
	CURL *curl = curl_easy_init();
	const char *authorities = curl ? find_authorities(curl) : NULL;

	if (!curl)
		return NULL;
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, remote->place->tls ? "https" : "http");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, (long)KEEP_ALIVE_S);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, (long)KEEP_ALIVE_S);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "roger/" ROGER_VERSION);
	if (!remote->place->tls)
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	if (*remote->place->socket)
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, remote->place->socket);
	if (authorities)
		curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
	if (*remote->place->token) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
		curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, remote->place->token);
	}
	return curl;
}

RG_PRINTF(2, 3)
static bool add_header(struct curl_slist **headers, const char *format, ...)
{
	struct curl_slist *longer;
	va_list arguments;
	char line[200];

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	longer = curl_slist_append(*headers, line);
	*headers = longer ? longer : *headers;
	return longer;
}

static bool make_headers(const struct remote_request *request, struct curl_slist **headers)
{
	/* Expect is empty, so that libcurl sends a body without asking first. */
	return add_header(headers, "Accept: application/json") &&
	       (!request->body.data || (add_header(headers, "Content-Type: application/json") &&
					add_header(headers, "Expect:"))) &&
	       (!request->key || add_header(headers, "Idempotency-Key: %s", request->key)) &&
	       (!request->key || !request->since_ms ||
		add_header(headers, "Roger-Tried: %lld", (long long)request->since_ms));
}

static bool set_request(struct remote *remote, const struct remote_request *request,
			struct exchange *exchange, struct curl_slist *headers)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf url = { .maximum = SIZE_MAX };
	struct remote_curl *own = remote->connection;
	CURL *curl = own->curl;

	rg_buf_printf(&url, "%s%s",
		      *remote->place->socket ? "http://localhost" : remote->place->name,
		      request->path);
	rg_buf_add_char(&url, '\0');
	if (url.failed || curl_easy_setopt(curl, CURLOPT_URL, url.data) != CURLE_OK)
		return false;
	own->said[0] = '\0';
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, own->said);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->within_ms);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, go_on);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
	curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	if (request->body.data) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.data);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)request->body.length);
	}
	return true;
}

/* ------------------------------------------------------------------- what came of it -- */

/* The errors of libcurl that a person can mend, with what to do next. */
static const struct kind {
	CURLcode code;
	enum roger_code fails; /* ROGER_ETIMEOUT: a further try may do better */
	const char *why;
} kinds[] = {
	{ CURLE_COULDNT_RESOLVE_HOST, ROGER_ETIMEOUT,
	  "no address is known for this host; check its name, and the network" },
	{ CURLE_COULDNT_RESOLVE_PROXY, ROGER_ETIMEOUT,
	  "no address is known for the proxy; check https_proxy, and the network" },
	{ CURLE_COULDNT_CONNECT, ROGER_ETIMEOUT,
	  "nobody answers at this address; check it (and https_proxy), and that the server runs" },
	{ CURLE_OPERATION_TIMEDOUT, ROGER_ETIMEOUT,
	  "no answer in time; check the host and the network" },
	{ CURLE_SSL_CONNECT_ERROR, ROGER_ETIMEOUT,
	  "TLS cannot be agreed on; check that https is spoken at this port" },
	{ CURLE_SSL_CACERT_BADFILE, ROGER_ECONFIG,
	  "the file of authorities is missing or holds no certificate; mend or unset "
	  "SSL_CERT_FILE, or install ca-certificates" },
	{ CURLE_SSL_CERTPROBLEM, ROGER_ECONFIG, "the client's own certificate is not usable" },
	{ CURLE_SSL_ISSUER_ERROR, ROGER_EREFUSED, "its certificate is of another issuer" },
	{ CURLE_GOT_NOTHING, ROGER_ETIMEOUT, "it closed the connection without an answer" },
	{ CURLE_SEND_ERROR, ROGER_ETIMEOUT, "the connection broke off" },
	{ CURLE_RECV_ERROR, ROGER_ETIMEOUT, "the connection broke off" },
	{ CURLE_PARTIAL_FILE, ROGER_ETIMEOUT, "its answer broke off" },
	{ CURLE_UNSUPPORTED_PROTOCOL, ROGER_ECONFIG,
	  "no HTTP is spoken there; check ROGER_SERVER: http or https, and the port" },
	{ CURLE_URL_MALFORMAT, ROGER_ECONFIG, "its address cannot be read; check ROGER_SERVER" },
};

/* Why a certificate was not verified, by OpenSSL's number or the words of Mbed TLS, which has
 * none. libcurl checks the name last, before it takes over the result for the chain: so its
 * initial value, "not 0", or 0 means the name. */
static const char *why_not_verified(CURL *curl, const char *said)
{
	static const char invalid[] = "its certificate is not valid at this time; renew it on the "
				      "server, or check this machine's clock",
			  unknown[] =
				  "no authority that is known here vouches for its certificate; "
				  "name the file of its authority in SSL_CERT_FILE";
	enum { NAME = 0, UNTOUCHED = 1, NOT_YET_VALID = 9, HAS_EXPIRED = 10 };
	long result = 0;

	curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &result);
	switch (result) {
	case NAME:
	case UNTOUCHED:
		if (strstr(said, "validity"))
			return invalid;
		if (strncmp(said, "mbedTLS", 7) == 0 && !strstr(said, "Common Name"))
			return unknown;
		return "its certificate is for another host name; name the host in ROGER_SERVER as "
		       "the certificate does";
	case NOT_YET_VALID:
	case HAS_EXPIRED:
		return invalid;
	default:
		return unknown;
	}
}

/* Fail by the kind of error; ROGER_ETIMEOUT: a further try may do better. */
static enum roger_code fail_by_kind(const struct remote *remote, CURLcode code,
				    struct roger_err *err)
{
	const struct remote_curl *own = remote->connection;
	struct kind kind = { code, ROGER_ETIMEOUT, curl_easy_strerror(code) };
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].code == code)
			kind = kinds[i];
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		kind = (struct kind){ code, ROGER_EREFUSED,
				      why_not_verified(own->curl, own->said) };
	rg_fail(err, kind.fails, 0, "%.200s: %s", remote->place->name, kind.why);
	return kind.fails;
}

static enum remote_outcome judge_exchange(struct remote *remote, CURLcode code,
					  struct remote_answer *answer, struct roger_err *err)
{
	const struct remote_curl *own = remote->connection;
	long sent = 0;

	curl_easy_getinfo(own->curl, CURLINFO_REQUEST_SIZE, &sent);
	curl_easy_getinfo(own->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	if (code == CURLE_OK && answer->sized)
		return REMOTE_ANSWERED;
	if (code == CURLE_OK) {
		rg_fail(err, ROGER_ETIMEOUT, 0, "%.200s: its answer broke off",
			remote->place->name);
		return REMOTE_BROKEN;
	}
	if (code == CURLE_OUT_OF_MEMORY) {
		rg_fail_memory(err);
		return REMOTE_NEVER;
	}
	if (fail_by_kind(remote, code, err) != ROGER_ETIMEOUT)
		return REMOTE_NEVER;
	return sent ? REMOTE_BROKEN : REMOTE_UNSENT;
}

/* ------------------------------------------------------------------- the wire -- */

static void close_line(void *own_)
{
	struct remote_curl *own = own_;

	curl_easy_cleanup(own->curl);
	free(own);
}

/* Called at the first request: loading TLS takes longer than the rest of a command. */
static void *open_line(const struct remote *remote)
{
	struct remote_curl *own = calloc(1, sizeof *own);
	static bool begun;

	if (!begun)
		curl_global_init(CURL_GLOBAL_DEFAULT);
	begun = true;
	if (own)
		own->curl = remote_curl_new(remote);
	if (!own || own->curl)
		return own;
	free(own);
	return NULL;
}

static enum remote_outcome ask_over_http(struct remote *remote,
					 const struct remote_request *request,
					 struct remote_answer *answer, struct roger_err *err)
{
	struct exchange exchange = { remote, answer };
	struct curl_slist *headers = NULL;
	enum remote_outcome outcome = REMOTE_NEVER;
	struct remote_curl *own = remote->connection;

	if (!make_headers(request, &headers) || !set_request(remote, request, &exchange, headers))
		rg_fail_memory(err);
	else
		outcome = judge_exchange(remote, curl_easy_perform(own->curl), answer, err);
	curl_easy_setopt(own->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	return outcome;
}

const struct remote_wire remote_curl_wire = {
	open_line, close_line, ask_over_http, remote_curl_begin, remote_curl_step, remote_curl_end
};
