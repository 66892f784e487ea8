#include "catalogue/builder.h"

#include <algorithm>

#include "catalogue/check_input.h"
#include "catalogue/checksum.h"
#include "catalogue/item_index.h"
#include "catalogue/sid_order.h"
#include "catalogue/snapshot_writer.h"
#include "catalogue/trie.h"
#include "platform/file.h"

namespace tessera::catalogue {
namespace {

constexpr size_t kStringsAhead = 16;

/// The three sections of a text table from `first` on; strings in ordinal order.
Status write_text(const TextColumn& column, std::span<const uint32_t> items, SectionId first,
                  SnapshotWriter& writer) {
  std::vector<uint64_t> bases;
  std::vector<uint32_t> offsets;
  if (!column.bytes.empty()) {
    offsets.resize(items.size() + 1);
    uint64_t position = 0;
    for (size_t i = 0; i <= items.size(); ++i) {
      if (i % kTextBlockStrings == 0) bases.push_back(position);
      offsets[i] = static_cast<uint32_t>(position - bases.back());
      if (i + kStringsAhead < items.size()) {
        __builtin_prefetch(&column.ends[items[i + kStringsAhead]]);
      }
      if (i < items.size()) position += column[items[i]].size();
    }
  }
  TESSERA_RETURN_IF_ERROR(writer.section(first, bases));
  TESSERA_RETURN_IF_ERROR(writer.section(static_cast<SectionId>(first + 1), offsets));
  TESSERA_RETURN_IF_ERROR(writer.begin(static_cast<SectionId>(first + 2)));
  for (size_t i = 0; i < items.size() && !column.bytes.empty(); ++i) {
    if (i + 2 * kStringsAhead < items.size()) {
      __builtin_prefetch(&column.ends[items[i + 2 * kStringsAhead]]);
      __builtin_prefetch(column[items[i + kStringsAhead]].data());
    }
    TESSERA_RETURN_IF_ERROR(writer.append(std::as_bytes(std::span(column[items[i]]))));
  }
  return writer.end();
}

std::vector<double> ordered_priorities(const CatalogueInput& input,
                                       std::span<const uint32_t> items) {
  const bool is_plain = std::all_of(input.priorities.begin(), input.priorities.end(),
                                    [](double priority) { return priority == 0; });
  if (is_plain) return {};
  std::vector<double> priorities(items.size());
  for (size_t i = 0; i < items.size(); ++i) priorities[i] = input.priorities[items[i]];
  return priorities;
}

std::vector<std::byte> pattern_bytes(const CatalogueInput& input, uint32_t depth) {
  std::vector<std::byte> bytes;
  for (uint32_t level = 0; level < depth; ++level) {
    const std::string_view pattern =
        level < input.level_patterns.size() ? input.level_patterns[level] : std::string_view();
    bytes.push_back(static_cast<std::byte>(pattern.size() & 0xFF));
    bytes.push_back(static_cast<std::byte>(pattern.size() >> 8));
    const auto text = std::as_bytes(std::span(pattern));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  return bytes;
}

Status write_sections(const CatalogueInput& input, const Trie& trie,
                      const std::vector<uint32_t>& index, SnapshotWriter& writer) {
  TESSERA_RETURN_IF_ERROR(writer.section(kCodes, trie.codes));
  TESSERA_RETURN_IF_ERROR(writer.section(kChildOffsets, trie.child_offsets));
  TESSERA_RETURN_IF_ERROR(writer.section(kItemOffsets, trie.item_offsets));
  TESSERA_RETURN_IF_ERROR(writer.section(kParentHints, trie.parent_hints));
  TESSERA_RETURN_IF_ERROR(writer.section(kItemHints, trie.item_hints));
  TESSERA_RETURN_IF_ERROR(writer.section(kRootIndex, trie.root_index));
  TESSERA_RETURN_IF_ERROR(write_text(input.item_ids, trie.items, kItemIdBases, writer));
  TESSERA_RETURN_IF_ERROR(write_text(input.titles, trie.items, kTitleBases, writer));
  TESSERA_RETURN_IF_ERROR(write_text(input.attributes, trie.items, kAttributeBases, writer));
  TESSERA_RETURN_IF_ERROR(writer.section(kPriorities, ordered_priorities(input, trie.items)));
  TESSERA_RETURN_IF_ERROR(writer.section(kItemHash, index));
  return writer.section(kLevelPatterns, pattern_bytes(input, trie.depth));
}

/// About the size of the file; exact enough for a progress bar.
uint64_t estimate_bytes(const CatalogueInput& input, const Trie& trie, size_t index_slots) {
  return trie.codes.size() + input.item_ids.bytes.size() + input.titles.bytes.size() +
         input.attributes.bytes.size() + input.priorities.size() * sizeof(double) +
         sizeof(uint32_t) * (trie.child_offsets.size() + trie.item_offsets.size() + index_slots +
                             input.item_ids.size() + input.titles.size() + input.attributes.size());
}

}  // namespace

Result<BuildReport> build_snapshot(const CatalogueInput& input, const std::string& path,
                                   const Progress& progress) {
  const uint64_t count = input.item_count();
  const auto report_stage = [&](const char* stage, uint64_t done) {
    if (progress) progress(stage, done, count);
  };
  report_stage("check", 0);
  Result<std::vector<uint32_t>> sizes = check_input(input);
  if (!sizes.is_ok()) return sizes.status();
  const std::vector<uint32_t>& level_sizes = sizes.value();
  report_stage("sort", 0);
  SidOrder order = order_by_sid(input, level_sizes);
  report_stage("trie", 0);
  Result<Trie> built = build_trie(input, level_sizes, order);
  if (!built.is_ok()) return built.status();
  const Trie& trie = built.value();
  order = {};
  report_stage("index", 0);
  Result<std::vector<uint32_t>> index = build_item_index(input, trie.items);
  if (!index.is_ok()) return index.status();
  report_stage("index", count);

  Directory directory{};
  directory.item_count = count;
  directory.path_count = trie.path_count;
  directory.depth = trie.depth;
  directory.code_bytes = trie.code_bytes;
  directory.first_item_depth = trie.first_item_depth;
  std::copy(level_sizes.begin(), level_sizes.end(), directory.level_sizes);
  std::copy(trie.level_begin.begin(), trie.level_begin.end(), directory.level_begin);
  const uint64_t total_bytes = estimate_bytes(input, trie, index.value().size());
  const auto produce = [&](const platform::Sink& sink) -> Status {
    SnapshotWriter writer(sink, progress, total_bytes);
    TESSERA_RETURN_IF_ERROR(write_sections(input, trie, index.value(), writer));
    return writer.finish(directory);
  };
  TESSERA_RETURN_IF_ERROR(platform::write_file_atomically(path, produce));
  return BuildReport{digest_text(directory.digest), count,      trie.path_count, trie.node_count(),
                     directory.file_bytes,          level_sizes};
}

}  // namespace tessera::catalogue
