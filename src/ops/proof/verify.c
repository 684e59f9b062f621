/* verify: read every line of every journal, check the chains, and a seal. */
#include "ops/proof/seal.h"

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_verify_request *request = request_;
	struct roger_verify_reply *reply = reply_;
	int r;

	if (request->key.length && !request->seal.length)
		return rg_fail_member(err, ROGER_EUSAGE, "key", "--key needs --seal");
	if (request->cite.count && !request->seal.length)
		return rg_fail_member(err, ROGER_EUSAGE, "cite", "--cite needs --seal");
	r = rg_engine_verify(roger->engine, reply->memory, reply, err);
	/* What cannot be recorded was found all the same. */
	if (r == ROGER_OK && reply->damaged)
		(void)!rg_engine_note_findings(roger->engine, reply, reply->memory, NULL);
	return r < 0 || !request->seal.length ? r : rg_seal_check(roger, request, reply, err);
}

static const char *const kinds[] = { "altered",	   "stray",	"foreign",  "torn",
				     "unreadable", "truncated", "missing",  "changed",
				     "purged",	   "other_key", "accepted", NULL };

#define AT(member) offsetof(struct roger_verify_request, member)
static const struct roger_field request_fields[] = {
	{ "seal", ROGER_TEXT, AT(seal), 0, NULL, NULL,
	  "check that all files still begin with what this seal signed" },
	{ "key", ROGER_TEXT, AT(key), 0, NULL, NULL,
	  "public key that must have signed it, as a file (default seal.pub)" },
	{ "cite", ROGER_TEXTS, AT(cite), 0, NULL, NULL,
	  "print this line and its proof, such as messages.jsonl:12" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "verify", sizeof(struct roger_verify_request),
						    request_fields };

#define AT(member) offsetof(struct roger_finding, member)
static const struct roger_field finding_fields[] = {
	{ "kind", ROGER_ENUM, AT(kind), ROGER_REQUIRED, kinds, NULL,
	  "stray, foreign, torn, changed, purged and accepted are no damage" },
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "from the data folder" },
	{ "line", ROGER_INT, AT(line), ROGER_REQUIRED, NULL, NULL, "its number, from 1; 0: none" },
	{ "byte", ROGER_INT, AT(byte), ROGER_REQUIRED, NULL, NULL, "where it starts, from 0" },
	{ "what", ROGER_TEXT, AT(what), ROGER_REQUIRED, NULL, NULL, "in words" },
	RG_END,
};
#undef AT
static const struct roger_record finding_record = { "finding", sizeof(struct roger_finding),
						    finding_fields };

#define AT(member) offsetof(struct roger_journal, member)
static const struct roger_field journal_fields[] = {
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "from the data folder" },
	{ "bytes", ROGER_INT, AT(bytes), ROGER_REQUIRED, NULL, NULL, "whole lines" },
	{ "lines", ROGER_INT, AT(lines), ROGER_REQUIRED, NULL, NULL, "and how many" },
	{ "chained", ROGER_INT, AT(chained), ROGER_REQUIRED, NULL, NULL, "whose chain fits" },
	{ "damaged", ROGER_INT, AT(damaged), ROGER_REQUIRED, NULL, NULL,
	  "places that were altered" },
	{ "strays", ROGER_INT, AT(strays), ROGER_REQUIRED, NULL, NULL,
	  "lines that are no entries" },
	{ "head", ROGER_TEXT, AT(head), ROGER_REQUIRED, NULL, NULL,
	  "the chain after its last line" },
	RG_END,
};
#undef AT
static const struct roger_record journal_record = { "journal", sizeof(struct roger_journal),
						    journal_fields };

#define AT(member) offsetof(struct roger_cited, member)
static const struct roger_field cited_fields[] = {
	{ "file", ROGER_TEXT, AT(file), ROGER_REQUIRED, NULL, NULL, "from the data folder" },
	{ "count", ROGER_INT, AT(count), ROGER_REQUIRED, NULL, NULL, "lines that are sealed" },
	{ "numbers", ROGER_TEXT, AT(numbers), ROGER_REQUIRED, NULL, NULL, "of the lines" },
	{ "lines", ROGER_TEXTS, AT(lines), ROGER_REQUIRED, NULL, NULL, "as they are" },
	{ "proof", ROGER_TEXT, AT(proof), ROGER_REQUIRED, NULL, NULL,
	  "digests of the other lines" },
	RG_END,
};
#undef AT
static const struct roger_record cited_record = { "cited", sizeof(struct roger_cited),
						  cited_fields };

#define AT(member) offsetof(struct roger_verify_reply, member)
static const struct roger_field fields[] = {
	{ "lines", ROGER_INT, AT(lines), 0, NULL, NULL, "of messages.jsonl" },
	{ "messages", ROGER_INT, AT(messages), 0, NULL, NULL,
	  "of these messages or states of them" },
	{ "chained", ROGER_INT, AT(chained), 0, NULL, NULL, "lines whose chain fits" },
	{ "damaged", ROGER_INT, AT(damaged), 0, NULL, NULL, "places of damage, in all files" },
	{ "strays", ROGER_INT, AT(strays), 0, NULL, NULL, "lines that are no messages" },
	{ "journals", ROGER_RECORDS, AT(journals), 0, NULL, &journal_record, "each by itself" },
	{ "findings", ROGER_RECORDS, AT(findings), 0, NULL, &finding_record, "the first 1,000" },
	{ "sealed_at", ROGER_INSTANT, AT(sealed_at_ms), ROGER_SPARE, NULL, NULL,
	  "when the seal was made" },
	{ "sealed_by", ROGER_TEXT, AT(sealed_by), ROGER_SPARE, NULL, NULL,
	  "public key it is signed with" },
	{ "sealed_files", ROGER_INT, AT(sealed_files), ROGER_SPARE, NULL, NULL,
	  "that it speaks of" },
	{ "cited", ROGER_RECORDS, AT(cited), ROGER_SPARE, NULL, &cited_record,
	  "the lines that were cited, as far as they are sealed" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "verified", sizeof(struct roger_verify_reply),
						  fields };

const struct roger_op rg_op_verify = {
	.name = "verify",
	.summary = "check every line and the hash chain of every journal",
	.examples = "roger verify\nroger verify --json\nroger verify --seal app-42.seal\n",
	.flags = ROGER_SLOW,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
