// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#include "abi/generated/packed_out.h"

namespace tessera::abi {

void write_store_entries([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const std::vector<store::Entry>& from) {
  out.entries(from);
}

void write_store_found([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const store::Found& from) {
  out.count(from.values.size());
  for (size_t i = 0; i < from.values.size(); ++i) {
    out.flag(from.values[i].has_value());
    out.blob(bytes_of(from.values[i]));
  }
  out.count(from.entries.size());
  for (const auto& each : from.entries) write_store_entries(out, each);
}

void write_completion_head([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.u32(from.ticket);
  out.u32(uint32_t(from.status.code()));
  out.u32(engine::code_of(from.task));
}

void write_failure([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.text(from.status.message());
  out.u32(from.retry_after_us);
}

void write_kv_found([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.u32(from.kv_tokens[0]);
  out.u32(from.kv_tokens[1]);
  out.u32(from.kv_tokens[2]);
  out.count(from.kv_tiers.size());
  for (size_t i = 0; i < from.kv_tiers.size(); ++i) {
    out.text(from.kv_tiers[i]);
    out.u32(from.kv_tokens[i]);
  }
  out.flag(from.kv_is_lossy);
  out.u32(from.kv_inherited_tokens);
  out.u32(from.kv_versions_back);
  out.u32(from.kv_wait_us);
}

void write_engine_timings([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Timings& from) {
  out.f32(from.queue_us);
  out.f32(from.plan_us);
  out.f32(from.prefill_us);
  out.f32(from.decode_us);
  out.f32(from.projections_us);
  out.f32(from.attention_us);
  out.f32(from.head_us);
  out.f32(from.select_us);
  out.f32(from.fork_us);
  out.f32(from.export_us);
  out.f32(from.total_us);
}

void write_answer_facts([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.u53(from.weights_generation);
  out.u53(from.catalogue_sequence);
  out.u32(from.prefix_reused_tokens);
  write_kv_found(out, from);
  write_engine_timings(out, from.timings);
}

void write_watched_item([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const beam::Explanation& from) {
  out.u32(static_cast<uint32_t>(from.verdict));
  out.u32(from.rank);
  out.u32(from.step);
  out.f32(from.score);
  out.f32(from.cut_score);
  out.text(from.attribute);
}

void write_engine_pass([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::PassTimes& from) {
  out.u32(static_cast<uint32_t>(from.is_decode));
  out.u32(from.rows);
  out.f32(from.plan_us);
  out.f32(from.forward_us);
  out.f32(from.projections_us);
  out.f32(from.attention_us);
  out.f32(from.head_us);
  out.f32(from.select_us);
  out.f32(from.fork_us);
}

void write_recall_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.count(from.answer.item_ordinals.size());
  for (size_t i = 0; i < from.answer.item_ordinals.size(); ++i) {
    out.u32(from.answer.item_ordinals[i]);
    out.text(from.texts.ids[i]);
    out.text(from.texts.titles[i]);
    out.text(from.texts.attributes_of(i));
    out.f32(from.answer.item_scores[i]);
    out.u32(from.answer.item_paths[i]);
    out.f32(from.answer.value_of(i));
    out.f32(from.answer.pace_of(i));
    out.f32(from.answer.critical_bid_of(i));
    out.flag(from.answer.is_explored(i));
    out.f32(from.answer.propensity_of(i));
  }
  out.count(from.answer.path_scores.size());
  for (size_t i = 0; i < from.answer.path_scores.size(); ++i) {
    out.u32s(from.answer.path(i));
    out.f32(from.answer.path_scores[i]);
  }
  out.u32(from.items_per_sid);
  out.u32(from.answer.left_out_by_diversity);
  out.u32(static_cast<uint32_t>(from.completeness));
  out.flag(from.certificate.is_certified);
  out.f32(from.certificate.gap);
  out.u32(from.rows);
  out.f32s(from.answer.item_terms);
  out.f32(from.answer.best_left_out);
  out.text(from.texts.best_left_out);
  out.f32(from.answer.best_left_out_bid);
  out.u32(static_cast<uint32_t>(from.answer.prices));
  out.u32(static_cast<uint32_t>(from.answer.propensities));
  write_watched_item(out, from.explanation);
  out.u32s(from.widths_used);
  out.count(from.tree.rows.size());
  for (const auto& row : from.tree.rows) {
    out.u32(row.step);
    out.u32(row.parent);
    out.u32(row.code);
    out.u32(row.outcome);
    out.u32(row.items);
  }
  out.f32s(from.tree.scores);
  out.count(from.passes.size());
  for (const auto& each : from.passes) write_engine_pass(out, each);
  out.f32s(from.heads);
}

void write_score_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.f32s(from.scores);
}

void write_append_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
}

void write_relevance_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.f32s(from.scores);
}

void write_rank_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from) {
  out.f32s(from.heads);
}

}  // namespace tessera::abi
