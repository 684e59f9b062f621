/*
 * thread - start a second thread of the library.
 */
#ifndef RG_THREAD_H
#define RG_THREAD_H

#include <pthread.h>
#include <signal.h>

#include "base/err.h"

/* Start a thread, which handles no signal but SIGBUS.  False: do the work without it. */
RG_CHECKED static inline bool rg_thread_start(pthread_t *thread, void *(*work)(void *),
					      void *context)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(thread, NULL, work, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

#endif
