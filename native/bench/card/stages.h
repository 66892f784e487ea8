// The stages of card_bench. Each compares its results with the CPU's before it times anything.
// Errors of all: INTERNAL for a result that differs; the card's own.
#pragma once

#include "card/bench_card.h"
#include "card/options.h"
#include "card/report.h"

namespace tessera::bench::card {

/// A copy and a square product, as ceilings; products, attention, norms and head of the shape.
Status kernels_stage(BenchCard& card, const Options& options, Report& report);
/// Products of the shape by every tile of the library, each bit for bit as its row has it alone.
Status bits_stage(BenchCard& card, const Options& options, Report& report);
/// Whole recalls, alone and as many as each case has.
Status recall_stage(BenchCard& card, const Options& options, Report& report);
/// Latency by offered load.
Status load_stage(BenchCard& card, const Options& options, Report& report);

Status run_stage(BenchCard& card, const Options& options, Report& report);

}  // namespace tessera::bench::card
