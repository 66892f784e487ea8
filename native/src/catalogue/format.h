// The snapshot file, byte by byte (docs/integrate/catalogue-format.md tells it in prose).
// Little-endian throughout.
//
//   Preamble          64 bytes at offset 0: magic and version, so that a reader knows the file from
//   its first bytes section 0..N-1    in the order of SectionId, each at a multiple of kAlignment,
//   zero bytes between Directory         the last bytes of the file: counts, levels, section table,
//   checksums (last, because checksums
//                     are known when the sections have been streamed out)
//
// Nodes are numbered level by level, lexicographically within a level, so the children of
// consecutive nodes are consecutive: one offset array serves the whole trie.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera::catalogue {

static_assert(std::endian::native == std::endian::little, "the snapshot file is little-endian");

inline constexpr char kMagic[8] = {'T', 'S', 'R', 'A', 'C', 'A', 'T', 'L'};
inline constexpr uint32_t kFormatVersion = 1;
inline constexpr uint64_t kAlignment = 64;

/// Versions count up one by one: a greater number is damage, not a later release.
inline constexpr uint32_t kVersionMax = 255;

inline bool is_newer(uint32_t version, uint32_t known) {
  return version > known && version <= kVersionMax;
}

// Limits. Each is checked by the builder and again by the reader.
inline constexpr uint32_t kMaxDepth = 32;
inline constexpr uint32_t kMaxLevelSize = 1u << 20;  // codes per level
inline constexpr uint64_t kMaxItems = 1ull << 30;
inline constexpr uint64_t kMaxNodes = 0xFFFFFFF0ull;
inline constexpr uint32_t kMaxItemIdBytes = 1024;
inline constexpr uint32_t kMaxTextBytes = 65535;   // title, attributes text
inline constexpr uint32_t kMaxPatternBytes = 256;  // level pattern

inline constexpr uint32_t kHintStride = 16;           // one hint per this many nodes or items
inline constexpr uint32_t kTextBlockStrings = 65536;  // strings per base of a text table

enum SectionId : uint32_t {
  kCodes =
      0,  // u8, u16 or u32 (Directory::code_bytes) per node: its last code; entry 0 (root) is 0
  kChildOffsets,   // u32 [interior nodes + 1]: children of n are nodes [offsets[n], offsets[n + 1])
  kItemOffsets,    // u32 [nodes from the first level with items + 1]: items of n, likewise
  kParentHints,    // u32 [ceil(nodes / kHintStride)]: parent of node kHintStride * i (root: 0)
  kItemHints,      // u32 [ceil(items / kHintStride)]: node of item kHintStride * i
  kRootIndex,      // u32 [level_sizes[0]]: child of the root by code, or kNoNode
  kItemIdBases,    // text table of item IDs: u64 base per kTextBlockStrings strings,
  kItemIdOffsets,  //   u32 [items + 1]: string i is bytes [base + offset(i), base + offset(i + 1))
  kItemIdBytes,    //   UTF-8
  kTitleBases,     // text table of titles; all three are empty when no item has one
  kTitleOffsets,
  kTitleBytes,
  kAttributeBases,  // text table of attributes (JSON object text); likewise
  kAttributeOffsets,
  kAttributeBytes,
  kPriorities,     // f64 [items], or empty when all are 0
  kItemHash,       // u32 [power of two >= 1.5 * items]: open addressing by XXH3-64 of the item ID;
                   // kNoItem = free
  kLevelPatterns,  // per level: u16 length, UTF-8 token pattern such as "<a_{code}>" (length 0:
                   // none)
  kSectionCount,
};

/// Names for error messages, in SectionId order.
inline constexpr const char* kSectionNames[kSectionCount] = {
    "codes",         "child_offsets", "item_offsets",    "parent_hints",      "item_hints",
    "root_index",    "item_id_bases", "item_id_offsets", "item_id_bytes",     "title_bases",
    "title_offsets", "title_bytes",   "attribute_bases", "attribute_offsets", "attribute_bytes",
    "priorities",    "item_hash",     "level_patterns",
};

struct Section {
  uint64_t offset;  // from the start of the file, multiple of kAlignment
  uint64_t bytes;
  uint64_t checksum;  // XXH3-64
};

struct Preamble {
  char magic[8];       // 0
  uint32_t version;    // 8
  uint32_t zeros[13];  // 12
};
static_assert(sizeof(Preamble) == kAlignment);

struct Directory {
  char magic[8];                    // 0
  uint32_t version;                 // 8
  uint32_t directory_bytes;         // 12: sizeof(Directory)
  uint64_t file_bytes;              // 16: the Directory included
  uint64_t item_count;              // 24
  uint64_t path_count;              // 32: nodes that have items
  uint32_t depth;                   // 40: deepest level, 1..kMaxDepth
  uint32_t code_bytes;              // 44: 1, 2 or 4
  uint32_t first_item_depth;        // 48: depth of the shallowest node that has items
  uint32_t section_count;           // 52: kSectionCount
  uint32_t level_sizes[kMaxDepth];  // 56: zero beyond depth
  uint32_t level_begin[kMaxDepth +
                       2];  // 184: first node of depth d; [depth + 1]: node count; zero beyond
  Section sections[kSectionCount];  // 320
  uint8_t digest[16];               // 752: XXH3-128 of the Directory with digest and checksum zero
  uint64_t checksum;                // 768: XXH3-64 of the Directory with checksum zero
};
static_assert(sizeof(Section) == 24);
static_assert(sizeof(Directory) == 776);

constexpr uint64_t align_up(uint64_t value) { return (value + kAlignment - 1) & ~(kAlignment - 1); }

/// Narrowest width that holds every code of every level.
constexpr uint32_t code_bytes_for(uint32_t level_size_max) {
  return level_size_max <= 256 ? 1 : level_size_max <= 65536 ? 2 : 4;
}

/// Slots of the item hash: a power of two, filled to two thirds at most, so a probe always ends at
/// a free slot.
constexpr uint64_t hash_slots_for(uint64_t item_count) {
  return std::bit_ceil(item_count + item_count / 2 + 2);
}

}  // namespace tessera::catalogue
