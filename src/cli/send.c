/* send: the text from a word, a file or standard input; --batch sends JSON lines. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/command.h"
#include "cli/input.h"
#include "data/remote.h"
#include "cli/screen.h"
#include "data/record.h"

/* How many sends of a batch share one append and one sync; how much is read at once. */
enum { GROUP = 512, PIECE = 65536 };

static struct roger_send_request *request_of(const struct cli_run *run)
{
	return run->request;
}

/* Of send, or of reply, which has the file alone. */
static const struct rg_send_options *options_of(const struct cli_run *run)
{
	return run->options;
}

/* ------------------------------------------------------------- the text -- */

/* Read the text; path NULL: from standard input. */
static int read_text(struct cli_run *run, const char *path, struct roger_err *err)
{
	struct roger_str *content = &request_of(run)->content;
	int r;

	r = cli_read_text(path, "content", RG_LINE_BYTES_MAX, run->arena, content, err);
	if (r == ROGER_OK && path && content->length == 0)
		r = rg_fail_member(err, ROGER_EDATA, "content", "content: '%s' is empty", path);
	return r;
}

/* Refuse options that each line of a batch gives itself. */
static int check_batch(const struct roger_send_request *given, struct roger_err *err)
{
	static const char *const own[] = { "metadata", "reply_to", "key", "task", "verb" };
	const struct roger_field *field;
	char option[64];
	size_t i;

	for (i = 0; i < sizeof own / sizeof *own; i++) {
		field = cli_member(cli_op_named("send")->request, rg_str(own[i]));
		cli_words_of(field, '-', option);
		if (!rg_field_unset(field, given))
			return rg_fail_member(err, ROGER_EUSAGE, own[i],
					      "--%s: in a batch each line has its own: put \"%s\" "
					      "into the lines",
					      option, own[i]);
	}
	if (given->confirm == ROGER_CONFIRM_READ || given->within_ms || given->retry)
		return rg_fail_member(
			err, ROGER_EUSAGE, "confirm",
			"confirm: several messages at once can only be confirmed as stored");
	return ROGER_OK;
}

static int prepare_send(struct cli_run *run, struct roger_err *err)
{
	int r = ROGER_OK;

	if (options_of(run)->file.data && options_of(run)->batch)
		return rg_fail(err, ROGER_EUSAGE, 0, "give --file or --batch, not both");
	/* This comes before words are placed: with a text given, all words are recipients. */
	if (options_of(run)->batch) {
		request_of(run)->content = RG_STR("-");
		r = check_batch(request_of(run), err);
	} else if (options_of(run)->file.data) {
		r = read_text(run, options_of(run)->file.data, err);
	}
	if (run->words.count && !request_of(run)->content.data)
		run->words.count--;
	/* The first word is a recipient, if no option names one. */
	if (run->words.count && !request_of(run)->to.count)
		run->words.items++, run->words.count--;
	return r;
}

/* ---------------------------------------------------------- recipients -- */

/* Split words at commas, which names do not have, so that one word can name several. */
static int split_names(struct rg_arena *arena, struct roger_strs *names, struct roger_err *err)
{
	struct roger_strs split = { 0 };
	const char *name;
	size_t i, length;

	for (i = 0; i < names->count; i++)
		for (name = names->items[i].data;; name += length + 1) {
			length = strcspn(name, ",");
			if (!rg_arena_add(arena, &split, (struct roger_str){ name, length }))
				return rg_fail_memory(err);
			if (!name[length])
				break;
		}
	*names = split;
	return ROGER_OK;
}

/* Cut a word so that an error about it fits one line. */
static void add_cut(struct rg_buf *out, struct roger_str word, const char *before)
{
	enum { SHOWN = 48 };
	const struct roger_str shown = rg_str_first(word, SHOWN);

	rg_buf_printf(out, "%s%.*s%s", before, RG_STR_ARGS(shown),
		      shown.length < word.length ? "..." : "");
}

