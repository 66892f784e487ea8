#include "catalogue/change_log.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "catalogue/checksum.h"
#include "catalogue/format.h"
#include "platform/file.h"
#include "platform/mapped_file.h"

namespace tessera::catalogue {
namespace {

constexpr char kLogMagic[8] = {'T', 'S', 'R', 'A', 'C', 'L', 'O', 'G'};
constexpr uint32_t kUnchainedVersion = 1;             // which nothing here reads
constexpr uint32_t kUnmarkedVersion = 2;              // the last whose batches have no marks
constexpr size_t kFrameBytes = sizeof(uint64_t) * 2;  // payload bytes, checksum

void put(std::string& out, const void* data, size_t bytes) {
  out.append(static_cast<const char*>(data), bytes);
}
template <typename T>
void put_number(std::string& out, T value) {
  put(out, &value, sizeof(value));
}
void put_text(std::string& out, std::string_view text) {
  put_number(out, static_cast<uint32_t>(text.size()));
  put(out, text.data(), text.size());
}
void put_words(std::string& out, const std::vector<uint32_t>& words) {
  put_number(out, static_cast<uint32_t>(words.size()));
  put(out, words.data(), words.size() * sizeof(uint32_t));
}

/// Reads what put_* wrote; after the first thing that is not there all is empty and bad.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  bool is_good() const { return is_good_; }
  bool is_at_end() const { return left_.empty(); }
  std::span<const std::byte> take(uint64_t bytes) {
    is_good_ = is_good_ && bytes <= left_.size();
    if (!is_good_) return {};
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  template <typename T>
  T number() {
    T value{};
    const auto bytes = take(sizeof(T));
    if (is_good_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string text() {
    const auto bytes = take(number<uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<uint32_t> words() {
    const auto bytes = take(uint64_t{number<uint32_t>()} * sizeof(uint32_t));
    std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
    if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }

 private:
  std::span<const std::byte> left_;
  bool is_good_ = true;
};

/// A frame: payload bytes, hash of the payload and of `chain`, payload. Returns the hash.
uint64_t put_frame(std::string& out, const std::string& payload, uint64_t chain) {
  const uint64_t hash = chained64(std::as_bytes(std::span(payload)), chain);
  put_number(out, uint64_t{payload.size()});
  put_number(out, hash);
  out += payload;
  return hash;
}

struct Frame {
  uint64_t hash = 0;
  std::span<const std::byte> payload;  // empty where no whole frame stands
};

Frame take_frame(Reader& reader, uint64_t chain) {
  const auto bytes = reader.number<uint64_t>();
  const auto hash = reader.number<uint64_t>();
  const auto payload = reader.take(bytes);
  if (!reader.is_good()) return {};
  return chained64(payload, chain) == hash ? Frame{hash, payload} : Frame{};
}

/// True if a whole record follows a place that has none. Each frame repeats the first bytes of the
/// next one's hash, so the search looks for two frames in a row; the first may be damaged.
bool has_record_behind(std::span<const std::byte> file, uint64_t from) {
  for (uint64_t at = from; at + 2 * kFrameBytes <= file.size(); ++at) {
    Reader first(file.subspan(at));
    const auto bytes = first.number<uint64_t>();
    const auto hash = first.number<uint64_t>();
    if (bytes == 0 || bytes > file.size() - at - 2 * kFrameBytes) continue;
    (void)first.take(bytes);
    if (!take_frame(first, hash).payload.empty()) return true;
  }
  return false;
}

void put_change(std::string& out, const Change& change) {
  put_number(out, static_cast<uint8_t>(change.kind));
  put_text(out, change.item_id);
  put_words(out, change.sid);
  put_text(out, change.title);
  put_text(out, change.attributes);
  put_number(out, change.priority);
}

bool read_batch(std::span<const std::byte> payload, uint32_t version, ChangeBatch& batch) {
  Reader reader(payload);
  batch.sequence_before = reader.number<uint64_t>();
  const auto count = reader.number<uint32_t>();
  for (uint32_t i = 0; i < count && reader.is_good(); ++i) {
    Change change;
    change.kind = static_cast<ChangeKind>(reader.number<uint8_t>());
    change.item_id = reader.text();
    change.sid = reader.words();
    change.title = reader.text();
    change.attributes = reader.text();
    change.priority = reader.number<double>();
    batch.changes.push_back(std::move(change));
  }
  if (version <= kUnmarkedVersion) {
    batch.is_beginning = batch.changes.empty();
    return reader.is_good() && reader.is_at_end();
  }
  batch.mark = reader.text();
  const auto is_beginning = reader.number<uint8_t>();
  batch.is_beginning = is_beginning != 0;
  const bool is_right = is_beginning == 0 || (is_beginning == 1 && batch.changes.empty());
  return reader.is_good() && reader.is_at_end() && is_right;
}

bool read_header(std::span<const std::byte> payload, LogHeader& header) {
  Reader reader(payload);
  header.base_digest = reader.text();
  header.seed_digest = reader.text();
  header.level_sizes = reader.words();
  header.generation = reader.number<uint64_t>();
  bool is_good = reader.is_good() && reader.is_at_end() && !header.level_sizes.empty() &&
                 header.level_sizes.size() <= kMaxDepth;
  for (const uint32_t size : header.level_sizes) {
    is_good = is_good && size >= 1 && size <= kMaxLevelSize;
  }
  return is_good;
}

}  // namespace

Status check_mark(std::string_view mark) {
  if (mark.size() <= kMarkBytesMax) return Status::ok();
  return {Code::kCatalogueInvalid, "mark: expected at most " + std::to_string(kMarkBytesMax) +
                                       " bytes, got " + std::to_string(mark.size())};
}

void ChangeRecords::add(const ChangeBatch& batch) {
  std::string payload;
  put_number(payload, batch.sequence_before);
  put_number(payload, static_cast<uint32_t>(batch.changes.size()));
  for (const Change& change : batch.changes) put_change(payload, change);
  put_text(payload, batch.mark);
  put_number(payload, static_cast<uint8_t>(batch.is_beginning ? 1 : 0));
  chain = put_frame(bytes, payload, chain);
  sequence = batch.sequence();
}

bool LogContent::reaches(const platform::LogMark& mark) const {
  const auto end = std::lower_bound(
      ends.begin(), ends.end(), mark.bytes,
      [](const platform::LogMark& one, uint64_t bytes) { return one.bytes < bytes; });
  return end != ends.end() && end->bytes == mark.bytes && end->sequence == mark.sequence &&
         end->chain == mark.chain;
}

Result<ChangeLog> ChangeLog::create(const std::string& path, const LogHeader& header,
                                    std::span<const ChangeBatch> batches, SyncPolicy policy) {
  ChangeRecords content;
  content.bytes.assign(kLogMagic, sizeof(kLogMagic));
  put_number(content.bytes, kLogVersion);
  std::string payload;
  put_text(payload, header.base_digest);
  put_text(payload, header.seed_digest);
  put_words(payload, header.level_sizes);
  put_number(payload, header.generation);
  content.chain = put_frame(content.bytes, payload, 0);
  for (const ChangeBatch& batch : batches) content.add(batch);
  TESSERA_RETURN_IF_ERROR(
      platform::write_file_atomically(path, std::as_bytes(std::span(content.bytes))));
  LogContent written;
  written.header = header;
  written.good_bytes = content.bytes.size();
  written.chain = content.chain;
  written.ends = {{header.generation, content.sequence, content.bytes.size(), content.chain}};
  return reopen(path, written, policy);
}

Result<LogContent> ChangeLog::read(const std::string& path) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kCatalogueNotFound);
  if (!file.is_ok()) return file.status();
  LogContent content;
  content.file_bytes = file.value().bytes().size();
  Reader reader(file.value().bytes());
  const auto magic = reader.take(sizeof(kLogMagic));
  content.version = reader.number<uint32_t>();
  const bool has_magic =
      reader.is_good() && std::memcmp(magic.data(), kLogMagic, sizeof(kLogMagic)) == 0;
  if (has_magic && is_newer(content.version, kLogVersion)) {
    return Status(Code::kStoreNewer, path + ": expected a change log of version " +
                                         std::to_string(kLogVersion) + " at most, got version " +
                                         std::to_string(content.version) +
                                         ", which a newer release wrote");
  }
  const Frame header = has_magic ? take_frame(reader, 0) : Frame{};
  if (content.version == kUnchainedVersion && header.payload.empty() && has_magic) {
    return Status(Code::kCatalogueInvalid,
                  path + ": expected a change log of version " + std::to_string(kUnmarkedVersion) +
                      " or later, got version " + std::to_string(content.version) +
                      ": start the release before this one first");
  }
  if (header.payload.empty() || content.version < kUnmarkedVersion ||
      !read_header(header.payload, content.header)) {
    return Status(Code::kCatalogueCorrupt,
                  path + ": expected the head of a change log of version " +
                      std::to_string(kLogVersion) + ", got something else");
  }
  const uint64_t number = content.header.generation;
  content.good_bytes =
      sizeof(kLogMagic) + sizeof(kLogVersion) + kFrameBytes + header.payload.size();
  content.chain = header.hash;
  content.ends.push_back({number, 0, content.good_bytes, content.chain});
  while (!reader.is_at_end()) {
    const Frame frame = take_frame(reader, content.chain);
    ChangeBatch batch;
    if (frame.payload.empty() || !read_batch(frame.payload, content.version, batch)) break;
    content.good_bytes += kFrameBytes + frame.payload.size();
    content.chain = frame.hash;
    content.ends.push_back({number, batch.sequence(), content.good_bytes, content.chain});
    content.batches.push_back(std::move(batch));
  }
  content.has_later_records =
      content.cut_bytes() > 0 && has_record_behind(file.value().bytes(), content.good_bytes);
  return content;
}

Result<ChangeLog> ChangeLog::reopen(const std::string& path, const LogContent& content,
                                    SyncPolicy policy) {
  Result<platform::AppendFile> file = platform::AppendFile::open(path, content.good_bytes);
  if (!file.is_ok()) return file.status();
  ChangeLog log;
  log.file_ = std::move(file).value();
  log.policy_ = policy;
  log.mark_ = content.ends.back();
  return log;
}

Status ChangeLog::append(const ChangeRecords& records) {
  TESSERA_RETURN_IF_ERROR(file_.append(std::as_bytes(std::span(records.bytes))));
  if (policy_ == SyncPolicy::kEachCommit) TESSERA_RETURN_IF_ERROR(file_.sync());
  mark_.bytes += records.bytes.size();
  mark_.sequence = records.sequence;
  mark_.chain = records.chain;
  return Status::ok();
}

Status ChangeLog::take_back() {
  TESSERA_RETURN_IF_ERROR(file_.cut(mark_.bytes));
  return file_.sync();
}

}  // namespace tessera::catalogue
