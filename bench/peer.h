/*
 * peer - a client of redis, beanstalkd or roger serve on this machine, one message in flight.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>

struct bench_peer;

struct bench_peer *bench_peer_open(uint16_t port, size_t message_bytes_max);

/* Takes NULL. */
void bench_peer_close(struct bench_peer *peer);

/* redis: add to the list of that number, and wait for the answer. */
void bench_peer_lpush(struct bench_peer *peer, unsigned list, const char *data, size_t length);

/* beanstalkd: put into the default tube, and wait for the answer. */
void bench_peer_put(struct bench_peer *peer, const char *data, size_t length);

/* roger serve: send, as another machine does: by TCP, with a token. */
void bench_peer_send(struct bench_peer *peer, const char *token, const char *from, const char *to,
		     const char *data, size_t length);

/* redis: move a message into the worker's own list, then remove it there. */
void bench_peer_take_redis(struct bench_peer *peer, unsigned list, unsigned worker);

/* beanstalkd: reserve a job of the default tube, then delete it. */
void bench_peer_take_beanstalkd(struct bench_peer *peer);

#endif
