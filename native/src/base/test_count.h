// Numbers of rounds of a test.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tessera {

/// Number that the environment variable `name` holds, for `npm run test:long`; `usual` where it is
/// not set. Ends the program where it holds no such number: a test of no rounds cannot fail.
inline uint64_t test_count(const char* name, uint64_t usual) {
  const char* text = std::getenv(name);
  if (text == nullptr) return usual;
  const uint64_t count = std::strtoull(text, nullptr, 10);
  if (count > 0) return count;
  std::fprintf(stderr, "%s: expected a number above 0, got '%s'\n", name, text);
  std::exit(2);
}

}  // namespace tessera
