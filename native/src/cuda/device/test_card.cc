#include "cuda/device/test_card.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tessera::device::cuda {
namespace {

template <typename T>
T value_of(Result<T> result) {
  if (!result.is_ok()) throw std::runtime_error(result.status().message());
  return std::move(result).value();
}

void expect_ok(const Status& status) {
  if (!status.is_ok()) throw std::runtime_error(status.message());
}

/// Never destroyed: vectors of static tests may outlive it otherwise.
CardQueue& test_card() {
  static auto* const queue = open_card_queue().release();
  return *queue;
}

}  // namespace

std::unique_ptr<CardQueue> open_card_queue() {
  return value_of(CardQueue::open(value_of(Card::open(value_of(Driver::load()), 0)),
                                  value_of(CardLibrary::open())));
}

bool on_card() {
  static const bool asked = [] {
    const char* device = std::getenv("TESSERA_TEST_DEVICE");
    return device != nullptr && std::string_view(device) == "cuda";
  }();
  return asked;
}

void* allocate_shared(size_t bytes) {
  return on_card() ? value_of(test_card().card().allocate_managed(bytes)) : std::malloc(bytes);
}

void release_shared(void* memory) {
  if (on_card()) {
    test_card().card().release(reinterpret_cast<Address>(memory));
  } else {
    std::free(memory);
  }
}

void launch_on_card(const char* name, const simt::Launch& shape, void* const* arguments,
                    size_t argument_count) {
  const LaunchShape on_card_shape{{shape.grid.x, shape.grid.y, shape.grid.z},
                                  {shape.block.x, shape.block.y, shape.block.z},
                                  static_cast<unsigned>(shape.dynamic_shared_bytes)};
  expect_ok(test_card().launch(name, on_card_shape, {arguments, argument_count}));
  expect_ok(test_card().finish());
}

}  // namespace tessera::device::cuda
