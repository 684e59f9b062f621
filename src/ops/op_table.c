#include "ops/op.h"

const struct roger_op *const rg_op_table[] = {
	&rg_op_init,	     &rg_op_setup,	&rg_op_trust,	 &rg_op_looked,
	&rg_op_prime,	     &rg_op_arrive,	&rg_op_send,	 &rg_op_send_many,
	&rg_op_inbox,	     &rg_op_receive,	&rg_op_wait,	 &rg_op_wake,
	&rg_op_claim,	     &rg_op_ack,	&rg_op_nack,	 &rg_op_show,
	&rg_op_trace,	     &rg_op_thread,	&rg_op_list,	 &rg_op_search,
	&rg_op_count,	     &rg_op_agents,	&rg_op_session,	 &rg_op_archive,
	&rg_op_cleanup,	     &rg_op_delete,	&rg_op_cycle,	 &rg_op_sends,
	&rg_op_dead_letters, &rg_op_redeliver,	&rg_op_stale,	 &rg_op_purge,
	&rg_op_log,	     &rg_op_log_import, &rg_op_activity, &rg_op_stats,
	&rg_op_rebuild,	     &rg_op_verify,	&rg_op_accept,	 &rg_op_doctor,
	&rg_op_seal,	     &rg_op_config,	&rg_op_dispatch, &rg_op_complete,
	&rg_op_forward,	     &rg_op_extend,	&rg_op_recover,	 &rg_op_runs,
	&rg_op_run_program,  &rg_op_sweep,	&rg_op_timeline, &rg_op_report,
	&rg_op_bridge,	     &rg_op_ingest,	&rg_op_status,	 NULL,
};
