// Generated from native/abi/limits.json by tools/generate.mjs. Do not edit.
#pragma once

#include <cstdint>

namespace tessera::engine {

inline constexpr uint32_t kThreadCountMax = 256;
inline constexpr uint32_t kQueueCapacityMax = 1048576;
inline constexpr uint32_t kBatchRequestsMax = 1024;
inline constexpr uint32_t kBatchRowsMax = 65536;
inline constexpr uint32_t kPrefillChunkTokensMax = 65536;
inline constexpr uint32_t kPassTimeTargetUsMax = 60000000;
inline constexpr uint32_t kPromptTokensMax = 1048576;
inline constexpr uint32_t kWidthMax = 4096;
inline constexpr uint32_t kRowBudgetMax = 65536;
inline constexpr uint32_t kResultCountMax = 65536;
inline constexpr uint32_t kScoreItemsMax = 65536;
inline constexpr uint32_t kRankItemsMax = 16384;
inline constexpr uint32_t kRankTokensMax = 32;
inline constexpr uint32_t kTerminalTokensMax = 8;
inline constexpr uint32_t kLabelTokensMax = 256;
inline constexpr uint32_t kKvThreadsMax = 64;
inline constexpr uint32_t kKvQueueMax = 1048576;
inline constexpr uint32_t kVersionsBackMax = 16;

}  // namespace tessera::engine
