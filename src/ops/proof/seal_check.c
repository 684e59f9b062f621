/* Check a seal against the present journals and documents. */
#include "ops/proof/seal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sign.h"
#include "ops/reading.h"

enum { MARK_DIGITS = 16 };

struct checking {
	struct rg_reading reading;
	struct roger *roger; /* of reading, like arena */
	struct rg_arena *arena;
	struct roger_seal_reply seal;
	struct roger_verify_reply *reply;
	struct rg_findings findings;
	struct rg_digests digests; /* the journals' digests, in the order of the seal */
	struct rg_run_texts runs;
};

static void add_finding(struct checking *checking, struct roger_str file,
			enum roger_finding_kind kind, int64_t line, int64_t byte, const char *what)
{
	const struct roger_finding finding = {
		.kind = (int)kind, .file = file, .line = line, .byte = byte, .what = rg_str(what)
	};

	rg_findings_add(&checking->findings, &finding);
}

/* ------------------------------------------------------------- the seal -- */

static int check_entry(const struct roger_seal_entry *entry, struct roger_err *err)
{
	bool journal = entry->kind == ROGER_SEALED_JOURNAL;

	if (entry->bytes >= 0 && entry->lines >= 0 && entry->lines < INT64_MAX &&
	    entry->every >= 0 && (!journal || entry->every > 0) &&
	    entry->marks.length % MARK_DIGITS == 0 &&
	    (!journal || (int64_t)entry->marks.length / MARK_DIGITS == entry->lines / entry->every))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, "seal", "seal: its entry of '%.*s' is not valid",
			      RG_STR_ARGS(entry->file));
}

static int read_seal(struct checking *checking, struct roger_str text, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf signed_text = { .maximum = SIZE_MAX };
	struct roger_seal_reply *seal = &checking->seal;
	struct roger_err why = { 0 };
	size_t i;
	int r;

	r = rg_record_read(&rg_seal_reply_record, text, seal, checking->arena, &why);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		return rg_fail_member(err, ROGER_EDATA, "seal", "seal: not a seal: %s",
				      why.message);
	if (seal->version < 1 || seal->version > RG_SEAL_VERSION)
		return rg_fail_member(err, ROGER_EDATA, "seal",
				      "seal: version %lld; this program knows versions 1 to %d",
				      (long long)seal->version, RG_SEAL_VERSION);
	rg_seal_text(seal, &signed_text);
	if (signed_text.failed ||
	    !rg_sign_check(rg_buf_str(&signed_text), seal->signature, seal->public_key))
		return rg_fail_member(err, ROGER_EDATA, "seal",
				      "seal: its signature does not fit what it says, so it proves "
				      "nothing");
	for (i = 0; i < seal->entries.count && r == ROGER_OK; i++)
		r = check_entry(&seal->entries.items[i], err);
	return r;
}

static void check_key(struct checking *checking, struct roger_str given)
{
	const struct roger_str sealed_by = checking->seal.public_key;
	struct rg_seal_key own;

	given = rg_str_without_end(given, " \r\n");
	if (given.length) {
		if (!rg_str_equal(given, sealed_by))
			add_finding(checking, RG_STR("seal"), ROGER_OTHER_KEY, 0, 0,
				    "signed with another key than the given one");
		return;
	}
	if (rg_reading_got(&checking->reading,
			   rg_engine_seal_key(checking->roger->engine, false, checking->arena, &own,
					      checking->reading.err)) &&
	    own.public_key.length && !rg_str_equal(own.public_key, sealed_by))
		add_finding(checking, RG_STR("seal.pub"), ROGER_OTHER_KEY, 0, 0,
			    "the seal is signed with another key than that of this workspace");
}

/* -------------------------------------------------------------- journals -- */

/* Find the lines, first to last, among which the first difference lies, by the marks. */
static void find_difference(const struct roger_seal_entry *entry, const struct rg_digest *digest,
			    int64_t *ret_first, int64_t *ret_last)
{
	size_t marks = entry->marks.length / MARK_DIGITS,
	       there = digest->entry.marks.length / MARK_DIGITS, i;

	for (i = 0; i < marks && i < there; i++)
		if (memcmp(entry->marks.data + i * MARK_DIGITS,
			   digest->entry.marks.data + i * MARK_DIGITS, MARK_DIGITS) != 0)
			break;
	*ret_first = (int64_t)i * entry->every + 1;
	*ret_last = entry->lines;
	if (*ret_first <= entry->lines && entry->every - 1 < entry->lines - *ret_first)
		*ret_last = *ret_first + entry->every - 1;
}

static bool was_changed(const struct checking *checking, const char *file)
{
	const struct roger_journal_list *journals = &checking->reply->journals;
	int64_t sealed = -1; /* its bytes; -1: it was not there then */
	size_t i;

	for (i = 0; i < checking->digests.count && sealed < 0; i++)
		if (rg_str_is(checking->seal.entries.items[i].file, file))
			sealed = checking->seal.entries.items[i].bytes;
	for (i = 0; i < journals->count; i++)
		if (rg_str_is(journals->items[i].file, file))
			return journals->items[i].bytes != sealed;
	return sealed >= 0;
}

