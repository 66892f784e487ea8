// Logs of changes with bytes changed, cut, doubled and forged with right checksums, opened as the
// folder of a catalogue: nothing may crash; what is taken is a catalogue that goes on, what is
// refused is refused by name. With bytes changed only, what is read is a prefix of what was
// written. With Clang's libFuzzer only LLVMFuzzerTestOneInput is used; otherwise main() mutates.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/check.h"
#include "catalogue/checksum.h"
#include "catalogue/live_catalogue.h"

namespace tessera::catalogue {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kItems = 20;
constexpr size_t kFrameBytes = 16;  // payload bytes, checksum

/// A folder with a seed snapshot, and the log that is read.
struct Scratch {
  fs::path folder;
  std::string log;
  std::shared_ptr<const Snapshot> seed;

  Scratch() {
    folder = (fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
             ("tessera-change-log-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(folder / "changes");
    log = folder / "changes" / "1.changes";
    CatalogueInput input;
    input.level_sizes = {8, 8};
    for (uint32_t i = 0; i < kItems; ++i) {
      input.codes.insert(input.codes.end(), {i % 8, i / 8});
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add("seed-" + std::to_string(i));
    }
    TESSERA_CHECK(build_snapshot(input, folder / "seed", {}).is_ok());
    seed = Snapshot::open(folder / "seed").value();
  }
  ~Scratch() { fs::remove_all(folder); }

  /// With marks that say nothing, as those of a new folder do.
  void write(const std::string& content) const {
    fs::remove_all(folder / "changes");
    fs::create_directories(folder / "changes");
    TESSERA_CHECK(platform::LogMarks::open(folder / "changes" / "marks", {}).is_ok());
    std::ofstream(log, std::ios::binary | std::ios::trunc) << content;
  }
};

const Scratch& scratch() {
  static const Scratch made;
  return made;
}

/// Opens the catalogue with the content as its log, and goes on with it where it is taken.
void open_content(const std::string& content) {
  scratch().write(content);
  const LiveOptions options{scratch().folder / "changes", SyncPolicy::kNever, {}};
  auto live = LiveCatalogue::open(scratch().seed, options);
  if (!live.is_ok()) {
    const Code code = live.status().code();
    TESSERA_CHECK(code == Code::kCatalogueCorrupt || code == Code::kCatalogueInvalid ||
                  code == Code::kCatalogueNotFound || code == Code::kStoreNewer ||
                  code == Code::kIoFailed);
    TESSERA_CHECK(!live.status().message().empty());
    return;
  }
  const uint64_t before = live.value()->view()->sequence();
  Change change;
  change.item_id = "later";
  change.sid = {1, 1};
  const auto applied = live.value()->apply(given({&change, 1}), "later");
  const std::string digest = live.value()->digest().digest;
  // A forged log may have used up all numbers.
  if (applied.is_ok()) TESSERA_CHECK(applied.value().sequence == before + 1);
  live.value().reset();
  live = LiveCatalogue::open(scratch().seed, options);
  TESSERA_CHECK(live.is_ok());
  if (applied.is_ok()) TESSERA_CHECK(live.value()->view()->find_item("later") != kNoItem);
  if (applied.is_ok()) TESSERA_CHECK(live.value()->view()->mark() == "later");
  TESSERA_CHECK(live.value()->digest().digest == digest);
}

[[maybe_unused]] std::vector<ChangeBatch> random_batches(std::mt19937_64& random) {
  std::vector<ChangeBatch> batches;
  uint64_t sequence = 0;
  for (uint64_t b = 0; b < 1 + random() % 6; ++b) {
    ChangeBatch batch{sequence, {}};
    if (random() % 2 == 0) batch.mark = "mark-" + std::to_string(random() % 100);
    if (random() % 8 == 0) batch = ChangeBatch::beginning(sequence + random() % 3, batch.mark);
    for (uint64_t i = 0; i < random() % 4 && !batch.is_beginning; ++i) {
      Change change;
      change.kind = static_cast<ChangeKind>(random() % kItemChangeKinds);
      change.item_id = "seed-" + std::to_string(i * 5 + random() % 5);
      if (change.kind == ChangeKind::kUpsert) {
        change.item_id = "new-" + std::to_string(i);
        change.sid = {static_cast<uint32_t>(random() % 8), static_cast<uint32_t>(random() % 8)};
        change.title = "title";
        change.attributes = R"({"a":"b"})";
      }
      batch.changes.push_back(std::move(change));
    }
    sequence = batch.sequence();
    batches.push_back(std::move(batch));
  }
  return batches;
}

[[maybe_unused]] std::string written(const std::vector<ChangeBatch>& batches) {
  const LogHeader header{scratch().seed->digest(), scratch().seed->digest(), {8, 8}, 1};
  TESSERA_CHECK(ChangeLog::create(scratch().log, header, batches, SyncPolicy::kNever).is_ok());
  std::ifstream file(scratch().log, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[maybe_unused]] void mutate(std::string& text, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  const size_t at = below(text.size() + 1);
  switch (below(4)) {
    case 0: text.resize(at); break;
    case 1: text.erase(std::min(at, text.size()), below(24)); break;
    case 2: text.insert(at, text.substr(below(text.size() + 1), below(60))); break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
  }
}

/// The changes read of a damaged log are a prefix of those written, to the byte.
[[maybe_unused]] void expect_prefix(const std::string& damaged,
                                    const std::vector<ChangeBatch>& batches) {
  scratch().write(damaged);
  const Result<LogContent> read = ChangeLog::read(scratch().log);
  if (!read.is_ok()) {
    TESSERA_CHECK(read.status().code() == Code::kCatalogueCorrupt ||
                  read.status().code() == Code::kStoreNewer ||
                  read.status().code() == Code::kIoFailed);
    return;
  }
  TESSERA_CHECK(read.value().good_bytes <= damaged.size());
  ChangeRecords found;
  ChangeRecords expected;
  for (const ChangeBatch& batch : read.value().batches) found.add(batch);
  for (const ChangeBatch& batch : batches) expected.add(batch);
  TESSERA_CHECK(expected.bytes.compare(0, found.bytes.size(), found.bytes) == 0);
}

/// Changes the payload of the last frame and writes the checksum that it then has.
[[maybe_unused]] std::string forged(const std::string& log, size_t last_frame, uint64_t chain,
                                    std::mt19937_64& random) {
  std::string payload = log.substr(last_frame + kFrameBytes);
  for (uint64_t i = 0; i < 1 + random() % 3; ++i) mutate(payload, random);
  const uint64_t bytes = payload.size();
  const uint64_t checksum = chained64(std::as_bytes(std::span(payload)), chain);
  std::string forgery = log.substr(0, last_frame);
  forgery.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  forgery.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return forgery + payload;
}

[[maybe_unused]] void try_seed(uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<ChangeBatch> batches = random_batches(random);
  const std::string log = written(batches);
  const std::vector<platform::LogMark> ends = ChangeLog::read(scratch().log).value().ends;
  const platform::LogMark& before_last = ends[ends.size() - 2];
  open_content(forged(log, before_last.bytes, before_last.chain, random));
  std::string damaged = log;
  // Doubling whole frames is no damage that a checksum tells: bytes are changed or lost.
  if (random() % 2 == 0) {
    damaged.resize(random() % (log.size() + 1));
  } else {
    damaged[random() % log.size()] ^= static_cast<char>(1 << random() % 8);
  }
  expect_prefix(damaged, batches);
  mutate(damaged, random);
  open_content(damaged);
}

}  // namespace
}  // namespace tessera::catalogue

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tessera::catalogue::open_content(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#if !defined(TESSERA_LIBFUZZER)
/// change_log_fuzz [cases [seed]]: a failure is repeated by the seed that was printed last.
int main(int argc, char** argv) {
  using namespace tessera::catalogue;
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3000;
  const uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    if (seed % 100 == first_seed % 100) {
      std::printf("change_log_fuzz: seed %llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
    try_seed(seed);
  }
  std::printf("change_log_fuzz: %llu cases\n", static_cast<unsigned long long>(cases));
  return 0;
}
#endif
