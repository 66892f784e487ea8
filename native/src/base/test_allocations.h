// Counts what the process allocates with operator new. Test only: a test that lists
// test_allocations.cc among its sources runs with these operators.
#pragma once

#include <cstdint>

namespace tessera {

/// Allocations of all threads since the process began.
uint64_t allocation_count();

}  // namespace tessera
