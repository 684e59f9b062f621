/* The list of commands, in the order of help. */
#include "cli/command.h"

extern const struct cli_command cli_bridge, cli_ingest, cli_init, cli_setup, cli_trust, cli_prime,
	cli_looked, cli_arrive, cli_hook, cli_mcp, cli_send, cli_inbox, cli_receive, cli_wait,
	cli_wake, cli_claim, cli_ack, cli_nack, cli_show, cli_trace, cli_thread, cli_list,
	cli_search, cli_count, cli_agents, cli_session, cli_archive, cli_cleanup, cli_delete,
	cli_cycle, cli_sends, cli_dead, cli_redeliver, cli_stale, cli_purge, cli_log, cli_activity,
	cli_stats, cli_dispatch, cli_complete_run, cli_forward, cli_extend, cli_recover, cli_runs,
	cli_run_program, cli_sweep, cli_timeline, cli_report, cli_status, cli_rebuild, cli_verify,
	cli_accept, cli_doctor, cli_seal, cli_config, cli_help, cli_completion, cli_complete;

const struct cli_command *const cli_commands[] = {
	&cli_init,	&cli_setup,	   &cli_trust,	  &cli_prime,	 &cli_looked,
	&cli_arrive,	&cli_hook,	   &cli_mcp,	  &cli_send,	 &cli_inbox,
	&cli_receive,	&cli_wait,	   &cli_wake,	  &cli_claim,	 &cli_ack,
	&cli_nack,	&cli_show,	   &cli_trace,	  &cli_thread,	 &cli_list,
	&cli_search,	&cli_count,	   &cli_agents,	  &cli_session,	 &cli_archive,
	&cli_cleanup,	&cli_delete,	   &cli_cycle,	  &cli_sends,	 &cli_dead,
	&cli_redeliver, &cli_stale,	   &cli_purge,	  &cli_log,	 &cli_activity,
	&cli_dispatch,	&cli_complete_run, &cli_forward,  &cli_extend,	 &cli_recover,
	&cli_runs,	&cli_run_program,  &cli_sweep,	  &cli_timeline, &cli_report,
	&cli_status,	&cli_stats,	   &cli_bridge,	  &cli_ingest,	 &cli_rebuild,
	&cli_verify,	&cli_accept,	   &cli_doctor,	  &cli_seal,	 &cli_config,
	&cli_help,	&cli_completion,   &cli_complete, NULL,
};
