/* verify: read every line of the journal and check the chain. */
#include "ops/op.h"

static int run(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	struct roger_verify_reply *reply = reply_;

	(void)request;
	return rg_engine_verify(roger->engine, reply->memory, reply, err);
}

static const char *const kinds[] = { "altered", "stray", "foreign", "torn", NULL };

#define AT(member) offsetof(struct roger_finding, member)
static const struct roger_field finding_fields[] = {
	{ "kind", ROGER_ENUM, AT(kind), ROGER_REQUIRED, kinds, NULL,
	  "altered is damage; the others are not" },
	{ "line", ROGER_INT, AT(line), ROGER_REQUIRED, NULL, NULL, "its number, from 1" },
	{ "byte", ROGER_INT, AT(byte), ROGER_REQUIRED, NULL, NULL, "where it starts, from 0" },
	{ "what", ROGER_TEXT, AT(what), ROGER_REQUIRED, NULL, NULL, "in words" },
	RG_END,
};
#undef AT
static const struct roger_record finding_record = { "finding", sizeof(struct roger_finding),
						    finding_fields };

#define AT(member) offsetof(struct roger_verify_reply, member)
static const struct roger_field fields[] = {
	{ "lines", ROGER_INT, AT(lines), 0, NULL, NULL, "lines read" },
	{ "messages", ROGER_INT, AT(messages), 0, NULL, NULL,
	  "of these messages or states of them" },
	{ "chained", ROGER_INT, AT(chained), 0, NULL, NULL, "lines whose chain fits" },
	{ "damaged", ROGER_INT, AT(damaged), 0, NULL, NULL, "places that were altered" },
	{ "strays", ROGER_INT, AT(strays), 0, NULL, NULL, "lines that are no messages" },
	{ "findings", ROGER_RECORDS, AT(findings), 0, NULL, &finding_record, "the first 1,000" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "verified", sizeof(struct roger_verify_reply),
						  fields };

const struct roger_op rg_op_verify = {
	.name = "verify",
	.summary = "check every line of messages.jsonl and their chain",
	.examples = "roger verify\nroger verify --json\n",
	.request = &rg_empty_request_record,
	.reply = &reply_record,
	.run = run,
};
