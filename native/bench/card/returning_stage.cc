#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <numeric>

#include "card/shapes.h"
#include "card/stages.h"
#include "cuda/model/card_decoder.h"

namespace tessera::bench::card {
namespace {

using Clock = std::chrono::steady_clock;
using model::cuda::CardDecoder;
using model::cuda::CardRows;

constexpr uint32_t kSuffix = 32;  // tokens of a visit that are new: the scene

/// A file that is gone with the object, read once the system's cache has dropped it.
class SpilledFile {
 public:
  explicit SpilledFile(std::string path) : path_(std::move(path)) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  ~SpilledFile() {
    if (file_ >= 0) ::close(file_);
    ::unlink(path_.c_str());
  }
  SpilledFile(const SpilledFile&) = delete;
  SpilledFile& operator=(const SpilledFile&) = delete;

  Status write(const char* from, uint64_t bytes) {
    return move(bytes, [&](uint64_t at) { return ::pwrite(file_, from + at, bytes - at, at); });
  }
  Status forget_cached() {
    const bool is_done =
        ::fsync(file_) == 0 && ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED) == 0;
    return is_done ? Status::ok() : failed();
  }
  Status read(char* to, uint64_t bytes) {
    return move(bytes, [&](uint64_t at) { return ::pread(file_, to + at, bytes - at, at); });
  }

 private:
  Status failed() const { return {Code::kIoFailed, path_ + ": cannot be written and read"}; }
  template <typename Part>
  Status move(uint64_t bytes, const Part& part) {
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t moved = part(done);
      if (moved <= 0) return failed();
      done += static_cast<uint64_t>(moved);
    }
    return Status::ok();
  }

  std::string path_;
  int file_;
};

/// Memory that the card copies from and to directly.
class Pinned {
 public:
  static Result<Pinned> allocate(BenchCard& card, uint64_t bytes) {
    const Result<void*> memory = card.queue().allocate_pinned(bytes);
    if (!memory.is_ok()) return memory.status();
    return Pinned(card.queue(), memory.value());
  }
  Pinned(Pinned&& other) noexcept
      : queue_(other.queue_), data_(std::exchange(other.data_, nullptr)) {}
  Pinned& operator=(Pinned&&) = delete;
  ~Pinned() {
    if (data_ != nullptr) queue_.release_pinned(data_);
  }
  char* data() const { return static_cast<char*>(data_); }

 private:
  Pinned(device::cuda::Queue& queue, void* data) : queue_(queue), data_(data) {}
  device::cuda::Queue& queue_;
  void* data_;
};

/// A user's prompt on a card: computed whole, or its last tokens alone over blocks that are there.
class Visit {
 public:
  Visit(BenchCard& card, CardDecoder& decoder, const Shape& shape, uint32_t context)
      : card_(card), decoder_(decoder), prompt_(random_prompt(shape, context, 41)) {}

  Status allocate() {
    const uint32_t unit = attention::cuda::kBlockPositions;
    const uint64_t count = (prompt_.size() + unit - 1) / unit;
    bytes_ = count * decoder_.block_bytes();
    auto memory = Memory::allocate(card_.queue(), bytes_);
    if (!memory.is_ok()) return memory.status();
    memory_ = std::move(memory).value();
    for (uint64_t block = 0; block < count; ++block) {
      blocks_.push_back(memory_.as<uint16_t>() +
                        block * (decoder_.block_bytes() / sizeof(uint16_t)));
    }
    auto ids = copied<int32_t>(card_, {ids_.data(), ids_.size()});
    if (!ids.is_ok()) return ids.status();
    card_ids_ = std::move(ids).value();
    auto row = Memory::allocate(card_.queue(), sizeof(uint32_t));
    if (!row.is_ok()) return row.status();
    card_row_ = std::move(row).value();
    auto logits = Memory::allocate(card_.queue(), ids_.size() * sizeof(float));
    if (!logits.is_ok()) return logits.status();
    card_logits_ = std::move(logits).value();
    return forget();
  }
  Status forget() { return card_.queue().zero(memory_.as<void>(), bytes_); }
  Status compute_from(uint32_t first) {
    CardRows rows;
    rows.blocks = blocks_;
    rows.row_count = static_cast<uint32_t>(prompt_.size()) - first;
    rows.first_position = first;
    return decoder_.forward(std::span(prompt_).subspan(first), {&rows, 1});
  }
  /// Some logits after the last token of a pass that began at `first`.
  Result<std::vector<float>> last_logits(uint32_t first) {
    const auto row = static_cast<uint32_t>(prompt_.size()) - first - 1;
    TESSERA_RETURN_IF_ERROR(card_.queue().copy_in(card_row_.as<void>(), &row, sizeof(row)));
    TESSERA_RETURN_IF_ERROR(decoder_.head(card_row_.as<uint32_t>(), 1, card_ids_.as<int32_t>(),
                                          static_cast<uint32_t>(ids_.size()),
                                          card_logits_.as<float>(), nullptr));
    return fetched<float>(card_, card_logits_.as<void>(), ids_.size());
  }
  Status bring(const char* from) { return card_.queue().copy_in(memory_.as<void>(), from, bytes_); }
  Status take(char* to) { return card_.queue().copy_out(to, memory_.as<void>(), bytes_); }
  uint32_t suffix_begin() const { return static_cast<uint32_t>(prompt_.size()) - kSuffix; }
  uint64_t bytes() const { return bytes_; }

