// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#include "abi/generated/packed_in.h"

namespace tessera::abi {

void read_clause([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::Clause& to) {
  in.choice(to.kind, 6);
  in.text(to.attribute);
  in.texts(to.values);
  in.f64(to.min);
  in.f64(to.max);
  in.list(to.clauses, [&in](auto& each) { read_clause(in, each); });
}

void read_patch_texts([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::PatchTexts& to) {
  in.text(to.attribute);
  in.texts(to.texts);
}

void read_patch_number([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::PatchNumber& to) {
  in.text(to.attribute);
  in.f64(to.delta);
}

void read_attribute_patch([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::AttributePatch& to) {
  in.text(to.set);
  in.texts(to.unset);
  in.list(to.add, [&in](auto& each) { read_patch_texts(in, each); });
  in.list(to.take, [&in](auto& each) { read_patch_texts(in, each); });
  in.list(to.delta, [&in](auto& each) { read_patch_number(in, each); });
}

void read_item_change([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenChange& to) {
  in.choice(to.kind, 8);
  in.text(to.item_id);
  in.u32s(to.sid);
  in.text(to.title);
  in.text(to.attributes);
  in.f64(to.priority);
  in.optional(to.predicate, [&in](auto& each) { read_clause(in, each); });
  read_attribute_patch(in, to.patch);
  in.f32s(to.vector);
}

void read_change_message([[maybe_unused]] PackedReader& in, [[maybe_unused]] ChangeMessage& to) {
  in.list(to.changes, [&in](auto& each) { read_item_change(in, each); });
}

void read_attribute_declaration([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::AttributeDeclaration& to) {
  in.text(to.name);
  in.choice(to.type, 4);
  in.texts(to.values);
}

void read_attribute_declarations([[maybe_unused]] PackedReader& in, [[maybe_unused]] AttributeDeclarations& to) {
  in.list(to.attributes, [&in](auto& each) { read_attribute_declaration(in, each); });
}

void read_codebook_layer([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenLayer& to) {
  in.f32s(to.weights);
  in.f32s(to.bias);
}

void read_codebook_level([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenLevel& to) {
  in.f32s(to.values);
}

void read_given_codebooks([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenCodebooks& to) {
  in.u32(to.dimension);
  in.u32(to.capacity);
  in.list(to.encoder, [&in](auto& each) { read_codebook_layer(in, each); });
  in.list(to.levels, [&in](auto& each) { read_codebook_level(in, each); });
}

void read_counted_cap([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::CountedCap& to) {
  in.text(to.path);
  in.text(to.attribute);
  in.u32(to.behaviours_max);
  in.texts(to.items);
  in.u32s(to.behaviours);
}

void read_eligibility([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::EligibilityRequest& to) {
  in.optional(to.predicate, [&in](auto& each) { read_clause(in, each); });
  in.optional(to.allowed, [&in](auto& each) { in.texts(each); });
  in.texts(to.denied);
  in.texts(to.seen);
  in.list(to.caps, [&in](auto& each) { read_counted_cap(in, each); });
  in.optional(to.drawn, [&in](auto& each) { read_clause(in, each); });
}

void read_diversity_cap([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::DiversityCap& to) {
  in.text(to.attribute);
  in.u32(to.items_max);
}

void read_item_policy([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ItemPolicyRequest& to) {
  in.text(to.order_by);
  in.list(to.diversity, [&in](auto& each) { read_diversity_cap(in, each); });
}

void read_term_weight([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::TermWeight& to) {
  in.text(to.term);
  in.f64(to.weight);
}

void read_valuation_use([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ValuationUse& to) {
  in.text(to.name);
  in.f64(to.score_weight);
  in.f64(to.floor);
  in.list(to.weights, [&in](auto& each) { read_term_weight(in, each); });
}

void read_reach_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ReachRequest& to) {
  read_eligibility(in, to.eligibility);
  read_item_policy(in, to.item_policy);
  read_valuation_use(in, to.valuation);
}

void read_term([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::Term& to) {
  in.text(to.name);
  in.text(to.attribute);
  in.choice(to.function, 4);
  in.f64(to.weight);
  in.f64(to.min);
  in.f64(to.max);
  in.f64(to.by_default);
}

void read_head_term([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::HeadTerm& to) {
  in.text(to.name);
  in.text(to.head);
  in.choice(to.function, 4);
  in.f64(to.weight);
  in.f64(to.min);
  in.f64(to.max);
}

void read_valuation([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::Valuation& to) {
  in.text(to.name);
  in.f64(to.score_weight);
  in.list(to.terms, [&in](auto& each) { read_term(in, each); });
  in.list(to.head_terms, [&in](auto& each) { read_head_term(in, each); });
  in.f64(to.floor);
  in.text(to.bid);
  in.text(to.pace);
}

void read_value_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ValueRequest& to) {
  in.list(to.valuations, [&in](auto& each) { read_valuation(in, each); });
}

void read_store_range([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Range& to) {
  in.blob(to.from);
  in.blob(to.to);
  in.u32(to.limit);
  in.choice(to.descending, 2);
}

void read_store_query([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Query& to) {
  in.blobs(to.keys);
  in.list(to.ranges, [&in](auto& each) { read_store_range(in, each); });
}

void read_store_put([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Entry& to) {
  in.blob(to.first);
  in.blob(to.second);
}

void read_store_batch([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Batch& to) {
  in.blobs(to.erased);
  in.list(to.put, [&in](auto& each) { read_store_put(in, each); });
  in.choice(to.durable, 2);
}

void read_request_head([[maybe_unused]] PackedReader& in, [[maybe_unused]] RequestHead& to) {
  in.u32(to.ticket);
  in.choice(to.kind, 5);
  in.u32(to.binding);
  in.u32(to.adapter);
  in.f64(to.budget_us);
}

void read_request_work([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to) {
  in.choice(to.priority, 3);
  in.i32s(to.prompt);
  in.text(to.kv.user);
  in.u32(to.kv.prefix_tokens);
  in.u32(to.kv.keep_tokens);
  in.flag(to.kv.wants_exact);
}

void read_recall_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to) {
  in.u32s(to.widths);
  in.u32(to.row_budget);
  in.u32(to.result_count);
  in.u32(to.items_per_sid);
  in.choice(to.norm, 3);
  in.flag(to.allows_partial);
  in.u32(to.watched_item);
  in.texts(to.attributes);
  in.flag(to.wants_tree);
  in.u32(to.explore.slots);
  in.f64(to.explore.temperature);
  in.u32(to.explore.seed_low);
  in.u32(to.explore.seed_high);
  in.u32(to.ranking.slot);
  in.i32s(to.ranking.prefix);
  in.paths(to.ranking.suffix_tokens, to.ranking.suffix_offsets);
}

void read_score_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to) {
  in.paths(to.sid_codes, to.sid_offsets);
  in.choice(to.norm, 3);
}

void read_append_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to) {
}

void read_relevance_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to) {
  in.i32s(to.label_tokens);
  in.u32(to.sibling_tokens);
  in.choice(to.norm, 3);
}

void read_rank_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to) {
  in.u32s(to.items);
  in.u32(to.ranking.slot);
  in.i32s(to.ranking.prefix);
  in.paths(to.ranking.suffix_tokens, to.ranking.suffix_offsets);
}

}  // namespace tessera::abi
