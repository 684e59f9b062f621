/*
 * err - how roger says that something went wrong.
 *
 * The place that finds a problem writes the message; everyone above forwards
 * the code.  Messages hold names, numbers and paths, never any content.
 */
#ifndef RG_ERR_H
#define RG_ERR_H

#include <roger.h>

#define RG_CHECKED __attribute__((warn_unused_result))
#define RG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define RG_CLEANUP(function) __attribute__((cleanup(function)))

/*
 * Fill err, which may be NULL, and return code.  system_errno, unless 0, adds the
 * system's message.  Characters that cannot be printed become '?'.
 */
int rg_fail(struct roger_err *err, enum roger_code code, int system_errno, const char *format, ...)
	RG_PRINTF(4, 5);

/* Like rg_fail(), for a member of a request or a record. */
int rg_fail_member(struct roger_err *err, enum roger_code code, const char *member,
		   const char *format, ...) RG_PRINTF(4, 5);

int rg_fail_memory(struct roger_err *err);

/* Fill a warning about what does not work although calls succeed, with the code of what it came
 * of; NULL: no call failed. */
void rg_warn(struct roger_err *warning, const struct roger_err *why, const char *format, ...)
	RG_PRINTF(3, 4);

/* Does more room on the disk, or a larger quota, help? */
bool rg_is_full(int system_errno);

/* The result of a step that only lack of memory can fail: ROGER_OK if kept, else ROGER_ENOMEM. */
RG_CHECKED static inline int rg_kept(bool kept, struct roger_err *err)
{
	return kept ? ROGER_OK : rg_fail_memory(err);
}

/* The code that fits a failed open or create. */
enum roger_code rg_code_of_create(int system_errno);

/* Check a promise inside roger; this stays on in release builds. */
#define rg_assert(condition)                                                                       \
	((condition) ? (void)0 : rg_assert_failed(#condition, __FILE__, __LINE__))
_Noreturn void rg_assert_failed(const char *condition, const char *file, int line);

#endif
