/* remote - roger.h over a server: handles, and what is no verb. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "data/caller.h"
#include "data/record.h"
#include "host/file.h"
#include "host/process.h"
#include "remote/remote.h"

static volatile sig_atomic_t interrupted;

int roger_open(const char *path, struct roger **ret_roger, struct roger_err *err)
{
	struct roger *roger;
	int r;

	(void)path;
	roger = calloc(1, sizeof *roger);
	if (!roger)
		return rg_fail_memory(err);
	roger->holds = RG_NO_FILE;
	r = remote_find(&roger->place, err);
	/* What TLS needs takes longer to load than the rest of a command. */
	if (r == ROGER_OK)
		curl_global_init(roger->place.tls ? CURL_GLOBAL_DEFAULT : CURL_GLOBAL_NOTHING);
	if (r == ROGER_OK)
		roger->curl = remote_curl_new(roger);
	if (r == ROGER_OK && !roger->curl)
		r = rg_fail_memory(err);
	if (r < 0) {
		roger_close(roger);
		return r;
	}
	*ret_roger = roger;
	return ROGER_OK;
}

struct roger *roger_close(struct roger *roger)
{
	if (!roger)
		return NULL;
	remote_watch_free(roger->watch);
	curl_easy_cleanup(roger->curl);
	rg_file_close(roger->holds);
	free(roger);
	return NULL;
}

void roger_interrupt(void)
{
	interrupted = 1;
}

bool remote_is_interrupted(void)
{
	return interrupted;
}

/* Nothing is mapped. */
bool roger_mend_map(const void *address)
{
	(void)address;
	return false;
}

void roger_on_progress(struct roger *roger, roger_progress *tell, void *context)
{
	if (!roger)
		return;
	roger->tell = tell;
	roger->tell_context = context;
}

const char *roger_damage(const struct roger *roger)
{
	return roger ? roger->damage : "";
}

const char *roger_notice(const struct roger *roger)
{
	return !roger ? "" : *roger->damage ? roger->damage : roger->notice;
}

/* A person has named the server for this machine; no repository can. */
const char *roger_distrust(struct roger *roger)
{
	(void)roger;
	return "";
}

/* The token says who it is. */
/* The server's folders are not ours. */
struct roger_str rg_name_by_itself(const struct roger *roger, struct roger_str tool, int64_t pid,
				   char to[RG_OWN_NAME_BYTES])
{
	(void)roger;
	(void)pid;
	(void)to;
	return tool;
}

void rg_set_caller(struct roger *roger, const struct rg_caller *caller)
{
	(void)roger;
	(void)caller;
}

/* Among the processes of this machine, which is where hooks of one session run. */
bool rg_observe_command(int64_t id, struct rg_arena *arena, struct roger_strs *ret_words,
			int64_t *ret_parent)
{
	return rg_process_command(id, arena, ret_words, ret_parent);
}

bool roger_hold(struct roger *roger, const char *what)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	uint64_t byte = rg_hash(rg_hash(1, roger->place.name, strlen(roger->place.name)), what,
				strlen(what));
	bool held = true;
	int r = ROGER_OK;

	if (roger->holds == RG_NO_FILE)
		r = remote_own_folder(&folder, NULL);
	if (roger->holds == RG_NO_FILE && r == ROGER_OK)
		r = rg_file_open(folder, "hold", RG_FILE_CREATE_APPEND, &roger->holds, NULL);
	if (r == ROGER_OK)
		r = rg_file_lock_byte(roger->holds, (int64_t)(byte >> 2), "hold", &held, NULL);
	/* Where no lock can be had, twice is better than never. */
	return r < 0 || held;
}

bool roger_watch(struct roger *roger, uint32_t *mark, int64_t timeout_ms)
{
	return remote_watch(roger, mark, timeout_ms);
}
