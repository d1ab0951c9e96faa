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
