/*
 * backup, restore: all of a workspace in one file.
 *
 * A backup has every journal up to its end at one moment, so that no log names a message that
 * is missing.  Its first file, the manifest, has the length and SHA-256 of each file, and is signed
 * with the key of seals; a seal of the journals is among the files, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/sign.h"
#include "host/restore.h"
#include "host/tar.h"
#include "ops/proof/seal.h"

enum { PIECE_BYTES = 1 << 20, MANIFEST_BYTES_MAX = 64 << 20, TRIES_MAX = 5, VERSION = 1 };

static const char inside[] = "roger-backup/", first[] = "roger-backup/backup.json";

/* A file of a backup: a journal, or a text. */
struct part {
	const struct rg_log_file *journal;
	struct roger_str text;
};

struct making {
	struct roger *roger;
	struct rg_arena *arena;
	struct rg_backup backup;
	struct part *parts; /* of its files, one each */
	size_t part_count;
	int64_t epoch; /* when message-state.json was read */
	bool measured; /* the journals are: from now on others may rewrite what is read */
};

static void add_file(struct making *making, struct roger_str name, int64_t bytes,
		     struct roger_str sha256, struct part part)
{
	const struct rg_backup_file file = { .file = name, .bytes = bytes, .sha256 = sha256 };

	(void)!rg_arena_append(making->arena, &making->backup.files.items,
			       &making->backup.files.count, &file, sizeof file);
	(void)!rg_arena_append(making->arena, &making->parts, &making->part_count, &part,
			       sizeof part);
}

static void add_text(struct making *making, const char *name, struct roger_str text)
{
	char sha256[RG_DIGEST_DIGITS + 1];

	if (!text.data)
		return;
	rg_sha256_hex(text, sha256);
	add_file(making, rg_arena_str(making->arena, rg_str(name)), (int64_t)text.length,
		 rg_arena_str(making->arena, rg_str(sha256)), (struct part){ .text = text });
}

/* Add all journals, measured at one moment, and a seal. */
static int add_journals(struct making *making, const struct rg_run_texts *runs,
			const struct rg_seal_key *key, struct roger_err *err)
{
	struct rg_engine *engine = making->roger->engine;
	struct rg_log_files *files = rg_arena_get(making->arena, sizeof *files);
	struct roger_seal_reply seal = { .memory = making->arena };
	struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_log_kind *kind;
	struct rg_digests digests;
	int64_t epoch = 0;
	size_t i;
	int r = rg_kept(files, err);

	if (r == ROGER_OK)
		r = rg_engine_measure(engine, RG_MEASURED_ALL, making->arena, files, NULL, err);
	making->measured = r == ROGER_OK;
	if (r == ROGER_OK)
		r = rg_engine_session(engine, false, &epoch, err);
	if (r == ROGER_OK && epoch != making->epoch)
		r = rg_fail(err, ROGER_ETIMEOUT, 0, "a session began meanwhile; try again");
	if (r == ROGER_OK)
		r = rg_engine_digests_of(engine, files, making->arena, &digests, err);
	if (r == ROGER_OK)
		r = rg_seal_make(making->roger, &digests, runs, key, &seal, err);
	if (r < 0)
		return r;
	for (i = 0; i < digests.count; i++) {
		if (!digests.items[i].there)
			continue;
		/* The file gets its default name, whatever the configuration calls it. */
		kind = &rg_log_kinds[files->items[i].log];
		add_file(making,
			 rg_arena_text(making->arena, "%s%s", kind->folder,
				       kind->file ? kind->file : files->items[i].name.data),
			 digests.items[i].entry.bytes, digests.items[i].entry.sha256,
			 (struct part){ .journal = &files->items[i] });
	}
	rg_record_encode(&rg_seal_reply_record, &seal, &text);
	add_text(making, "seal.json", rg_arena_take(making->arena, &text));
	return ROGER_OK;
}

static int add_documents(struct making *making, struct roger_str state,
			 const struct rg_run_texts *runs, struct roger_err *err)
{
	const struct rg_config *config = making->roger->workspace->config;
	/* A configuration that says where files are must not be used before a person sees it. */
	const bool elsewhere = config->places_configured || config->store.length;
	struct roger_str text;
	char name[RG_TAR_NAME_BYTES];
	size_t i;
	int r = rg_workspace_settings(making->roger->workspace, making->arena, &text, err);

	if (r < 0)
		return r;
	add_text(making, "message-state.json", state);
	add_text(making, elsewhere ? "config.yaml.backup" : "config.yaml", text);
	for (i = 0; i < runs->count; i++) {
		snprintf(name, sizeof name, "%s/%.*s", RG_RUNS_SHOWN,
			 RG_STR_ARGS(runs->items[i].file));
		add_text(making, name, runs->items[i].text);
	}
	return ROGER_OK;
}

/* Print the part of a manifest that is signed: all but its signature. */
static void print_signed(struct rg_backup backup, struct rg_buf *out)
{
	backup.signature = RG_STR("");
	rg_record_encode(&rg_backup_record, &backup, out);
}

