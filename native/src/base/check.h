// TESSERA_CHECK: an invariant of ours, kept in production. A failure is a bug, never bad input: it
// prints where and what, then aborts (docs/decisions/0004-check-failure-aborts.md).
#pragma once

#include <cstdio>
#include <cstdlib>

#define TESSERA_CHECK(condition)                                                         \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "tessera: check failed: %s at %s:%d\n", #condition, __FILE__, \
                   __LINE__);                                                            \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
