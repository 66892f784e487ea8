#include "cuda/device/launch_graphs.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::device::cuda {

Status LaunchGraphs::run(const ChainShape& shape, const std::function<Status()>& launches) {
  const auto [place, is_new] = chains_.try_emplace(shape);
  Chain& chain = place->second;
  chain.used = ++uses_;
  if (is_new) {
    make_room();
    return launches();
  }
  if (chain.recording == nullptr) {
    TESSERA_RETURN_IF_ERROR(queue_.begin_recording());
    const Status asked = launches();
    Result<std::unique_ptr<Recording>> recorded = queue_.end_recording();
    TESSERA_RETURN_IF_ERROR(asked);
    // Without room for a graph the launches run one by one.
    if (!recorded.is_ok() && recorded.status().code() == Code::kEngineOverloaded) return launches();
    if (!recorded.is_ok()) return recorded.status();
    chain.recording = std::move(recorded).value();
  }
  ++replays_;
  return queue_.replay(*chain.recording);
}

void LaunchGraphs::make_room() {
  if (chains_.size() <= most_) return;
  const auto oldest = std::min_element(
      chains_.begin(), chains_.end(),
      [](const auto& one, const auto& other) { return one.second.used < other.second.used; });
  chains_.erase(oldest);
}

uint32_t rounded_rows(uint32_t count, uint32_t most) {
  constexpr uint32_t kStepMin = 8;
  const uint32_t step = std::max(kStepMin, std::bit_floor(count) / 4);
  return std::min(most, (count + step - 1) / step * step);
}

}  // namespace tessera::device::cuda
