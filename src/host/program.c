#include "host/program.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"

/* The input is a file in memory, which the caller closes: whether and how fast it is read cannot
 * hold us up. */
static int make_input(struct roger_str text, int *ret_file, struct roger_err *err)
{
	int r;

	*ret_file = memfd_create("roger-input", MFD_CLOEXEC);
	if (*ret_file < 0)
		return rg_fail(err, ROGER_EIO, errno, "make room for a command's input");
	r = rg_file_move_up(ret_file, err);
	if (r == ROGER_OK)
		r = rg_file_write(*ret_file, text.data, text.length, "a command's input", err);
	if (r == ROGER_OK && lseek(*ret_file, 0, SEEK_SET) < 0)
		r = rg_fail(err, ROGER_EIO, errno, "rewind a command's input");
	return r;
}

/* Start the program; if it cannot run, its exit status says so. */
static int start_program(const struct rg_program *program, bool capture,
			 struct rg_child **ret_child, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int input = RG_NO_FILE;
	struct roger_run_streams streams = { -1, -1, -1, -1, -1, -1 };
	const struct rg_child_wish wish = { .words = program->words,
					    .more = program->more,
					    .folder = program->folder,
					    .streams = &streams,
					    .output = capture ? RG_CAPTURE_ALL : RG_CAPTURE_NOT,
					    .bare = true };
	int r;

	r = make_input(program->input, &input, err);
	streams.input = input;
	if (r == ROGER_OK)
		r = rg_child_start(&wish, ret_child, err);
	if (r == ROGER_OK)
		(void)!rg_child_go(*ret_child);
	return r;
}

/* The part of its output that is kept. */
struct keeping {
	struct rg_buf *output;
	size_t most;
	bool cut;
};

static void keep_output(void *keeping_, int stream, const void *data, size_t length)
{
	struct keeping *keeping = keeping_;
	size_t room = keeping->most - keeping->output->length;

	(void)stream;
	keeping->cut |= length > room;
	rg_buf_add(keeping->output, data, length < room ? length : room);
}

/* End the program, and kill whatever it started. */
static struct rg_program_result finish_program(struct rg_child *child, bool in_time,
					       struct keeping *keeping)
{
	int status;
	const enum rg_child_end end = rg_child_finish(child, true, keep_output, keeping, &status);

	rg_assert(child != NULL);
	rg_child_free(child);
	if (!in_time)
		return (struct rg_program_result){ RG_PROGRAM_TIMED_OUT, SIGKILL, keeping->cut };
	return (struct rg_program_result){
		.end = end == RG_CHILD_SIGNALLED ? RG_PROGRAM_SIGNALLED : RG_PROGRAM_EXITED,
		.status = end == RG_CHILD_UNSEEN ? RG_PROGRAM_NOT_RUN : status,
		.cut = keeping->cut,
	};
}

int rg_program_run(const struct rg_program *program, struct rg_buf *output,
		   struct rg_program_result *ret_result, struct roger_err *err)
{
	int64_t until_ns = rg_clock_monotonic_ns() + program->timeout_ms * 1000000;
	struct keeping keeping = { output, program->output_bytes_most, false };
	struct rg_child *child;
	int r;

	r = start_program(program, true, &child, err);
	if (r < 0)
		return r;
	*ret_result = finish_program(child, rg_child_watch(child, until_ns, keep_output, &keeping),
				     &keeping);
	return output->failed ? rg_fail_memory(err) : ROGER_OK;
}

int rg_program_launch(const struct rg_program *program, struct rg_launched *ret_launched,
		      struct roger_err *err)
{
	struct rg_launched launched = { .started_ns = rg_clock_monotonic_ns() };
	int r;

	launched.until_ns = launched.started_ns + program->timeout_ms * 1000000;
	r = start_program(program, false, &launched.child, err);
	if (r == ROGER_OK)
		*ret_launched = launched;
	return r;
}

bool rg_program_over(struct rg_launched *launched, bool enough,
		     struct rg_program_result *ret_result)
{
	int64_t now_ns = rg_clock_monotonic_ns();
	struct keeping keeping = { 0 };
	bool in_time = rg_child_watch(launched->child, now_ns, keep_output, &keeping);

	rg_assert(launched->child != NULL);
	if (!in_time && !enough && now_ns < launched->until_ns)
		return false;
	launched->took_ns = now_ns - launched->started_ns;
	*ret_result = finish_program(launched->child, in_time, &keeping);
	launched->child = NULL;
	return true;
}

void rg_program_describe(const struct rg_program *program, const struct rg_program_result *result,
			 struct rg_buf *out)
{
	switch (result->end) {
	case RG_PROGRAM_EXITED:
		rg_buf_printf(out, "exit %d%s", result->status,
			      result->status == RG_PROGRAM_NOT_FOUND ? ", not found"
			      : result->status == RG_PROGRAM_NOT_RUN ? ", cannot be run"
								     : "");
		break;
	case RG_PROGRAM_SIGNALLED:
		rg_buf_printf(out, "signal %d", result->status);
		break;
	case RG_PROGRAM_TIMED_OUT:
		rg_buf_printf(out, "killed after %lld ms", (long long)program->timeout_ms);
		break;
	}
}
