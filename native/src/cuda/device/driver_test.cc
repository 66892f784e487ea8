#include "cuda/device/card_queue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace tessera::device::cuda {
namespace driver_test {

constexpr const char* kFake = TESSERA_FAKE_DRIVER;

/// A driver library of which `fault` is the matter.
class Fault {
 public:
  explicit Fault(const char* fault) { ::setenv("FAKE_CUDA", fault, 1); }
  ~Fault() { ::unsetenv("FAKE_CUDA"); }
};

std::unique_ptr<Card> open_card() {
  auto driver = Driver::load(kFake);
  EXPECT_TRUE(driver.is_ok()) << driver.status().message();
  auto card = Card::open(driver.value(), 0);
  EXPECT_TRUE(card.is_ok()) << card.status().message();
  return std::move(card).value();
}

void expect_refused(const Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), Code::kEngineUnavailable);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(CudaDriver, RefusesAMachineWithoutIt) {
  const auto driver = Driver::load("libcuda-that-is-not-there.so.1");
  ASSERT_FALSE(driver.is_ok());
  expect_refused(driver.status(), "device: no NVIDIA driver: libcuda-that-is-not-there.so.1");
}

TEST(CudaDriver, RefusesALibraryThatLacksAFunction) {
  const auto driver = Driver::load("libc.so.6");
  ASSERT_FALSE(driver.is_ok());
  expect_refused(driver.status(), "lacks cuInit, expected that of CUDA 12.0 or later");
}

TEST(CudaDriver, RefusesWhatIsTooOldOrNotThere) {
  const std::pair<const char*, const char*> faults[] = {
      {"does not start", "does not start: CUDA_ERROR_OTHER"},
      {"old driver", "expected that of CUDA 12.0 or later, got 11.8"},
      {"no card", "shows no card"}};
  for (const auto& [fault, part] : faults) {
    const Fault set(fault);
    const auto driver = Driver::load(kFake);
    ASSERT_FALSE(driver.is_ok()) << fault;
    expect_refused(driver.status(), part);
  }
}

TEST(CudaDriver, RefusesACardThatIsTooOldOrNotThere) {
  const auto driver = Driver::load(kFake);
  ASSERT_TRUE(driver.is_ok());
  for (const int index : {-1, 2}) {
    const auto card = Card::open(driver.value(), index);
    ASSERT_FALSE(card.is_ok());
    expect_refused(card.status(), "is not there, expected 0..1");
  }
  const Fault set("old card");
  const auto card = Card::open(driver.value(), 1);
  ASSERT_FALSE(card.is_ok());
  expect_refused(card.status(),
                 "card 1 (a card of memory) is too old: expected compute capability 8.0 or later, "
                 "got 7.5");
}

