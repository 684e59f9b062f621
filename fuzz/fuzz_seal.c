/*
 * Any bytes as a seal, and as the words of a seal that somebody did sign.  What
 * nobody signed is refused; what was signed is checked against a workspace, to
 * findings about the files that it names or an error of one line; and when one
 * byte of its figures changes, the signature fits no more.
 */
#include "base/sign.h"
#include "fuzz.h"
#include "ops/proof/seal.h"

static struct roger *open_place(void)
{
	static struct roger *roger;
	struct roger_str bob = RG_STR("bob");
	struct roger_init_request init = { .path = rg_str(fuzz_folder()) };
	struct roger_send_request send = { .from = RG_STR("al"),
					   .to = { &bob, 1 },
					   .content = bob };
	struct roger_init_reply init_reply;
	struct roger_send_reply send_reply;
	int r;

	if (roger)
		return roger;
	r = roger_init(&init, &init_reply, NULL);
	rg_assert(r == ROGER_OK);
	roger_reply_free(&init_reply);
	r = roger_open(fuzz_folder(), &roger, NULL);
	if (r == ROGER_OK)
		r = roger_send(roger, &send, &send_reply, NULL);
	rg_assert(r == ROGER_OK);
	roger_reply_free(&send_reply);
	return roger;
}

static int check(struct roger_str seal, struct rg_arena *arena, struct roger_verify_reply *reply)
{
	struct roger_verify_request request = { .seal = seal };
	struct roger_err err = { 0 };
	int r;

	*reply = (struct roger_verify_reply){ .memory = arena };
	r = rg_seal_check(open_place(), &request, reply, &err);
	if (r < 0)
		fuzz_check_error(&err, r);
	return r;
}

/* The same seal, signed by a key of ours. */
static void sign(struct roger_seal_reply *seal, struct rg_buf *out)
{
	static const char secret[] =
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
	static char public[RG_KEY_DIGITS + 1], signature[RG_SIGNATURE_DIGITS + 1];
	struct rg_buf text = { .maximum = SIZE_MAX };

	rg_assert(rg_key_public(RG_STR(secret), public));
	seal->public_key = rg_str(public);
	rg_seal_text(seal, &text);
	rg_assert(rg_sign(rg_buf_str(&text), RG_STR(secret), signature));
	seal->signature = rg_str(signature);
	rg_record_encode(&rg_seal_reply_record, seal, out);
	rg_buf_deinit(&text);
}

static void check_signed(struct roger_seal_reply *seal, struct rg_arena *arena)
{
	struct rg_buf text = { .maximum = SIZE_MAX };
	struct roger_verify_reply reply;
	int r;

	sign(seal, &text);
	r = check(rg_buf_str(&text), arena, &reply);
	if (r == ROGER_OK) {
		rg_assert(reply.sealed_files == (int64_t)seal->entries.count);
		rg_assert(reply.sealed_at_ms == seal->made_at_ms);
		seal->made_at_ms ^= 1;
		rg_buf_clear(&text);
		rg_record_encode(&rg_seal_reply_record, seal, &text);
		r = check(rg_buf_str(&text), arena, &reply);
		rg_assert(r == ROGER_EDATA);
	}
	rg_buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct roger_str text = { (const char *)data, size };
	struct rg_arena *arena = rg_arena_new();
	struct roger_seal_reply seal = { 0 };
	struct roger_verify_reply reply;
	const struct rg_json *json;

	rg_assert(arena);
	(void)check(text, arena, &reply);
	if (rg_json_read_within(text, arena, &json, NULL) == ROGER_OK &&
	    rg_record_decode(&rg_seal_reply_record, rg_json_root(json), &seal, arena, NULL) ==
		    ROGER_OK)
		check_signed(&seal, arena);
	rg_arena_free(arena);
	return 0;
}
