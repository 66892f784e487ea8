// Numbers of rounds of a test.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tessera {

/// Number that the environment variable `name` holds, for `npm run test:long`; `usual` where it is
/// not set.
inline uint64_t test_count(const char* name, uint64_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace tessera
