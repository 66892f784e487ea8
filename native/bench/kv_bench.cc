// Measures the KV pool: calls, copies, restarts, and the hit rate on real traces. Prints
// one JSON document {"results": [{"name", "value", "unit"}, ...]} on stdout, progress on stderr.
//
//   kv_bench [--quick] [--only calls|copies|wait|restart|hits] [--data FOLDER] [--folder FOLDER]
//
// FOLDER of --data holds checkins/PetalingJaya.events.tsv, amazon-beauty/histories.txt (the
// items bought, instead of places) and mooncake/*.jsonl; a missing trace is skipped with a message.
// The disk tier is created in --folder, and removed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "kv/pool.h"
#include "kv/test_model.h"
#include "kv/work.h"
#include "kv_bench.h"

namespace {
thread_local uint64_t allocations = 0;
}

void* operator new(size_t size) {
  ++allocations;
  if (void* data = std::malloc(size)) return data;
  throw std::bad_alloc();
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }

namespace tessera::kv {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  return values[static_cast<uint64_t>(at * static_cast<double>(values.size() - 1))];
}

/// Times and allocations of one call over many repetitions.
struct Calls {
  std::vector<double> us;
  uint64_t allocated = 0;

  template <typename Call>
  void add(Call call) {
    const uint64_t before = allocations;
    const Clock::time_point start = Clock::now();
    call();
    us.push_back(us_since(start));
    allocated += allocations - before;
  }
  void print(const std::string& name) const {
    figure(name + ".median", quantile(us, 0.5), "us");
    figure(name + ".p99", quantile(us, 0.99), "us");
    figure(name + ".allocations", static_cast<double>(allocated) / static_cast<double>(us.size()),
           "per call");
  }
};

PoolOptions options_of(uint64_t block_bytes, uint32_t device_blocks) {
  PoolOptions options;
  options.block_bytes = block_bytes;
  options.device_blocks = device_blocks;
  return options;
}

std::unique_ptr<Pool> open(PoolOptions options) {
  Result<std::unique_ptr<Pool>> pool = Pool::open(std::move(options));
  if (!pool.is_ok()) std::fprintf(stderr, "kv_bench: %s\n", pool.status().message().c_str());
  TESSERA_CHECK(pool.is_ok());
  return std::move(pool).value();
}

/// Lookup and append of returning users: the last 8 tokens are new every time.
void bench_calls(uint32_t history, uint32_t rounds) {
  constexpr uint32_t kUsers = 64;
  constexpr uint32_t kNew = 8;
  constexpr uint64_t kBlockBytes = 4096;  // the copy of the last block counts little
  auto pool = open(options_of(kBlockBytes, kUsers * (blocks_of(history) + 4)));
  const Version version = pool->add_version(test_identity("m", kBlockBytes)).value();
  std::vector<std::vector<Token>> tokens;
  for (uint32_t i = 0; i < kUsers; ++i) tokens.push_back(random_tokens(i, history));
  Calls lookup, extend, commit, whole;
  for (uint32_t round = 0; round < rounds + 3 * kUsers; ++round) {
    std::vector<Token>& mine = tokens[round % kUsers];
    for (uint32_t i = 0; i < kNew; ++i) mine[history - 1 - i] = static_cast<Token>(round + i);
    const std::string user = "user" + std::to_string(round % kUsers);
    if (round == 3 * kUsers) lookup = extend = commit = whole = {};  // the first rounds fill
    const Query query{.version = version, .user = user, .tokens = mine, .prefix_tokens = 64};
    Lease lease;
    lookup.us.reserve(rounds);
    extend.us.reserve(rounds);
    commit.us.reserve(rounds);
    whole.us.reserve(rounds);
    whole.add([&] {
      lookup.add([&] { lease = std::move(pool->lookup(query)).value(); });
      extend.add([&] { TESSERA_CHECK(pool->extend(lease, history).is_ok()); });
      commit.add([&] {
        pool->commit(lease, history);
        lease.reset();
      });
    });
  }
  const std::string name = "kv.calls." + std::to_string(history) + ".";
  lookup.print(name + "lookup");
  extend.print(name + "extend");
  commit.print(name + "commit");
  whole.print(name + "all");
}

/// Times of the transfers that a pool runs on this thread, per block.
struct Hops {
  std::vector<double> load, store;
};

void run_stores(PoolWork& work, std::vector<double>* us, uint64_t& blocks) {
  StoreJob job;
  while (work.begin_store(job)) {
    const Clock::time_point start = Clock::now();
    work.perform(job);
    const double spent = us_since(start);
    uint64_t moved = 0;
    for (const StoreItem& item : job.items) moved += item.transfers.size();
    work.finish(job);
    blocks += moved;
    if (us != nullptr && moved > 0) us->push_back(spent / static_cast<double>(moved));
  }
}

double gib_per_s(uint64_t bytes, double us) {
  return static_cast<double>(bytes) / us * 1e6 / static_cast<double>(uint64_t{1} << 30);
}

