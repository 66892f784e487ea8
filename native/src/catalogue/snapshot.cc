#include "catalogue/snapshot.h"

#include <cstring>

#include "catalogue/checksum.h"
#include "catalogue/validate.h"

namespace tessera::catalogue {
namespace {

/// Owner of `element`: the last one whose offset is not beyond it, found between two hints.
uint32_t owner_of(uint32_t element, const uint32_t* offsets, uint32_t owner_count,
                  const uint32_t* hints, uint64_t element_count, uint32_t first_owner) {
  const uint32_t h = element / kHintStride;
  const uint32_t low = hints[h] - first_owner;
  const bool is_last = uint64_t{h + 1} * kHintStride >= element_count;
  const uint32_t high = is_last ? owner_count - 1 : hints[h + 1] - first_owner;
  const uint32_t* above = std::upper_bound(offsets + low + 1, offsets + high + 1, element);
  return first_owner + static_cast<uint32_t>(above - offsets) - 1;
}

}  // namespace

/// Turns a validated file into a Snapshot.
class SnapshotReader {
 public:
  static std::shared_ptr<const Snapshot> read(platform::MappedFile file, const SnapshotFile& view) {
    std::shared_ptr<Snapshot> snapshot(new Snapshot());
    snapshot->file_ = std::move(file);
    snapshot->directory_ = view.directory;
    snapshot->digest_ = digest_text(view.directory->digest);
    snapshot->interior_count_ = view.interior_count();
    snapshot->first_item_node_ = view.first_item_node();
    snapshot->codes_ = view.section<std::byte>(kCodes).data();
    snapshot->child_offsets_ = view.section<uint32_t>(kChildOffsets).data();
    snapshot->item_offsets_ = view.section<uint32_t>(kItemOffsets).data();
    snapshot->parent_hints_ = view.section<uint32_t>(kParentHints).data();
    snapshot->item_hints_ = view.section<uint32_t>(kItemHints).data();
    snapshot->root_index_ = view.section<uint32_t>(kRootIndex).data();
    const std::span<const uint32_t> hash = view.section<uint32_t>(kItemHash);
    snapshot->item_hash_ = hash.data();
    snapshot->item_hash_mask_ = hash.size() - 1;
    const std::span<const double> priorities = view.section<double>(kPriorities);
    snapshot->priorities_ = priorities.empty() ? nullptr : priorities.data();
    snapshot->item_ids_ = text(view, kItemIdBases);
    snapshot->titles_ = text(view, kTitleBases);
    snapshot->attributes_ = text(view, kAttributeBases);
    const std::span<const char> patterns = view.section<char>(kLevelPatterns);
    snapshot->level_patterns_ = {patterns.data(), patterns.size()};
    return snapshot;
  }

 private:
  static TextTable text(const SnapshotFile& view, SectionId first) {
    const auto offsets = view.section<uint32_t>(static_cast<SectionId>(first + 1));
    if (offsets.empty()) return {};
    return {view.section<uint64_t>(first).data(), offsets.data(),
            view.section<char>(static_cast<SectionId>(first + 2)).data()};
  }
};

Result<std::shared_ptr<const Snapshot>> Snapshot::open(const std::string& path) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kCatalogueNotFound);
  if (!file.is_ok()) return file.status();
  Result<SnapshotFile> view = check_layout(file.value().bytes(), path);
  if (!view.is_ok()) return view.status();
  TESSERA_RETURN_IF_ERROR(check_structure(view.value(), path));
  return SnapshotReader::read(std::move(file).value(), view.value());
}

std::string_view Snapshot::level_pattern(uint32_t level) const {
  const char* position = level_patterns_.data();
  for (;; --level) {
    uint16_t length;
    std::memcpy(&length, position, sizeof(length));
    if (level == 0) return {position + sizeof(length), length};
    position += sizeof(length) + length;
  }
}

NodeIndex Snapshot::child(NodeIndex node, uint32_t code) const {
  if (node == kRoot) return code < directory_->level_sizes[0] ? root_index_[code] : kNoNode;
  const Children below = children(node);
  return below.codes.visit([&](const auto* codes) {
    const auto* end = codes + below.codes.size();
    const auto* found = std::lower_bound(codes, end, code);
    return found != end && *found == code
               ? below.first_child + static_cast<NodeIndex>(found - codes)
               : kNoNode;
  });
}

NodeIndex Snapshot::find_node(std::span<const uint32_t> codes) const {
  NodeIndex node = kRoot;
  for (size_t level = 0; level < codes.size() && node != kNoNode; ++level) {
    node = child(node, codes[level]);
  }
  return node;
}

NodeIndex Snapshot::parent(NodeIndex node) const {
  return owner_of(node, child_offsets_, interior_count_, parent_hints_, node_count(), kRoot);
}

ItemOrdinal Snapshot::find_item(std::string_view item_id) const {
  uint64_t slot = hash_item_id(item_id) & item_hash_mask_;
  for (; item_hash_[slot] != kNoItem; slot = (slot + 1) & item_hash_mask_) {
    if (item_ids_[item_hash_[slot]] == item_id) return item_hash_[slot];
  }
  return kNoItem;
}

NodeIndex Snapshot::node_of(ItemOrdinal item) const {
  const auto owner_count = static_cast<uint32_t>(node_count() - first_item_node_);
  return owner_of(item, item_offsets_, owner_count, item_hints_, item_count(), first_item_node_);
}

uint32_t Snapshot::sid(NodeIndex node, std::span<uint32_t, kMaxDepth> codes) const {
  const uint32_t depth = depth_of(node);
  for (uint32_t level = depth; level-- > 0; node = parent(node)) codes[level] = code(node);
  return depth;
}

bool Snapshot::sid_before(NodeIndex a, NodeIndex b) const {
  uint32_t depth_a = depth_of(a);
  uint32_t depth_b = depth_of(b);
  const bool is_a_shorter = depth_a < depth_b;
  for (; depth_a > depth_b; --depth_a) a = parent(a);
  for (; depth_b > depth_a; --depth_b) b = parent(b);
  return a == b ? is_a_shorter : a < b;  // a level is numbered in the order of its SIDs
}

}  // namespace tessera::catalogue
