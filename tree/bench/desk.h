/*
 * desk - a receiver that waits for its mail in a process of its own, turn by
 * turn, and what others see of it.
 *
 * Whatever goes wrong in any of the processes ends the program.
 */
#ifndef BENCH_DESK_H
#define BENCH_DESK_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include <roger.h>

/* Seen by all processes. */
struct bench_desk {
	atomic_bool ready;     /* whoever else is needed is at work */
	atomic_size_t waiting; /* turn the receiver is about to wait for, from 1 */
	atomic_size_t woken;   /* turn it was last woken in */
	_Atomic int64_t woken_ns;
};

/* The receiver's name. */
extern const struct roger_str bench_receiver;

struct roger *bench_open_workspace(const char *path);

struct bench_desk *bench_desk_new(void);

/* Start the receiver; it ends after so many turns. */
pid_t bench_desk_receive(struct bench_desk *desk, const char *path, size_t turns);

/* Wait a moment, but not for a process that failed. */
void bench_desk_pause(void);

/* Wait until the receiver sleeps in a turn. */
void bench_desk_await(const struct bench_desk *desk, size_t turn);

/* Wait until it was woken in a turn; returns when that was. */
int64_t bench_desk_woken_ns(const struct bench_desk *desk, size_t turn);

/* Send the receiver a message; returns when the send had returned. */
int64_t bench_send_mail(struct roger *roger);

/* Take the one message that the receiver has. */
void bench_take_mail(struct roger *roger);

#endif
