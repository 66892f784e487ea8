#include "card/options.h"

#include <charconv>
#include <optional>

#include "card/shapes.h"

namespace tessera::bench::card {
namespace {

const std::string kStages[] = {"kernels", "bits", "recall", "load"};
const std::string kStageNames = "kernels, bits, recall or load";

Status invalid(const std::string& field, const std::string& expected, const std::string& got) {
  return {Code::kRequestInvalid, field + ": expected " + expected + ", got " + got};
}

std::optional<uint32_t> number(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status take(const std::string& flag, const std::string& text, uint32_t most, uint32_t& target) {
  const std::optional<uint32_t> value = number(text);
  if (!value || *value < 1 || *value > most) {
    return invalid(flag, "an integer in 1.." + std::to_string(most), text);
  }
  target = *value;
  return Status::ok();
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char character : text) {
    if (character == separator) {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

Status take_all(const std::string& flag, const std::string& text, uint32_t most,
                std::vector<uint32_t>& target) {
  target.clear();
  for (const std::string& part : parts_of(text, ',')) {
    TESSERA_RETURN_IF_ERROR(take(flag, part, most, target.emplace_back()));
  }
  return Status::ok();
}

Status take_cases(const std::string& flag, const std::string& text, std::vector<Case>& target) {
  target.clear();
  for (const std::string& part : parts_of(text, ',')) {
    const std::vector<std::string> sizes = parts_of(part, 'x');
    if (sizes.size() != 2) return invalid(flag, "CONTEXTxREQUESTS", part);
    Case& one = target.emplace_back();
    TESSERA_RETURN_IF_ERROR(take(flag, sizes[0], kContextMax, one.context));
    TESSERA_RETURN_IF_ERROR(take(flag, sizes[1], kRequestsMax, one.requests));
  }
  return Status::ok();
}

Status take_flag(const std::string& flag, const std::string& text, Options& options) {
  if (flag == "--shape") {
    options.shape = text;
    const Result<Shape> shape = shape_of(text);
    return shape.is_ok() ? Status::ok() : shape.status();
  }
  if (flag == "--cache") {
    options.cache = text;
    return text.empty() ? invalid(flag, "a folder", "nothing") : Status::ok();
  }
  if (flag == "--card") {
    const std::optional<uint32_t> card = number(text);
    if (!card) return invalid(flag, "the number of a card", text);
    options.card = *card;
    return Status::ok();
  }
  if (flag == "--cases") return take_cases(flag, text, options.cases);
  if (flag == "--contexts") return take_all(flag, text, kContextMax, options.contexts);
  if (flag == "--rows") return take_all(flag, text, kRowsMax, options.rows);
  if (flag == "--items") return take(flag, text, kItemsMax, options.items);
  if (flag == "--width") return take(flag, text, kWidthMax, options.width);
  if (flag == "--copy-mib") return take(flag, text, kMebibytesMax, options.copy_mebibytes);
  if (flag == "--peak-side") return take(flag, text, kSideMax, options.peak_side);
  if (flag == "--requests") return take(flag, text, kRoundsMax, options.requests);
  if (flag == "--rounds") return take(flag, text, kRoundsMax, options.rounds.counted);
  if (flag == "--warm-up") {
    const std::optional<uint32_t> rounds = number(text);
    if (!rounds || *rounds > kRoundsMax) {
      return invalid(flag, "an integer in 0.." + std::to_string(kRoundsMax), text);
    }
    options.rounds.warm_up = *rounds;
    return Status::ok();
  }
  return invalid("flag", "one of the usage", flag);
}

}  // namespace

std::string usage() {
  return "usage: card_bench kernels|bits|recall|load [--shape " + shape_names() +
         "]\n"
         "         [--card N | --emulated] [--cache FOLDER] [--rounds N] [--warm-up N]\n"
         "  kernels  [--contexts N,..] [--rows N,..] [--width N] [--copy-mib N] [--peak-side N]\n"
         "  bits     [--rows N,..]\n"
         "  recall   [--cases CONTEXTxREQUESTS,..] [--width N] [--items N]\n"
         "  load     [--contexts N,..] [--width N] [--items N] [--requests N]\n";
}

Result<Options> parse(std::span<const std::string> words) {
  Options options;
  if (words.empty()) return invalid("stage", kStageNames, "nothing");
  options.stage = words[0];
  bool is_known = false;
  for (const std::string& stage : kStages) is_known |= options.stage == stage;
  if (!is_known) return invalid("stage", kStageNames, words[0]);
  for (size_t at = 1; at < words.size(); ++at) {
    if (words[at] == "--emulated") {
      options.is_emulated = true;
      continue;
    }
    if (at + 1 == words.size()) return invalid(words[at], "a value", "nothing");
    TESSERA_RETURN_IF_ERROR(take_flag(words[at], words[at + 1], options));
    ++at;
  }
  return options;
}

}  // namespace tessera::bench::card
