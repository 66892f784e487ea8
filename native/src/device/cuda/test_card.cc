#include "device/cuda/test_card.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "device/cuda/driver.h"

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

class TestCard {
 public:
  TestCard() : card_(value_of(Card::open(value_of(Driver::load()), 0))) {
    for (const void* const* image = kKernelImages; *image != nullptr; ++image) {
      modules_.push_back(value_of(card_->load_module(*image)));
    }
    if (modules_.empty())
      throw std::runtime_error("built without TESSERA_CUDA: no kernels for a card");
  }
  Card& card() { return *card_; }
  Function find(const char* name) {
    for (const Module module : modules_) {
      Result<Function> found = card_->find_function(module, name);
      if (found.is_ok()) return found.value();
    }
    throw std::runtime_error(std::string(name) + ": no such kernel in the images");
  }

 private:
  std::unique_ptr<Card> card_;
  std::vector<Module> modules_;
};

/// Never destroyed: vectors of static tests may outlive it otherwise.
TestCard& test_card() {
  static auto* const card = new TestCard();
  return *card;
}

}  // namespace

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
  TestCard& test = test_card();
  expect_ok(
      test.card().launch(test.find(name), on_card_shape, {arguments, argument_count}, nullptr));
  expect_ok(test.card().synchronise(nullptr));
}

}  // namespace tessera::device::cuda
