// Blocks in a card's memory: the same face as the processor's, a pool that stands on it, and what
// becomes of a pool whose card fails.
#include "cuda/engine/card_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "cuda/device/card_queue.h"
#include "cuda/device/emulated_queue.h"
#include "kv/test_model.h"
#include "kv/work.h"

namespace tessera::kv::cuda {
namespace card_memory_test {

namespace fs = std::filesystem;
using device::cuda::Card;
using device::cuda::CardQueue;
using device::cuda::Driver;
using device::cuda::EmulatedQueue;
using device::cuda::Queue;

constexpr uint64_t kBlockBytes = 4096;
constexpr uint32_t kSlots = 8;
constexpr uint64_t kPatience = 20'000'000;  // microseconds

std::unique_ptr<CardQueue> open_fake_card() {
  auto card = Card::open(Driver::load(TESSERA_FAKE_DRIVER).value(), 0);
  return std::move(CardQueue::open_copies(std::move(card).value())).value();
}

/// Of the driver library that stands in for a card's.
struct OfADriver {
  static std::unique_ptr<BlockMemory> open(uint64_t bytes) {
    return std::move(CardMemory::open(open_fake_card(), kSlots, bytes)).value();
  }
};
struct OfEmulation {
  static std::unique_ptr<BlockMemory> open(uint64_t bytes) {
    return std::move(CardMemory::open(std::make_unique<EmulatedQueue>(), kSlots, bytes)).value();
  }
};
struct Pinned {
  static std::unique_ptr<BlockMemory> open(uint64_t bytes) {
    return std::move(open_pinned(std::make_shared<EmulatedQueue>(), kSlots, bytes)).value();
  }
};
struct OfTheProcessor {
  static std::unique_ptr<BlockMemory> open(uint64_t bytes) {
    return std::move(Arena::open(kSlots, bytes)).value();
  }
};

template <typename Kind>
class Memory : public testing::Test {};
using Kinds = testing::Types<OfTheProcessor, Pinned, OfEmulation, OfADriver>;
TYPED_TEST_SUITE(Memory, Kinds);

std::vector<std::byte> pattern(uint64_t bytes, uint32_t seed) {
  std::vector<std::byte> block(bytes);
  for (uint64_t i = 0; i < bytes; ++i) block[i] = static_cast<std::byte>(i * 7 + seed * 31 + 1);
  return block;
}

TYPED_TEST(Memory, KeepsEveryBlockApartFromItsNeighbours) {
  for (const uint64_t bytes : {uint64_t{64}, uint64_t{4096}, uint64_t{5056}}) {
    const auto memory = TypeParam::open(bytes);
    ASSERT_EQ(memory->slot_count(), kSlots);
    std::vector<std::byte> first(bytes, std::byte{1});
    ASSERT_TRUE(memory->read(kSlots - 1, first).is_ok());
    EXPECT_EQ(first, std::vector<std::byte>(bytes));
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      ASSERT_TRUE(memory->write(slot, pattern(bytes, slot)).is_ok());
    }
    ASSERT_TRUE(memory->copy(5, 2).is_ok());
    ASSERT_TRUE(memory->zero(3).is_ok());
    std::vector<std::byte> read(bytes);
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      ASSERT_TRUE(memory->read(slot, read).is_ok());
      const auto expected = slot == 3   ? std::vector<std::byte>(bytes)
                            : slot == 5 ? pattern(bytes, 2)
                                        : pattern(bytes, slot);
      EXPECT_EQ(read, expected) << "slot " << slot << " of " << bytes << " bytes";
    }
  }
}

TEST(CardMemory, ThatDoesNotSufficeIsRefusedWithWhatItWasFor) {
  const auto memory = CardMemory::open(open_fake_card(), 300, kBlockBytes);  // the card has 1 MiB
  ASSERT_FALSE(memory.is_ok());
  EXPECT_EQ(memory.status().code(), Code::kEngineOverloaded);
  EXPECT_NE(memory.status().message().find("a device tier of 300 blocks of 4096 bytes"),
            std::string::npos);
}

/// Emulated memory whose transfers fail while `is_broken`.
class FailingQueue final : public EmulatedQueue {
 public:
  explicit FailingQueue(const std::atomic<bool>& is_broken) : is_broken_(is_broken) {}
  Status copy_in(void* to, const void* from, uint64_t bytes) override {
    return is_broken_ ? failure() : EmulatedQueue::copy_in(to, from, bytes);
  }
  Status copy_out(void* to, const void* from, uint64_t bytes) override {
    return is_broken_ ? failure() : EmulatedQueue::copy_out(to, from, bytes);
  }
  Status copy_to_pinned(void* to, const void* from, uint64_t bytes) override {
    return is_broken_ ? failure() : EmulatedQueue::copy_to_pinned(to, from, bytes);
  }
  Status copy_within(void* to, const void* from, uint64_t bytes) override {
    return is_broken_ ? failure() : EmulatedQueue::copy_within(to, from, bytes);
  }
  Status zero(void* at, uint64_t bytes) override {
    return is_broken_ ? failure() : EmulatedQueue::zero(at, bytes);
  }
  Status finish() override { return is_broken_ ? failure() : EmulatedQueue::finish(); }
  Result<void*> allocate_pinned(uint64_t) override { return failure(); }
  void release_pinned(void*) override {}
  Status launch(const char*, const device::cuda::LaunchShape&, std::span<void* const>) override {
    return failure();
  }

