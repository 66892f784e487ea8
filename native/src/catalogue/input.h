// The input of a catalogue: items in any order, in flat columns. A value; importers fill it,
// the builder reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::catalogue {

/// Strings laid end to end.
struct TextColumn {
  std::string bytes;
  std::vector<uint64_t> ends;  // end of string i in `bytes`

  void add(std::string_view text) {
    bytes.append(text);
    ends.push_back(bytes.size());
  }
  size_t size() const { return ends.size(); }
  bool empty() const { return ends.empty(); }
  std::string_view operator[](size_t index) const {
    const uint64_t begin = index == 0 ? 0 : ends[index - 1];
    return std::string_view(bytes).substr(begin, ends[index] - begin);
  }
};

/// Items from `first_item` on came from `path`.
struct InputSource {
  std::string path;
  uint64_t first_item = 0;
};

struct CatalogueInput {
  std::vector<uint32_t> codes;              // SIDs laid end to end, level-local codes
  std::vector<uint64_t> sid_ends;           // end of item i's SID in `codes`
  TextColumn item_ids;                      // one per item
  TextColumn titles;                        // one per item, or empty
  TextColumn attributes;                    // JSON object text ("" is "{}"), one per item, or empty
  std::vector<double> priorities;           // one per item, or empty: all 0
  std::vector<uint32_t> level_sizes;        // declared; empty: largest code + 1 per level
  std::vector<std::string> level_patterns;  // e.g. "<a_{code}>" per level, or empty
  std::vector<InputSource> sources;         // for error messages; ascending, may be empty
  std::vector<uint32_t> lines;  // line of each item in its source (0: unknown), or empty

  size_t item_count() const { return item_ids.size(); }
  std::span<const uint32_t> sid(size_t item) const {
    const uint64_t begin = item == 0 ? 0 : sid_ends[item - 1];
    return {codes.data() + begin, static_cast<size_t>(sid_ends[item] - begin)};
  }
  /// Origin of an item, for error messages: `ads.jsonl line 7` or `index.json items[6]`.
  std::string place(size_t item) const;
  /// Place and ID: `ads.jsonl line 7 (item "a7")`.
  std::string describe(size_t item) const;
};

/// `text` as a JSON string.
std::string json_text(std::string_view text);

/// `text` in quotes for an error message, cut to a readable length at a character's edge.
std::string quote(std::string_view text);

/// A number for an error message, as short as it can be read back.
std::string number_text(double number);

}  // namespace tessera::catalogue
