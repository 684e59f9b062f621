/* seal: the heads of all journals and archives, and the digests of all run documents, signed. */
#include "ops/proof/seal.h"

#include <stdlib.h>

#include "base/sign.h"
#include "facts/watchdog.h"

void rg_seal_text(const struct roger_seal_reply *seal, struct rg_buf *out)
{
	struct roger_seal_reply unsigned_one = *seal;

	unsigned_one.signature = (struct roger_str){ "", 0 };
	rg_record_encode(&rg_seal_reply_record, &unsigned_one, out);
}

/* How many parts of a run are hashed.  The last, the result's message, may change until read. */
enum { DISPATCH_PARTS = 6, COMPLETION_PARTS = 8, ALL_PARTS };

bool rg_seal_is_final(struct roger_str status)
{
	return rg_str_is(status, rg_run_status_names[ROGER_RUN_COMPLETED]) ||
	       rg_str_is(status, rg_run_status_names[ROGER_RUN_RECOVERED]);
}

/* Hash the first `count` parts of a run, and the notes that it had when it was sealed. */
static int hash_parts(const struct roger_run *run, const struct roger_seal_entry *sealed,
		      size_t count, struct rg_arena *arena, struct roger_str *ret_fixed,
		      struct roger_err *err)
{
	const struct roger_str parts[] = { run->run,	      run->child,  run->dispatched_at,
					   run->owner,	      run->issue,  run->task,
					   run->completed_at, run->source, run->result_message };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char sha256[RG_DIGEST_DIGITS + 1];
	size_t i;

	for (i = 0; i < count; i++)
		rg_json_add_string(&text, parts[i]);
	for (i = 0; i < run->notes.count && (int64_t)i < sealed->lines; i++)
		rg_json_add_string(&text, run->notes.items[i]);
	rg_sha256_hex(rg_buf_str(&text), sha256);
	return rg_kept(!text.failed && rg_arena_copy(arena, rg_str(sha256), ret_fixed), err);
}

/* Hash what does not change.  Older seals also have the message of a result not yet forwarded. */
static int find_fixed(const struct roger_run *run, const struct roger_seal_entry *sealed,
		      struct rg_arena *arena, struct roger_str *ret_fixed, struct roger_err *err)
{
	const struct roger_str status = sealed->status;
	size_t count = rg_seal_is_final(status) ? ALL_PARTS : DISPATCH_PARTS;
	struct roger_str older;
	int r;

	if (rg_str_is(status, rg_run_status_names[ROGER_RUN_NOT_FORWARDED]))
		count = COMPLETION_PARTS;
	r = hash_parts(run, sealed, count, arena, ret_fixed, err);
	if (r < 0 || count != COMPLETION_PARTS || !sealed->fixed.length ||
	    rg_str_equal(*ret_fixed, sealed->fixed))
		return r;
	r = hash_parts(run, sealed, ALL_PARTS, arena, &older, err);
	if (r == ROGER_OK && rg_str_equal(older, sealed->fixed))
		*ret_fixed = older;
	return r;
}

int rg_seal_document(const struct rg_run_text *text, const struct roger_seal_entry *sealed,
		     struct rg_arena *arena, struct roger_seal_entry *ret_entry,
		     struct roger_err *err)
{
	char sha256[RG_DIGEST_DIGITS + 1];
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_receipts receipts;
	struct roger_run run = { 0 };
	int r;

	*ret_entry = (struct roger_seal_entry){ .kind = ROGER_SEALED_DOCUMENT,
						.bytes = (int64_t)text->text.length };
	rg_sha256_hex(text->text, sha256);
	if (!rg_arena_print(arena, &ret_entry->file, RG_RUNS_SHOWN "/%.*s",
			    RG_STR_ARGS(text->file)) ||
	    !rg_arena_copy(arena, rg_str(sha256), &ret_entry->sha256))
		return rg_fail_memory(err);
	/* Add what the document says of itself; nothing if it is not a valid document of a run. */
	r = rg_run_read(text->text, &json, arena, &run, &receipts, NULL);
	if (r == ROGER_OK) {
		ret_entry->status = rg_str(rg_run_status_names[run.status]);
		ret_entry->lines = (int64_t)run.notes.count;
		r = find_fixed(&run, sealed ? sealed : ret_entry, arena, &ret_entry->fixed, err);
	}
	return rg_kept(r != ROGER_ENOMEM, err);
}

static int compare_files(const void *a, const void *b)
{
	const struct roger_seal_entry *x = a, *y = b;

	return strcmp(x->file.data, y->file.data);
}

static int find_entries(const struct rg_digests *digests, const struct rg_run_texts *runs,
			struct rg_arena *arena, struct roger_seal_entry_list *ret_entries,
			struct roger_err *err)
{
	struct roger_seal_entry *entries;
	size_t count = 0, journals, i;
	int r = ROGER_OK;

	entries = rg_arena_get(arena, (runs->count + digests->count) * sizeof *entries + 1);
	if (!entries)
		return rg_fail_memory(err);
	for (i = 0; i < digests->count; i++)
		if (digests->items[i].there && digests->items[i].sealed)
			entries[count++] = digests->items[i].entry;
	journals = count;
	for (i = 0; i < runs->count && r == ROGER_OK; i++)
		if (!runs->items[i].trouble.length)
			r = rg_seal_document(&runs->items[i], NULL, arena, &entries[count++], err);
	if (count > journals)
		qsort(entries + journals, count - journals, sizeof *entries, compare_files);
	*ret_entries = (struct roger_seal_entry_list){ entries, count };
	return r;
}

int rg_seal_make(struct roger *roger, const struct rg_digests *digests,
		 const struct rg_run_texts *runs, const struct rg_seal_key *key,
		 struct roger_seal_reply *reply, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char signature[RG_SIGNATURE_DIGITS + 1];
	int r = find_entries(digests, runs, reply->memory, &reply->entries, err);

	if (r < 0)
		return r;
	reply->version = RG_SEAL_VERSION;
	reply->made_at_ms = rg_clock_ms();
	reply->public_key = key->public_key;
	if (!rg_arena_copy(reply->memory, rg_str(roger->workspace->root), &reply->workspace))
		return rg_fail_memory(err);
	rg_seal_text(reply, &text);
	if (text.failed)
		return rg_fail_memory(err);
	rg_assert(rg_sign(rg_buf_str(&text), key->secret, signature));
	return rg_kept(rg_arena_copy(reply->memory, rg_str(signature), &reply->signature), err);
}

int rg_verb_seal(struct roger *roger, const struct roger_empty_request *request,
		 struct roger_seal_reply *reply, struct roger_err *err)
{
	struct rg_log_files files;
	struct rg_digests digests;
	struct rg_run_texts runs;
	struct rg_seal_key key;
	int r;

	(void)request;
	r = rg_engine_seal_key(roger->engine, true, reply->memory, &key, err);
	/* Documents name messages, so they are read first: then these messages are sealed. */
	if (r == ROGER_OK)
		r = rg_engine_runs(roger->engine, NULL, NULL, reply->memory, &runs, err);
	if (r == ROGER_OK)
		r = rg_engine_measure(roger->engine, RG_MEASURED_SEALED, reply->memory, &files,
				      NULL, err);
	if (r == ROGER_OK)
		r = rg_engine_digests_of(roger->engine, &files, reply->memory, &digests, err);
	return r < 0 ? r : rg_seal_make(roger, &digests, &runs, &key, reply, err);
}
