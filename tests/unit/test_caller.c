/*
 * What roger.h promises of its flags: a member of a request that is a name either names who acts,
 * so that the rule of ops/caller.h asks for it, or says that it does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "data/record.h"

static const unsigned said =
	ROGER_SELF | ROGER_ACTOR | ROGER_OTHER | ROGER_ISSUE | ROGER_RUN | ROGER_KEY | ROGER_ID;

/* How many names say nothing, at every depth. */
static int count_unsaid(const struct roger_op *op, const struct roger_record *type)
{
	const struct roger_field *field;
	int count = 0;

	for (field = type->fields; field->name; field++) {
		if (field->kind == ROGER_RECORDS)
			count += count_unsaid(op, field->record);
		if (field->kind != ROGER_NAME || (field->flags & said))
			continue;
		printf("# %s: '%s' is a name: give it ROGER_ACTOR or ROGER_OTHER\n", op->name,
		       field->name);
		count++;
	}
	return count;
}

static void each_name_says_whether_it_acts(void **state)
{
	const struct roger_op *const *op;
	int count = 0;

	(void)state;
	for (op = roger_ops(); *op; op++)
		count += count_unsaid(*op, (*op)->request);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_name_says_whether_it_acts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
