// How a store fares.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::store {

enum class Health : uint8_t {
  kOk = 0,
  kReadOnly = 1,  // reads work, writes are refused
  kDown = 2,
};

struct StoreState {
  Health health = Health::kOk;
  std::string reason;  // empty where it is well
};

}  // namespace tessera::store
