// Test only: functions of the library, and tests of them that need a card.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <stdexcept>

#include "cuda/device/kernel.h"
#include "cuda/device/test_card.h"
#include "cuda/library/card_library.h"

namespace tessera::card {

using device::cuda::on_card;
using device::cuda::Shared;
using ::tessera::cuda::narrow;
using ::tessera::cuda::widen;

inline constexpr float kUntouched = -77.5f;

template <typename Function>
Function* find(const char* name) {
  static void* const library = ::dlopen(TESSERA_CARD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(::dlerror());
  return reinterpret_cast<Function*>(found);
}

#define TESSERA_CARD_FUNCTION(name) ::tessera::card::find<decltype(name)>(#name)

inline Shared<uint16_t> random_bf16(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(-2, 2);
  Shared<uint16_t> values(count);
  for (uint16_t& value : values) value = narrow(draw(random));
  return values;
}

class OnCard : public testing::Test {
 protected:
  void SetUp() override {
    if (!on_card()) GTEST_SKIP() << "no card: TESSERA_TEST_DEVICE=cuda";
    queue_ = device::cuda::open_card_queue();
    ASSERT_TRUE(queue_->card().enter().is_ok());
    ASSERT_EQ(TESSERA_CARD_FUNCTION(tessera_card_load)(), 0);
  }

  void finish() { ASSERT_TRUE(queue_->finish().is_ok()); }

  std::unique_ptr<device::cuda::CardQueue> queue_;
  std::mt19937 random_{20261130};
};

}  // namespace tessera::card
