/* curl - a wire over libcurl, for servers that need TLS. */
#ifndef REMOTE_CURL_H
#define REMOTE_CURL_H

#include <curl/curl.h>

#include "remote/remote.h"

struct remote_curl {
	CURL *curl;
	char said[CURL_ERROR_SIZE]; /* libcurl's words on the last error */
};

/* A handle that knows the server and its token, for requests and streams; NULL: out of memory. */
CURL *remote_curl_new(const struct remote *remote);

void *remote_curl_begin(struct remote *remote, const char *last);
bool remote_curl_step(void *stream, struct remote_watch *watch, int64_t wait_ms);
void remote_curl_end(void *stream);

#endif
