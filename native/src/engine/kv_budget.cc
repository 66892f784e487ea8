#include "engine/kv_budget.h"

#include <string>
#include <utility>

namespace tessera::engine {

bool KvBudget::fits(uint64_t blocks, uint64_t beam_bytes) const {
  const uint64_t used = blocks_ * block_bytes_ + beam_bytes_;
  if (used > bytes_max_ || beam_bytes > bytes_max_ - used) return false;
  return blocks <= (bytes_max_ - used - beam_bytes) / block_bytes_;
}

Result<device::Buffer> KvBudget::take_beams(uint64_t bytes) {
  if (!fits(0, bytes)) {
    return Status(Code::kEngineOverloaded,
                  "keys and values of beams: expected room for " + std::to_string(bytes) +
                      " bytes below the limit of " + std::to_string(bytes_max_));
  }
  Result<device::Buffer> buffer = memory_.allocate(bytes);
  if (buffer.is_ok()) beam_bytes_ += buffer.value().size();
  return buffer;
}

void KvBudget::give_beams(device::Buffer& buffer) {
  beam_bytes_ -= buffer.size();
  buffer = device::Buffer();
}

}  // namespace tessera::engine
