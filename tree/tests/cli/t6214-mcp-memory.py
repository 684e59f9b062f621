#!/usr/bin/env python3
# runner: plain
"""The MCP library without memory: each allocation of a few conversations fails
once, one after the other.  The server says whole messages only, an error where the
answer does not fit, and ends well."""
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from lib_mcp import *

need_fixture()
SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parents[2]))

# Counts from the first read on, and fails the one allocation that FAIL_AT names.
Path("scarce.c").write_text(
    """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int armed;
static long count, at = -1;
static int due(void)
{
	if (!armed)
		return 0;
	if (at < 0)
		at = atol(getenv("FAIL_AT"));
	if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != at)
		return 0;
	errno = ENOMEM;
	return 1;
}
void *malloc(size_t size)
{
	static void *(*next)(size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "malloc");
	return due() ? 0 : next(size);
}
void *calloc(size_t items, size_t size)
{
	static void *(*next)(size_t, size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "calloc");
	return due() ? 0 : next(items, size);
}
void *realloc(void *piece, size_t size)
{
	static void *(*next)(void *, size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "realloc");
	return due() ? 0 : next(piece, size);
}
ssize_t read(int fd, void *to, size_t size)
{
	static ssize_t (*next)(int, void *, size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "read");
	armed |= fd == 0;
	return next(fd, to, size);
}
__attribute__((destructor)) static void tell(void)
{
	armed = 0;
	dprintf(2, "allocations %ld\\n", count);
}
"""
)
subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", "scarce.so", "scarce.c", "-ldl"], check=True)


def converse(data, at):
    """What is wrong with it, and how many allocations it took."""
    env = {**os.environ, "LD_PRELOAD": os.path.abspath("scarce.so"), "FAIL_AT": str(at)}
    done = subprocess.run([FIXTURE], input=data, capture_output=True, env=env, timeout=60)
    faults = [] if done.returncode in (0, 71) else [f"allocation {at}: ended with {done.returncode}: {done.stderr[-200:]}"]
    for line in done.stdout.splitlines():
        try:
            assert json.loads(line)["jsonrpc"] == "2.0"
        except (ValueError, KeyError, AssertionError):
            faults.append(f"allocation {at}: said {line[-200:]}")
    told = done.stderr.split()
    return faults, int(told[-1]) if told[-2:-1] == [b"allocations"] else 0


for seed in sorted((SOURCE / "fuzz/corpus/mcp").iterdir()):
    data = seed.read_bytes()
    faults, count = converse(data, 1 << 40)
    with ThreadPoolExecutor(2) as pool:
        for more, _ in pool.map(lambda at: converse(data, at), range(1, count + 5)):
            faults += more
    check(f"'{seed.name}': {count} allocations", not faults and count > 5, "\n".join(faults[:5]))
done()
