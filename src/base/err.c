#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

/* Make the text one line of valid UTF-8, whatever names it holds and wherever it was cut. */
static void make_one_line(char *text)
{
	size_t length = strlen(text), at = 0, step;
	uint32_t c = 0;

	for (; at < length; at += step) {
		step = rg_utf8_next(text + at, length - at, &c);
		if (step && c >= 0x20 && (c < 0x7f || c > 0x9f))
			continue;
		step = step ? step : 1;
		memset(text + at, '?', step);
	}
}

RG_PRINTF(5, 0)
static void fill_error(struct roger_err *err, enum roger_code code, int system_errno,
		       const char *member, const char *format, va_list arguments)
{
	enum { HALF = sizeof err->message / 2 };
	char text[8192];
	size_t used;

	rg_assert(code < 0);
	if (!err)
		return;

	err->code = code;
	err->system_errno = system_errno;
	err->item = 0;
	snprintf(err->member, sizeof err->member, "%s", member);
	vsnprintf(text, sizeof text, format, arguments);

	used = strlen(text);
	if (system_errno)
		snprintf(text + used, sizeof text - used, ": %s", strerror(system_errno));
	used = strlen(text);
	/* Cut the middle, usually a long path: the reason comes at the end. */
	if (used < sizeof err->message)
		memcpy(err->message, text, used + 1);
	else
		snprintf(err->message, sizeof err->message, "%.*s...%s", HALF - 3, text,
			 text + used - HALF + 1);
	make_one_line(err->message);
}

int rg_fail(struct roger_err *err, enum roger_code code, int system_errno, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fill_error(err, code, system_errno, "", format, arguments);
	va_end(arguments);
	return code;
}

int rg_fail_member(struct roger_err *err, enum roger_code code, const char *member,
		   const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fill_error(err, code, 0, member, format, arguments);
	va_end(arguments);
	return code;
}

void rg_warn(struct roger_err *warning, const struct roger_err *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fill_error(warning, why && why->code ? why->code : ROGER_EDATA, 0, "", format, arguments);
	va_end(arguments);
	warning->system_errno = why ? why->system_errno : 0;
}

bool rg_is_full(int system_errno)
{
	return system_errno == ENOSPC || system_errno == EDQUOT;
}

int rg_fail_memory(struct roger_err *err)
{
	return rg_fail(err, ROGER_ENOMEM, 0, "out of memory");
}

enum roger_code rg_code_of_create(int system_errno)
{
	switch (system_errno) {
	case EIO:
	case EINTR:
		return ROGER_EIO;
	case ENOMEM:
		return ROGER_ENOMEM;
	default:
		return ROGER_ECREATE;
	}
}

_Noreturn void rg_assert_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "roger: bug: '%s' does not hold at %s:%d\n", condition, file, line);
	abort();
}
