#include "ops/runs/run_process.h"

static void process_of(const struct roger_run *run, int64_t id, int64_t start,
		       struct rg_process *ret_process)
{
	*ret_process = (struct rg_process){ .id = id, .start = start, .space = run->pid_space };
	if (run->boot_id.length < sizeof ret_process->boot_id)
		memcpy(ret_process->boot_id, run->boot_id.data, run->boot_id.length);
}

enum rg_run_hands rg_run_hands_of(enum rg_process_fate child, enum rg_process_fate runner)
{
	if (runner == RG_PROCESS_LIVES)
		return RG_HANDS_HELD;
	if (runner == RG_PROCESS_UNKNOWN || child == RG_PROCESS_UNKNOWN)
		return RG_HANDS_UNKNOWN;
	return child == RG_PROCESS_LIVES ? RG_HANDS_ORPHAN : RG_HANDS_LOST;
}

enum rg_run_hands rg_run_hands(const struct roger_run *run)
{
	struct rg_process child, runner;
	enum rg_process_fate fate;

	if (!run->child_pid)
		return RG_HANDS_NONE;
	/* Process 1 is nobody's child. */
	if (run->child_pid == 1)
		return RG_HANDS_UNKNOWN;
	process_of(run, run->child_pid, run->child_start, &child);
	process_of(run, run->runner_pid, run->runner_start, &runner);
	/* Look at the child first: a runner writes down its end before it goes. */
	fate = rg_process_fate(&child);
	return rg_run_hands_of(fate, rg_process_fate(&runner));
}

void rg_run_child_process(const struct roger_run *run, struct rg_process *ret_process)
{
	process_of(run, run->child_pid, run->child_start, ret_process);
}
