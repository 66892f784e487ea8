#include "catalogue/snapshot_writer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace tessera::catalogue {
namespace {

constexpr size_t kBufferBytes = 4u << 20;

}  // namespace

SnapshotWriter::SnapshotWriter(const platform::Sink& sink, const Progress& progress,
                               uint64_t total_bytes)
    : sink_(sink), progress_(progress), total_bytes_(total_bytes) {
  buffer_.reserve(kBufferBytes);
}

Status SnapshotWriter::flush() {
  if (buffer_.empty()) return Status::ok();
  if (checksum_ != nullptr) checksum_->update(buffer_);
  TESSERA_RETURN_IF_ERROR(sink_(buffer_));
  buffer_.clear();
  if (progress_) progress_("write", std::min(position_, total_bytes_), total_bytes_);
  return Status::ok();
}

Status SnapshotWriter::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t taken = std::min(bytes.size(), kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + taken);
    position_ += taken;
    bytes = bytes.subspan(taken);
    if (buffer_.size() == kBufferBytes) TESSERA_RETURN_IF_ERROR(flush());
  }
  return Status::ok();
}

Status SnapshotWriter::pad() {
  static constexpr std::array<std::byte, kAlignment> kZeros{};
  return put(std::span(kZeros).first(align_up(position_) - position_));
}

Status SnapshotWriter::begin(SectionId id) {
  TESSERA_CHECK(id == next_section_ && checksum_ == nullptr);
  if (id == 0) {
    Preamble preamble{};
    std::memcpy(preamble.magic, kMagic, sizeof(kMagic));
    preamble.version = kFormatVersion;
    TESSERA_RETURN_IF_ERROR(put(std::as_bytes(std::span(&preamble, 1))));
  }
  TESSERA_RETURN_IF_ERROR(pad());
  TESSERA_RETURN_IF_ERROR(flush());
  section_begin_ = position_;
  checksum_ = std::make_unique<Checksum>();
  return Status::ok();
}

Status SnapshotWriter::append(std::span<const std::byte> bytes) { return put(bytes); }

Status SnapshotWriter::end() {
  TESSERA_RETURN_IF_ERROR(flush());
  sections_[next_section_++] = {section_begin_, position_ - section_begin_, checksum_->value()};
  checksum_.reset();
  return Status::ok();
}

Status SnapshotWriter::finish(Directory& directory) {
  TESSERA_CHECK(next_section_ == kSectionCount);
  TESSERA_RETURN_IF_ERROR(pad());
  std::memcpy(directory.magic, kMagic, sizeof(kMagic));
  directory.version = kFormatVersion;
  directory.directory_bytes = sizeof(Directory);
  directory.file_bytes = position_ + sizeof(Directory);
  directory.section_count = kSectionCount;
  std::copy(std::begin(sections_), std::end(sections_), directory.sections);
  const std::array<uint8_t, 16> digest = directory_digest(directory);
  std::copy(digest.begin(), digest.end(), directory.digest);
  directory.checksum = directory_checksum(directory);
  TESSERA_RETURN_IF_ERROR(put(std::as_bytes(std::span(&directory, 1))));
  return flush();
}

}  // namespace tessera::catalogue
