// A store that several pools share, in memory: what a server of the field does, with its faults. A
// thread for each link performs the calls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "kv/store_link.h"

namespace tessera::kv {

/// Chances in 1/1000 per call.
struct ServerFaults {
  uint32_t fails = 0;
  uint32_t forgets = 0;       // the chain that is asked for is gone
  uint32_t alters = 0;        // a bit of what is read is another one
  uint32_t cuts = 0;          // the last byte of it is missing
  uint32_t hides = 0;         // no answer; the link's limit ends the call
  uint32_t loses_answer = 0;  // done, and answered with an error
};

class SimServer {
 public:
  explicit SimServer(uint64_t seed) : random_(seed) {}
  ~SimServer();

  /// A link to this server. `erased_until`: of the process that uses it; outlives the server.
  std::shared_ptr<StoreLink> connect(const std::atomic<uint64_t>& erased_until, uint64_t limit_us);
  /// Ends the thread of a link.
  void disconnect(const std::shared_ptr<StoreLink>& link);

  void set_faults(const ServerFaults& faults);
  /// Bytes and heads kept under the owner.
  size_t kept_of(const Digest& owner);
  /// Chains with the bits of their heads or blocks flipped at random.
  void damage();
  /// Everything it keeps is gone.
  void forget();

 private:
  struct Kept {
    std::string head, revision;
    std::map<Digest, std::string> blocks;
  };
  struct Line {
    std::shared_ptr<StoreLink> link;
    const std::atomic<uint64_t>* erased_until;
    Mutex mutex;
    std::condition_variable rung;
    bool is_rung = false, is_over = false;
    std::thread thread;
  };
  using Name = std::pair<Digest, Digest>;

  void serve(Line& line);
  void perform(Line& line, const StoreCall& call);
  StoreCallEnd act(const StoreCall& call, uint64_t erased_until, const std::string& carried,
                   std::string& bytes, std::string& text);
  bool happens(uint32_t chance) { return random_() % 1000 < chance; }
  static void flip(std::string& bytes, std::mt19937_64& random);

  Mutex mutex_;
  std::mt19937_64 random_;
  ServerFaults faults_;
  std::map<Name, Kept> chains_;
  std::map<Digest, uint64_t> erased_;
  uint64_t revisions_ = 0;
  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace tessera::kv
