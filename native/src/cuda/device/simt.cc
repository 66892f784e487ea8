#include "cuda/device/simt.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tessera::simt {
namespace {

constexpr uint32_t kLanes = 32;
constexpr size_t kStackBytes = 64u << 10;
constexpr int kPoison = 0xFF;  // a NaN as floats, all ones as integers

enum class Waits : uint8_t { kNothing, kBlock, kWarp, kEnded };

struct Fiber {
  ucontext_t context{};  // how it begins; from then on it goes on at `point`, without a system call
  jmp_buf point{};
  bool has_begun = false;
  char* stack = nullptr;
  Index index;
  Waits waits = Waits::kNothing;
  const char* what = "";                               // it waits in
  uint64_t given = 0;                                  // to the warp
  uint32_t left[4] = {0, 0, 0, 0}, right[2] = {0, 0};  // to a product of the warp
  void* fake_stack = nullptr;
};

/// Stack of a block's thread `at`, kept for the blocks after it: a new one is new pages each time.
char* stack_of(size_t at) {
  static std::vector<std::unique_ptr<char[]>> stacks;
  while (stacks.size() <= at) {
    stacks.push_back(std::make_unique_for_overwrite<char[]>(kStackBytes));
  }
  return stacks[at].get();
}

class Block {
 public:
  Block(const Launch& launch, Index index, const std::function<void()>& kernel, uint64_t seed)
      : launch_(launch), index_(index), kernel_(kernel), random_(seed) {
    dynamic_.assign(launch.dynamic_shared_bytes, static_cast<std::byte>(kPoison));
    fibers_.resize(size_t{launch.block.x} * launch.block.y * launch.block.z);
    if (fibers_.size() % kLanes != 0) throw std::logic_error("a block is whole warps");
  }

  void run();
  void wait(Waits waits, const char* what) {
    fibers_[current_].waits = waits;
    fibers_[current_].what = what;
    leave(false);
  }
  Fiber& current() { return fibers_[current_]; }
  Fiber& of_warp(uint32_t lane) { return fibers_[current_ / kLanes * kLanes + lane]; }
  uint32_t lane() const { return static_cast<uint32_t>(current_ % kLanes); }
  const Launch& launch() const { return launch_; }
  const Index& index() const { return index_; }
  void* shared(const char* place, size_t bytes) {
    std::vector<std::byte>& memory = shared_[place];
    if (memory.empty()) memory.assign(bytes, static_cast<std::byte>(kPoison));
    return memory.data();
  }
  void* dynamic() { return dynamic_.data(); }
  void enter() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &main_stack_, &main_bytes_);
#endif
    kernel_();
    current().waits = Waits::kEnded;
    leave(true);
  }

 private:
  void begin(unsigned at);
  void resume(size_t fiber);
  void leave(bool for_good);
  bool release(size_t begin, size_t end, Waits waits);
  [[noreturn]] void refuse() const;

  const Launch& launch_;
  Index index_;
  const std::function<void()>& kernel_;
  std::mt19937_64 random_;
  std::vector<Fiber> fibers_;
  jmp_buf main_{};
  size_t current_ = 0;
  std::map<std::string, std::vector<std::byte>> shared_;
  std::vector<std::byte> dynamic_;
  [[maybe_unused]] const void* main_stack_ = nullptr;
  [[maybe_unused]] size_t main_bytes_ = 0;
};

Block* running = nullptr;

void start_fiber() { running->enter(); }

void Block::resume(size_t fiber) {
  current_ = fiber;
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, fibers_[fiber].stack, kStackBytes);
#endif
  if (_setjmp(main_) == 0) {
    Fiber& next = fibers_[fiber];
    if (next.has_begun) _longjmp(next.point, 1);
    next.has_begun = true;
    setcontext(&next.context);
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Block::leave(bool for_good) {
  Fiber& self = current();
  (void)for_good;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &self.fake_stack, main_stack_, main_bytes_);
#endif
  if (_setjmp(self.point) == 0) _longjmp(main_, 1);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(self.fake_stack, &main_stack_, &main_bytes_);
#endif
}

/// Lets fibers [begin, end) go on if all of them wait for the same.
bool Block::release(size_t begin, size_t end, Waits waits) {
  for (size_t i = begin; i < end; ++i) {
    if (fibers_[i].waits != waits || std::strcmp(fibers_[i].what, fibers_[begin].what) != 0) {
      return false;
    }
  }
  for (size_t i = begin; i < end; ++i) fibers_[i].waits = Waits::kNothing;
  return true;
}

void Block::refuse() const {
  std::string text = "threads of a block wait for different things:";
  for (size_t i = 0; i < fibers_.size(); i += kLanes) {
    text += " thread " + std::to_string(i) + " in '" + fibers_[i].what + "'";
  }
  throw std::logic_error(text);
}

void Block::begin(unsigned at) {
  Fiber& fiber = fibers_[at];
  fiber.index = {at % launch_.block.x, at / launch_.block.x % launch_.block.y,
                 at / launch_.block.x / launch_.block.y};
  getcontext(&fiber.context);
  fiber.stack = stack_of(at);
  fiber.context.uc_stack = {fiber.stack, 0, kStackBytes};
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, start_fiber, 0);
}

