#include "platform/log_marks.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/check.h"
#include "platform/file.h"
#include "platform/io_error.h"
#include "platform/mapped_file.h"

namespace tessera::platform {
namespace {

constexpr char kMagic[8] = {'T', 'S', 'R', 'A', 'M', 'R', 'K', '1'};
constexpr uint64_t kSlots = 2;

struct Slot {
  char magic[8];
  uint64_t version;
  uint64_t count;
  LogMark marks[LogMarks::kMarksMax];
  uint64_t checksum;
  char rest[4096 - 32 - LogMarks::kMarksMax * sizeof(LogMark)];
};
static_assert(sizeof(Slot) == 4096);

uint64_t checksum_of(const Slot& slot) { return XXH3_64bits(&slot, offsetof(Slot, checksum)); }

Slot slot_of(std::span<const LogMark> marks, uint64_t version) {
  TESSERA_CHECK(marks.size() <= LogMarks::kMarksMax);
  Slot slot{};
  std::memcpy(slot.magic, kMagic, sizeof(kMagic));
  slot.version = version;
  slot.count = marks.size();
  std::copy(marks.begin(), marks.end(), slot.marks);
  slot.checksum = checksum_of(slot);
  return slot;
}

bool is_good(const Slot& slot) {
  return std::memcmp(slot.magic, kMagic, sizeof(kMagic)) == 0 &&
         slot.count <= LogMarks::kMarksMax && slot.checksum == checksum_of(slot);
}

/// The newest good slot. Errors: `missing` where there is no file, IO_FAILED.
Result<std::optional<Slot>> newest_slot(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path, Code::kCatalogueNotFound);
  if (!file.is_ok()) return file.status();
  const std::span<const std::byte> bytes = file.value().bytes();
  std::optional<Slot> newest;
  for (uint64_t i = 0; i < kSlots && (i + 1) * sizeof(Slot) <= bytes.size(); ++i) {
    Slot slot;
    std::memcpy(&slot, bytes.data() + i * sizeof(Slot), sizeof(Slot));
    if (is_good(slot) && (!newest || slot.version > newest->version)) newest = slot;
  }
  return newest;
}

}  // namespace

Result<LogMarks::Found> LogMarks::find(const std::string& path) {
  const Result<std::optional<Slot>> slot = newest_slot(path);
  Found found;
  if (!slot.is_ok()) {
    if (slot.status().code() != Code::kCatalogueNotFound) return slot.status();
    return found;
  }
  found.presence = slot.value() ? Presence::kGood : Presence::kDamaged;
  if (slot.value()) {
    found.marks.assign(slot.value()->marks, slot.value()->marks + slot.value()->count);
  }
  return found;
}

Result<LogMarks> LogMarks::open(const std::string& path, std::span<const LogMark> marks) {
  const Result<std::optional<Slot>> before = newest_slot(path);
  const bool is_there = before.is_ok() && before.value().has_value();
  if (!is_there) {
    const std::array<Slot, kSlots> slots = {slot_of(marks, 1), slot_of(marks, 2)};
    TESSERA_RETURN_IF_ERROR(write_file_atomically(path, std::as_bytes(std::span(slots))));
  }
  LogMarks opened;
  opened.path_ = path;
  opened.version_ = is_there ? before.value()->version : kSlots;
  opened.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened.descriptor_ < 0) return io_error(path, "open");
  if (is_there) TESSERA_RETURN_IF_ERROR(opened.put_durably(marks));
  return opened;
}

LogMarks::LogMarks(LogMarks&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      version_(other.version_),
      path_(std::move(other.path_)) {}

LogMarks& LogMarks::operator=(LogMarks&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(version_, other.version_);
  std::swap(path_, other.path_);
  return *this;
}

LogMarks::~LogMarks() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status LogMarks::put(std::span<const LogMark> marks) {
  const Slot slot = slot_of(marks, version_ + 1);
  const auto offset = static_cast<off_t>(version_ % kSlots * sizeof(Slot));
  if (::pwrite(descriptor_, &slot, sizeof(slot), offset) != ssize_t{sizeof(slot)}) {
    return io_error(path_, "write");
  }
  ++version_;
  return Status::ok();
}

Status LogMarks::put_durably(std::span<const LogMark> marks) {
  for (uint64_t i = 0; i < kSlots; ++i) {
    TESSERA_RETURN_IF_ERROR(put(marks));
    if (::fdatasync(descriptor_) != 0) return io_error(path_, "sync");
  }
  return Status::ok();
}

}  // namespace tessera::platform
