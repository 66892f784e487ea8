// Seeded mutations of valid snapshot files, read and then used in full: the trie walked, items
// looked up, a search decoded, paths exported. Half of the mutations get new checksums, so that the
// structural checks are what stands between them and the accessors. With Clang's libFuzzer only
// LLVMFuzzerTestOneInput is used; otherwise main() mutates.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/check.h"
#include "beam/decode_loop.h"
#include "beam/export.h"
#include "beam/random_case.h"
#include "catalogue/checksum.h"
#include "catalogue/format.h"

namespace tessera::beam {
namespace {

using catalogue::Directory;
using catalogue::NodeIndex;
using catalogue::Section;
using catalogue::Snapshot;

constexpr uint32_t kLevelSizeMax = 4096;  // larger levels are walked but not decoded

std::string scratch_path(const char* name) {
  const std::filesystem::path folder = std::filesystem::is_directory("/dev/shm")
                                           ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path();
  return folder / (name + std::to_string(::getpid()));
}

uint64_t read_items(const Snapshot& snapshot) {
  uint64_t sum = 0;
  for (catalogue::ItemOrdinal item = 0; item < snapshot.item_count(); ++item) {
    const NodeIndex node = snapshot.node_of(item);
    const catalogue::ItemRange range = snapshot.items(node);
    TESSERA_CHECK(item >= range.first && item - range.first < range.count);
    for (const char c : snapshot.item_id(item)) sum += static_cast<uint8_t>(c);
    for (const char c : snapshot.title(item)) sum += static_cast<uint8_t>(c);
    for (const char c : snapshot.attributes(item)) sum += static_cast<uint8_t>(c);
    sum += snapshot.find_item(snapshot.item_id(item));
  }
  return sum;
}

void walk(const Snapshot& snapshot, std::vector<Finished>& paths) {
  for (uint32_t level = 0; level < snapshot.depth(); ++level) {
    TESSERA_CHECK(snapshot.level_pattern(level).size() <= catalogue::kMaxPatternBytes);
  }
  std::array<uint32_t, catalogue::kMaxDepth> sid;
  for (NodeIndex node = 0; node < snapshot.node_count(); ++node) {
    const uint32_t depth = snapshot.sid(node, sid);
    TESSERA_CHECK(depth == snapshot.depth_of(node));
    TESSERA_CHECK(snapshot.find_node(std::span(sid).first(depth)) == node);
    const catalogue::Children children = snapshot.children(node);
    for (uint32_t i = 0; i < children.codes.size(); ++i) {
      TESSERA_CHECK(children.codes[i] < snapshot.level_size(depth));
      TESSERA_CHECK(snapshot.parent(children.first_child + i) == node);
    }
    TESSERA_CHECK(snapshot.is_terminal(node) || !children.codes.empty());
    if (snapshot.is_terminal(node)) paths.push_back({static_cast<float>(node % 7), node});
  }
  TESSERA_CHECK(paths.size() == snapshot.path_count());
}

void decode(const catalogue::Reach& reach) {
  const Snapshot& snapshot = reach.view().base();
  std::vector<uint32_t> sizes;
  for (uint32_t level = 0; level < snapshot.depth(); ++level) {
    if (snapshot.level_size(level) > kLevelSizeMax) return;
    sizes.push_back(snapshot.level_size(level));
  }
  static const std::unique_ptr<Scratch, ScratchDeleter> scratch = make_scratch();
  const OracleModel model = random_model(1, sizes, true);
  for (uint32_t terminal_count = 0; terminal_count < 2; ++terminal_count) {
    const auto finished =
        decode_loop(reach, model, {{8}, terminal_count, ScoreNorm::kAllowed}, *scratch);
    for (const Finished& path : finished) TESSERA_CHECK(snapshot.is_terminal(path.node));
  }
}

void read_snapshot(const std::string& content) {
  static const std::string path = scratch_path("tessera-snapshot-fuzz-");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  const auto opened = Snapshot::open(path);
  std::filesystem::remove(path);
  if (!opened.is_ok()) {
    TESSERA_CHECK(opened.status().code() == Code::kCatalogueCorrupt ||
                  opened.status().code() == Code::kStoreNewer);
    TESSERA_CHECK(opened.status().message().size() > path.size());
    return;
  }
  const Snapshot& snapshot = *opened.value();
  [[maybe_unused]] static volatile uint64_t sink;
  sink = read_items(snapshot);
  std::vector<Finished> paths;
  walk(snapshot, paths);
  const catalogue::Reach reach(catalogue::View::of(opened.value()));
  decode(reach);
  static platform::ThreadPool threads(1);
  const Exported exported = export_items(paths, reach, {1u << 20, 0}, threads);
  TESSERA_CHECK(exported.item_ordinals.size() == snapshot.item_count());
}

/// Makes checksums and digest of a mutated file right again, where its sections still lie inside
/// it.
[[maybe_unused]] void reseal(std::string& content) {
  if (content.size() < sizeof(Directory)) return;
  Directory directory;
  char* at = content.data() + content.size() - sizeof(directory);
  std::memcpy(&directory, at, sizeof(directory));
  for (Section& section : directory.sections) {
    if (section.offset > content.size() || section.bytes > content.size() - section.offset)
      continue;
    section.checksum = catalogue::checksum64(
        std::as_bytes(std::span(content)).subspan(section.offset, section.bytes));
  }
  const auto digest = catalogue::directory_digest(directory);
  std::copy(digest.begin(), digest.end(), directory.digest);
  directory.checksum = catalogue::directory_checksum(directory);
  std::memcpy(at, &directory, sizeof(directory));
}

[[maybe_unused]] void edit_word(std::string& content, size_t at, std::mt19937_64& random) {
  uint32_t word;
  if (content.size() < sizeof(word) || at > content.size() - sizeof(word)) return;
  std::memcpy(&word, content.data() + at, sizeof(word));
  const uint32_t words[] = {
      0,           1,        word + 1, word - 1, 0xFFFFFFFFu,
      0x80000000u, word * 2, 65536,    word ^ 1, static_cast<uint32_t>(random())};
  word = words[random() % std::size(words)];
  std::memcpy(content.data() + at, &word, sizeof(word));
}

[[maybe_unused]] std::string mutate(std::string content, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  Directory directory;
  const size_t directory_at = content.size() - sizeof(directory);
  std::memcpy(&directory, content.data() + directory_at, sizeof(directory));
  const size_t changes = 1 + below(3);
  for (size_t i = 0; i < changes; ++i) {
    const Section& section = directory.sections[below(catalogue::kSectionCount)];
    switch (below(6)) {
      case 0: content[below(content.size())] ^= static_cast<char>(1 << below(8)); break;
      case 1: edit_word(content, directory_at + 4 * below(sizeof(directory) / 4), random); break;
      case 2: content[section.offset + below(section.bytes)] = static_cast<char>(random()); break;
      default: edit_word(content, section.offset + 4 * below(section.bytes / 4), random);
    }
  }
  if (below(16) == 0) content.resize(below(content.size()));
  if (below(16) == 0) content.insert(below(content.size()), below(200), '\0');
  if (below(4) != 0) reseal(content);
  return content;
}

}  // namespace
}  // namespace tessera::beam

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tessera::beam::read_snapshot(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#if !defined(TESSERA_LIBFUZZER)
/// snapshot_fuzz [cases [seed]]: a failure is repeated by the seed that was printed last.
int main(int argc, char** argv) {
  using namespace tessera::beam;
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 6000;
  const uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string path = scratch_path("tessera-snapshot-fuzz-seed-");
  std::string valid;
  for (uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    std::mt19937_64 random(seed);
    if (seed % 50 == first_seed % 50) {
      std::printf("snapshot_fuzz: seed %llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
      random_case(random, path);
      std::ifstream file(path, std::ios::binary);
      valid.assign(std::istreambuf_iterator<char>(file), {});
      read_snapshot(valid);
    }
    read_snapshot(mutate(valid, random));
  }
  std::filesystem::remove(path);
  std::printf("snapshot_fuzz: %llu cases\n", static_cast<unsigned long long>(cases));
  return 0;
}
#endif
