// Generated from native/abi by tools/generate.mjs. Do not edit.
// clang-format off
#pragma once

#include <array>

#include "abi/packed_writer.h"
#include "engine/request.h"
#include "store/ordered_store.h"

namespace tessera::abi {

void write_store_entries([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const std::vector<store::Entry>& from);
void write_store_found([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const store::Found& from);
void write_completion_head([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_failure([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_kv_found([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_engine_timings([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Timings& from);
void write_answer_facts([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_watched_item([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const beam::Explanation& from);
void write_engine_pass([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::PassTimes& from);
void write_recall_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_score_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_append_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_relevance_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);
void write_rank_answer([[maybe_unused]] PackedWriter& out, [[maybe_unused]] const engine::Completion& from);

/// The fields of an answer to each kind of request.
using WriteAnswer = void (*)(PackedWriter&, const engine::Completion&);
inline constexpr std::array<WriteAnswer, 5> kWriteAnswer = {
    &write_recall_answer,
    &write_score_answer,
    &write_append_answer,
    &write_relevance_answer,
    &write_rank_answer,
};

}  // namespace tessera::abi
