// Passes allocate nothing once the buffers have met requests of their size: counted, because what a
// step allocates every step pays.
#include <gtest/gtest.h>

#include "base/test_allocations.h"
#include "engine/loop.h"
#include "engine/test_fixture.h"
#include "lora/arena.h"

namespace tessera::engine {
namespace allocation_test {

TEST(Allocation, PassesAllocateNothingInTheSteadyState) {
  const std::filesystem::path folder =
      std::filesystem::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
  const EngineOptions options = fixture_options(folder);
  const FixtureDecoder on = open_fixture_decoder(options);
  const FixtureCase fixture = read_cases(folder).front();
  const auto binding = bind_fixture(on.decoder->config(), open_fixture_catalogue(folder), fixture);
  LoopCounters counters;
  auto passes_of_loop = std::make_unique<Passes>(
      *on.decoder, on.decoder
                       ->make_memory(options.batch_rows_max, options.prompt_tokens_max,
                                     options.batch_requests_max)
                       .value());
  Loop loop(options, *on.processor, *on.decoder, *on.pool, std::move(passes_of_loop), {}, counters);
  const auto arena = std::move(lora::Arena::open(on.decoder, 64u << 20)).value();
  const auto adapter = std::move(arena->load(std::string(TESSERA_REPOSITORY_ROOT) +
                                                 "/test/fixtures/adapters/tokens-tied",
                                             {ops::kRankMax, 1e3}))
                           .value();
  uint64_t passes = 0, allocations = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 6; ++i) {  // they share their prompts but for the last token
      Request request = make_request(i, binding, fixture);
      request.norm = static_cast<beam::ScoreNorm>(i % 3);
      request.prompt.back() = static_cast<int32_t>(i);
      if (i >= 3) request.adapter = adapter;
      request.submitted = Clock::now();
      Status status;
      ASSERT_EQ(loop.admit(request, Clock::now(), status), Admission::kAdmitted);
    }
    std::vector<Completion> completed;
    while (loop.running() > 0) {
      const uint64_t before = allocation_count();
      loop.run_pass(completed);
      if (round < 2 || !completed.empty()) continue;  // an answer is the caller's to keep
      ++passes;
      allocations += allocation_count() - before;
    }
  }
  EXPECT_GT(passes, 1u);
  EXPECT_EQ(allocations, 0u);
}

}  // namespace allocation_test
}  // namespace tessera::engine
