#include "kv/disk_store.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kv/memory.h"

namespace tessera::kv {
namespace {

constexpr char kFormatKey[] = "format";

/// Moves a folder aside and removes the one moved before: such folders are looked at, not kept.
Status move_aside(const std::filesystem::path& folder) {
  const std::filesystem::path aside = folder.string() + ".damaged";
  std::error_code error;
  std::filesystem::remove_all(aside, error);
  if (!error) std::filesystem::rename(folder, aside, error);
  if (!error) return Status::ok();
  return {Code::kKvStoreInvalid, folder.string() + ": cannot be moved aside: " + error.message()};
}

/// True if a head whose key is `own` lies under the name of its user, as a release before wrote it.
bool is_named(std::string_view key, std::string_view own) {
  const size_t owner_at = own.size() - std::min(own.size(), sizeof(Digest));
  if (own.empty() || key.size() < owner_at || key.substr(0, owner_at) != own.substr(0, owner_at)) {
    return false;
  }
  Digest held;
  return own.substr(owner_at) == owner_of_user(key.substr(owner_at), held);
}

/// The settings under which a folder can be read: everything that places bytes.
std::string format_of(const DiskLayout& layout) {
  return "tessera kv 1, blocks of " + std::to_string(kBlockTokens) + " tokens and " +
         std::to_string(layout.block_bytes) + " bytes" +
         (layout.codec.empty() ? "" : ", " + layout.codec);
}

Status check_format(HeadIndex& index, const DiskLayout& layout) {
  Result<std::string> found = index.get(kFormatKey);
  if (!found.is_ok()) return found.status();
  const std::string wanted = format_of(layout);
  if (found.value() == wanted) return Status::ok();
  if (found.value().empty()) {
    const std::vector<HeadIndex::Entry> put = {{kFormatKey, wanted}};
    return index.commit({}, put);
  }
  return {Code::kKvStoreInvalid, layout.folder + ": expected '" + wanted + "', this is '" +
                                     found.value() + "': use another folder or remove this one"};
}

Status failed(const char* what, SlotIndex slot, int64_t error) {
  const Code code = error == -ENOSPC ? Code::kEngineOverloaded : Code::kIoFailed;
  return {code, std::string("disk tier: ") + what + " slot " + std::to_string(slot) + ": " +
                    (error == 0 ? "end of file" : std::strerror(static_cast<int>(-error)))};
}

/// Bytes at an address and of a size that direct access takes; per thread, grown once.
std::span<std::byte> aligned_bytes(uint64_t size) {
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  thread_local std::unique_ptr<void, Free> data;
  thread_local uint64_t capacity = 0;
  if (capacity < size) {
    data.reset(std::aligned_alloc(Arena::kAlignment, size));
    capacity = data == nullptr ? 0 : size;
  }
  return {static_cast<std::byte*>(data.get()), capacity < size ? 0 : size};
}

bool is_aligned(const void* address, uint64_t size) {
  return reinterpret_cast<uintptr_t>(address) % Arena::kAlignment == 0 &&
         size % Arena::kAlignment == 0;
}

int64_t read_all(File& file, uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const int64_t done = file.read_some(offset, to);
    if (done == -EINTR) continue;
    if (done <= 0) return done == 0 ? -EIO : done;  // the file is as long as its slots
    offset += static_cast<uint64_t>(done);
    to = to.subspan(static_cast<uint64_t>(done));
  }
  return 1;
}

int64_t write_all(File& file, uint64_t offset, std::span<const std::byte> from) {
  while (!from.empty()) {
    const int64_t done = file.write_some(offset, from);
    if (done == -EINTR) continue;
    if (done <= 0) return done == 0 ? -EIO : done;
    offset += static_cast<uint64_t>(done);
    from = from.subspan(static_cast<uint64_t>(done));
  }
  return 1;
}

}  // namespace

