#include "catalogue/values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "catalogue/checksum.h"
#include "catalogue/view.h"

namespace tessera::catalogue {
namespace {

constexpr uint32_t kHalfBits = 16;
constexpr Sums kNoSums = [] {
  Sums sums{};
  for (float& sum : sums) sum = kExcluded;
  return sums;
}();

void raise(Sums& sums, const Sums& others) {
  for (size_t v = 0; v < sums.size(); ++v) sums[v] = std::max(sums[v], others[v]);
}

/// Largest sums of a node as the view has it now.
Sums most_of(const View& view, NodeIndex node) {
  Sums sums = kNoSums;
  const auto count = static_cast<uint32_t>(view.values()->valuations().size());
  for (uint32_t v = 0; v < count; ++v) sums[v] = view.most(v, node);
  return sums;
}

/// Largest sums of a node, from its items and children.
Sums recounted(const View& view, NodeIndex node) {
  Sums sums = kNoSums;
  const auto count = static_cast<uint32_t>(view.values()->valuations().size());
  const ItemList items = view.items(node);
  for (uint32_t i = 0; i < items.size(); ++i) {
    for (uint32_t v = 0; v < count; ++v) sums[v] = std::max(sums[v], view.sum(v, items[i]));
  }
  if (!view.is_later(node)) {
    const Children children = view.base().children(node);
    for (uint32_t i = 0; i < children.codes.size(); ++i) {
      raise(sums, most_of(view, children.first_child + i));
    }
  }
  if (const NodeChange* change = view.node_change(node); change != nullptr) {
    for (const AddedChild& child : change->added) raise(sums, most_of(view, child.node));
  }
  return sums;
}

}  // namespace

uint32_t hash_pace(std::string_view attribute, std::string_view text) {
  const auto name = static_cast<uint32_t>(hash_item_id(attribute));
  return name * 0x9E3779B1u ^ static_cast<uint32_t>(hash_item_id(text));
}

void TermRange::take(double value) {
  if (std::isnan(value)) return;
  least = std::min(least, value);
  most = std::max(most, value);
}

uint16_t round_up(float sum) {
  const auto bits = std::bit_cast<uint32_t>(sum);
  const bool is_negative = bits >> 31 != 0;  // cutting bits off raises it
  return static_cast<uint16_t>((is_negative ? bits : bits + 0xFFFFu) >> kHalfBits);
}

float widen(uint16_t rounded) { return std::bit_cast<float>(uint32_t{rounded} << kHalfBits); }

Sums sums_of(const Valuations& valuations, const AttributeRow& row, TermRanges* ranges) {
  Sums sums = kNoSums;
  for (size_t v = 0; v < valuations.size(); ++v) {
    double sum = 0;
    const std::vector<Term>& terms = valuations[v].terms;
    for (size_t t = 0; t < terms.size(); ++t) {
      const double term = terms[t].of(find_number(row, terms[t].attribute));
      if (ranges != nullptr) (*ranges)[v][t].take(term);
      sum += terms[t].weight * term;
    }
    sums[v] = sum_of(sum);
  }
  return sums;
}

SnapshotValues::SnapshotValues(std::shared_ptr<const Snapshot> snapshot,
                               const AttributeIndex& attributes,
                               std::shared_ptr<const Valuations> valuations)
    : snapshot_(std::move(snapshot)), valuations_(std::move(valuations)) {
  auto ranges = std::make_shared<TermRanges>();
  columns_.resize(valuations_->size());
  for (uint32_t v = 0; v < columns_.size(); ++v) {
    add_items(v, attributes, *ranges);
    add_nodes(columns_[v]);
  }
  ranges_ = std::move(ranges);
}

void SnapshotValues::add_items(uint32_t valuation, const AttributeIndex& attributes,
                               TermRanges& ranges) {
  const std::vector<Term>& terms = (*valuations_)[valuation].terms;
  std::vector<const std::vector<double>*> numbers;
  for (const Term& term : terms) {
    const AttributeIndex::Attribute* found = attributes.find(term.attribute);
    numbers.push_back(found == nullptr ? nullptr : &found->numbers);
  }
  std::vector<float>& items = columns_[valuation].items;
  items.resize(snapshot_->item_count());
  for (size_t item = 0; item < items.size(); ++item) {
    double sum = 0;
    for (size_t t = 0; t < terms.size(); ++t) {
      const bool is_there = numbers[t] != nullptr && item < numbers[t]->size();
      const double term = terms[t].of(is_there ? (*numbers[t])[item] : kAsNamed);
      ranges[valuation][t].take(term);
      sum += terms[t].weight * term;
    }
    items[item] = sum_of(sum);
  }
}

float SnapshotValues::most_of_items(const Column& column, NodeIndex node) const {
  const ItemRange items = snapshot_->items(node);
  float most = kExcluded;
  for (uint32_t i = 0; i < items.count; ++i) most = std::max(most, column.items[items.first + i]);
  return most;
}

/// Children have higher numbers than their parents: from the last node to the first.
void SnapshotValues::add_nodes(Column& column) const {
  const uint32_t interior = snapshot_->interior_count();
  column.interior.resize(interior);
  for (NodeIndex node = interior; node-- > 0;) {
    float most = most_of_items(column, node);
    const Children children = snapshot_->children(node);
    for (uint32_t i = 0; i < children.codes.size(); ++i) {
      const NodeIndex child = children.first_child + i;
      most = std::max(
          most, child < interior ? widen(column.interior[child]) : most_of_items(column, child));
    }
    column.interior[node] = round_up(most);
  }
}

float SnapshotValues::most(uint32_t valuation, NodeIndex node) const {
  const Column& column = columns_[valuation];
  return node < column.interior.size() ? widen(column.interior[node]) : most_of_items(column, node);
}

uint64_t SnapshotValues::bytes() const {
  uint64_t bytes = 0;
  for (const Column& column : columns_) {
    bytes += column.items.size() * sizeof(float) + column.interior.size() * sizeof(uint16_t);
  }
  return bytes;
}

void ValueEditor::set(View& view, NodeIndex node, const Sums& sums, uint64_t edit) {
  const Sums before = most_of(view, node);
  if (before == sums) return;
  view.node_sums_.edit(node, edit).sums = sums;
  if (node == kRoot) return;
  const NodeIndex parent = view.parent(node);
  raised_[view.depth_of(parent)].push_back({parent, before, sums});
}

void ValueEditor::finish(View& view, uint64_t edit) {
  if (view.values() == nullptr) return touched_.clear();
  std::array<std::vector<NodeIndex>, kMaxDepth + 1> nodes;
  for (const NodeIndex node : touched_) nodes[view.depth_of(node)].push_back(node);
  touched_.clear();
  for (uint32_t depth = kMaxDepth + 1; depth-- > 0;) {
    std::vector<NodeIndex>& here = nodes[depth];
    std::sort(here.begin(), here.end());
    here.erase(std::unique(here.begin(), here.end()), here.end());
    for (const NodeIndex node : here) set(view, node, recounted(view, node), edit);
    std::vector<Raised>& raised = raised_[depth];
    std::sort(raised.begin(), raised.end(),
              [](const Raised& a, const Raised& b) { return a.parent < b.parent; });
    for (size_t i = 0; i < raised.size();) {
      const NodeIndex node = raised[i].parent;
      const Sums before = most_of(view, node);
      Sums after = before;
      bool may_fall = false;
      Sums highest = kNoSums;
      for (; i < raised.size() && raised[i].parent == node; ++i) {
        raise(highest, raised[i].after);
        for (size_t v = 0; v < after.size(); ++v) {
          const bool falls = raised[i].after[v] < raised[i].before[v];
          may_fall = may_fall || (falls && widen(round_up(raised[i].before[v])) >= before[v]);
        }
      }
      raise(after, highest);
      if (std::binary_search(here.begin(), here.end(), node)) continue;
      set(view, node, may_fall ? recounted(view, node) : after, edit);
    }
    raised.clear();
  }
}

}  // namespace tessera::catalogue