/* Show both readings of the words: one text, or several recipients. */
static int both_readings(const struct cli_run *run, struct roger_str unknown, struct roger_err *err)
{
	const struct roger_strs *to = &request_of(run)->to;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = 160 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf names = { .maximum = 160 };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = 160 };
	bool typed = !options_of(run)->file.data && !options_of(run)->batch;
	size_t i;

	for (i = 0; i < run->words.count; i++)
		add_cut(&words, run->words.items[i], i ? " " : "");
	if (typed)
		add_cut(&words, request_of(run)->content, " ");
	for (i = 0; i < to->count; i++)
		add_cut(&names, to->items[i], i ? "," : "");
	add_cut(&text, typed ? request_of(run)->content : RG_STR("--..."), "");
	return rg_fail_member(
		err, ROGER_EUSAGE, "to",
		"to: '%.40s' is not known here; one text needs quotes, `roger send %.40s "
		"'%.*s'`, several recipients need commas, `roger send %.*s %s%.*s%s`",
		unknown.data, to->items[0].data, RG_STR_ARGS(rg_buf_str(&words)),
		RG_STR_ARGS(rg_buf_str(&names)), typed ? "'" : "", RG_STR_ARGS(rg_buf_str(&text)),
		typed ? "'" : "");
}

/*
 * When the quotes were forgotten, words of a text look like recipients.  Words after the
 * first are taken as recipients only when they are known.
 */
static int check_words(struct cli_run *run, struct roger_err *err)
{
	struct roger_send_request probe = { .from = request_of(run)->from,
					    .to = run->words,
					    .content = RG_STR("-"),
					    .dry_run = true,
					    .new_ = true };
	RG_CLEANUP(roger_reply_free) struct roger_send_reply reply = { 0 };
	int r;

	if (!run->words.count)
		return ROGER_OK;
	r = split_names(run->arena, &probe.to, err);
	if (r < 0)
		return r;
	r = roger_send(run->roger, &probe, &reply, err);
	if (r < 0)
		return strcmp(err->member, "to") == 0 ? both_readings(run, run->words.items[0], err)
						      : ROGER_OK;
	return reply.never_seen.count ? both_readings(run, reply.never_seen.items[0], err)
				      : ROGER_OK;
}

/* ------------------------------------------------------------ one send -- */

/* Notes of one reply that no earlier reply has. */
static void print_notes(const struct cli_run *run, const struct roger_send_reply *replies,
			size_t which)
{
	const struct roger_strs *notes = &replies[which].notes;
	size_t i, before;

	for (i = 0; i < notes->count && !run->quiet; i++) {
		for (before = 0; before < which; before++)
			if (rg_str_among(replies[before].notes, notes->items[i]))
				break;
		if (before == which)
			cli_print_note(notes->items[i]);
	}
}

static void print_sent(const struct cli_run *run)
{
	const struct roger_send_reply *reply = run->reply;
	/* On a terminal, name the message as it can be typed: bob#3. */
	const struct roger_str from = cli_screen_folds() ? request_of(run)->from : RG_STR("");
	size_t i;

	print_notes(run, reply, 0);
	for (i = 0; i < reply->messages.count; i++)
		cli_say("%t  %t#%d -> %t%s\n", reply->messages.items[i].id, from, reply->seq,
			reply->messages.items[i].to,
			request_of(run)->dry_run ? "  (dry run: nothing stored)"
			: reply->duplicate	 ? "  (sent before with this key)"
						 : "");
}

static int send_one(struct cli_run *run, struct roger_err *err)
{
	int r = ROGER_OK;

	if (rg_str_is(request_of(run)->content, "-") && !options_of(run)->file.data)
		r = read_text(run, NULL, err);
	return r < 0 ? r : cli_call(run, err);
}

/* ------------------------------------------------------------- the outbox -- */

/* Put the send into the outbox; it is not reported as sent. */
static int queue_send(const struct cli_run *run, struct roger_err *err)
{
	struct rg_queued queued = { .queued = true, .to = request_of(run)->to };
	int r = rg_remote_queue(run->roger, cli_op(run->command), run->request, &queued.key, err);
	size_t i;

	if (r < 0)
		return r;
	if (run->form != CLI_HUMAN)
		cli_print_reply(run, &rg_queued_record, &queued);
	for (i = 0; cli_answers_people(run) && i < queued.to.count; i++)
		cli_say("queued -> %t, until %s answers\n", queued.to.items[i],
			rg_remote_server(run->roger));
	return ROGER_OK;
}