Result<std::unique_ptr<DiskStore>> DiskStore::open(const DiskLayout& layout) {
  std::error_code error;
  const std::filesystem::path folder = layout.folder;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Status(Code::kKvStoreInvalid, layout.folder + ": cannot be made: " + error.message());
  }
  Result<std::unique_ptr<platform::FolderLock>> lock =
      platform::FolderLock::take(folder / "lock", Code::kKvStoreInvalid);
  if (!lock.is_ok()) return lock.status();
  std::string dropped;
  Result<std::unique_ptr<HeadIndex>> index = open_index(layout, dropped);
  if (!index.is_ok()) return index.status();
  const uint64_t size = slot_stride(layout.block_bytes) * layout.slot_count;
  Result<std::unique_ptr<File>> blocks = open_file(folder / "blocks", size);
  if (!blocks.is_ok()) return blocks.status();
  auto store = std::make_unique<DiskStore>(layout, std::move(blocks).value(),
                                           std::move(index).value(), std::move(lock).value());
  store->dropped_ = std::move(dropped);
  return store;
}

Result<std::unique_ptr<HeadIndex>> DiskStore::open_index(const DiskLayout& layout,
                                                         std::string& dropped) {
  const std::filesystem::path folder = std::filesystem::path(layout.folder) / "index";
  const auto opened = [&]() -> Result<std::unique_ptr<HeadIndex>> {
    Result<std::unique_ptr<HeadIndex>> index = open_rocksdb_index(folder);
    if (index.is_ok()) TESSERA_RETURN_IF_ERROR(check_format(*index.value(), layout));
    return index;
  };
  Result<std::unique_ptr<HeadIndex>> index = opened();
  if (index.is_ok() || index.status().code() != Code::kKvStoreCorrupt) return index;
  dropped = index.status().message();
  TESSERA_RETURN_IF_ERROR(move_aside(folder));
  return opened();
}

/// Begins anew. REQUIRES: no head has been handed out.
Status DiskStore::drop_index(const Status& damage) {
  index_.reset();
  TESSERA_RETURN_IF_ERROR(move_aside(std::filesystem::path(layout_.folder) / "index"));
  Result<std::unique_ptr<HeadIndex>> index = open_index(layout_, dropped_);
  if (!index.is_ok()) return index.status();
  index_ = std::move(index).value();
  dropped_ = damage.message();
  return Status::ok();
}

DiskStore::DiskStore(const DiskLayout& layout, std::unique_ptr<File> blocks,
                     std::unique_ptr<HeadIndex> index, std::unique_ptr<platform::FolderLock> lock)
    : layout_(layout),
      stride_(slot_stride(layout.block_bytes)),
      lock_(std::move(lock)),
      blocks_(std::move(blocks)),
      index_(std::move(index)) {}

/// Heads of a release before lay under users' IDs: from now on they lie under digests. Those for
/// which there is no room go.
Status DiskStore::take_names_out(std::vector<HeadRecord>& heads,
                                 std::vector<std::string> named_keys) {
  if (named_keys.empty()) return Status::ok();
  std::vector<HeadIndex::Entry> entries;
  for (const HeadRecord& head : heads) entries.push_back({encode_key(head.key), encode(head)});
  const Status put = index_->commit(named_keys, entries);
  if (put.is_ok()) return index_->scrub({});
  undecodable_.insert(undecodable_.end(), named_keys.begin(), named_keys.end());
  heads.clear();
  return Status::ok();
}

Result<uint64_t> DiskStore::recover(const std::function<void(HeadRecord&&)>& each) {
  std::vector<HeadRecord> heads, named;
  std::vector<std::string> named_keys;
  const Status scanned = index_->scan([&](std::string_view key, std::string_view value) {
    if (key == kFormatKey) return;
    Result<HeadRecord> head = decode(value);
    const std::string own = head.is_ok() ? encode_key(head.value().key) : std::string();
    if (own == key) {
      heads.push_back(std::move(head).value());
    } else if (is_named(key, own)) {
      named.push_back(std::move(head).value());
      named_keys.emplace_back(key);
    } else {
      undecodable_.emplace_back(key);
    }
  });
  if (scanned.code() == Code::kKvStoreCorrupt) {
    undecodable_.clear();
    TESSERA_RETURN_IF_ERROR(drop_index(scanned));
    return uint64_t{0};
  }
  if (!scanned.is_ok()) return scanned;
  TESSERA_RETURN_IF_ERROR(take_names_out(named, std::move(named_keys)));
  for (HeadRecord& head : heads) each(std::move(head));
  for (HeadRecord& head : named) each(std::move(head));
  return undecodable_.size();
}

