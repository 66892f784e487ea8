#include "busy_threads.h"

#include <array>
#include <atomic>
#include <chrono>

#include "base/check.h"
#include "platform/thread_pool.h"

namespace tessera::bench {
namespace {

/// Written by one thread; read while it waits for a fork.
struct alignas(64) Products {
  double begin = 0, end = 0;  // of the first and of the last; 0: none
};

/// Of all threads of the process that have multiplied.
std::array<Products, size_t{8} * platform::ThreadPool::kMaxThreads> products_of;
std::atomic<uint32_t> thread_count{0};
void (*multiply)(const device::PanelProduct& product) = nullptr;

Products& own_products() {
  thread_local const uint32_t own = thread_count.fetch_add(1);
  TESSERA_CHECK(own < products_of.size());
  return products_of[own];
}

void multiply_noting(const device::PanelProduct& product) {
  Products& own = own_products();
  if (own.begin == 0) own.begin = seconds_now();
  multiply(product);
  own.end = seconds_now();
}

}  // namespace

device::KernelTable noting_kernels(device::KernelTable kernels, device::PanelType type) {
  device::PanelKernels& panel = type == device::PanelType::kI8    ? kernels.panel_i8
                                : type == device::PanelType::kF32 ? kernels.panel_f32
                                                                  : kernels.panel_bf16;
  multiply = panel.multiply;
  panel.multiply = multiply_noting;
  return kernels;
}

void forget_products() { products_of.fill({}); }

ThreadTime time_of_products(uint32_t threads, double begin, double end) {
  ThreadTime time{.whole = threads * (end - begin), .idle = threads * (end - begin)};
  for (const Products& own : products_of) {
    if (own.begin > 0) time.idle -= own.end - own.begin;
  }
  return time;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tessera::bench