/* -------------------------------------------------------------- a batch -- */

enum { FIELDS_MAX = 24 };

struct batch {
	struct cli_run *run;
	struct roger_record record; /* of a line; what the command line gives is optional */
	struct roger_field fields[FIELDS_MAX];
	size_t field_count;	/* the next one takes the other members of a copied message */
	struct rg_arena *arena; /* memory of the group */
	struct roger_send_request items[GROUP];
	int64_t lines[GROUP]; /* the line of each item */
	bool copied[GROUP];   /* the item is a message that list printed */
	bool no_person;	      /* `human` may not send from here */
	bool old_told;	      /* a renamed member was reported */
	size_t count;
	struct rg_buf input;  /* what was read, and is no line yet */
	int64_t line;	      /* last one read */
	struct rg_batch done; /* totals so far */
	int64_t bytes;
	int64_t total_bytes; /* size of standard input, if it is a file */
};

/* Fail with the number of the line, and how many sends are stored. */
static int fail_line(const struct batch *batch, int64_t line, int code, struct roger_err *err)
{
	const struct roger_err inner = *err;

	return rg_fail_member(err, (enum roger_code)code, inner.member,
			      "line %lld: %.299s; %lld sends before it are stored, nothing else",
			      (long long)line, inner.message, (long long)batch->done.sent);
}

/* Return the item of the group that an error is about; the first, if it names none. */
static size_t failed_item(const struct batch *batch, const struct roger_err *err)
{
	return err->item > 0 && (size_t)err->item <= batch->count ? (size_t)err->item - 1 : 0;
}

/* Is a copied message left out: one from roger, or from a person who may not send from here? */
static bool is_left_out(const struct batch *batch, size_t item)
{
	const struct roger_str from = batch->items[item].from;

	return batch->copied[item] &&
	       ((from.length == 5 && strncasecmp(from.data, "roger", 5) == 0) ||
		(batch->no_person && rg_str_is(from, "human")));
}

/* Drop copied messages of a person from the group, if one was refused; false: another error. */
static bool leave_out_person(struct batch *batch, const struct roger_err *err)
{
	size_t i, kept = 0;

	if (batch->no_person || strcmp(err->member, "from") != 0)
		return false;
	batch->no_person = true;
	if (!is_left_out(batch, failed_item(batch, err))) {
		batch->no_person = false;
		return false;
	}
	for (i = 0; i < batch->count; i++) {
		if (is_left_out(batch, i))
			continue;
		batch->items[kept] = batch->items[i];
		batch->copied[kept] = batch->copied[i];
		batch->lines[kept++] = batch->lines[i];
	}
	batch->done.left_out += (int64_t)(batch->count - kept);
	batch->count = kept;
	return true;
}

static int flush_group(struct batch *batch, struct roger_err *err)
{
	struct roger_send_many_request request = { .from = request_of(batch->run)->from,
						   .items = { batch->items, batch->count } };
	RG_CLEANUP(roger_reply_free) struct roger_send_many_reply reply = { 0 };
	size_t i;
	int r;

	if (batch->count == 0)
		return ROGER_OK;
	r = roger_send_many(batch->run->roger, &request, &reply, err);
	if (r == ROGER_EREFUSED && leave_out_person(batch, err))
		return flush_group(batch, err);
	if (r < 0)
		return fail_line(batch, batch->lines[failed_item(batch, err)], r, err);
	for (i = 0; i < reply.items.count; i++) {
		batch->done.duplicates += reply.items.items[i].duplicate;
		if (batch->run->form == CLI_JSONL)
			cli_print_reply(batch->run, cli_op(batch->run->command)->reply,
					&reply.items.items[i]);
		else if (batch->run->form == CLI_HUMAN)
			print_notes(batch->run, reply.items.items, i);
	}
	batch->done.sent += (int64_t)reply.items.count;
	batch->done.stored += reply.stored;
	batch->count = 0;
	rg_arena_reset(batch->arena);
	fflush(cli_out);
	cli_progress(NULL, "send", batch->bytes, batch->total_bytes);
	return ROGER_OK;
}