/*
 * Could purge have rewritten the file? It writes digests of keys that it drops, drops nothing
 * before there are more cycles than it keeps, and leaves a whole chain.
 */
static bool may_be_purged(struct checking *checking, struct roger_str file)
{
	const struct rg_config *config = checking->roger->workspace->config;
	const struct roger_journal_list *journals = &checking->reply->journals;
	bool digests = rg_str_is(file, "key-digests.jsonl"),
	     sends = rg_log_kind_has(RG_LOG_SENDS, file), whole = false;
	struct roger_cycle cycle;
	size_t i;

	if ((!digests && !sends) ||
	    !rg_reading_got(&checking->reading, rg_cycle_current(checking->roger, checking->arena,
								 &cycle, checking->reading.err)))
		return false;
	for (i = 0; i < journals->count; i++)
		if (rg_str_equal(journals->items[i].file, file))
			whole = journals->items[i].damaged == 0;
	return whole && (digests ? cycle.number > config->cycles_kept + config->digests_kept
				 : cycle.number > config->cycles_kept &&
					   was_changed(checking, "key-digests.jsonl"));
}

static void tell_altered(struct checking *checking, const struct roger_seal_entry *entry,
			 const struct rg_digest *digest)
{
	int64_t first, last;
	char what[160];

	find_difference(entry, digest, &first, &last);
	if (first > digest->entry.lines && digest->entry.bytes < entry->bytes) {
		snprintf(what, sizeof what,
			 "truncated: %lld lines of %lld bytes were sealed, %lld bytes are there",
			 (long long)entry->lines, (long long)entry->bytes,
			 (long long)digest->entry.bytes);
		add_finding(checking, entry->file, ROGER_TRUNCATED, digest->entry.lines + 1,
			    digest->entry.bytes, what);
		return;
	}
	if (first == last)
		snprintf(what, sizeof what, "not the line that was sealed");
	else
		snprintf(what, sizeof what,
			 "not what was sealed: the first difference is in lines "
			 "%lld to %lld",
			 (long long)first, (long long)last);
	add_finding(checking, entry->file, ROGER_ALTERED, first, 0, what);
}

static void check_journal(struct checking *checking, const struct roger_seal_entry *entry,
			  const struct rg_digest *digest)
{
	if (digest->there ? digest->entry.bytes == entry->bytes &&
				    rg_str_equal(digest->entry.sha256, entry->sha256)
			  : entry->bytes == 0)
		return;
	if (!digest->there)
		add_finding(checking, entry->file, ROGER_MISSING, 1, 0,
			    "it is gone, with all that was sealed");
	else if (may_be_purged(checking, entry->file))
		add_finding(checking, entry->file, ROGER_PURGED, 0, 0,
			    "rewritten by purge since: make a new seal; this one says nothing of "
			    "it");
	else
		tell_altered(checking, entry, digest);
}

