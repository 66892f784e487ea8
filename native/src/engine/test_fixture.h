// The recorded parity fixtures (test/fixtures/parity) as engines, bindings and requests. Test only.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catalogue/input.h"
#include "engine/engine.h"
#include "engine/test_stand_in.h"

namespace tessera::engine {

struct ExpectedPath {
  std::vector<uint32_t> sid;
  double score = 0;
};

struct FixtureCase {
  std::vector<int32_t> prompt;
  std::vector<uint32_t> widths;
  std::vector<int32_t> terminal_tokens;
  std::vector<int32_t> level_token_base;
  std::vector<ExpectedPath> expected;
};

/// True if the device that the tests run on serves the model, a folder of test/fixtures/parity:
/// all but those with a recurrent state on a card.
bool is_served_here(const std::string& model);
std::vector<std::string> served_here(std::vector<std::string> models);
/// Folders of those that are served and hold a cases.json.
std::vector<std::filesystem::path> fixture_folders();
std::vector<FixtureCase> read_cases(const std::filesystem::path& folder);
/// Builds the folder's catalogue.jsonl into a temporary file and maps it.
std::shared_ptr<const catalogue::Snapshot> open_fixture_catalogue(
    const std::filesystem::path& folder);
/// Snapshot of a file that is gone when the function returns.
std::shared_ptr<const catalogue::Snapshot> snapshot_of(const catalogue::CatalogueInput& input);

/// Collects completions; waits for them without polling.
class CollectingSink final : public CompletionSink {
 public:
  void complete(Completion completion) override;
  /// Blocks until `count` completions have come; they are handed over by ticket.
  std::map<uint32_t, Completion> wait_for(size_t count);

 private:
  Mutex mutex_;
  std::condition_variable arrived_;
  std::map<uint32_t, Completion> completions_;
};

/// Ends all that is in flight. Then one line per thing that requests have taken and not given back,
/// and per block that is neither free nor of a chain; none of an engine that is closed or null.
std::vector<std::string> held_by(Engine* engine);

/// True where the tests run on a card that stands in (test_stand_in.h): with TESSERA_TEST_DEVICE
/// "stand-in".
bool is_on_stand_in();
/// Opens an engine on the device that the tests run on.
Result<std::unique_ptr<Engine>> open_fixture_engine(const EngineOptions& options,
                                                    CompletionSink& sink);
/// The decoder of the options on that device, and its pool, with one version, 0.
struct FixtureDecoder {
  std::unique_ptr<device::Device> processor;
  std::shared_ptr<model::Decoder> decoder;
  std::shared_ptr<kv::Pool> pool;
  attention::BlockLayout block_layout;
};
FixtureDecoder open_fixture_decoder(const EngineOptions& options);

/// The processor may touch keys and values of the decoder while it lives, which are otherwise a
/// card's alone.
class TouchedMemory {
 public:
  explicit TouchedMemory(const model::Decoder& decoder);
  ~TouchedMemory();

 private:
  std::unique_ptr<ClosedMemory::Opened> opened_;
};

EngineOptions fixture_options(const std::filesystem::path& folder);
/// The snapshot as a catalogue that may change, kept nowhere.
std::shared_ptr<catalogue::LiveCatalogue> live_fixture(
    std::shared_ptr<const catalogue::Snapshot> snapshot);
/// Level l's code c is token base[l] + c.
std::shared_ptr<const Binding> bind_fixture(const model::ModelConfig& config,
                                            std::shared_ptr<const catalogue::Snapshot> snapshot,
                                            const FixtureCase& fixture,
                                            const model::HeadVocabulary& head = {});
Request make_request(uint32_t ticket, std::shared_ptr<const Binding> binding,
                     const FixtureCase& fixture);
std::vector<ExpectedPath> paths_of(const Completion& completion);

}  // namespace tessera::engine
