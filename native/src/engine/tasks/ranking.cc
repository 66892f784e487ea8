#include "engine/tasks/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "attention/attention.h"
#include "base/check.h"
#include "engine/limits.h"
#include "engine/request_limits.h"

namespace tessera::engine {
namespace {

std::span<const uint32_t> suffix_of(const Request::Ranking& ranking, size_t item) {
  const std::vector<uint32_t>& offsets = ranking.suffix_offsets;
  if (offsets.size() < 2) return {};
  const size_t at = offsets.size() == 2 ? 0 : item;
  return std::span(ranking.suffix_tokens).subspan(offsets[at], offsets[at + 1] - offsets[at]);
}

size_t suffixes_of(const Request::Ranking& ranking) {
  return ranking.suffix_offsets.empty() ? 0 : ranking.suffix_offsets.size() - 1;
}

uint32_t longest_suffix(const Request::Ranking& ranking) {
  size_t longest = 0;
  for (size_t i = 0; i < suffixes_of(ranking); ++i)
    longest = std::max(longest, suffix_of(ranking, i).size());
  return static_cast<uint32_t>(longest);
}

/// Nodes from the first code of the item's SID to the last.
std::vector<catalogue::NodeIndex> nodes_of(const catalogue::View& view,
                                           catalogue::ItemOrdinal item) {
  std::vector<catalogue::NodeIndex> nodes;
  for (catalogue::NodeIndex node = view.node_of(item); node != catalogue::kRoot;
       node = view.parent(node)) {
    nodes.push_back(node);
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

Status check_tokens(const Request::Ranking& ranking) {
  const size_t own = ranking.prefix.size() + longest_suffix(ranking);
  if (own <= kRankTokensMax) return Status::ok();
  return invalid_request("rankSuffixes: expected at most " + std::to_string(kRankTokensMax) +
                         " tokens of an item beside its SID, got " + std::to_string(own));
}

}  // namespace

uint32_t longest_item(const Request& request) {
  return static_cast<uint32_t>(request.ranking.prefix.size()) + request.binding->depth() +
         longest_suffix(request.ranking);
}

bool ranks(const Request& request) { return request.ranking.adapter != nullptr; }

bool is_activated(const Request& request) {
  return ranks(request) && request.ranking.adapter->summary().is_activated;
}

Status check_ranking(const Request& request, const EngineOptions& options) {
  const lora::Adapter& adapter = *request.ranking.adapter;
  if (adapter.heads() == nullptr) {
    return invalid_request("rankSlot: expected an adapter with heads, got one without");
  }
  if (adapter.changes_rows() && !is_activated(request) &&
      request.ranking.adapter != request.adapter) {
    return invalid_request(
        "rankSlot: expected an activated adapter, one of heads alone or the request's own, got "
        "another one with factors");
  }
  TESSERA_RETURN_IF_ERROR(check_tokens(request.ranking));
  const uint32_t longest = longest_item(request);
  const uint32_t most = std::min(attention::kMaxSteps, options.batch_rows_max);
  if (longest > most) {
    return invalid_request("rankSuffixes: expected items of at most " + std::to_string(most) +
                           " tokens, got " + std::to_string(longest));
  }
  return Status::ok();
}

bool has_tokens(const Request& request, catalogue::ItemOrdinal item) {
  const catalogue::View& view = request.reach.view();
  uint32_t level = 0;
  for (const catalogue::NodeIndex node : nodes_of(view, item)) {
    const uint32_t code = view.code(node);
    const std::span<const uint32_t> without = request.binding->codes_without_token(level);
    if (code >= request.binding->level_tokens(level++).size() ||
        std::binary_search(without.begin(), without.end(), code)) {
      return false;
    }
  }
  return true;
}

uint32_t rank_passes(const Request& request, uint64_t items) {
  const uint64_t rows = items * longest_item(request);
  return static_cast<uint32_t>((rows + kRankRowsMax - 1) / kRankRowsMax);
}

uint32_t rank_rows(const Request& request) {
  std::vector<catalogue::NodeIndex> nodes;
  size_t rows = request.ranking.prefix.size();
  for (size_t item = 0; item < request.items.size(); ++item) {
    for (const catalogue::NodeIndex node : nodes_of(request.reach.view(), request.items[item]))
      nodes.push_back(node);
    rows += suffixes_of(request.ranking) > 1 ? suffix_of(request.ranking, item).size() : 0;
  }
  std::sort(nodes.begin(), nodes.end());
  rows += static_cast<size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
  if (suffixes_of(request.ranking) == 1)
    rows += request.items.size() * suffix_of(request.ranking, 0).size();
  return static_cast<uint32_t>(std::max<size_t>(rows, 1));
}

uint64_t rank_slots(const Request& request, uint64_t items) {
  return std::min<uint64_t>(kRankRowsMax, items * longest_item(request));
}

Ranking::Ranking(const Request& request)
    : reach_(request.reach), binding_(*request.binding), ranking_(request.ranking) {
  for (const lora::HeadAttribute& attribute : ranking_.adapter->heads()->form().attributes)
    numbers_.emplace_back(reach_.view(), attribute.name);
}

std::vector<int32_t> Ranking::tokens_of(uint32_t item,
                                        std::span<const catalogue::NodeIndex> nodes) const {
  std::vector<int32_t> tokens(ranking_.prefix);
  for (uint32_t level = 0; level < nodes.size(); ++level)
    tokens.push_back(binding_.level_tokens(level)[reach_.code(nodes[level])]);
  for (const uint32_t token : suffix_of(ranking_, item))
    tokens.push_back(static_cast<int32_t>(token));
  return tokens;
}

void Ranking::begin(std::span<const catalogue::ItemOrdinal> items,
                    std::vector<ComputedRow> computed, uint32_t first_slot) {
  has_begun_ = true;
  first_slot_ = first_slot;
  items_.assign(items.begin(), items.end());
  answers_.assign(items.size() * ranking_.adapter->heads()->count(), 0);
  const auto by_node = [](const ComputedRow& a, const ComputedRow& b) { return a.node < b.node; };
  std::sort(computed.begin(), computed.end(), by_node);
  known_.resize(items.size());
  for (uint32_t item = 0; item < items.size(); ++item) {
    const std::vector<catalogue::NodeIndex> nodes = nodes_of(reach_.view(), items[item]);
    tokens_.push_back(tokens_of(item, nodes));
    if (!ranking_.prefix.empty() || computed.empty()) continue;
    for (const catalogue::NodeIndex at : nodes) {
      const auto found =
          std::lower_bound(computed.begin(), computed.end(), ComputedRow{at, 0}, by_node);
      if (found == computed.end() || found->node != at) break;
      known_[item].push_back({found->slot, true});
    }
    // The last token's own hidden state is wanted.
    if (known_[item].size() == tokens_.back().size()) known_[item].pop_back();
  }
  order_.resize(items.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) {
    return tokens_[a] != tokens_[b] ? tokens_[a] < tokens_[b] : a < b;
  });
}

/// Rows that an item adds to the chunk, whose last item begins with `shared` of its tokens.
uint32_t Ranking::rows_of(uint32_t item, uint32_t shared) const {
  const auto known = static_cast<uint32_t>(known_[item].size());
  return static_cast<uint32_t>(tokens_[item].size()) - std::max(shared, known);
}

void Ranking::next(const NextRows& limits, beam::Rows& rows) {
  const uint32_t most = std::min({limits.rows_max, limits.rows_in_time, kRankRowsMax});
  for (std::vector<Row>& step : steps_) step.clear();
  path_.clear();
  uint32_t count = 0;
  for (const size_t first = next_; next_ < order_.size(); ++next_) {
    const uint32_t item = order_[next_];
    uint32_t shared = 0;
    if (next_ > first) {
      const std::vector<int32_t>& before = tokens_[order_[next_ - 1]];
      const std::vector<int32_t>& own = tokens_[item];
      shared = static_cast<uint32_t>(
          std::mismatch(own.begin(), own.end(), before.begin(), before.end()).first - own.begin());
    }
    const uint32_t added = rows_of(item, shared);
    if (count + added > most) {
      TESSERA_CHECK(next_ > first);
      break;
    }
    count += added;
    add(item, shared);
  }
  lay_out(rows);
  is_whole_ = count == 0;
}

void Ranking::add(uint32_t item, uint32_t shared) {
  const std::vector<int32_t>& tokens = tokens_[item];
  path_.resize(std::min<size_t>(path_.size(), shared));
  for (size_t i = path_.size(); i < tokens.size(); ++i) {
    if (i < known_[item].size()) {
      path_.push_back(known_[item][i]);
      continue;
    }
    if (steps_.size() <= i) steps_.resize(i + 1);
    Row& row = steps_[i].emplace_back();
    row.token = tokens[i];
    if (i > 0) {
      row.parent = path_.back().slot;
      row.is_parent_slot = path_.back().is_computed;
    }
    path_.push_back({static_cast<uint32_t>(steps_[i].size() - 1), false});
  }
  steps_[tokens.size() - 1][path_.back().slot].ends.push_back(item);
}

/// Step by step; a parent is a slot then.
void Ranking::lay_out(beam::Rows& rows) {
  ends_.clear();
  uint32_t before = 0;  // first slot of the step before
  uint32_t slot = first_slot_;
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    const uint32_t first = slot;
    for (Row& row : steps_[i]) {
      const uint32_t parent = i == 0               ? beam::kNoSlot
                              : row.is_parent_slot ? row.parent
                                                   : before + row.parent;
      rows.push_token(row.token, parent, i + 1);
      ends_.push_back(std::move(row.ends));
      ++slot;
    }
    before = first;
  }
}

void Ranking::take(uint32_t first_slot, std::span<const float> hidden, uint32_t hidden_size) {
  const lora::Heads& heads = *ranking_.adapter->heads();
  std::vector<double> numbers(numbers_.size());
  for (size_t row = 0; row * hidden_size < hidden.size(); ++row) {
    for (const uint32_t item : ends_[first_slot - first_slot_ + row]) {
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = numbers_[i].of(reach_.view(), items_[item]);
      heads.say(hidden.subspan(row * hidden_size, hidden_size), numbers,
                std::span(answers_).subspan(item * heads.count(), heads.count()));
    }
  }
}

Status Ranking::answer(Completion& completion) {
  if (!is_whole_) return Status::ok();
  const lora::Heads& heads = *ranking_.adapter->heads();
  for (size_t i = 0; i < answers_.size(); ++i) {
    if (std::isfinite(answers_[i])) continue;
    const size_t item = i / heads.count();
    return {Code::kModelNotFinite,
            "items[" + std::to_string(item) + "]: expected a finite number of the head '" +
                heads.form().heads[i % heads.count()].name + "' for the item '" +
                std::string(reach_.view().item_id(items_[item])) + "', got " +
                std::to_string(answers_[i])};
  }
  completion.heads = std::move(answers_);
  return Status::ok();
}

}  // namespace tessera::engine