 private:
  BenchCard& card_;
  CardDecoder& decoder_;
  std::vector<int32_t> prompt_;
  std::vector<int32_t> ids_ = {0, 1, 2, 3, 5, 8, 13, 21};
  std::vector<uint16_t*> blocks_;
  Memory memory_, card_ids_, card_row_, card_logits_;
  uint64_t bytes_ = 0;
};

/// Found and computed answers are the same to the bit.
Status expect_same(Visit& visit, const std::vector<float>& expected) {
  const auto given = visit.last_logits(visit.suffix_begin());
  if (!given.is_ok()) return given.status();
  const bool is_same = std::ranges::equal(given.value(), expected, [](float one, float other) {
    return std::bit_cast<uint32_t>(one) == std::bit_cast<uint32_t>(other);
  });
  return is_same ? Status::ok() : wrong("logits over keys and values that were found");
}

/// Host's clock: reading the file, copying it to the card, computing the last tokens.
Result<double> from_disk(BenchCard& card, const Options& options, Visit& visit, Pinned& pinned) {
  SpilledFile file(options.cache + "/card-bench-blocks");
  TESSERA_RETURN_IF_ERROR(file.write(pinned.data(), visit.bytes()));
  std::vector<double> seconds;
  for (uint32_t round = 0; round < options.rounds.counted; ++round) {
    TESSERA_RETURN_IF_ERROR(file.forget_cached());
    std::memset(pinned.data(), 0, visit.bytes());
    TESSERA_RETURN_IF_ERROR(visit.forget());
    TESSERA_RETURN_IF_ERROR(card.queue().finish());
    const Clock::time_point start = Clock::now();
    TESSERA_RETURN_IF_ERROR(file.read(pinned.data(), visit.bytes()));
    TESSERA_RETURN_IF_ERROR(visit.bring(pinned.data()));
    TESSERA_RETURN_IF_ERROR(visit.compute_from(visit.suffix_begin()));
    TESSERA_RETURN_IF_ERROR(card.queue().finish());
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return quantile(std::move(seconds), 0.5);
}

Status measure(BenchCard& card, const Options& options, Visit& visit, const std::string& prefix,
               Report& report) {
  TESSERA_RETURN_IF_ERROR(visit.allocate());
  const Work moved{0, static_cast<double>(visit.bytes())};
  const auto add = [&](const char* name, const Result<double>& seconds, Work work) -> Status {
    if (!seconds.is_ok()) return seconds.status();
    report.add_seconds(prefix + name, seconds.value(), work);
    return Status::ok();
  };
  const auto whole = [&] { return visit.compute_from(0); };
  const auto suffix = [&] { return visit.compute_from(visit.suffix_begin()); };
  TESSERA_RETURN_IF_ERROR(
      add("computed from nothing", median_seconds(card, options.rounds, whole), {}));
  const auto expected = visit.last_logits(0);
  if (!expected.is_ok()) return expected.status();
  TESSERA_RETURN_IF_ERROR(
      add("found on the card", median_seconds(card, options.rounds, suffix), {}));
  TESSERA_RETURN_IF_ERROR(expect_same(visit, expected.value()));
  auto pinned = Pinned::allocate(card, visit.bytes());
  if (!pinned.is_ok()) return pinned.status();
  TESSERA_RETURN_IF_ERROR(visit.take(pinned.value().data()));
  const auto bring = [&] { return visit.bring(pinned.value().data()); };
  TESSERA_RETURN_IF_ERROR(
      add("copied from the host", median_seconds(card, options.rounds, bring), moved));
  TESSERA_RETURN_IF_ERROR(visit.forget());
  const auto bring_and_compute = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(bring());
    return suffix();
  };
  TESSERA_RETURN_IF_ERROR(
      add("found on the host", median_seconds(card, options.rounds, bring_and_compute), moved));
  TESSERA_RETURN_IF_ERROR(expect_same(visit, expected.value()));
  TESSERA_RETURN_IF_ERROR(
      add("found on disk", from_disk(card, options, visit, pinned.value()), moved));
  return expect_same(visit, expected.value());
}

}  // namespace

Status returning_stage(BenchCard& card, const Options& options, Report& report) {
  const Result<Shape> shape = shape_of(options.shape);
  if (!shape.is_ok()) return shape.status();
  const uint32_t longest = *std::max_element(options.contexts.begin(), options.contexts.end());
  const uint32_t shortest = *std::min_element(options.contexts.begin(), options.contexts.end());
  if (shortest <= kSuffix) {
    return {Code::kRequestInvalid, "--contexts: expected more than " + std::to_string(kSuffix) +
                                       " tokens, got " + std::to_string(shortest)};
  }
  const auto folder = model_folder(shape.value(), options.cache);
  if (!folder.is_ok()) return folder.status();
  auto decoder = CardDecoder::load(folder.value(), {longest, longest, 1}, card.queue());
  if (!decoder.is_ok()) return decoder.status();
  for (const uint32_t context : options.contexts) {
    Visit visit(card, *decoder.value(), shape.value(), context);
    const std::string prefix =
        "returning/" + shape.value().name + "/context " + std::to_string(context) + "/";
    TESSERA_RETURN_IF_ERROR(measure(card, options, visit, prefix, report));
  }
  return Status::ok();
}

}  // namespace tessera::bench::card
