// Every struct that crosses into the addon, as a table of its fields in the order of
// native/ts/abi.ts. The tables are what parsing uses and what describeAbi() reports, so the two
// sides cannot drift apart unseen.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::bridge {

inline constexpr uint32_t kAbiVersion = 6;

struct StructTable {
  std::string_view name;
  std::span<const std::string_view> fields;
};

inline constexpr std::array<std::string_view, 31> kEngineOptionsFields = {"modelPath",
                                                                          "computeType",
                                                                          "activationScalesPath",
                                                                          "device",
                                                                          "threadCount",
                                                                          "threadPlacement",
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
                                                                          "kvEviction",
                                                                          "kvReadThreads",
                                                                          "kvStoreQueueMax",
                                                                          "kvPrefetchQueueMax",
                                                                          "kvMemory",
                                                                          "kvBlockCodec",
                                                                          "promptTokensMax",
                                                                          "widthMax",
                                                                          "resultCountMax",
                                                                          "scoreItemsMax",
                                                                          "adapterBytesMax",
                                                                          "kvVersionsBackMax",
                                                                          "kvDiskReserveBytes"};
inline constexpr std::array<std::string_view, 5> kBindingOptionsFields = {
    "levelOffsets", "levelTokens", "terminalTokens", "templateDigest", "codebookDigest"};
inline constexpr std::array<std::string_view, 23> kSubmitBatchFields = {
    "tickets",      "bindings",     "adapters",     "kinds",      "priorities",   "promptOffsets",
    "promptTokens", "users",        "prefixTokens", "keepTokens", "exactKv",      "widthOffsets",
    "widths",       "resultCounts", "itemsPerSid",  "partials",   "watchedItems", "trees",
    "sidOffsets",   "codeOffsets",  "sidCodes",     "scoreNorms", "budgetsUs"};
inline constexpr std::array<std::string_view, 2> kAdapterLimitsFields = {"rankMax", "normMax"};
inline constexpr std::array<std::string_view, 6> kScaleMeasurementFields = {
    "modelPath", "outputPath", "threadCount", "keptPerMille", "promptOffsets", "promptTokens"};
inline constexpr std::array<std::string_view, 5> kCatalogueBuildOptionsFields = {
    "sources", "domains", "titlesPath", "levelSizes", "outputPath"};
inline constexpr std::array<std::string_view, 4> kCatalogueKeepOptionsFields = {
    "folder", "sync", "levelSizes", "reserveBytes"};

inline constexpr std::array<std::string_view, 2> kStoreOpenOptionsFields = {"path", "reserveBytes"};
inline constexpr std::array<std::string_view, 7> kStoreBatchFields = {
    "erasedOffsets", "erased", "keyOffsets", "keys", "valueOffsets", "values", "durability"};

inline constexpr std::array<StructTable, 9> kInputStructs = {{
    {"EngineOptions", kEngineOptionsFields},
    {"BindingOptions", kBindingOptionsFields},
    {"SubmitBatch", kSubmitBatchFields},
    {"AdapterLimits", kAdapterLimitsFields},
    {"ScaleMeasurement", kScaleMeasurementFields},
    {"CatalogueBuildOptions", kCatalogueBuildOptionsFields},
    {"CatalogueKeepOptions", kCatalogueKeepOptionsFields},
    {"StoreOpenOptions", kStoreOpenOptionsFields},
    {"StoreBatch", kStoreBatchFields},
}};

}  // namespace tessera::bridge
