#include "catalogue/placement.h"

#include <algorithm>
#include <array>

namespace tessera::catalogue {
namespace {

Status check_codebooks(const PlacementRule& rule, std::span<const float> vector) {
  if (rule.codebooks != nullptr) return Status::ok();
  return {Code::kCatalogueInvalid,
          "vector: expected none, since the catalogue has no codebooks "
          "(catalogue.codebooksPath), got " +
              std::to_string(vector.size()) + " numbers"};
}

/// True if changes may use every code of the SID.
bool is_allowed(const View& view, const PlacementRule& rule, std::span<const uint32_t> sid) {
  for (uint32_t level = 0; level < sid.size(); ++level) {
    if (sid[level] >= view.level_size(level)) return false;
    if (rule.forbidden_codes == nullptr || level >= rule.forbidden_codes->size()) continue;
    const std::vector<uint32_t>& forbidden = (*rule.forbidden_codes)[level];
    if (std::binary_search(forbidden.begin(), forbidden.end(), sid[level])) return false;
  }
  return true;
}

/// Items that are there, paused or not.
uint32_t items_at(const View& view, NodeIndex node) {
  const NodeChange* change = view.node_change(node);
  return view.items(node).size() + (change == nullptr ? 0 : change->paused_count);
}

Result<std::vector<uint32_t>> first_with_room(const View& view, const PlacementRule& rule,
                                              std::span<const float> vector) {
  return rule.codebooks->first_with_room(vector, [&](Codebooks::Sid sid) {
    if (!is_allowed(view, rule, sid)) return false;
    const NodeIndex node = view.find_node(sid);
    return node == kNoNode || items_at(view, node) < rule.codebooks->capacity();
  });
}

/// Live children, codes ascending.
std::vector<NodeIndex> live_children(const View& view, NodeIndex node) {
  std::vector<NodeIndex> found;
  if (!view.is_later(node)) {
    const Children children = view.base().children(node);
    for (size_t i = 0; i < children.codes.size(); ++i) {
      found.push_back(children.first_child + static_cast<NodeIndex>(i));
    }
  }
  if (const NodeChange* change = view.node_change(node); change != nullptr) {
    for (const AddedChild& added : change->added) found.push_back(added.node);
  }
  std::erase_if(found, [&view](NodeIndex child) { return !view.is_live(child); });
  std::sort(found.begin(), found.end(),
            [&view](NodeIndex a, NodeIndex b) { return view.code(a) < view.code(b); });
  return found;
}

/// Adds live items at the node and below, in the order of their SIDs, without what lies at `done`
/// and below.
void add_items(const View& view, NodeIndex node, NodeIndex done, uint32_t shared, size_t most,
               Landing& to) {
  const ItemList items = view.items(node);
  for (uint32_t i = 0; i < items.size() && to.neighbours.size() < most; ++i) {
    to.neighbours.push_back(items[i]);
    to.shared_levels.push_back(shared);
  }
  for (const NodeIndex child : live_children(view, node)) {
    if (to.neighbours.size() >= most) return;
    if (child != done) add_items(view, child, done, shared, most, to);
  }
}

}  // namespace

Result<std::vector<uint32_t>> place_item(const View& view, const PlacementRule& rule,
                                         const std::string& item_id,
                                         std::span<const float> vector) {
  TESSERA_RETURN_IF_ERROR(check_codebooks(rule, vector));
  const ItemOrdinal item = view.find_item(item_id);
  if (item == kNoItem || view.state(item) == ItemState::kRemoved) {
    return first_with_room(view, rule, vector);
  }
  const Result<NearestCodes> checked = rule.codebooks->nearest(vector);
  if (!checked.is_ok()) return checked.status();
  std::array<uint32_t, kMaxDepth> codes;
  const uint32_t depth = view.sid(view.node_of(item), codes);
  return std::vector<uint32_t>(codes.begin(), codes.begin() + depth);
}

Result<Landing> find_landing(const View& view, const PlacementRule& rule,
                             std::span<const float> vector, uint32_t neighbours_max) {
  TESSERA_RETURN_IF_ERROR(check_codebooks(rule, vector));
  Result<NearestCodes> nearest = rule.codebooks->nearest(vector);
  if (!nearest.is_ok()) return nearest.status();
  Landing landing;
  landing.nearest = std::move(nearest).value();
  // A full catalogue is an answer here, not an error.
  if (auto sid = first_with_room(view, rule, vector); sid.is_ok()) {
    landing.sid = std::move(sid).value();
  }
  std::vector<NodeIndex> path = {kRoot};
  for (const uint32_t code : landing.nearest.codes) {
    const NodeIndex child = view.child(path.back(), code);
    if (child == kNoNode) break;
    path.push_back(child);
  }
  NodeIndex done = kNoNode;
  const size_t most = std::min(neighbours_max, kNeighboursMax);
  for (size_t shared = path.size(); shared-- > 0 && landing.neighbours.size() < most;) {
    add_items(view, path[shared], done, static_cast<uint32_t>(shared), most, landing);
    done = path[shared];
  }
  return landing;
}

}  // namespace tessera::catalogue