void Block::run() {
  for (unsigned i = 0; i < fibers_.size(); ++i) begin(i);
  std::vector<size_t> order(fibers_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (;;) {
    std::shuffle(order.begin(), order.end(), random_);
    for (const size_t fiber : order) {
      if (fibers_[fiber].waits == Waits::kNothing) resume(fiber);
    }
    bool goes_on = release(0, fibers_.size(), Waits::kBlock);
    for (size_t warp = 0; warp < fibers_.size() && !goes_on; warp += kLanes) {
      goes_on |= release(warp, warp + kLanes, Waits::kWarp);
    }
    if (goes_on) continue;
    const bool ended = std::all_of(fibers_.begin(), fibers_.end(),
                                   [](const Fiber& fiber) { return fiber.waits == Waits::kEnded; });
    if (ended) return;
    refuse();
  }
}

}  // namespace

void run(const Launch& launch, const std::function<void()>& kernel) {
  std::mt19937_64 seeds(launch.seed);
  for (unsigned z = 0; z < launch.grid.z; ++z) {
    for (unsigned y = 0; y < launch.grid.y; ++y) {
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        Block block(launch, {x, y, z}, kernel, seeds());
        running = &block;
        block.run();
        running = nullptr;
      }
    }
  }
}

const Index& thread_index() { return running->current().index; }
const Index& block_index() { return running->index(); }
const Index& block_size() { return running->launch().block; }
const Index& grid_size() { return running->launch().grid; }
void sync_block() { running->wait(Waits::kBlock, "__syncthreads"); }
void* shared(const char* place, size_t bytes) { return running->shared(place, bytes); }
void* dynamic_shared() { return running->dynamic(); }
uint32_t lane() { return running->lane(); }

uint64_t exchange(uint64_t bits, uint32_t from, const char* what) {
  running->current().given = bits;
  running->wait(Waits::kWarp, what);
  const uint64_t taken = running->of_warp(from % kLanes).given;
  running->wait(Waits::kWarp, what);  // no lane gives again before all have taken
  return taken;
}

uint32_t ballot(bool vote) {
  running->current().given = vote ? 1 : 0;
  running->wait(Waits::kWarp, "__ballot_sync");
  uint32_t votes = 0;
  for (uint32_t i = 0; i < kLanes; ++i) {
    votes |= static_cast<uint32_t>(running->of_warp(i).given) << i;
  }
  running->wait(Waits::kWarp, "__ballot_sync");
  return votes;
}

namespace {

/// d += a b of a warp's 16 x kDepth and kDepth x 8 numbers, kDepth / 8 in each register, as mma
/// spreads them over the lanes; `name` stands in messages. k grows from term to term.
template <uint32_t kDepth, typename Number, typename Element, typename Add>
void multiply(const uint32_t (&a)[4], const uint32_t (&b)[2], Number (&d)[4], Element element,
              Add add, const char* name) {
  constexpr uint32_t kHalf = kDepth / 2, kInRegister = kDepth / 8;
  std::copy_n(a, 4, running->current().left);
  std::copy_n(b, 2, running->current().right);
  running->wait(Waits::kWarp, name);
  const uint32_t group = lane() / 4, within = lane() % 4;
  for (uint32_t k = 0; k < kDepth; ++k) {
    // Element (r, k) of a: in lane 4 (r % 8) + k % kHalf / kInRegister, register
    // r / 8 + 2 (k / kHalf).
    const uint32_t from = k % kHalf / kInRegister, at = k % kInRegister, part = k / kHalf;
    const Fiber& row = running->of_warp(4 * group + from);
    const Number low = element(row.left[2 * part], at);
    const Number high = element(row.left[2 * part + 1], at);
    const Number left = element(running->of_warp(8 * within + from).right[part], at);
    const Number right = element(running->of_warp(8 * within + 4 + from).right[part], at);
    d[0] = add(low, left, d[0]);
    d[1] = add(low, right, d[1]);
    d[2] = add(high, left, d[2]);
    d[3] = add(high, right, d[3]);
  }
  running->wait(Waits::kWarp, name);
}

}  // namespace

void multiply_16x8x16(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4]) {
  const auto element = [](uint32_t pair, uint32_t half) {
    return std::bit_cast<float>(half == 0 ? pair << 16 : pair & 0xFFFF0000u);
  };
  const auto add = [](float x, float y, float sum) { return std::fma(x, y, sum); };
  multiply<16>(a, b, d, element, add, "mma");
}

void multiply_16x8x32(const uint32_t (&a)[4], const uint32_t (&b)[2], int32_t (&d)[4]) {
  const auto element = [](uint32_t four, uint32_t at) {
    return static_cast<int32_t>(static_cast<int8_t>(four >> (8 * at)));
  };
  const auto add = [](int32_t x, int32_t y, int32_t sum) { return sum + x * y; };
  multiply<32>(a, b, d, element, add, "mma of int8");
}

}  // namespace tessera::simt