Status DiskStore::read(SlotIndex slot, std::span<std::byte> to) {
  const uint64_t offset = stride_ * slot;
  if (!blocks_->is_direct() || is_aligned(to.data(), to.size())) {
    const int64_t done = read_all(*blocks_, offset, to);
    return done > 0 ? Status::ok() : failed("read of", slot, done);
  }
  const std::span<std::byte> bounce = aligned_bytes(stride_);
  if (bounce.empty()) return failed("read of", slot, -ENOMEM);
  const int64_t done = read_all(*blocks_, offset, bounce);
  if (done <= 0) return failed("read of", slot, done);
  std::memcpy(to.data(), bounce.data(), to.size());
  return Status::ok();
}

Status DiskStore::write(SlotIndex slot, std::span<const std::byte> from) {
  if (blocks_->space_left() < layout_.reserve_bytes + from.size()) {
    return failed("write of", slot, -ENOSPC);
  }
  const uint64_t offset = stride_ * slot;
  std::span<const std::byte> bytes = from;
  if (blocks_->is_direct() && !is_aligned(from.data(), from.size())) {
    const std::span<std::byte> bounce = aligned_bytes(stride_);
    if (bounce.empty()) return failed("write of", slot, -ENOMEM);
    std::memcpy(bounce.data(), from.data(), from.size());
    std::memset(bounce.data() + from.size(), 0, stride_ - from.size());
    bytes = bounce;
  }
  const int64_t done = write_all(*blocks_, offset, bytes);
  return done > 0 ? Status::ok() : failed("write of", slot, done);
}

void DiskStore::begin_read(BlockTransfer& transfer) {
  transfer.status = read(transfer.block.slot, transfer.to);
  if (transfer.status.is_ok()) transfer.status = check_bytes(transfer.block, transfer.to);
}

void DiskStore::begin_write(BlockTransfer& transfer) {
  transfer.block.checksum = block_checksum(transfer.from, transfer.block.key);
  transfer.status = write(transfer.block.slot, transfer.from);
}

Status DiskStore::sync() {
  const int done = blocks_->sync();
  if (done == 0) return Status::ok();
  return {Code::kIoFailed, std::string("disk tier: sync: ") + std::strerror(-done)};
}

Status DiskStore::commit(std::span<const HeadKey> erased, std::span<const HeadRecord> put) {
  std::vector<std::string> keys = undecodable_;
  for (const HeadKey& key : erased) keys.push_back(encode_key(key));
  std::vector<HeadIndex::Entry> entries;
  uint64_t bytes = 0;
  for (const HeadRecord& head : put) {
    entries.push_back({encode_key(head.key), encode(head)});
    bytes += entries.back().value.size();
  }
  if (blocks_->space_left() < layout_.reserve_bytes / 2 + bytes) {
    return {Code::kEngineOverloaded, "disk tier: no space left for its index"};
  }
  TESSERA_RETURN_IF_ERROR(index_->commit(keys, entries));
  undecodable_.clear();
  return Status::ok();
}

Status DiskStore::discard(SlotIndex slot) {
  const int done = blocks_->punch(stride_ * slot, stride_);
  if (done == 0) return Status::ok();
  const std::span<std::byte> zeros = aligned_bytes(stride_);  // no holes here: overwrite
  if (zeros.empty()) return failed("discard of", slot, -ENOMEM);
  std::memset(zeros.data(), 0, zeros.size());
  const int64_t written = write_all(*blocks_, stride_ * slot, zeros);
  return written > 0 ? Status::ok() : failed("discard of", slot, written);
}

Status DiskStore::erase_traces(std::span<const HeadKey> erased) {
  std::vector<std::string> keys;
  for (const HeadKey& key : erased) keys.push_back(encode_key(key));
  return index_->scrub(keys);
}

}  // namespace tessera::kv