static int sign_backup(struct making *making, const struct rg_seal_key *key, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char signature[RG_SIGNATURE_DIGITS + 1];
	struct rg_backup *backup = &making->backup;

	backup->version = VERSION;
	backup->made_at_ms = rg_clock_ms();
	backup->workspace = rg_str(making->roger->workspace->root);
	backup->public_key = key->public_key;
	print_signed(*backup, &text);
	if (text.failed)
		return rg_fail_memory(err);
	rg_assert(rg_sign(rg_buf_str(&text), key->secret, signature));
	backup->signature = rg_arena_str(making->arena, rg_str(signature));
	return rg_kept(!rg_arena_failed(making->arena), err);
}

/* Copy a journal into the archive.  ROGER_ETIMEOUT: its bytes are not those of the manifest. */
static int write_journal(struct making *making, size_t i, struct rg_tar *tar, char *room,
			 struct roger_err *err)
{
	const struct rg_backup_file *file = &making->backup.files.items[i];
	uint64_t at, size = (uint64_t)file->bytes;
	char sha256[RG_DIGEST_DIGITS + 1];
	struct rg_sha256 sha;
	size_t got = 0;
	int r = ROGER_OK;

	rg_sha256_init(&sha);
	for (at = 0; r == ROGER_OK && at < size; at += got) {
		r = rg_engine_copy(making->roger->engine, making->parts[i].journal, at, room,
				   size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES,
				   &got, err);
		if (r == ROGER_OK && !got)
			break;
		if (r == ROGER_OK)
			r = rg_tar_write(tar, (struct roger_str){ room, got }, err);
		rg_sha256_add(&sha, room, got);
	}
	rg_sha256_peek(&sha, sha256);
	return r < 0 || rg_str_is(file->sha256, sha256)
		       ? r
		       : rg_fail(err, ROGER_ETIMEOUT, 0,
				 "'%.*s' was rewritten while it was copied; try again",
				 RG_STR_ARGS(file->file));
}

static int write_all(struct making *making, struct rg_tar *tar, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char name[RG_TAR_NAME_BYTES], *room = malloc(PIECE_BYTES);
	size_t i;
	int r;

	rg_record_encode(&rg_backup_record, &making->backup, &text);
	r = rg_kept(room && !text.failed, err);
	if (r == ROGER_OK)
		r = rg_tar_add(tar, first, text.length, err);
	if (r == ROGER_OK)
		r = rg_tar_write(tar, rg_buf_str(&text), err);
	for (i = 0; i < making->part_count && r == ROGER_OK; i++) {
		const struct rg_backup_file *file = &making->backup.files.items[i];

		snprintf(name, sizeof name, "%s%.*s", inside, RG_STR_ARGS(file->file));
		r = rg_tar_add(tar, name, (uint64_t)file->bytes, err);
		if (r == ROGER_OK && file->bytes)
			r = making->parts[i].journal
				    ? write_journal(making, i, tar, room, err)
				    : rg_tar_write(tar, making->parts[i].text, err);
	}
	free(room);
	return r == ROGER_OK ? rg_tar_finish(tar, err) : r;
}

static int try_backup(struct making *making, const char *path, struct roger_err *err)
{
	struct rg_seal_key key;
	struct rg_run_texts runs;
	struct roger_str state;
	struct rg_tar tar;
	int r = rg_tar_make(path, rg_clock_ms(), &tar, err);

	if (r == ROGER_OK)
		r = rg_engine_seal_key(making->roger->engine, true, making->arena, &key, err);
	/* Documents name messages and count them, so they are read before the journals. */
	if (r == ROGER_OK)
		r = rg_engine_session(making->roger->engine, false, &making->epoch, err);
	if (r == ROGER_OK)
		r = rg_engine_state_text(making->roger->engine, making->arena, &state, err);
	if (r == ROGER_OK)
		r = rg_engine_runs(making->roger->engine, NULL, NULL, making->arena, &runs, err);
	if (r == ROGER_OK)
		r = add_journals(making, &runs, &key, err);
	if (r == ROGER_OK)
		r = add_documents(making, state, &runs, err);
	if (r == ROGER_OK)
		r = sign_backup(making, &key, err);
	if (r == ROGER_OK)
		r = write_all(making, &tar, err);
	rg_tar_close(&tar);
	return r;
}

int rg_verb_backup(struct roger *roger, const struct roger_backup_request *request,
		   struct roger_backup_reply *reply, struct roger_err *err)
{
	struct making making;
	char path[4096];
	size_t i;
	int tries = 0, r = rg_op_path(request->file, "file", path, err);

	if (r < 0)
		return r;
	if (rg_str_is(request->file, "-"))
		return rg_fail_member(err, ROGER_EUSAGE, "file",
				      "file: a backup does not go to standard output; name a "
				      "file, for example all.tar");
	/* A purge may rewrite logs meanwhile, or a session begin, so this is tried again. */
	do {
		making = (struct making){ .roger = roger, .arena = reply->memory };
		r = try_backup(&making, path, err);
	} while (r == ROGER_ETIMEOUT && making.measured && ++tries < TRIES_MAX);
	for (i = 0; i < making.part_count; i++)
		reply->bytes += making.backup.files.items[i].bytes;
	reply->files = (int64_t)making.part_count;
	reply->public_key = making.backup.public_key;
	reply->file = rg_arena_str(reply->memory, request->file);
	return r;
}

