#include "bridge/submit_batch.h"

#include <algorithm>
#include <cmath>

#include "bridge/abi.h"
#include "bridge/errors.h"
#include "bridge/object_reader.h"

namespace tessera::bridge {
namespace {

constexpr double kBudgetUsMax = 86'400e6;  // a day: longer budgets mean the same

template <typename T>
void require_length(const ObjectReader& reader, std::string_view field, std::span<const T> values,
                    size_t expected) {
  if (values.size() != expected) reader.fail(field, std::to_string(expected) + " elements");
}

void require_offsets(const ObjectReader& reader, std::string_view field,
                     std::span<const uint32_t> offsets, size_t count, size_t values) {
  require_length(reader, field, offsets, count + 1);
  if (offsets.front() != 0 || offsets.back() != values ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    reader.fail(field, "ascending offsets from 0 to " + std::to_string(values));
  }
}

engine::Clock::time_point deadline_of(engine::Clock::time_point now, double budget_us) {
  const double bounded = std::clamp(budget_us, 0.0, kBudgetUsMax);
  return now + std::chrono::microseconds(static_cast<int64_t>(bounded));
}

}  // namespace

std::vector<engine::Request> read_batch(
    Napi::Env env, const Napi::Value& value,
    std::span<const std::shared_ptr<const engine::Binding>> bindings) {
  const ObjectReader reader(env, value, "engineSubmit.batch", kSubmitBatchFields);
  const auto tickets = reader.u32_array("tickets");
  const auto slots = reader.u32_array("bindings");
  const auto prompt_offsets = reader.u32_array("promptOffsets");
  const auto prompt_tokens = reader.i32_array("promptTokens");
  const auto width_offsets = reader.u32_array("widthOffsets");
  const auto widths = reader.u32_array("widths");
  const auto result_counts = reader.u32_array("resultCounts");
  const auto items_per_sid = reader.u32_array("itemsPerSid");
  const auto norms = reader.u8_array("scoreNorms");
  const auto budgets_us = reader.f64_array("budgetsUs");
  const size_t count = tickets.size();
  require_length(reader, "bindings", slots, count);
  require_offsets(reader, "promptOffsets", prompt_offsets, count, prompt_tokens.size());
  require_offsets(reader, "widthOffsets", width_offsets, count, widths.size());
  require_length(reader, "resultCounts", result_counts, count);
  require_length(reader, "itemsPerSid", items_per_sid, count);
  require_length(reader, "scoreNorms", norms, count);
  require_length(reader, "budgetsUs", budgets_us, count);

  const engine::Clock::time_point now = engine::Clock::now();
  std::vector<engine::Request> requests(count);
  for (size_t i = 0; i < count; ++i) {
    engine::Request& request = requests[i];
    if (slots[i] >= bindings.size() || bindings[slots[i]] == nullptr) {
      throw make_error(env, Code::kRequestInvalid,
                       "engineSubmit.batch.bindings[" + std::to_string(i) +
                           "]: expected the slot of a binding, came " + std::to_string(slots[i]));
    }
    if (norms[i] > static_cast<uint8_t>(beam::ScoreNorm::kAllowed) || std::isnan(budgets_us[i])) {
      throw make_error(
          env, Code::kRequestInvalid,
          "engineSubmit.batch[" + std::to_string(i) + "]: scoreNorm or budgetUs out of range");
    }
    request.ticket = tickets[i];
    request.binding = bindings[slots[i]];
    request.prompt.assign(prompt_tokens.begin() + prompt_offsets[i],
                          prompt_tokens.begin() + prompt_offsets[i + 1]);
    request.widths.assign(widths.begin() + width_offsets[i], widths.begin() + width_offsets[i + 1]);
    request.result_count = result_counts[i];
    request.items_per_sid = items_per_sid[i];
    request.norm = static_cast<beam::ScoreNorm>(norms[i]);
    request.deadline = deadline_of(now, budgets_us[i]);
  }
  return requests;
}

}  // namespace tessera::bridge
