#pragma once
// Headers that are missing from the Glibc module for Swift.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
// prctl is variadic, and Swift cannot call variadic functions. The kernel cuts the name at 15 bytes.
static inline int gateway_set_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
#include <sys/socket.h>
// SOCK_STREAM is an enumerator that only some C library modules export to Swift.
static const int gateway_SOCK_STREAM = SOCK_STREAM;
static const int gateway_SOCK_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC;
#include <sys/resource.h>
// Swift's strict memory safety forbids the pointers of these calls. Children inherit the limit, so that it stays in the range that programs expect.
static inline long gateway_raise_file_limit(void) {
    const rlim_t most = 1048576;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    rlim_t wanted = limit.rlim_max < most ? limit.rlim_max : most;
    if (limit.rlim_cur < wanted) {
        struct rlimit raised = { wanted, limit.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return (long)wanted;
    }
    return limit.rlim_cur < most ? (long)limit.rlim_cur : (long)most;
}
// The allocator's limits (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD).
#include <malloc.h>
#include <stdint.h>
#include <sys/random.h>
// 1: all words are random. At most 256 bytes are never returned in part (random(7)).
static inline int gateway_random(uint64_t *words, size_t count) {
    const size_t bytes = count * sizeof(uint64_t);
    return getrandom(words, bytes, 0) == (ssize_t)bytes;
}