TEST(CudaDriver, MemoryThatDoesNotSufficeIsRefusedWithWhatIsLeft) {
  const auto card = open_card();
  const Result<Address> half = card->allocate(512u << 10);
  ASSERT_TRUE(half.is_ok());
  const Result<Address> more = card->allocate(600u << 10);
  ASSERT_FALSE(more.is_ok());
  EXPECT_EQ(more.status().code(), Code::kEngineOverloaded);
  EXPECT_NE(more.status().message().find("allocation of 614400 bytes: CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos);
  EXPECT_NE(more.status().message().find("524288 of 1048576 bytes are free"), std::string::npos);
  card->release(half.value());
  EXPECT_EQ(card->memory().value().free_bytes, 1u << 20);
}

TEST(CudaDriver, CopiesToTheCardAndBack) {
  const auto card = open_card();
  EXPECT_EQ(card->capability(), 90);
  const Stream stream = card->make_stream().value();
  const Event event = card->make_event().value();
  const std::vector<int> given = {1, 2, 3};
  std::vector<int> taken(3);
  const Address address = card->allocate(sizeof(int) * 3).value();
  ASSERT_TRUE(card->copy_to_card(address, given.data(), sizeof(int) * 3, stream).is_ok());
  ASSERT_TRUE(card->copy_from_card(taken.data(), address, sizeof(int) * 3, stream).is_ok());
  ASSERT_TRUE(card->record(event, stream).is_ok());
  EXPECT_FALSE(card->is_done(event).value());
  EXPECT_TRUE(card->is_done(event).value());
  ASSERT_TRUE(card->wait(stream, event).is_ok());
  EXPECT_EQ(taken, given);
  card->release(address);
  card->drop_event(event);
  card->drop_stream(stream);
}

TEST(CudaDriver, CopiesOnTheCardAndTellsTheTimeBetweenEvents) {
  const auto card = open_card();
  const Event begin = card->make_timing_event().value(), end = card->make_timing_event().value();
  const std::vector<int> given = {4, 5};
  std::vector<int> taken(2);
  const Address from = card->allocate(8).value(), to = card->allocate(8).value();
  ASSERT_TRUE(card->record(begin, nullptr).is_ok());
  ASSERT_TRUE(card->copy_to_card(from, given.data(), 8, nullptr).is_ok());
  ASSERT_TRUE(card->copy_within_card(to, from, 8, nullptr).is_ok());
  ASSERT_TRUE(card->copy_from_card(taken.data(), to, 8, nullptr).is_ok());
  ASSERT_TRUE(card->record(end, nullptr).is_ok());
  EXPECT_EQ(taken, given);
  EXPECT_EQ(card->milliseconds_between(begin, end).value(), 1.5);
  card->release(from);
  card->release(to);
  card->drop_event(begin);
  card->drop_event(end);
}

TEST(CudaDriver, AFailedKernelIsTold) {
  const auto card = open_card();
  const Module module = card->load_module("image").value();
  EXPECT_TRUE(card->find_function(module, "tessera_embed").is_ok());
  expect_refused(card->find_function(module, "tessera_absent").status(), "tessera_absent");
  const Fault set("broken kernel");
  expect_refused(card->synchronise(nullptr), "kernels: CUDA_ERROR_OTHER (as the test wants)");
  card->drop_module(module);
}

TEST(CudaDriver, WithoutTheLibraryACardIsRefused) {
  const auto library = CardLibrary::open();
  if (library.is_ok()) GTEST_SKIP() << "built with TESSERA_CUDA";
  expect_refused(library.status(), "expected tessera_card.so beside the engine");
}

TEST(CudaDriver, ChainsAreRecordedReplayedAndDropped) {
  const char* const images[] = {"image", nullptr};
  static int products = 0;
  const auto library = std::make_shared<CardLibrary>(
      CardLibrary::Face{reinterpret_cast<const void* const*>(images), [] { return 0; },
                        [](const TesseraCardProduct* product, void*) {
                          return ++products > 1 ? 700 : product->k != 8;
                        }});
  const auto queue = CardQueue::open(open_card(), library);
  ASSERT_TRUE(queue.is_ok());
  TesseraCardProduct product{};
  product.k = 8;
  EXPECT_TRUE(queue.value()->multiply(product).is_ok());
  expect_refused(queue.value()->multiply(product), "tessera_card_multiply, got 700");
  CardQueue& card = *queue.value();
  const Kernel<> kernel{"tessera_embed"};
  ASSERT_TRUE(card.begin_recording().is_ok());
  ASSERT_TRUE(launch(card, kernel, {}).is_ok());
  {
    const auto chain = card.end_recording();
    ASSERT_TRUE(chain.is_ok());
    EXPECT_TRUE(card.replay(*chain.value()).is_ok());
    const Fault set("broken kernel");
    expect_refused(card.replay(*chain.value()), "graph: CUDA_ERROR_OTHER");
  }
  // A call that is no launch is refused, and the chain with it.
  ASSERT_TRUE(card.begin_recording().is_ok());
  expect_refused(card.zero(nullptr, 1), "zero: expected launches alone while a chain is recorded");
  expect_refused(card.replay(*std::make_unique<Recording>()), "replay: expected launches alone");
  expect_refused(card.end_recording().status(), "zero: expected launches alone");
  EXPECT_TRUE(card.finish().is_ok());
  {
    const Fault set("no capture");
    expect_refused(card.begin_recording(), "graph: CUDA_ERROR_OTHER");
    EXPECT_TRUE(card.finish().is_ok());
  }
  for (const char* fault : {"broken capture", "no memory for graphs"}) {
    const Fault set(fault);
    ASSERT_TRUE(card.begin_recording().is_ok());
    const Status failed = card.end_recording().status();
    EXPECT_EQ(failed.code(), std::string(fault) == "broken capture" ? Code::kEngineUnavailable
                                                                    : Code::kEngineOverloaded);
    EXPECT_TRUE(card.finish().is_ok());
  }
}

}  // namespace driver_test
}  // namespace tessera::device::cuda
