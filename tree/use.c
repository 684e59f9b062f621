#include <roger.h>
#include <stdio.h>
int main(void)
{
	struct roger *roger = NULL;
	struct roger_words_request request = { .text = { "one two", 7 } };
	struct roger_words_reply reply;

	if (roger_open(NULL, &roger, NULL) < 0 || roger_words(roger, &request, &reply, NULL) < 0)
		return 1;
	printf("%d\n", (int)reply.words);
	roger_reply_free(&reply);
	roger_close(roger);
	return 0;
}