/* A send, and the members of a copied message that only roger can set. */
struct batch_line {
	struct roger_send_request request;
	struct roger_str others;
};

/* A line with an id is a message as `list --jsonl` prints it, or as a journal has it. */
static int decode_line(struct batch *batch, const struct rg_json *json,
		       struct roger_send_request *item, struct roger_err *err)
{
	const bool copied = rg_json_member(rg_json_root(json), "id");
	struct batch_line line = { *item, { 0 } };
	const struct roger_field *old;
	int r;

	batch->fields[batch->field_count] =
		(struct roger_field){ copied ? "" : NULL,
				      ROGER_MEMBERS,
				      offsetof(struct batch_line, others),
				      0,
				      NULL,
				      NULL,
				      "" };
	(void)rg_old_member();
	r = rg_words_decode(&batch->record, rg_json_root(json), &line, batch->arena, err);
	old = rg_old_member();
	/* Report one old name: the next release does not know it. */
	if (!copied && old && !batch->old_told && !batch->run->quiet) {
		batch->old_told = true;
		cli_say_to(stderr,
			   "note: line %d: '%s' is called '%s' now; the next release takes no "
			   "other\n",
			   batch->line, old->was, old->name);
	}
	*item = line.request;
	batch->copied[batch->count] = copied;
	/* A copied message answers one of its own workspace, and its names are no slips. */
	if (copied)
		item->reply_to = (struct roger_str){ 0 };
	item->new_ |= copied;
	return r;
}

static int add_line(struct batch *batch, struct roger_str line, struct roger_err *err)
{
	const struct roger_send_request *given = request_of(batch->run);
	struct roger_send_request *item = &batch->items[batch->count];
	const struct rg_json *json = NULL;
	int r;

	*item = (struct roger_send_request){ .type = given->type };
	r = rg_json_read_within(line, batch->arena, &json, err);
	if (r < 0)
		return r;
	batch->lines[batch->count] = batch->line;
	r = decode_line(batch, json, item, err);
	if (r < 0)
		return r;
	/* The command line gives what a line leaves out. */
	if (!item->to.count)
		item->to = given->to;
	if (!item->issue.length)
		item->issue = given->issue;
	if (!item->pass)
		item->pass = given->pass;
	item->dry_run = given->dry_run;
	item->new_ |= given->new_;
	if (is_left_out(batch, batch->count))
		batch->done.left_out++;
	else
		batch->count++;
	return ROGER_OK;
}

/* Read on, behind what is left of the input; *ret_more false: that was all. */
static int read_more(struct batch *batch, bool *ret_more, struct roger_err *err)
{
	char *room = rg_buf_room(&batch->input, PIECE);
	ssize_t got;

	if (!room && batch->input.length > RG_LINE_BYTES_MAX - PIECE)
		return rg_fail(err, ROGER_EDATA, 0, "line %lld: longer than %d bytes",
			       (long long)batch->line + 1, RG_LINE_BYTES_MAX);
	if (!room)
		return rg_fail_memory(err);
	do
		got = read(STDIN_FILENO, room, PIECE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return rg_fail(err, ROGER_EIO, errno, "read standard input");
	batch->input.length += (size_t)got;
	*ret_more = got > 0;
	return ROGER_OK;
}

static int take_line(struct batch *batch, struct roger_str line, struct roger_err *err)
{
	int r;

	batch->bytes += (int64_t)line.length + 1;
	batch->line++;
	if (!line.length)
		return ROGER_OK;
	r = add_line(batch, line, err);
	if (r < 0)
		return fail_line(batch, batch->line, r, err);
	return batch->count == GROUP ? flush_group(batch, err) : ROGER_OK;
}

static int send_lines(struct batch *batch, struct roger_err *err)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct roger_str rest, line;
	bool more = true;
	int r = ROGER_OK;

	while (more && r == ROGER_OK) {
		/* No input is there, so its writer may be waiting for receipts. */
		if (batch->count && poll(&input, 1, 0) == 0)
			r = flush_group(batch, err);
		if (r == ROGER_OK)
			r = read_more(batch, &more, err);
		rest = rg_buf_str(&batch->input);
		while (r == ROGER_OK && rg_str_next_line(&rest, &line)) {
			/* Keep a line that has no end yet, unless no more input will come. */
			if (more && rest.data == line.data + line.length) {
				rest = line;
				break;
			}
			r = take_line(batch, line, err);
		}
		if (rest.length)
			memmove(batch->input.data, rest.data, rest.length);
		batch->input.length = rest.length;
	}
	return r < 0 ? r : flush_group(batch, err);
}

