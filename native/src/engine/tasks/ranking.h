// Heads over items of a request: each item's tokens (prefix, SID, suffix) are rows behind the
// prompt, on its keys and values, and the heads read the hidden state of the last one.
//
// Items go in the order of their tokens, so that what they share is one row, in chunks of one pass
// each: a row's ancestors are rows of its own chunk, rows that a search has computed, and the
// prompt. Slots of a chunk are those of the chunk before.
//
// Thread-safety: the engine's thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "beam/lazy_search.h"
#include "catalogue/item_numbers.h"
#include "catalogue/reach.h"
#include "engine/options.h"
#include "engine/request.h"
#include "engine/tasks/task.h"

namespace tessera::engine {

/// Rows of a chunk at most. As many as a product is efficient with; others wait for no more.
inline constexpr uint32_t kRankRowsMax = 512;

bool ranks(const Request& request);
/// REQUEST_INVALID naming the field. REQUIRES: ranks(), a binding.
Status check_ranking(const Request& request, const EngineOptions& options);
/// True if each code of the item's SID has a token.
bool has_tokens(const Request& request, catalogue::ItemOrdinal item);
/// Tokens of an item at most.
uint32_t longest_item(const Request& request);
/// Passes that reading `items` items takes, about.
uint32_t rank_passes(const Request& request, uint64_t items);
/// Rows of the request's items: prefixes of SIDs that they share count once.
uint32_t rank_rows(const Request& request);
/// Slots of `items` items at most.
uint64_t rank_slots(const Request& request, uint64_t items);
/// True if its rows run with the adapter of the heads, not with the request's own.
bool is_activated(const Request& request);

/// A prefix of an SID that a search has computed, and the slot of its row.
struct ComputedRow {
  catalogue::NodeIndex node = catalogue::kNoNode;
  uint32_t slot = 0;
};

class Ranking {
 public:
  explicit Ranking(const Request& request);

  /// `computed` of the rows before, which have the slots below `first_slot`.
  void begin(std::span<const catalogue::ItemOrdinal> items, std::vector<ComputedRow> computed,
             uint32_t first_slot);
  bool has_begun() const { return has_begun_; }
  uint32_t first_slot() const { return first_slot_; }

  /// The rows of the next chunk; none: all items have been read.
  void next(const NextRows& limits, beam::Rows& rows);
  /// Hidden states [rows][hidden] of the chunk's rows from `first_slot` on.
  void take(uint32_t first_slot, std::span<const float> hidden, uint32_t hidden_size);
  /// Numbers of the heads, item by item; none where not all items have been read.
  /// MODEL_NOT_FINITE naming an item.
  Status answer(Completion& completion);

 private:
  /// A row's place: in the chunk, or a slot that a search has.
  struct Place {
    uint32_t slot = 0;
    bool is_computed = false;
  };
  struct Row {
    int32_t token = 0;
    uint32_t parent = beam::kNoSlot;  // index among the rows of the step before, or a slot
    bool is_parent_slot = false;
    std::vector<uint32_t> ends;  // items whose last token it is
  };

  std::vector<int32_t> tokens_of(uint32_t item, std::span<const catalogue::NodeIndex> nodes) const;
  uint32_t rows_of(uint32_t item, uint32_t shared) const;
  void add(uint32_t item, uint32_t shared);
  void lay_out(beam::Rows& rows);

  const catalogue::Reach reach_;
  const Binding& binding_;
  const Request::Ranking& ranking_;
  std::vector<catalogue::ItemNumbers> numbers_;  // of the heads' attributes
  bool has_begun_ = false;
  bool is_whole_ = false;  // all items have been read

  std::vector<catalogue::ItemOrdinal> items_;
  std::vector<std::vector<int32_t>> tokens_;  // of each item
  std::vector<std::vector<Place>> known_;     // places of its first tokens that are computed
  std::vector<uint32_t> order_;               // of the items, by tokens
  size_t next_ = 0;                           // in order_
  uint32_t first_slot_ = 0;

  // Of the chunk.
  std::vector<std::vector<Row>> steps_;      // rows by the number of their tokens, from 1
  std::vector<Place> path_;                  // of the item that was added last
  std::vector<std::vector<uint32_t>> ends_;  // by slot of the chunk: items that end there

  std::vector<float> answers_;  // [items][heads]
};

}  // namespace tessera::engine
