#include "catalogue/change_log.h"

#include <bit>
#include <cstring>

#include "catalogue/checksum.h"
#include "catalogue/format.h"
#include "platform/file.h"
#include "platform/mapped_file.h"

namespace tessera::catalogue {
namespace {

constexpr char kLogMagic[8] = {'T', 'S', 'R', 'A', 'C', 'L', 'O', 'G'};
constexpr uint32_t kLogVersion = 1;
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

/// A frame: payload bytes, checksum, payload.
void put_frame(std::string& out, const std::string& payload) {
  put_number(out, uint64_t{payload.size()});
  put_number(out, checksum64(std::as_bytes(std::span(payload))));
  out += payload;
}

/// Empty where no whole frame stands.
std::span<const std::byte> take_frame(Reader& reader) {
  const auto bytes = reader.number<uint64_t>();
  const auto checksum = reader.number<uint64_t>();
  const auto payload = reader.take(bytes);
  return reader.is_good() && checksum64(payload) == checksum ? payload
                                                             : std::span<const std::byte>();
}

void put_change(std::string& out, const Change& change) {
  put_number(out, static_cast<uint8_t>(change.kind));
  put_text(out, change.item_id);
  put_words(out, change.sid);
  put_text(out, change.title);
  put_text(out, change.attributes);
  put_number(out, change.priority);
}

bool read_batch(std::span<const std::byte> payload, ChangeBatch& batch) {
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
  return reader.is_good() && reader.is_at_end();
}

bool read_header(std::span<const std::byte> payload, LogHeader& header) {
  Reader reader(payload);
  header.base_digest = reader.text();
  header.seed_digest = reader.text();
  header.level_sizes = reader.words();
  bool is_good = reader.is_good() && reader.is_at_end() && !header.level_sizes.empty() &&
                 header.level_sizes.size() <= kMaxDepth;
  for (const uint32_t size : header.level_sizes) {
    is_good = is_good && size >= 1 && size <= kMaxLevelSize;
  }
  return is_good;
}

}  // namespace

void encode_batch(uint64_t sequence_before, std::span<const Change> changes, std::string& records) {
  std::string payload;
  put_number(payload, sequence_before);
  put_number(payload, static_cast<uint32_t>(changes.size()));
  for (const Change& change : changes) put_change(payload, change);
  put_frame(records, payload);
}

Result<ChangeLog> ChangeLog::create(const std::string& path, const LogHeader& header,
                                    std::span<const ChangeBatch> batches, SyncPolicy policy) {
  std::string content(kLogMagic, sizeof(kLogMagic));
  put_number(content, kLogVersion);
  std::string payload;
  put_text(payload, header.base_digest);
  put_text(payload, header.seed_digest);
  put_words(payload, header.level_sizes);
  put_frame(content, payload);
  for (const ChangeBatch& batch : batches) {
    encode_batch(batch.sequence_before, batch.changes, content);
  }
  TESSERA_RETURN_IF_ERROR(platform::write_file_atomically(path, std::as_bytes(std::span(content))));
  LogContent written;
  written.good_bytes = content.size();
  return reopen(path, written, policy);
}

Result<LogContent> ChangeLog::read(const std::string& path) {
  Result<platform::MappedFile> file = platform::MappedFile::open(path, Code::kCatalogueNotFound);
  if (!file.is_ok()) return file.status();
  LogContent content;
  content.file_bytes = file.value().bytes().size();
  Reader reader(file.value().bytes());
  const auto magic = reader.take(sizeof(kLogMagic));
  const bool is_log = reader.is_good() &&
                      std::memcmp(magic.data(), kLogMagic, sizeof(kLogMagic)) == 0 &&
                      reader.number<uint32_t>() == kLogVersion;
  const auto header = is_log ? take_frame(reader) : std::span<const std::byte>();
  if (header.empty() || !read_header(header, content.header)) {
    return Status(Code::kCatalogueCorrupt,
                  path + ": expected a change log of version " + std::to_string(kLogVersion));
  }
  content.good_bytes = sizeof(kLogMagic) + sizeof(kLogVersion) + kFrameBytes + header.size();
  while (!reader.is_at_end()) {
    const auto payload = take_frame(reader);
    ChangeBatch batch;
    if (payload.empty() || !read_batch(payload, batch)) break;
    content.good_bytes += kFrameBytes + payload.size();
    content.batches.push_back(std::move(batch));
  }
  return content;
}

Result<ChangeLog> ChangeLog::reopen(const std::string& path, const LogContent& content,
                                    SyncPolicy policy) {
  Result<platform::AppendFile> file = platform::AppendFile::open(path, content.good_bytes);
  if (!file.is_ok()) return file.status();
  ChangeLog log;
  log.file_ = std::move(file).value();
  log.policy_ = policy;
  return log;
}

Status ChangeLog::append(const std::string& records) {
  TESSERA_RETURN_IF_ERROR(file_.append(std::as_bytes(std::span(records))));
  return policy_ == SyncPolicy::kEachCommit ? file_.sync() : Status::ok();
}

}  // namespace tessera::catalogue
