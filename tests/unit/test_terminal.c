/* The terminal: a person sits there unless a name or an agent's tool says otherwise. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/terminal.h"

static void put(int descriptor, const char *path)
{
	const int file = open(path, O_RDWR | O_NOCTTY);

	assert_true(file >= 0);
	assert_int_equal(dup2(file, descriptor), descriptor);
	close(file);
}

static bool with(const char *name, const char *value)
{
	bool person;

	setenv(name, value, 1);
	person = rg_terminal_has_person();
	unsetenv(name);
	return person;
}

static void knows_a_person(void **state)
{
	static const char *const tools[] = { "ROGER_AGENT",	"CLAUDECODE", "AI_AGENT",
					     "CODEX_SANDBOX",	"GEMINI_CLI", "OPENCODE",
					     "CODEX_THREAD_ID", "COPILOT_CLI" };
	const int input = dup(0), output = dup(1), ours = posix_openpt(O_RDWR | O_NOCTTY);
	bool neither, in, out, told = false;
	size_t i;

	(void)state;
	assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
	put(0, "/dev/null");
	put(1, "/dev/null");
	neither = rg_terminal_has_person();
	put(1, ptsname(ours));
	out = rg_terminal_has_person();
	put(1, "/dev/null");
	put(0, ptsname(ours));
	in = rg_terminal_has_person();
	for (i = 0; i < sizeof tools / sizeof *tools; i++)
		told |= with(tools[i], "1") || !with(tools[i], "");
	told |= !with("CODEX_HOME", "/home/x") || !with("CODEX_API_KEY", "x");
	dup2(input, 0);
	dup2(output, 1);
	assert_false(neither);
	assert_true(in && out);
	assert_false(told);
}

int main(void)
{
	static const char *const known[] = { "ROGER_AGENT", "CLAUDECODE", "AI_AGENT", "OPENCODE" };
	const struct CMUnitTest tests[] = { cmocka_unit_test(knows_a_person) };
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++)
		unsetenv(known[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