 private:
  static Status failure() { return {Code::kEngineUnavailable, "the card fell off"}; }
  const std::atomic<bool>& is_broken_;
};

class CardPool : public testing::Test {
 protected:
  CardPool()
      : folder_(fs::temp_directory_path() / ("tessera-kv-card-" + std::to_string(::getpid()))) {}
  ~CardPool() override {
    pool_.reset();
    fs::remove_all(folder_);
  }

  void open(uint32_t host_blocks, uint32_t read_threads) {
    PoolOptions options;
    options.block_bytes = kBlockBytes;
    options.host_memory =
        std::move(open_pinned(std::make_shared<EmulatedQueue>(), host_blocks, kBlockBytes)).value();
    options.read_threads = read_threads;
    options.disk_blocks = 64;
    options.disk_folder = folder_;
    options.store_retry_us = 0;
    options.device_memory =
        std::move(CardMemory::open(std::make_unique<FailingQueue>(is_broken_), kSlots, kBlockBytes))
            .value();
    pool_ = Pool::open(std::move(options)).value();
    version_ = pool_->add_version(test_identity("model", kBlockBytes)).value();
  }
  TestRequest request(uint32_t user) const {
    return {.version = version_,
            .salt = 7,
            .user = "user" + std::to_string(user),
            .tokens = random_tokens(user, 90),
            .scene = {5}};
  }
  /// Tokens found for the user, whose answer is right.
  uint32_t found(uint32_t user) {
    const TestRequest asked = request(user);
    Prefetch prefetch = pool_->prefetch(asked.version, asked.user, 1000);
    EXPECT_TRUE(prefetch.wait(kPatience));
    prefetch.cut_off();
    const TestAnswer answer = serve(*pool_, asked);
    EXPECT_TRUE(answer.status.is_ok()) << answer.status.message();
    EXPECT_EQ(answer.value, expected_answer(asked));
    return answer.matched;
  }

  const fs::path folder_;
  std::atomic<bool> is_broken_{false};
  std::unique_ptr<Pool> pool_;
  Version version_ = 0;
};

TEST_F(CardPool, BringsUsersBackFromPinnedMemoryAndFromDisk) {
  open(15, 2);  // five users of three blocks; the device holds two, the disk all
  for (uint32_t user = 0; user < 10; ++user) {
    EXPECT_EQ(found(user), 0u);
    EXPECT_TRUE(pool_->flush(kPatience).is_ok());
  }
  for (uint32_t user = 10; user-- > 0;) EXPECT_EQ(found(user), 90u) << user;  // newest first
  const PoolMetrics metrics = pool_->metrics();
  EXPECT_GT(metrics.tier("host").hit_tokens, 0u);
  EXPECT_GT(metrics.tier("disk").hit_tokens, 0u);
  EXPECT_TRUE(pool_->check_integrity().faults.empty());
}

TEST_F(CardPool, ACardThatFailsIsToldAndSpoilsNoTierBelow) {
  open(16, 0);
  PoolWork work(*pool_);
  const auto store = [&] {
    StoreJob job;
    if (!work.begin_store(job)) return false;
    work.perform(job);
    work.finish(job);
    return true;
  };
  EXPECT_TRUE(serve(*pool_, request(0)).status.is_ok());
  is_broken_ = true;
  const TestAnswer refused = serve(*pool_, request(0));  // goes on in a copy of the last block
  EXPECT_EQ(refused.status.code(), Code::kEngineUnavailable);
  EXPECT_EQ(refused.status.message(), "the card fell off");
  ASSERT_TRUE(store());
  EXPECT_EQ(pool_->metrics().store_error, "the card fell off");
  EXPECT_EQ(pool_->metrics().tier("host").used_blocks, 0u);
  EXPECT_EQ(pool_->metrics().tier("disk").used_blocks, 0u);
  EXPECT_TRUE(work.audit().empty());
  is_broken_ = false;
  const TestAnswer answer = serve(*pool_, request(0));
  EXPECT_EQ(answer.matched, 90u);
  EXPECT_EQ(answer.value, expected_answer(request(0)));
  while (store()) {
  }
  EXPECT_TRUE(work.audit().empty());
  EXPECT_EQ(pool_->check_integrity().corrupt_disk_blocks, 0u);
}

}  // namespace card_memory_test
}  // namespace tessera::kv::cuda
