// The engine on a card against what the card can do: kernels, whole recalls, latency by offered
// load. stdout: the JSON of report.h; stderr: progress. Exit status: 0; 1 for anything that fails;
// 2 for words that are wrong; 3 where there is no driver, card or kernel for it.
#include <cstdio>

#include "card/options.h"
#include "card/stages.h"

namespace tessera::bench::card {
namespace {

constexpr int kFailed = 1, kWrongWords = 2, kNoCard = 3;

int fail(const Status& status, int exit_status) {
  std::fprintf(stderr, "card_bench: %s: %s\n", code_name(status.code()), status.message().c_str());
  return exit_status;
}

int run(std::span<const std::string> words) {
  const Result<Options> options = parse(words);
  if (!options.is_ok()) {
    std::fprintf(stderr, "%s\n", usage().c_str());
    return fail(options.status(), kWrongWords);
  }
  std::unique_ptr<BenchCard> card = open_emulation();
  if (!options.value().is_emulated) {
    auto opened = open_card(options.value().card);
    if (!opened.is_ok()) return fail(opened.status(), kNoCard);
    card = std::move(opened).value();
  }
  Report report;
  const Status status = run_stage(*card, options.value(), report);
  if (!status.is_ok()) return fail(status, kFailed);
  std::fputs(report.text(card->name()).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace tessera::bench::card

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return tessera::bench::card::run(words);
}
