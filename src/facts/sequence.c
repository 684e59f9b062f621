#include "facts/sequence.h"

#include <stdlib.h>

#include "base/limits.h"
#include "data/record.h"

/* ---------------------------------------------------------------- order -- */

static int compare_numbers(const void *a, const void *b)
{
	const struct rg_number *x = a, *y = b;
	int order = rg_str_order(x->reader, y->reader);

	return order ? order : rg_str_order(x->sender, y->sender);
}

/* Return the place of a number in the list, or the place where it belongs. */
static size_t place_of(const struct rg_sequence *sequence, const struct rg_number *wanted)
{
	size_t low = 0, high = sequence->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_numbers(&sequence->numbers[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the number with the same reader and sender, or NULL. */
static struct rg_number *find_number(const struct rg_sequence *sequence,
				     const struct rg_number *wanted)
{
	size_t place = place_of(sequence, wanted);

	return place < sequence->count && !compare_numbers(&sequence->numbers[place], wanted)
		       ? &sequence->numbers[place]
		       : NULL;
}

/* ---------------------------------------------------------------- rules -- */

enum rg_freshness rg_sequence_judge(const struct rg_sequence *sequence, struct roger_str reader,
				    struct roger_str sender, int64_t epoch, int64_t number)
{
	if (number == 0)
		return RG_UNNUMBERED;
	if (epoch != 0 && epoch < sequence->epoch)
		return RG_STALE;
	if (epoch > sequence->epoch)
		return RG_RESET;
	return number > rg_sequence_seen(sequence, reader, sender) ? RG_FRESH : RG_STALE;
}

int64_t rg_sequence_seen(const struct rg_sequence *sequence, struct roger_str reader,
			 struct roger_str sender)
{
	const struct rg_number *seen =
		find_number(sequence, &(struct rg_number){ .reader = reader, .sender = sender });

	return seen ? seen->seq : 0;
}

void rg_sequence_renew(struct rg_sequence *sequence)
{
	sequence->numbers = NULL;
	sequence->count = 0;
	if (sequence->epoch < RG_EPOCH_MAX)
		sequence->epoch++;
}

/* --------------------------------------------------------------- change -- */

int rg_sequence_raise_seen(struct rg_sequence *sequence, struct roger_str reader,
			   struct roger_str sender, int64_t number, struct roger_err *err)
{
	struct rg_number seen = { reader, sender, number }, *there = find_number(sequence, &seen);
	size_t place = place_of(sequence, &seen), behind = sequence->count - place;

	if (number < 0 || number > RG_SEQ_MAX)
		return rg_fail_member(err, ROGER_EDATA, "seq",
				      "seq: expected a whole number from 0 to %lld",
				      (long long)RG_SEQ_MAX);
	if (number <= (there ? there->seq : 0))
		return ROGER_OK;
	if (there) {
		there->seq = number;
		return ROGER_OK;
	}
	if (!rg_arena_copy(sequence->memory, reader, &seen.reader) ||
	    !rg_arena_copy(sequence->memory, sender, &seen.sender) ||
	    !rg_arena_push(sequence->memory, &sequence->numbers, &sequence->count, sizeof seen))
		return rg_fail_memory(err);
	memmove(&sequence->numbers[place + 1], &sequence->numbers[place], behind * sizeof seen);
	sequence->numbers[place] = seen;
	return ROGER_OK;
}

int rg_sequence_raise_count(struct rg_sequence *sequence, struct roger_str agent, int64_t number,
			    struct roger_err *err)
{
	return rg_sequence_raise_seen(sequence, RG_STR(""), agent, number, err);
}

int rg_sequence_add(struct rg_sequence *sequence, const struct rg_sequence *other,
		    struct roger_err *err)
{
	const struct rg_number *number;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < other->count; i++) {
		number = &other->numbers[i];
		r = rg_sequence_raise_seen(sequence, number->reader, number->sender, number->seq,
					   err);
	}
	return r;
}

bool rg_sequence_covers(const struct rg_sequence *sequence, const struct rg_sequence *other)
{
	const struct rg_number *number;
	size_t i;

	for (i = 0; i < other->count; i++) {
		number = &other->numbers[i];
		if (rg_sequence_seen(sequence, number->reader, number->sender) < number->seq)
			return false;
	}
	return true;
}

/* -------------------------------------------------------------- reading -- */

int rg_sequence_new(struct rg_sequence **ret_sequence, struct roger_err *err)
{
	struct rg_arena *memory = rg_arena_new();
	struct rg_sequence *sequence = memory ? rg_arena_get(memory, sizeof *sequence) : NULL;

	if (!sequence) {
		rg_arena_free(memory);
		return rg_fail_memory(err);
	}
	sequence->memory = memory;
	sequence->epoch = 1;
	*ret_sequence = sequence;
	return ROGER_OK;
}

struct rg_sequence *rg_sequence_free(struct rg_sequence *sequence)
{
	if (sequence)
		rg_arena_free(sequence->memory);
	return NULL;
}

static void sequence_freep(struct rg_sequence **sequence)
{
	*sequence = rg_sequence_free(*sequence);
}

/* Append numbers in the document's order: those of a reader ("": the counters) or, nested, those of
 * all readers, each in an object of its own. */
static int read_numbers(struct rg_sequence *sequence, const char *member, bool nested,
			struct roger_str reader, const struct rg_value *object,
			struct roger_err *err)
{
	struct rg_number number = { .reader = reader };
	const struct rg_value *value = NULL;
	size_t i = 0;
	int r = ROGER_OK;

	if (rg_json_kind(object) != RG_JSON_OBJECT)
		return rg_fail_member(err, ROGER_EDATA, member, "%s: expected an object", member);
	while (r == ROGER_OK && rg_json_next(object, &i, &number.sender, &value)) {
		r = rg_name_check(member, number.sender, err);
		if (r < 0)
			return r;
		if (!rg_arena_copy(sequence->memory, number.sender, &number.sender))
			return rg_fail_memory(err);
		if (nested) {
			r = read_numbers(sequence, member, false, number.sender, value, err);
			continue;
		}
		if (!rg_json_int(value, &number.seq) || number.seq < 0 || number.seq > RG_SEQ_MAX)
			return rg_fail_member(err, ROGER_EDATA, member,
					      "%s: expected a whole number from 0 to %lld for "
					      "'%.*s'",
					      member, (long long)RG_SEQ_MAX,
					      RG_STR_ARGS(number.sender));
		r = rg_kept(rg_arena_append(sequence->memory, &sequence->numbers, &sequence->count,
					    &number, sizeof number),
			    err);
	}
	return r;
}

static int read_epoch(struct rg_sequence *sequence, const struct rg_value *value,
		      struct roger_err *err)
{
	int64_t epoch;

	if (!rg_json_int(value, &epoch) || epoch < 1 || epoch > RG_EPOCH_MAX)
		return rg_fail_member(err, ROGER_EDATA, "epoch",
				      "epoch: expected a whole number from 1 to %lld",
				      (long long)RG_EPOCH_MAX);
	sequence->epoch = epoch;
	return ROGER_OK;
}

/* Read {"bytes":N,"chain":"16 digits"}; what has another form says nothing, and does not stay. */
static void read_journal(struct rg_sequence *sequence, const struct rg_value *object)
{
	const struct rg_value *bytes = rg_json_member(object, "bytes");
	const struct rg_value *chain = rg_json_member(object, "chain");
	char digits[17] = "", *end;
	int64_t count;

	if (!bytes || !rg_json_int(bytes, &count) || count <= 0 || !chain ||
	    rg_json_kind(chain) != RG_JSON_STRING || rg_json_str(chain).length != 16)
		return;
	memcpy(digits, rg_json_str(chain).data, 16);
	sequence->journal_chain = strtoull(digits, &end, 16);
	sequence->journal_bytes = *end ? 0 : (uint64_t)count;
}

static int read_member(struct rg_sequence *sequence, struct roger_str key,
		       const struct rg_value *value, struct rg_buf *unknown, struct roger_err *err)
{
	if (rg_str_is(key, "counters"))
		return read_numbers(sequence, "counters", false, RG_STR(""), value, err);
	if (rg_str_is(key, "lastSeen"))
		return read_numbers(sequence, "lastSeen", true, RG_STR(""), value, err);
	if (rg_str_is(key, "epoch"))
		return read_epoch(sequence, value, err);
	if (rg_str_is(key, "journal")) {
		read_journal(sequence, value);
		return ROGER_OK;
	}
	rg_json_add_key(unknown, key);
	rg_json_print(value, unknown);
	return unknown->failed ? rg_fail_memory(err) : ROGER_OK;
}

static int read_document(struct rg_sequence *sequence, const struct rg_value *root,
			 struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf unknown = { .maximum = SIZE_MAX };
	const struct rg_value *value = NULL;
	struct roger_str key;
	size_t i = 0;
	int r;

	if (rg_json_kind(root) != RG_JSON_OBJECT)
		return rg_fail(err, ROGER_EDATA, 0, "expected an object");
	while (rg_json_next(root, &i, &key, &value)) {
		r = read_member(sequence, key, value, &unknown, err);
		if (r < 0)
			return r;
	}
	sequence->foreign = !rg_json_member(root, "epoch") && sequence->count;
	sequence->cleared = rg_json_member(root, "counters") && rg_json_member(root, "lastSeen") &&
			    !rg_json_member(root, "epoch") && !sequence->foreign;
	return rg_kept(!unknown.length || rg_arena_copy(sequence->memory, rg_buf_str(&unknown),
							&sequence->unknown),
		       err);
}

/* Sort the numbers, unless they are in order: another program's file may have any order. */
static void sort_lists(struct rg_sequence *sequence)
{
	size_t i = 1;

	while (i < sequence->count &&
	       compare_numbers(&sequence->numbers[i - 1], &sequence->numbers[i]) <= 0)
		i++;
	if (i < sequence->count)
		qsort(sequence->numbers, sequence->count, sizeof *sequence->numbers,
		      compare_numbers);
}

int rg_sequence_read(struct roger_str text, struct rg_sequence **ret_sequence,
		     struct roger_err *err)
{
	RG_CLEANUP(sequence_freep) struct rg_sequence *sequence = NULL;
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	int r;

	r = rg_json_read(text, &json, err);
	if (r < 0)
		return r;
	r = rg_sequence_new(&sequence, err);
	if (r < 0)
		return r;
	r = read_document(sequence, rg_json_root(json), err);
	if (r < 0)
		return r;

	sort_lists(sequence);
	*ret_sequence = sequence;
	sequence = NULL;
	return ROGER_OK;
}

/* ------------------------------------------------------------- printing -- */

/* Print the numbers of one reader, from i on; returns where those of the next begin. */
static size_t print_reader(const struct rg_sequence *sequence, size_t i, struct roger_str reader,
			   struct rg_buf *out)
{
	const struct rg_number *numbers = sequence->numbers;

	rg_buf_add_char(out, '{');
	for (; i < sequence->count && rg_str_equal(numbers[i].reader, reader); i++) {
		rg_json_add_key(out, numbers[i].sender);
		rg_buf_add_int(out, numbers[i].seq);
	}
	rg_buf_add_char(out, '}');
	return i;
}

void rg_sequence_print(const struct rg_sequence *sequence, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_char(out, '{');
	rg_json_add_key(out, RG_STR("counters"));
	i = print_reader(sequence, 0, RG_STR(""), out);
	rg_json_add_key(out, RG_STR("lastSeen"));
	rg_buf_add_char(out, '{');
	while (i < sequence->count) {
		rg_json_add_key(out, sequence->numbers[i].reader);
		i = print_reader(sequence, i, sequence->numbers[i].reader, out);
	}
	rg_buf_add_char(out, '}');
	rg_json_add_key(out, RG_STR("epoch"));
	rg_buf_add_int(out, sequence->epoch);
	if (sequence->journal_bytes)
		rg_buf_printf(out, ",\"journal\":{\"bytes\":%llu,\"chain\":\"%016llx\"}",
			      (unsigned long long)sequence->journal_bytes,
			      (unsigned long long)sequence->journal_chain);
	if (sequence->unknown.length) {
		rg_buf_add_char(out, ',');
		rg_buf_add_str(out, sequence->unknown);
	}
	rg_buf_add_text(out, "}\n");
}
