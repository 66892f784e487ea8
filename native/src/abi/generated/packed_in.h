// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <array>

#include "abi/packed_reader.h"
#include "catalogue/given_change.h"
#include "catalogue/reach_request.h"
#include "engine/request.h"
#include "store/ordered_store.h"

namespace tessera::abi {

static_assert(static_cast<uint32_t>(catalogue::ClauseKind::kAll) == 0);
static_assert(static_cast<uint32_t>(catalogue::ClauseKind::kAny) == 1);
static_assert(static_cast<uint32_t>(catalogue::ClauseKind::kNot) == 2);
static_assert(static_cast<uint32_t>(catalogue::ClauseKind::kIn) == 3);
static_assert(static_cast<uint32_t>(catalogue::ClauseKind::kContains) == 4);
static_assert(static_cast<uint32_t>(catalogue::ClauseKind::kRange) == 5);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kUpsert) == 0);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kPause) == 1);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kResume) == 2);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kRemove) == 3);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kSetAttributes) == 4);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kSetPriority) == 5);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kPatchAttributes) == 6);
static_assert(static_cast<uint32_t>(catalogue::ChangeKind::kSetPace) == 7);
static_assert(static_cast<uint32_t>(catalogue::DeclaredType::kText) == 0);
static_assert(static_cast<uint32_t>(catalogue::DeclaredType::kSet) == 1);
static_assert(static_cast<uint32_t>(catalogue::DeclaredType::kNumber) == 2);
static_assert(static_cast<uint32_t>(catalogue::DeclaredType::kUntyped) == 3);
static_assert(static_cast<uint32_t>(catalogue::TermFunction::kIdentity) == 0);
static_assert(static_cast<uint32_t>(catalogue::TermFunction::kLog) == 1);
static_assert(static_cast<uint32_t>(catalogue::TermFunction::kLog1p) == 2);
static_assert(static_cast<uint32_t>(catalogue::TermFunction::kClamp) == 3);
static_assert(static_cast<uint32_t>(beam::ScoreNorm::kFull) == 0);
static_assert(static_cast<uint32_t>(beam::ScoreNorm::kLevel) == 1);
static_assert(static_cast<uint32_t>(beam::ScoreNorm::kAllowed) == 2);
static_assert(static_cast<uint32_t>(beam::Verdict::kReturned) == 0);
static_assert(static_cast<uint32_t>(beam::Verdict::kPruned) == 1);
static_assert(static_cast<uint32_t>(beam::Verdict::kBehindSidCap) == 2);
static_assert(static_cast<uint32_t>(beam::Verdict::kBehindResults) == 3);
static_assert(static_cast<uint32_t>(beam::Verdict::kNotEligible) == 4);
static_assert(static_cast<uint32_t>(beam::Verdict::kNotLive) == 5);
static_assert(static_cast<uint32_t>(beam::Verdict::kNotInCatalogue) == 6);
static_assert(static_cast<uint32_t>(beam::Verdict::kBehindDiversityCap) == 7);
static_assert(static_cast<uint32_t>(beam::Verdict::kOpen) == 8);
static_assert(static_cast<uint32_t>(beam::Verdict::kNoValue) == 9);
static_assert(static_cast<uint32_t>(beam::Verdict::kBelowFloor) == 10);
static_assert(static_cast<uint32_t>(engine::Completeness::kWhole) == 0);
static_assert(static_cast<uint32_t>(engine::Completeness::kNarrowed) == 1);
static_assert(static_cast<uint32_t>(engine::Completeness::kCut) == 2);
static_assert(static_cast<uint32_t>(beam::Prices::kKnown) == 0);
static_assert(static_cast<uint32_t>(beam::Prices::kUncertified) == 1);
static_assert(static_cast<uint32_t>(beam::Prices::kStopped) == 2);
static_assert(static_cast<uint32_t>(beam::Prices::kCapped) == 3);
static_assert(static_cast<uint32_t>(beam::Prices::kNoneLeftOut) == 4);
static_assert(static_cast<uint32_t>(beam::Propensities::kKnown) == 0);
static_assert(static_cast<uint32_t>(beam::Propensities::kBeam) == 1);
static_assert(static_cast<uint32_t>(beam::Propensities::kCapped) == 2);
static_assert(static_cast<uint32_t>(beam::Propensities::kStopped) == 3);

struct ChangeMessage {
  std::vector<catalogue::GivenChange> changes;
};

struct AttributeDeclarations {
  std::vector<catalogue::AttributeDeclaration> attributes;
};

struct RequestHead {
  uint32_t ticket{};
  uint32_t kind{};
  uint32_t binding{};
  uint32_t adapter{};
  double budget_us{};
};

void read_clause([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::Clause& to);
void read_patch_texts([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::PatchTexts& to);
void read_patch_number([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::PatchNumber& to);
void read_attribute_patch([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::AttributePatch& to);
void read_item_change([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenChange& to);
void read_change_message([[maybe_unused]] PackedReader& in, [[maybe_unused]] ChangeMessage& to);
void read_attribute_declaration([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::AttributeDeclaration& to);
void read_attribute_declarations([[maybe_unused]] PackedReader& in, [[maybe_unused]] AttributeDeclarations& to);
void read_codebook_layer([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenLayer& to);
void read_codebook_level([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenLevel& to);
void read_given_codebooks([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::GivenCodebooks& to);
void read_counted_cap([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::CountedCap& to);
void read_eligibility([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::EligibilityRequest& to);
void read_diversity_cap([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::DiversityCap& to);
void read_item_policy([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ItemPolicyRequest& to);
void read_term_weight([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::TermWeight& to);
void read_valuation_use([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ValuationUse& to);
void read_reach_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ReachRequest& to);
void read_term([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::Term& to);
void read_head_term([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::HeadTerm& to);
void read_valuation([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::Valuation& to);
void read_value_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] catalogue::ValueRequest& to);
void read_store_range([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Range& to);
void read_store_query([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Query& to);
void read_store_put([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Entry& to);
void read_store_batch([[maybe_unused]] PackedReader& in, [[maybe_unused]] store::Batch& to);
void read_request_head([[maybe_unused]] PackedReader& in, [[maybe_unused]] RequestHead& to);
void read_request_work([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to);
void read_recall_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to);
void read_score_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to);
void read_append_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to);
void read_relevance_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to);
void read_rank_request([[maybe_unused]] PackedReader& in, [[maybe_unused]] engine::Request& to);

/// The fields of each kind of request.
using ReadRequest = void (*)(PackedReader&, engine::Request&);
inline constexpr std::array<ReadRequest, 5> kReadRequest = {
    &read_recall_request,
    &read_score_request,
    &read_append_request,
    &read_relevance_request,
    &read_rank_request,
};

}  // namespace tessera::abi