static int compare_numbers(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Return the number of a citation such as "messages.jsonl:12"; 0: it is no sealed line of entry. */
static int64_t cited_line(struct roger_str citation, const struct roger_seal_entry *entry)
{
	const char *colon = memrchr(citation.data, ':', citation.length);
	struct roger_str file = citation, number;
	int64_t line;

	if (!colon)
		return 0;
	file.length = (size_t)(colon - citation.data);
	number = (struct roger_str){ colon + 1, citation.length - file.length - 1 };
	return rg_str_equal(file, entry->file) && rg_str_number(number, &line) &&
			       line <= entry->lines
		       ? line
		       : 0;
}

/* Add the lines of a journal that are cited and sealed to its wish, each once. */
static void wish_lines(struct checking *checking, const struct roger_strs *cite,
		       const struct roger_seal_entry *entry, struct rg_digest_wish *wish)
{
	int64_t *lines = rg_arena_get(checking->arena, cite->count * sizeof *lines + 1);
	size_t count = 0, i;

	for (i = 0; lines && i < cite->count && entry->root.length; i++) {
		lines[count] = cited_line(cite->items[i], entry);
		count += lines[count] > 0;
	}
	if (count)
		qsort(lines, count, sizeof *lines, compare_numbers);
	for (i = 0; i < count; i++)
		if (!wish->cited_count || lines[wish->cited_count - 1] != lines[i])
			lines[wish->cited_count++] = lines[i];
	wish->cited = lines;
}

static void add_cited(struct checking *checking, const struct rg_digest_wish *wish,
		      const struct rg_digest *digest)
{
	struct rg_buf numbers = { .maximum = SIZE_MAX };
	struct roger_cited_list *list = &checking->reply->cited;
	struct roger_cited cited = { .file = wish->file,
				     .count = digest->entry.lines,
				     .lines = digest->cited,
				     .proof = digest->proof };
	size_t i;

	if (!digest->cited.count)
		return;
	for (i = 0; i < digest->cited.count; i++)
		rg_buf_printf(&numbers, i ? " %lld" : "%lld", (long long)wish->cited[i]);
	cited.numbers = rg_arena_take(checking->arena, &numbers);
	(void)!rg_arena_append(checking->arena, &list->items, &list->count, &cited, sizeof cited);
}

/* Journals come first in a seal. */
static void check_journals(struct checking *checking, const struct roger_strs *cite)
{
	const struct roger_seal_entry_list *entries = &checking->seal.entries;
	struct rg_digest_wish *wishes =
		rg_arena_get(checking->arena, entries->count * sizeof *wishes + 1);
	size_t count = 0, i;

	for (;
	     wishes && count < entries->count && entries->items[count].kind == ROGER_SEALED_JOURNAL;
	     count++) {
		wishes[count] = (struct rg_digest_wish){ .file = entries->items[count].file,
							 .bytes = entries->items[count].bytes,
							 .every = entries->items[count].every };
		wish_lines(checking, cite, &entries->items[count], &wishes[count]);
	}
	if (rg_arena_failed(checking->arena) ||
	    !rg_reading_got(&checking->reading,
			    rg_engine_digests(checking->roger->engine, wishes, count,
					      checking->arena, &checking->digests,
					      checking->reading.err)))
		return;
	for (i = 0; i < count; i++) {
		check_journal(checking, &entries->items[i], &checking->digests.items[i]);
		add_cited(checking, &wishes[i], &checking->digests.items[i]);
	}
}

/* ------------------------------------------------------------- documents -- */

static void check_document(struct checking *checking, const struct roger_seal_entry *entry)
{
	const char *slash = memrchr(entry->file.data, '/', entry->file.length);
	const struct rg_run_texts *runs = &checking->runs;
	struct roger_str name = entry->file;
	struct roger_seal_entry now;
	size_t i = 0;

	if (slash) {
		name.data = slash + 1;
		name.length -= (size_t)(name.data - entry->file.data);
	}
	while (i < runs->count &&
	       (runs->items[i].trouble.length || !rg_str_equal(runs->items[i].file, name)))
		i++;
	if (i == runs->count) {
		add_finding(checking, entry->file, ROGER_MISSING, 1, 0, "the document is gone");
		return;
	}
	if (!rg_reading_got(&checking->reading,
			    rg_seal_document(&runs->items[i], entry, checking->arena, &now,
					     checking->reading.err)) ||
	    rg_str_equal(now.sha256, entry->sha256))
		return;
	if (rg_seal_is_final(entry->status))
		add_finding(checking, entry->file, ROGER_ALTERED, 1, 0,
			    "the run had ended when it was sealed, and its document changed");
	else if (entry->fixed.length && !rg_str_equal(now.fixed, entry->fixed))
		add_finding(checking, entry->file, ROGER_ALTERED, 1, 0,
			    "what never changes of a run is not what was sealed: its dispatch, a "
			    "completion or a note");
	else
		add_finding(checking, entry->file, ROGER_CHANGED, 0, 0,
			    "changed since, as the document of a run that was not over may");
}

int rg_seal_check(struct roger *roger, const struct roger_verify_request *request,
		  struct roger_verify_reply *reply, struct roger_err *err)
{
	struct checking checking = { .reading = { roger, reply->memory, err, ROGER_OK },
				     .roger = roger,
				     .arena = reply->memory,
				     .reply = reply };
	const struct roger_seal_entry_list *entries = &checking.seal.entries;
	size_t i;
	int r;

	/* Add findings behind those about the chains. */
	checking.findings =
		(struct rg_findings){ reply->memory,
				      (struct roger_finding *)(uintptr_t)reply->findings.items,
				      reply->findings.count, reply->damaged, false };
	r = read_seal(&checking, request->seal, err);
	if (r < 0)
		return r;
	check_key(&checking, request->key);
	check_journals(&checking, &request->cite);
	rg_reading_got(&checking.reading, rg_engine_runs(roger->engine, NULL, NULL, reply->memory,
							 &checking.runs, err));
	for (i = 0; i < entries->count && checking.reading.r == ROGER_OK; i++)
		if (entries->items[i].kind == ROGER_SEALED_DOCUMENT)
			check_document(&checking, &entries->items[i]);
	reply->sealed_at_ms = checking.seal.made_at_ms;
	reply->sealed_files = (int64_t)entries->count;
	reply->damaged = checking.findings.damaged;
	reply->findings =
		(struct roger_finding_list){ checking.findings.items, checking.findings.count };
	reply->sealed_by = rg_arena_str(reply->memory, checking.seal.public_key);
	return checking.findings.failed ? rg_fail_memory(err) : checking.reading.r;
}