/// Bytes that this process has sent to its disks so far; 0 where the system does not say.
uint64_t device_write_bytes() {
  std::ifstream in("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (in >> name >> value) {
    if (name == "write_bytes:") return value;
  }
  return 0;
}

/// Bytes moved, against the least that had to be.
void print_moved(const std::string& name, const PoolMetrics& metrics, const std::string& lower,
                 uint64_t block_bytes, uint64_t device_bytes) {
  const TierMetrics& tier = metrics.tier(lower);
  const uint64_t token_bytes = block_bytes / kBlockTokens;
  figure(name + "read_bytes_per_hit_token",
         static_cast<double>(tier.read_bytes) / static_cast<double>(tier.hit_tokens), "bytes");
  figure(name + "read_bytes_per_hit_token.least", static_cast<double>(token_bytes), "bytes");
  // Device to disk, heads and log included; where the system does not count, what was asked for.
  const uint64_t written = lower == "disk" && device_bytes > 0 ? device_bytes : tier.written_bytes;
  figure(name + "write_amplification",
         static_cast<double>(written) / static_cast<double>(tier.used_blocks * block_bytes),
         "ratio");
}

/// Blocks of real size through a tier and back, against plain copies or file calls.
void bench_copies(const std::string& folder, const std::string& lower, uint64_t block_bytes,
                  uint32_t blocks) {
  PoolOptions options = options_of(block_bytes, blocks);
  options.read_threads = 0;
  options.store_batch_bytes = block_bytes * 16;
  const bool is_disk = lower == "disk";
  if (is_disk) options.disk_blocks = 3 * blocks;
  if (is_disk) options.disk_folder = folder;
  if (!is_disk) options.host_blocks = 3 * blocks;
  auto pool = open(std::move(options));
  PoolWork work(*pool);
  const Version version = pool->add_version(test_identity("m", block_bytes)).value();
  const uint32_t length = blocks / 2 * kBlockTokens;
  const uint64_t written_before = device_write_bytes();
  Hops hops;
  uint64_t stored = 0;
  // Two users fill the device; the third takes the first one's place, who then comes back.
  for (uint32_t user = 0; user < 9; ++user) {
    const std::string name = "user" + std::to_string(user % 3);
    Prefetch prefetch = pool->prefetch(version, name, length);
    LoadJob job;
    while (work.begin_load(job)) {
      const Clock::time_point start = Clock::now();
      work.perform(job);
      hops.load.push_back(us_since(start));
      TESSERA_CHECK(job.status.is_ok());
      work.finish(job);
    }
    prefetch.cut_off();
    const TestRequest request{
        .version = version, .salt = 1, .user = name, .tokens = random_tokens(user % 3, length)};
    const TestAnswer answer = serve(*pool, request);
    TESSERA_CHECK(answer.status.is_ok() && answer.value == expected_answer(request));
    run_stores(work, &hops.store, stored);
  }
  const std::string name = "kv.copy." + lower + ".";
  print_moved(name, pool->metrics(), lower, block_bytes, device_write_bytes() - written_before);
  const Plain plain = is_disk ? plain_file(folder + "/plain", block_bytes, blocks)
                              : plain_memory(block_bytes, blocks);
  const double load_us = quantile(hops.load, 0.5);
  const double store_us = quantile(hops.store, 0.5);
  figure(name + "load", gib_per_s(block_bytes, load_us), "GiB/s");
  figure(name + "load.plain", gib_per_s(block_bytes, plain.read_us), "GiB/s");
  figure(name + "load.against_plain", plain.read_us / load_us, "ratio");
  figure(name + "store", gib_per_s(block_bytes, store_us), "GiB/s");
  figure(name + "store.plain", gib_per_s(block_bytes, plain.write_us), "GiB/s");
  figure(name + "store.against_plain", plain.write_us / store_us, "ratio");
}

/// Many users on disk: how long a restart takes, and the first lookup of each after it.
void bench_restart(const std::string& folder, uint32_t users) {
  constexpr uint64_t kBlockBytes = 4096;
  constexpr uint32_t kLength = 128;
  const auto options = [&] {
    PoolOptions made = options_of(kBlockBytes, 4096);
    made.disk_blocks = uint64_t{users} * blocks_of(kLength) + 1024;
    made.disk_folder = folder;
    return made;
  };
  const auto request = [&](Version version, uint32_t user) {
    return TestRequest{.version = version,
                       .salt = 1,
                       .user = "user" + std::to_string(user),
                       .tokens = random_tokens(user, kLength)};
  };
  {
    auto pool = open(options());
    const Version version = pool->add_version(test_identity("m", kBlockBytes)).value();
    for (uint32_t user = 0; user < users; ++user) {
      serve(*pool, request(version, user));
      if (user % 512 == 511) TESSERA_CHECK(pool->flush(60'000'000).is_ok());
    }
    TESSERA_CHECK(pool->flush(60'000'000).is_ok());
  }
  const Clock::time_point start = Clock::now();
  auto pool = open(options());
  figure("kv.restart." + std::to_string(users) + ".open", us_since(start) / 1000, "ms");
  figure("kv.restart.chains", static_cast<double>(pool->metrics().chains), "chains");
  const Version version = pool->add_version(test_identity("m", kBlockBytes)).value();
  Calls lookup;
  std::vector<double> back;
  for (uint32_t i = 0; i < users; i += 7) {
    const TestRequest asked = request(version, i);
    lookup.add([&] {
      const Lease lease =
          pool->lookup({.version = version, .user = asked.user, .tokens = asked.tokens}).value();
      TESSERA_CHECK(lease.matched() + lease.loadable() == kLength);
    });
    if (i % 70 != 0) continue;
    const Clock::time_point began = Clock::now();
    Prefetch prefetch = pool->prefetch(version, asked.user, kLength);
    TESSERA_CHECK(prefetch.wait(60'000'000));
    back.push_back(us_since(began));
    prefetch.cut_off();
    const TestAnswer answer = serve(*pool, asked, false);
    TESSERA_CHECK(answer.matched == kLength && answer.value == expected_answer(asked));
  }
  lookup.print("kv.restart.lookup");
  figure("kv.restart.prefetch.median", quantile(back, 0.5), "us");
}

