#include "engine/test_fixture.h"

#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "catalogue/builder.h"
#include "engine/open_pool.h"

namespace tessera::engine {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

template <typename T>
std::vector<T> integers(element array) {
  std::vector<T> values;
  for (const element value : array.get_array()) values.push_back(static_cast<T>(int64_t{value}));
  return values;
}

}  // namespace

std::vector<fs::path> fixture_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry :
       fs::directory_iterator(fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity")) {
    const bool is_one = fs::exists(entry.path() / "cases.json");
    if (is_one && is_served_here(entry.path().filename())) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool is_served_here(const std::string& model) {
  if (!is_on_stand_in()) return true;
  const fs::path folder = fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity" / model;
  const auto config = model::ModelConfig::load(folder.string());
  return config.is_ok() && !config.value().family->is_hybrid;
}

std::vector<std::string> served_here(std::vector<std::string> models) {
  std::erase_if(models, [](const std::string& model) { return !is_served_here(model); });
  return models;
}

std::vector<FixtureCase> read_cases(const fs::path& folder) {
  simdjson::dom::parser parser;
  std::vector<FixtureCase> cases;
  for (const element entry : parser.load((folder / "cases.json").string()).get_array()) {
    FixtureCase fixture;
    fixture.prompt = integers<int32_t>(entry["promptTokens"]);
    fixture.widths = integers<uint32_t>(entry["widths"]);
    fixture.terminal_tokens = integers<int32_t>(entry["terminalTokens"]);
    fixture.level_token_base = integers<int32_t>(entry["levelTokenBase"]);
    for (const element path : entry["expected"].get_array()) {
      fixture.expected.push_back({integers<uint32_t>(path["sid"]), double{path["score"]}});
    }
    cases.push_back(std::move(fixture));
  }
  return cases;
}

std::shared_ptr<const catalogue::Snapshot> open_fixture_catalogue(const fs::path& folder) {
  simdjson::dom::parser parser;
  catalogue::CatalogueInput input;
  for (const element item : parser.load_many((folder / "catalogue.jsonl").string())) {
    const auto sid = integers<uint32_t>(item["sid"]);
    input.codes.insert(input.codes.end(), sid.begin(), sid.end());
    input.sid_ends.push_back(input.codes.size());
    input.item_ids.add(std::string_view(item["item_id"]));
  }
  return snapshot_of(input);
}

std::shared_ptr<const catalogue::Snapshot> snapshot_of(const catalogue::CatalogueInput& input) {
  const fs::path path =
      fs::temp_directory_path() / ("tessera-engine-" + std::to_string(::getpid()) + ".snapshot");
  auto report = catalogue::build_snapshot(input, path.string(), {});
  if (!report.is_ok()) throw std::runtime_error(report.status().message());
  auto snapshot = catalogue::Snapshot::open(path.string());
  fs::remove(path);
  if (!snapshot.is_ok()) throw std::runtime_error(snapshot.status().message());
  return std::move(snapshot).value();
}

void CollectingSink::complete(Completion completion) {
  const MutexLock lock(mutex_);
  const uint32_t ticket = completion.ticket;
  completions_.emplace(ticket, std::move(completion));
  arrived_.notify_all();
}

std::map<uint32_t, Completion> CollectingSink::wait_for(size_t count) {
  MutexLock lock(mutex_);
  lock.wait(arrived_, [&] { return completions_.size() >= count; });
  return std::exchange(completions_, {});
}

EngineOptions fixture_options(const fs::path& folder) {
  EngineOptions options;
  options.model_path = folder.string();
  options.thread_count = 1;
  options.queue_capacity = 256;
  options.batch_requests_max = 8;
  options.batch_rows_max = 600;
  options.prefill_chunk_tokens = 64;
  options.kv_bytes_max = 1u << 30;
  options.kv.device_bytes = 64u << 20;
  options.prompt_tokens_max = 512;
  options.width_max = 512;
  options.result_count_max = 4096;
  options.score_items_max = 512;
  return options;
}

std::vector<std::string> held_by(Engine* engine) {
  if (engine == nullptr || engine->pool() == nullptr) return {};
  engine->drain(std::chrono::microseconds(0));
  const Stats stats = engine->stats();
  const kv::PoolMetrics pool = engine->pool()->metrics();
  std::vector<std::string> held = engine->pool()->check_integrity().faults;
  const auto expect_none = [&](const char* what, uint64_t count) {
    if (count != 0) held.push_back(std::to_string(count) + " " + what);
  };
  expect_none("requests in flight", stats.in_flight);
  expect_none("tickets reserved", stats.reserved);
  expect_none("prefetches", pool.prefetching);
  expect_none("leases", pool.leases);
  return held;
}

std::shared_ptr<catalogue::LiveCatalogue> live_fixture(
    std::shared_ptr<const catalogue::Snapshot> snapshot) {
  auto live = catalogue::LiveCatalogue::open(std::move(snapshot), {});
  if (!live.is_ok()) throw std::runtime_error(live.status().message());
  return std::move(live).value();
}

TouchedMemory::TouchedMemory(const model::Decoder& decoder) {
  if (is_on_stand_in()) {
    opened_ =
        std::make_unique<ClosedMemory::Opened>(static_cast<const StandInCard&>(decoder).memory());
  }
}
TouchedMemory::~TouchedMemory() = default;

bool is_on_stand_in() {
  const char* device = std::getenv("TESSERA_TEST_DEVICE");
  return device != nullptr && std::string(device) == "stand-in";
}

Result<std::unique_ptr<Engine>> open_fixture_engine(const EngineOptions& options,
                                                    CompletionSink& sink) {
  if (!is_on_stand_in()) return Engine::open(options, sink);
  TESSERA_RETURN_IF_ERROR(validate(options));
  EngineOptions fitted = options;
  auto parts = open_on_stand_in(fitted);
  if (!parts.is_ok()) return parts.status();
  return Engine::open(fitted, std::move(parts).value(), sink);
}

FixtureDecoder open_fixture_decoder(const EngineOptions& options) {
  EngineOptions fitted = options;
  auto parts = is_on_stand_in() ? open_on_stand_in(fitted) : open_on_processor(fitted);
  if (!parts.is_ok()) throw std::runtime_error(parts.status().message());
  FixtureDecoder opened;
  opened.processor = std::move(parts.value().processor);
  opened.decoder = std::move(parts.value().decoder);
  opened.block_layout = opened.decoder->block_layout();
  parts.value().loop.reset();
  opened.pool = std::move(parts.value().pool);
  const auto version =
      opened.pool->add_version(identity_of(parts.value().model, "template", "codebook"));
  if (!version.is_ok()) throw std::runtime_error(version.status().message());
  return opened;
}

std::shared_ptr<const Binding> bind_fixture(const model::ModelConfig& config,
                                            std::shared_ptr<const catalogue::Snapshot> snapshot,
                                            const FixtureCase& fixture,
                                            const model::HeadVocabulary& head) {
  std::vector<std::vector<int32_t>> levels(snapshot->depth());
  for (uint32_t level = 0; level < snapshot->depth(); ++level) {
    for (uint32_t code = 0; code < snapshot->level_size(level); ++code) {
      levels[level].push_back(fixture.level_token_base[level] + static_cast<int32_t>(code));
    }
  }
  auto binding = Binding::create(config, live_fixture(std::move(snapshot)), std::move(levels),
                                 fixture.terminal_tokens, head);
  if (!binding.is_ok()) throw std::runtime_error(binding.status().message());
  return std::move(binding).value();
}

Request make_request(uint32_t ticket, std::shared_ptr<const Binding> binding,
                     const FixtureCase& fixture) {
  Request request;
  request.ticket = ticket;
  request.binding = std::move(binding);
  request.prompt = fixture.prompt;
  request.widths = fixture.widths;
  request.result_count = 4096;
  request.items_per_sid = 1;
  request.deadline = Clock::now() + std::chrono::hours(1);
  return request;
}

std::vector<ExpectedPath> paths_of(const Completion& completion) {
  std::vector<ExpectedPath> paths;
  for (size_t p = 0; p < completion.answer.path_scores.size(); ++p) {
    const auto first = completion.answer.path_codes.begin();
    paths.push_back(
        {{first + completion.answer.path_offsets[p], first + completion.answer.path_offsets[p + 1]},
         completion.answer.path_scores[p]});
  }
  return paths;
}

}  // namespace tessera::engine