/* --------------------------------------------------------------- restore -- */

static int fail_changed(struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EDATA, "file",
			      "file: it is no backup, or was cut off or changed");
}

static int read_manifest(struct rg_tar *tar, uint64_t size, struct roger_str key,
			 struct rg_arena *arena, struct rg_backup *ret_backup,
			 struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	size_t got;
	char *room;
	int r;

	if (size > MANIFEST_BYTES_MAX)
		return fail_changed(err);
	room = rg_arena_get(arena, (size_t)size + 1);
	if (!room)
		return rg_fail_memory(err);
	r = rg_tar_read(tar, room, (size_t)size, &got, err);
	if (r < 0)
		return r;
	if (rg_record_read(&rg_backup_record, (struct roger_str){ room, got }, ret_backup, arena,
			   NULL) < 0)
		return fail_changed(err);
	if (ret_backup->version != VERSION)
		return rg_fail_member(err, ROGER_EDATA, "file",
				      "file: a backup of version %lld; this program knows %d",
				      (long long)ret_backup->version, VERSION);
	print_signed(*ret_backup, &text);
	if (text.failed)
		return rg_fail_memory(err);
	if (!rg_sign_check(rg_buf_str(&text), ret_backup->signature, ret_backup->public_key))
		return fail_changed(err);
	if (key.length && !rg_str_equal(key, ret_backup->public_key))
		return rg_fail_member(err, ROGER_EREFUSED, "key",
				      "key: the backup was signed with another key, %.*s",
				      RG_STR_ARGS(ret_backup->public_key));
	return ROGER_OK;
}

static int restore_file(struct rg_tar *tar, struct rg_restore *restore,
			const struct rg_backup_file *file, char *room, struct roger_err *err)
{
	char sha256[RG_DIGEST_DIGITS + 1], name[RG_TAR_NAME_BYTES];
	const uint64_t size = file->bytes > 0 ? (uint64_t)file->bytes : 0;
	struct rg_sha256 sha;
	uint64_t at;
	size_t got = 0;
	int r;

	snprintf(name, sizeof name, "%s%.*s", inside, RG_STR_ARGS(file->file));
	r = rg_tar_expect(tar, name, size, err);
	if (r == ROGER_OK)
		r = rg_restore_file(restore, name + strlen(inside), err);
	rg_sha256_init(&sha);
	for (at = 0; r == ROGER_OK && at < size; at += got) {
		r = rg_tar_read(tar, room, PIECE_BYTES, &got, err);
		if (r == ROGER_OK)
			r = rg_restore_write(restore, (struct roger_str){ room, got }, err);
		rg_sha256_add(&sha, room, got);
	}
	rg_sha256_peek(&sha, sha256);
	return r < 0 || rg_str_is(file->sha256, sha256) ? r : fail_changed(err);
}

static int restore_all(struct rg_tar *tar, const struct rg_backup *backup, const char *to,
		       struct roger_restore_reply *reply, struct roger_err *err)
{
	char *room = malloc(PIECE_BYTES);
	struct rg_restore restore;
	size_t i;
	int r = rg_restore_begin(to, &restore, err);

	if (r == ROGER_OK && !room)
		r = rg_fail_memory(err);
	for (i = 0; i < backup->files.count && r == ROGER_OK; i++) {
		r = restore_file(tar, &restore, &backup->files.items[i], room, err);
		reply->bytes += backup->files.items[i].bytes;
	}
	if (r == ROGER_OK)
		r = rg_tar_expect_end(tar, err);
	if (r == ROGER_OK)
		r = rg_restore_finish(&restore, err);
	reply->workspace = rg_arena_str(reply->memory, rg_str(r < 0 ? "" : restore.root));
	rg_restore_close(&restore);
	free(room);
	return r;
}

int rg_verb_restore(struct roger *roger, const struct roger_restore_request *request,
		    struct roger_restore_reply *reply, struct roger_err *err)
{
	struct rg_backup backup = { 0 };
	char path[4096], to[4096];
	struct rg_tar tar;
	uint64_t size;
	int r;

	(void)roger;
	r = rg_op_path(request->file, "file", path, err);
	if (r == ROGER_OK)
		r = rg_op_path(request->to, "to", to, err);
	if (r < 0)
		return r;
	r = rg_tar_open(path, first, &tar, &size, err);
	if (r == ROGER_OK)
		r = read_manifest(&tar, size, request->key, reply->memory, &backup, err);
	if (r == ROGER_OK)
		r = restore_all(&tar, &backup, to[0] ? to : ".", reply, err);
	rg_tar_close(&tar);
	reply->files = (int64_t)backup.files.count;
	reply->made_at_ms = backup.made_at_ms;
	reply->public_key = backup.public_key;
	reply->was = backup.workspace;
	return r;
}
