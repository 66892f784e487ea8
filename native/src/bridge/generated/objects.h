// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include "bridge/reports.h"

namespace tessera::bridge {

inline constexpr std::array<std::string_view, 3> kComputeTypeWords = {
    "f32",
    "bf16",
    "w8a8",
};
static_assert(static_cast<uint32_t>(model::ComputeType::kF32) == 0);
static_assert(static_cast<uint32_t>(model::ComputeType::kBf16) == 1);
static_assert(static_cast<uint32_t>(model::ComputeType::kW8A8) == 2);

inline constexpr std::array<std::string_view, 4> kTextComputeTypeWords = {
    "f32",
    "bf16",
    "w8a8",
    "w8a8-static",
};
static_assert(static_cast<uint32_t>(model::ComputeType::kF32) == 0);
static_assert(static_cast<uint32_t>(model::ComputeType::kBf16) == 1);
static_assert(static_cast<uint32_t>(model::ComputeType::kW8A8) == 2);
static_assert(static_cast<uint32_t>(model::ComputeType::kW8A8Static) == 3);

inline constexpr std::array<std::string_view, 2> kChangeSyncWords = {
    "commit",
    "never",
};
static_assert(static_cast<uint32_t>(catalogue::SyncPolicy::kEachCommit) == 0);
static_assert(static_cast<uint32_t>(catalogue::SyncPolicy::kNever) == 1);

inline constexpr std::array<std::string_view, 3> kSubmitReasonWords = {
    "none",
    "queue-full",
    "draining",
};
static_assert(static_cast<uint32_t>(engine::Refusal::kNone) == 0);
static_assert(static_cast<uint32_t>(engine::Refusal::kQueueFull) == 1);
static_assert(static_cast<uint32_t>(engine::Refusal::kDraining) == 2);

inline constexpr std::array<std::string_view, 11> kVerdictWords = {
    "returned",
    "pruned",
    "behind-sid-cap",
    "behind-results",
    "not-eligible",
    "not-live",
    "not-in-catalogue",
    "behind-diversity-cap",
    "open",
    "no-value",
    "below-floor",
};
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

inline constexpr std::array<std::string_view, 3> kStoreHealthWords = {
    "ok",
    "degraded",
    "down",
};
static_assert(static_cast<uint32_t>(store::Health::kOk) == 0);
static_assert(static_cast<uint32_t>(store::Health::kReadOnly) == 1);
static_assert(static_cast<uint32_t>(store::Health::kDown) == 2);

static_assert(catalogue::kPredicateDepthMax == 16u);
static_assert(catalogue::kPredicateClausesMax == 256u);
static_assert(catalogue::kPredicateValuesMax == 4096u);
static_assert(catalogue::kPredicateTextBytesMax == 262144u);
static_assert(catalogue::kItemListMax == 65536u);
static_assert(catalogue::kFrequencyCapsMax == 8u);
static_assert(catalogue::kCountedItemsMax == 1048576u);
static_assert(catalogue::kDiversityCapsMax == 4u);
static_assert(catalogue::kItemPolicyTextBytesMax == 4096u);
static_assert(catalogue::kValuationsMax == 8u);
static_assert(catalogue::kTermsMax == 8u);
static_assert(beam::kGoesOn == 1u);
static_assert(beam::kEndsHere == 2u);
static_assert(beam::kAtLeast == 4u);
static_assert(beam::kProvedOut == 8u);
static_assert(beam::kNoRow == 4294967295u);
static_assert(beam::kTerminalCode == 4294967295u);
static_assert(catalogue::kNoItem == 4294967295u);
static_assert(kNoAdapter == 4294967295u);
static_assert(kNoBinding == 4294967295u);

inline constexpr std::array<std::string_view, 30> kEngineOptionsFields = {
    "modelPath",
    "computeType",
    "activationScalesPath",
    "headTokens",
    "device",
    "threadCount",
    "queueCapacity",
    "batchRequestsMax",
    "batchRowsMax",
    "prefillChunkTokens",
    "passTimeTargetUs",
    "batching",
    "kvBytesMax",
    "kvPool",
    "kvDeviceBytes",
    "kvHostBytes",
    "kvDiskBytes",
    "kvFolder",
    "kvReadThreads",
    "kvStoreQueueMax",
    "kvPrefetchQueueMax",
    "kvBlockCodec",
    "promptTokensMax",
    "widthMax",
    "resultCountMax",
    "scoreItemsMax",
    "adapterBytesMax",
    "kvVersionsBackMax",
    "kvSharedLinks",
    "kvDiskReserveBytes",
};

inline constexpr std::array<std::string_view, 6> kScaleMeasurementFields = {
    "modelPath",
    "outputPath",
    "threadCount",
    "keptPerMille",
    "promptOffsets",
    "promptTokens",
};

inline constexpr std::array<std::string_view, 5> kBindingOptionsFields = {
    "levelOffsets",
    "levelTokens",
    "terminalTokens",
    "templateDigest",
    "codebookDigest",
};

inline constexpr std::array<std::string_view, 2> kAdapterLimitsFields = {
    "rankMax",
    "normMax",
};

inline constexpr std::array<std::string_view, 4> kTaskLimitsFields = {
    "servingThreads",
    "servingQueueMax",
    "threads",
    "queueMax",
};

inline constexpr std::array<std::string_view, 5> kEmbedderOptionsFields = {
    "modelPath",
    "computeType",
    "threadCount",
    "rowsMax",
    "textsMax",
};

inline constexpr std::array<std::string_view, 5> kCatalogueBuildOptionsFields = {
    "sources",
    "domains",
    "titlesPath",
    "levelSizes",
    "outputPath",
};

inline constexpr std::array<std::string_view, 4> kCatalogueKeepOptionsFields = {
    "folder",
    "sync",
    "levelSizes",
    "reserveBytes",
};

inline constexpr std::array<std::string_view, 2> kStoreOpenOptionsFields = {
    "path",
    "reserveBytes",
};

/// Structures that the addon reads, with their fields in order.
inline constexpr std::array<StructTable, 9> kReadStructs = {{
    {"EngineOptions", kEngineOptionsFields},
    {"ScaleMeasurement", kScaleMeasurementFields},
    {"BindingOptions", kBindingOptionsFields},
    {"AdapterLimits", kAdapterLimitsFields},
    {"TaskLimits", kTaskLimitsFields},
    {"EmbedderOptions", kEmbedderOptionsFields},
    {"CatalogueBuildOptions", kCatalogueBuildOptionsFields},
    {"CatalogueKeepOptions", kCatalogueKeepOptionsFields},
    {"StoreOpenOptions", kStoreOpenOptionsFields},
}};

// Readers. Spans are good until the call returns.

struct ScaleMeasurement {
  std::string model_path;
  std::string output_path;
  uint32_t thread_count{};
  uint32_t kept_per_mille{};
  std::span<const uint32_t> prompt_offsets;
  std::span<const int32_t> prompt_tokens;
};

struct BindingOptions {
  std::span<const uint32_t> level_offsets;
  std::span<const int32_t> level_tokens;
  std::span<const int32_t> terminal_tokens;
  std::string template_digest;
  std::string codebook_digest;
};

// Writers.

struct AbiDescription {
  std::string digest;
  std::vector<std::string> codes;
  std::vector<std::string> functions;
  std::vector<StructTable> structs;
};

struct CatalogueInfo {
  std::string digest;
  uint32_t depth{};
  std::vector<uint32_t> level_sizes;
  std::vector<std::string> level_patterns;
  uint64_t node_count{};
  uint64_t path_count{};
  uint64_t item_count{};
  uint64_t file_bytes{};
};

struct CatalogueState {
  uint64_t sequence{};
  std::string mark;
  std::string base_digest;
  uint64_t live_item_count{};
  uint64_t changed_item_count{};
  uint64_t changes_since_snapshot{};
  uint64_t snapshot_item_count{};
  uint64_t replayed_changes{};
  uint64_t cut_bytes{};
};

struct ItemTexts {
  std::vector<std::string> item_ids;
  std::vector<std::string> titles;
  std::vector<std::string> attributes;
  std::vector<uint8_t> paused;
  uint64_t sequence{};
};

struct CatalogueListing {
  std::vector<uint32_t> ordinals;
  std::vector<std::string> item_ids;
  std::vector<std::string> titles;
  std::vector<std::string> attributes;
  std::vector<double> priorities;
  std::vector<uint8_t> paused;
  std::vector<uint32_t> sid_offsets;
  std::vector<uint32_t> sid_codes;
  uint32_t next{};
};

struct CatalogueLanding {
  uint64_t sequence{};
  std::vector<uint32_t> codes;
  std::vector<double> distances;
  std::vector<uint32_t> sid;
  std::vector<std::string> item_ids;
  std::vector<std::string> titles;
  std::vector<uint32_t> sid_offsets;
  std::vector<uint32_t> sid_codes;
  std::vector<uint32_t> shared_levels;
};

// Throw REQUEST_INVALID naming the field.

void read(Napi::Env env, const Napi::Value& value, const char* path, engine::EngineOptions& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, ScaleMeasurement& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, BindingOptions& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, lora::Limits& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, LaneOptions& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, engine::EmbedderOptions& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, BuildRequest& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, catalogue::LiveOptions& to);
void read(Napi::Env env, const Napi::Value& value, const char* path, store::StoreOptions& to);

Napi::Value to_js(Napi::Env env, const model::ModelConfig& from);
Napi::Value to_js(Napi::Env env, const engine::ServedModel& from);
Napi::Value to_js(Napi::Env env, const engine::SubmitOutcome& from);
Napi::Value to_js(Napi::Env env, const engine::Stats& from);
Napi::Value to_js(Napi::Env env, const engine::ClassForecast& from);
Napi::Value to_js(Napi::Env env, const engine::Forecast& from);
Napi::Value to_js(Napi::Env env, const engine::UpdateReport& from);
Napi::Value to_js(Napi::Env env, const model::UnseenExpert& from);
Napi::Value to_js(Napi::Env env, const engine::MeasuredScales& from);
Napi::Value to_js(Napi::Env env, const LoadedSlot& from);
Napi::Value to_js(Napi::Env env, const lora::ArenaUse& from);
Napi::Value to_js(Napi::Env env, const NamedDepth& from);
Napi::Value to_js(Napi::Env env, const StructTable& from);
Napi::Value to_js(Napi::Env env, const AbiDescription& from);
Napi::Value to_js(Napi::Env env, const engine::Embedder& from);
Napi::Value to_js(Napi::Env env, const engine::EmbeddedPass& from);
Napi::Value to_js(Napi::Env env, const engine::MeasuredTexts& from);
Napi::Value to_js(Napi::Env env, const kv::TierMetrics& from);
Napi::Value to_js(Napi::Env env, const PoolReport& from);
Napi::Value to_js(Napi::Env env, const kv::ChainReport& from);
Napi::Value to_js(Napi::Env env, const kv::IntegrityReport& from);
Napi::Value to_js(Napi::Env env, const catalogue::Applied& from);
Napi::Value to_js(Napi::Env env, const CatalogueInfo& from);
Napi::Value to_js(Napi::Env env, const CatalogueState& from);
Napi::Value to_js(Napi::Env env, const catalogue::Digest& from);
Napi::Value to_js(Napi::Env env, const catalogue::Generation& from);
Napi::Value to_js(Napi::Env env, const OpenedReach& from);
Napi::Value to_js(Napi::Env env, const Judgement& from);
Napi::Value to_js(Napi::Env env, const catalogue::SidList& from);
Napi::Value to_js(Napi::Env env, const ItemTexts& from);
Napi::Value to_js(Napi::Env env, const CatalogueListing& from);
Napi::Value to_js(Napi::Env env, const CatalogueLanding& from);
Napi::Value to_js(Napi::Env env, const Appraisal& from);
Napi::Value to_js(Napi::Env env, const TimedBuild& from);
Napi::Value to_js(Napi::Env env, const store::StoreState& from);
Napi::Value to_js(Napi::Env env, const store::StoreRepair& from);

}  // namespace tessera::bridge