static int send_batch(struct cli_run *run, struct roger_err *err)
{
	const struct roger_field *fields = cli_op(run->command)->request->fields;
	struct batch *batch = rg_arena_get(run->arena, sizeof *batch);
	const struct rg_batch *done;
	size_t i;
	int r;

	if (!batch)
		return rg_fail_memory(err);
	batch->run = run;
	rg_buf_init(&batch->input, RG_LINE_BYTES_MAX);
	/* The verb's request; with recipients on the command line, lines need none. */
	for (i = 0; fields[i].name; i++) {
		rg_assert(i + 2 < FIELDS_MAX);
		batch->fields[i] = fields[i];
		if (strcmp(fields[i].name, "to") == 0 && request_of(run)->to.count)
			batch->fields[i].flags &= ~(unsigned)ROGER_REQUIRED;
	}
	batch->field_count = i;
	batch->record = *cli_op(run->command)->request;
	batch->record.fields = batch->fields;
	if (lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
		batch->total_bytes = lseek(STDIN_FILENO, 0, SEEK_END);
		lseek(STDIN_FILENO, 0, SEEK_SET);
	}
	batch->arena = rg_arena_new();
	r = batch->arena ? send_lines(batch, err) : rg_fail_memory(err);
	rg_arena_free(batch->arena);
	rg_buf_deinit(&batch->input);
	cli_progress_end();
	if (r < 0)
		return r;
	done = &batch->done;
	if (done->left_out && run->form != CLI_JSON && !run->quiet)
		cli_say_to(
			stderr,
			"note: %d message%p of roger itself or of a person left out: nobody sends "
			"under their names\n",
			done->left_out);
	if (run->form == CLI_JSON)
		cli_print_reply(run, &rg_batch_record, done);
	else if (cli_answers_people(run))
		cli_say("%d send%p, %d message%p stored, %d known already%s\n", done->sent,
			done->stored, done->duplicates,
			request_of(run)->dry_run ? " (dry run: nothing stored)" : "");
	return ROGER_OK;
}

static int run_send(struct cli_run *run, struct roger_err *err)
{
	int r;

	if (options_of(run)->queue &&
	    (options_of(run)->batch || request_of(run)->confirm == ROGER_CONFIRM_READ))
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "--queue: expected one message, which is confirmed as stored");
	if (rg_is_remote(run->roger) && options_of(run)->queue)
		rg_remote_hurry(run->roger);
	r = check_words(run, err);
	if (r < 0)
		return r;
	r = split_names(run->arena, &request_of(run)->to, err);
	if (r < 0)
		return r;
	if (options_of(run)->batch)
		return send_batch(run, err);
	r = send_one(run, err);
	if ((r == ROGER_ETIMEOUT || r == ROGER_EENGINE) && options_of(run)->queue &&
	    !request_of(run)->dry_run && rg_is_remote(run->roger) &&
	    rg_remote_may_queue(run->roger))
		r = queue_send(run, err);
	return r;
}

/* ----------------------------------------------------------------- reply -- */

static int prepare_reply(struct cli_run *run, struct roger_err *err)
{
	return options_of(run)->file.data ? read_text(run, options_of(run)->file.data, err)
					  : ROGER_OK;
}

CLI_COMMAND(reply, "reply", .prepare = prepare_reply, .run = send_one, .print = print_sent,
	    .joined = true);

CLI_COMMAND(send, "send", .prepare = prepare_send, .run = run_send, .print = print_sent);
