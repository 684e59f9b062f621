/* words: how many words a text has. */
#include "ops/op.h"

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_words_request *request = request_;
	struct roger_words_reply *reply = reply_;
	size_t i, length = 0;

	(void)roger;
	(void)err;
	for (i = 0; i <= request->text.length; i++) {
		if (i < request->text.length && request->text.data[i] != ' ') {
			length++;
			continue;
		}
		reply->words += length > 0;
		reply->long_ones += (int64_t)length >= roger->workspace->config->long_word_chars;
		length = 0;
	}
	return ROGER_OK;
}

static const struct roger_field request_fields[] = {
	{ "text", ROGER_TEXT, offsetof(struct roger_words_request, text),
	  ROGER_REQUIRED | ROGER_PLACE, NULL, NULL, "words, with blanks between them" },
	RG_END,
};
static const struct roger_record request_record = { "request", sizeof(struct roger_words_request),
						    request_fields };

#define AT(member) offsetof(struct roger_words_reply, member)
static const struct roger_field reply_fields[] = {
	{ "words", ROGER_INT, AT(words), 0, NULL, NULL, "all of them" },
	{ "long_ones", ROGER_INT, AT(long_ones), 0, NULL, NULL, "of these long ones" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "words", sizeof(struct roger_words_reply),
						  reply_fields };

const struct roger_op rg_op_words = {
	.name = "words",
	.summary = "count the words of a text",
	.examples = "roger words 'one two three'\n",
	.flags = ROGER_TOOL,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