/// A load while features are computed: what of it is still waited for.
void bench_exposed_wait(const std::string& folder) {
  constexpr uint64_t kBlockBytes = uint64_t{1} << 20;
  constexpr uint32_t kLength = 16 * kBlockTokens;
  PoolOptions options = options_of(kBlockBytes, 16);
  options.disk_blocks = 64;
  options.disk_folder = folder;
  auto pool = open(std::move(options));
  const Version version = pool->add_version(test_identity("m", kBlockBytes)).value();
  std::vector<double> loads, waits;
  for (uint32_t round = 0; round < 12; ++round) {
    const TestRequest request{.version = version,
                              .salt = 1,
                              .user = "user" + std::to_string(round % 3),
                              .tokens = random_tokens(round % 3, kLength)};
    Prefetch prefetch = pool->prefetch(version, request.user, kLength);
    const Clock::time_point start = Clock::now();
    const bool is_measured = static_cast<bool>(prefetch) && round >= 3;
    if (is_measured && round % 2 == 0) {
      prefetch.wait(60'000'000);
      loads.push_back(us_since(start));
    } else if (is_measured && !loads.empty()) {
      // Features that take twice as long as the load, without the processor.
      const double features_us = 2 * quantile(loads, 0.5);
      ::usleep(static_cast<useconds_t>(features_us));
      const Clock::time_point ready = Clock::now();
      prefetch.wait(60'000'000);
      waits.push_back(us_since(ready));
    }
    prefetch.wait(60'000'000);
    prefetch.cut_off();
    TESSERA_CHECK(serve(*pool, request).status.is_ok());
    TESSERA_CHECK(pool->flush(60'000'000).is_ok());
  }
  figure("kv.prefetch.load", quantile(loads, 0.5), "us");
  figure("kv.prefetch.exposed", quantile(waits, 0.5) / quantile(loads, 0.5), "of the load");
}

}  // namespace

std::string results;  // the document's list so far

void figure(const std::string& name, double value, const char* unit) {
  char number[32];
  std::snprintf(number, sizeof(number), "%.6g", value);
  std::fprintf(stderr, "%s: %s %s\n", name.c_str(), number, unit);
  results += (results.empty() ? "" : ",") + std::string("\n{\"name\":\"") + name +
             "\",\"value\":" + number + ",\"unit\":\"" + unit + "\"}";
}

int run(int argc, char** argv) {
  bool is_quick = false;
  std::string data;
  std::string only;  // one part: calls, copies, wait, restart or hits
  std::string folder =
      std::filesystem::temp_directory_path() / ("tessera-kv-bench-" + std::to_string(::getpid()));
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quick") is_quick = true;
    if (argument == "--data" && i + 1 < argc) data = argv[++i];
    if (argument == "--folder" && i + 1 < argc) folder = argv[++i];
    if (argument == "--only" && i + 1 < argc) only = argv[++i];
  }
  const auto is_asked = [&](const char* part) { return only.empty() || only == part; };
  std::filesystem::create_directories(folder);
  for (const uint32_t history : {128u, 512u, 2048u}) {
    if (is_asked("calls")) bench_calls(history, is_quick ? 2000 : 20'000);
  }
  if (is_asked("copies")) {
    const uint64_t block_bytes = uint64_t{1} << 20;
    bench_copies(folder + "/host", "host", block_bytes, is_quick ? 64 : 256);
    bench_copies(folder + "/copies", "disk", block_bytes, is_quick ? 64 : 256);
    bench_blob_files(folder + "/blobs", block_bytes, is_quick ? 64 : 256);
  }
  if (is_asked("wait")) bench_exposed_wait(folder + "/wait");
  if (is_asked("restart")) bench_restart(folder + "/users", is_quick ? 2000 : 10'000);
  if (is_asked("hits")) bench_traces(data, is_quick);
  std::filesystem::remove_all(folder);
  std::printf("{\"results\":[%s\n]}\n", results.c_str());
  return 0;
}

}  // namespace tessera::kv

int main(int argc, char** argv) { return tessera::kv::run(argc, argv); }
