// A store that processes on other machines use as well. Its blocks lie under owner, version and
// content, and each chain has a head there, which is replaced only by compare-and-swap: of two
// processes that both hold a user, neither loses what the other has put. A chain that the store
// forgets is computed anew.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "kv/block_store.h"

namespace tessera::kv {

/// A head as it lies in the store. `revision`: what the store calls this state of it.
struct FoundHead {
  std::string head;  // of encode() in head_record.h; its slots mean nothing
  std::string revision;
};

enum class Published : uint8_t {
  kKept,
  kChanged,  // another process has replaced the head since
  kErased,   // the owner was erased, and this process has not applied that yet
};

/// Thread-safety: any threads. Every call ends, if need be with an error of its own time limit.
class SharedStore : public BlockStore {
 public:
  using FindEnd = std::function<void(Result<FoundHead>)>;

  SharedStore* shared() final { return this; }
  /// False: nothing but erasures is to be begun, it would fail at once.
  virtual bool is_available() const = 0;
  /// Begins to look for a chain's head. `then` is called once, on a thread of the store or on this
  /// one, never under a lock of the store: an empty head where there is none. Errors: IO_FAILED.
  virtual void find(const ChainName& chain, FindEnd then) = 0;
  /// Finds the head and waits for it.
  virtual Result<FoundHead> find_now(const ChainName& chain) = 0;
  /// Ends calls whose time is over and that nobody waits for; to be called now and then.
  virtual void end_late() = 0;
  /// Replaces the head whose revision is `replaces` (empty: there is none), and removes the blocks
  /// `gone`; waits. `revision`: of the new head, where it was kept. Errors: IO_FAILED.
  virtual Result<Published> publish(const ChainName& chain, const std::string& head,
                                    const std::string& replaces, std::span<const Digest> gone,
                                    std::string& revision) = 0;
  /// Removes all that is kept of the owner; waits. Processes that have not applied erasure `at` can
  /// put nothing of the owner from then on. Errors: IO_FAILED; the erasure goes on.
  virtual Status erase(const Digest& owner, uint64_t at) = 0;
  /// Ends all calls with an error; nothing is begun from now on.
  virtual void close() = 0;
};

}  // namespace tessera::kv
