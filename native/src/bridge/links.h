// Links to stores of keys and values, by number. Any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "kv/store_link.h"

namespace tessera::bridge {

/// Null when no link has the number, or it was closed.
std::shared_ptr<kv::StoreLink> find_link(uint32_t number);

}  // namespace tessera::bridge
