// Calls to a store that somebody else performs: in the service, a thread of JavaScript with the
// client of that store. The engine begins calls, the performer takes them and ends each; what has
// not ended within its time limit has failed, whatever the performer does with it later.
//
// Thread-safety: any threads. No callback is called under the link's lock.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "kv/block_store.h"

namespace tessera::kv {

enum class StoreCallKind : uint8_t { kFind, kRead, kWrite, kPublish, kErase };

/// A call as the performer gets it.
struct StoreCall {
  uint64_t id = 0;
  StoreCallKind kind = StoreCallKind::kFind;
  ChainName chain;           // kErase: the owner alone
  Digest block;              // kRead, kWrite
  uint64_t checksum = 0;     // kWrite: of the block, kept in front of it
  std::string replaces;      // kPublish: revision
  std::vector<Digest> gone;  // kPublish: blocks
  uint64_t at = 0;           // kErase: offset in the log of the cluster
};

/// kDamaged: what was read is not of the size of a block; the link itself says so.
enum class StoreCallEnd : uint8_t { kOk, kMissing, kChanged, kErased, kFailed, kDamaged };

struct StoreAnswer {
  StoreCallEnd end = StoreCallEnd::kFailed;
  std::string bytes;      // kFind: the head
  uint64_t checksum = 0;  // kRead: of the block, as it lay in front of it
  std::string text;       // revision; kFailed: why
};

class StoreLink {
 public:
  using Then = std::function<void(StoreAnswer)>;

  /// `limit_us`: of every call but erasures, which have ten times as much.
  explicit StoreLink(uint64_t limit_us) : limit_us_(limit_us) {}

  // The performer's side.
  /// Calls that wait for the performer ring `bell`, which must not call the link; null: nobody
  /// performs, and calls fail at once.
  void serve(std::function<void()> bell);
  std::vector<StoreCall> take();
  /// Shows what a write or publish carries, in two parts; false: the call has been given up.
  using Copy = std::function<void(std::span<const std::byte>, std::span<const std::byte>)>;
  bool bytes_of(uint64_t id, const Copy& copy);
  /// Nothing if the call has been given up.
  void end(uint64_t id, StoreCallEnd how, std::span<const std::byte> bytes, std::string text);
  /// False: nothing but erasures is to be begun.
  void set_available(bool is_available);

  // The engine's side.
  bool is_available() const;
  /// Begins a call that `then` hears of, on the performer's thread or, where nobody performs or
  /// time runs out, on one of the engine's.
  uint64_t begin(StoreCall call, std::string carried, Then then);
  /// Begins a transfer of block bytes: into `to`, or out of `from`, each behind the checksum.
  uint64_t begin_transfer(StoreCall call, std::span<std::byte> to, std::span<const std::byte> from);
  /// Waits up to `budget_us` for the transfer's end; its answer has no bytes. False: not yet.
  bool has_ended(uint64_t id, uint64_t budget_us, StoreAnswer& answer);
  /// begin() and a wait for the end.
  StoreAnswer call(StoreCall call, std::string carried = {});
  /// Ends what is over time; called by whoever waits anyway.
  void end_late();
  /// Ends all calls with an error; nothing is begun from now on. On return no callback runs, on
  /// whatever thread, and none will: what they refer to may go. Not to be called by one.
  void close();

 private:
  struct Pending {
    StoreCallKind kind = StoreCallKind::kFind;
    uint64_t until_us = 0;
    uint64_t checksum = 0;
    std::string carried;
    std::span<std::byte> to;
    std::span<const std::byte> from;
    Then then;                // null: a transfer, which is asked for
    bool is_touched = false;  // the performer is copying its bytes
    bool has_ended = false;
    StoreAnswer answer;
  };
  using Calls = std::map<uint64_t, Pending>;

  uint64_t add(StoreCall& call, Pending pending);
  void give_up(Calls::iterator at, std::vector<Pending>& ended, std::string why) REQUIRES(mutex_);
  void tell(std::vector<Pending>& ended);

  const uint64_t limit_us_;
  mutable Mutex mutex_;
  std::condition_variable changed_;
  Calls calls_ GUARDED_BY(mutex_);
  std::map<uint64_t, StoreCall> waiting_ GUARDED_BY(mutex_);  // all of them under way
  bool is_rung_ GUARDED_BY(mutex_) = false;                   // and nothing was taken since
  uint64_t telling_ GUARDED_BY(mutex_) = 0;                   // callbacks that run or are to
  std::function<void()> bell_ GUARDED_BY(mutex_);
  uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  bool is_available_ GUARDED_BY(mutex_) = false;
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace tessera::kv
