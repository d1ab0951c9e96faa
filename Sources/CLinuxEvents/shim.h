#pragma once
// Headers that Swift's Glibc module leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <netinet/tcp.h>
