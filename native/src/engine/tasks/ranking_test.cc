// Heads over items behind a prompt: equal to transformers in double precision, the same bits
// however they run, and of a recall those of the items that it found, whose rows are not computed
// again.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>

#include "engine/limits.h"
#include "engine/tasks/ranking.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace ranking_test {

namespace fs = std::filesystem;
using simdjson::dom::element;

const fs::path kFixtures = fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures";
constexpr lora::Limits kLimits{ops::kRankMax, 1e3};
constexpr double kTolerance = 1e-5;

/// By value: a result's own is gone before a loop over it begins.
simdjson::dom::array list_of(element value) { return value.get_array(); }
simdjson::dom::object members_of(element value) { return value.get_object(); }

template <typename Number>
std::vector<Number> numbers_of(element list) {
  std::vector<Number> numbers;
  for (const element one : list_of(list)) {
    numbers.push_back(static_cast<Number>(one.is_null() ? std::nan("") : double(one)));
  }
  return numbers;
}

std::vector<uint32_t> bits_of(std::span<const float> numbers) {
  std::vector<uint32_t> bits;
  for (const float number : numbers) bits.push_back(std::bit_cast<uint32_t>(number));
  return bits;
}

class RankingTest : public testing::Test {
 protected:
  struct Settings {
    uint32_t batch = 8, chunk = 64, threads = 1;
    bool keeps_kv = false;
    model::ComputeType type = model::ComputeType::kF32;
  };

  void TearDown() override {
    if (engine_ != nullptr) EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{});
  }

  void open(const std::string& model, const Settings& settings) {
    binding_.reset();
    engine_.reset();
    EngineOptions options = fixture_options(kFixtures / "parity" / model);
    options.batch_requests_max = settings.batch;
    options.prefill_chunk_tokens = settings.chunk;
    options.thread_count = settings.threads;
    options.compute_type = settings.type;
    options.adapter_bytes_max = 64u << 20;
    options.kv.is_enabled = settings.keeps_kv;
    engine_ = std::move(open_fixture_engine(options, sink_)).value();
    fixture_ = read_cases(kFixtures / "parity" / model).back();
  }
  /// Items of these SIDs in their order, which the import gives ordinals of its own.
  void bind(const std::vector<std::vector<uint32_t>>& sids,
            const std::vector<std::string>& attributes = {}) {
    catalogue::CatalogueInput input;
    for (size_t i = 0; i < sids.size(); ++i) {
      input.codes.insert(input.codes.end(), sids[i].begin(), sids[i].end());
      input.sid_ends.push_back(input.codes.size());
      input.item_ids.add(std::to_string(i));
      if (!attributes.empty()) input.attributes.add(attributes[i]);
    }
    binding_ = bind_fixture(engine_->model().config, snapshot_of(input), fixture_);
  }
  void bind_catalogue(const std::string& model) {
    binding_ = bind_fixture(engine_->model().config,
                            open_fixture_catalogue(kFixtures / "parity" / model), fixture_);
  }

  std::shared_ptr<const lora::Adapter> load(const std::string& name) {
    auto loaded = engine_->load_adapter((kFixtures / "ranking" / name).string(), kLimits);
    EXPECT_TRUE(loaded.is_ok()) << loaded.status().message();
    return loaded.is_ok() ? loaded.value() : nullptr;
  }

  /// For all items; a rank request unless `task` is another.
  Request request(uint32_t ticket, std::shared_ptr<const lora::Adapter> ranking,
                  const Task& task = rank_task()) {
    Request request = make_request(ticket, binding_, fixture_);
    request.task = &task;
    request.reach = binding_->reach();
    request.items_per_sid = 0;
    if (&task == &rank_task()) {
      request.items.resize(request.reach.view().item_count());
      std::iota(request.items.begin(), request.items.end(), 0u);
    }
    if (ranking->changes_rows() && !ranking->summary().is_activated) request.adapter = ranking;
    const std::string digest = request.adapter == nullptr ? "" : request.adapter->summary().digest;
    request.kv.version = engine_->add_version("template", "codebook", digest).value();
    request.ranking.adapter = std::move(ranking);
    return request;
  }

  Completion answer(Request request) {
    std::vector<Request> one;
    one.push_back(std::move(request));
    EXPECT_EQ(engine_->submit(std::move(one)).accepted, 1u);
    return sink_.wait_for(1).begin()->second;
  }

  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  FixtureCase fixture_;
  std::shared_ptr<const Binding> binding_;
};

TEST_F(RankingTest, IsThatOfTransformersInDoublePrecision) {
  simdjson::dom::parser parser;
  const element cases = parser.load((kFixtures / "ranking/cases.json").string());
  for (const element one : list_of(cases)) {
    const std::string model(one["model"].get_c_str().value());
    const std::string ranking(one["ranking"].get_c_str().value());
    SCOPED_TRACE(model + " " + ranking);
    if (!is_served_here(model)) continue;
    open(model, {});
    std::vector<std::vector<uint32_t>> sids;
    for (const element sid : list_of(one["sids"])) sids.push_back(numbers_of<uint32_t>(sid));
    std::vector<std::string> attributes(sids.size());
    for (const auto& [name, values] : members_of(one["attributes"])) {
      const std::vector<double> numbers = numbers_of<double>(values);
      for (size_t i = 0; i < sids.size(); ++i) {
        if (std::isnan(numbers[i])) continue;
        attributes[i] += (attributes[i].empty() ? "{\"" : ",\"") + std::string(name) +
                         "\":" + std::to_string(numbers[i]);
      }
    }
    for (std::string& text : attributes) text = text.empty() ? "{}" : text + "}";
    bind(sids, attributes);
    Request asked = request(1, load(ranking));
    asked.prompt = numbers_of<int32_t>(one["promptTokens"]);
    asked.ranking.prefix = numbers_of<int32_t>(one["prefix"]);
    asked.ranking.suffix_offsets = {0};
    for (const element suffix : list_of(one["suffixes"])) {
      for (const uint32_t token : numbers_of<uint32_t>(suffix))
        asked.ranking.suffix_tokens.push_back(token);
      asked.ranking.suffix_offsets.push_back(
          static_cast<uint32_t>(asked.ranking.suffix_tokens.size()));
    }
    // By their place in the file, whatever ordinals they have.
    for (uint32_t i = 0; i < sids.size(); ++i)
      asked.items[i] = asked.reach.view().find_item(std::to_string(i));
    const auto names = asked.ranking.adapter->summary().heads;
    const Completion completion = answer(std::move(asked));
    ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
    ASSERT_EQ(completion.heads.size(), sids.size() * names.size());
    for (size_t head = 0; head < names.size(); ++head) {
      const std::vector<double> expected = numbers_of<double>(one["heads"][names[head]]);
      for (size_t i = 0; i < sids.size(); ++i) {
        EXPECT_NEAR(completion.heads[i * names.size() + head], expected[i],
                    kTolerance * std::max(1.0, std::abs(expected[i])))
            << names[head] << " of item " << i;
      }
    }
  }
}

TEST_F(RankingTest, HasTheSameBitsInAnyBatchChunkAndThreadAndWithKvOfThePool) {
  for (const std::string name :
       {"qwen3-heads", "qwen3-ordinary", "qwen3-activated", "qwen3-5-ordinary"}) {
    const std::string model = name == "qwen3-5-ordinary" ? "qwen3-5-text" : "qwen3-tied";
    if (!is_served_here(model)) continue;
    for (const auto type : {model::ComputeType::kF32, model::ComputeType::kBf16}) {
      SCOPED_TRACE(name);
      std::vector<uint32_t> alone;
      for (const Settings& settings :
           {Settings{1, 512, 1, false, type}, Settings{8, 3, 1, false, type},
            Settings{3, 64, 2, true, type}}) {
        open(model, settings);
        bind_catalogue(model);
        const auto ranking = load(name);
        for (int round = 0; round < 2; ++round) {
          std::vector<Request> requests;
          for (uint32_t i = 0; i < 5; ++i) {
            Request one = request(i, ranking, i % 2 == 0 ? rank_task() : recall_task());
            one.ranking.suffix_tokens = {7};
            one.ranking.suffix_offsets = {0, 1};
            one.kv.user = "u" + std::to_string(i % 2);
            one.kv.keep_tokens = static_cast<uint32_t>(one.prompt.size());
            requests.push_back(std::move(one));
          }
          const std::vector<catalogue::ItemOrdinal> items = requests[0].items;
          engine_->submit(std::move(requests));
          for (const auto& [ticket, completion] : sink_.wait_for(5)) {
            ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
            const size_t heads = ranking->heads()->count();
            if (ticket % 2 == 0) {
              if (alone.empty()) alone = bits_of(completion.heads);
              EXPECT_EQ(bits_of(completion.heads), alone) << "request " << ticket;
              continue;
            }
            // Of a recall: those of the items that it found, to the bit.
            const auto& found = completion.answer.item_ordinals;
            ASSERT_GT(found.size(), 3u);
            ASSERT_EQ(completion.heads.size(), found.size() * heads);
            const std::vector<uint32_t> bits = bits_of(completion.heads);
            for (size_t i = 0; i < found.size() && !alone.empty(); ++i) {
              for (size_t head = 0; head < heads; ++head)
                EXPECT_EQ(bits[i * heads + head], alone[found[i] * heads + head]);
            }
          }
        }
      }
    }
  }
}

TEST_F(RankingTest, ComputesOneRowMoreForEachSidThatARecallHasFound) {
  open("qwen3-tied", {});
  bind_catalogue("qwen3-tied");
  const auto ranking = load("qwen3-heads");
  const auto rows_of = [&](const Task& task, bool is_ranked, uint32_t items) {
    Request one = request(1, ranking, task);
    one.result_count = items;
    one.widths = {};
    one.row_budget = 500;
    if (!is_ranked) one.ranking = {};
    const uint64_t before = engine_->stats().decode_tokens;
    const Completion completion = answer(std::move(one));
    EXPECT_TRUE(completion.status.is_ok()) << completion.status.message();
    EXPECT_EQ(completion.heads.size(),
              is_ranked ? completion.answer.item_ordinals.size() * ranking->heads()->count() : 0);
    std::vector<uint32_t> paths = completion.answer.item_paths;
    std::sort(paths.begin(), paths.end());
    const auto sids = std::unique(paths.begin(), paths.end()) - paths.begin();
    return std::pair(engine_->stats().decode_tokens - before, static_cast<uint64_t>(sids));
  };
  for (const uint32_t items : {1u, 7u, 40u}) {
    const auto [plain, sids] = rows_of(recall_task(), false, items);
    EXPECT_EQ(rows_of(recall_task(), true, items).first, plain + sids) << items;
  }
}

/// More rows than a pass of items has: the chunks are those of any other request.
TEST_F(RankingTest, ReadsThousandsOfItemsInChunks) {
  open("qwen3-tied", {});
  std::mt19937 random(56);
  std::vector<std::vector<uint32_t>> sids;
  for (uint32_t i = 0; i < 2000; ++i) sids.push_back({random() % 12, random() % 12, random() % 11});
  bind(sids);
  const auto ranking = load("qwen3-heads");
  Request all = request(1, ranking);
  all.ranking.suffix_offsets = {0};
  for (uint32_t i = 0; i < 2000; ++i) {
    for (uint32_t t = 0; t < random() % 4; ++t) all.ranking.suffix_tokens.push_back(random() % 90);
    all.ranking.suffix_offsets.push_back(static_cast<uint32_t>(all.ranking.suffix_tokens.size()));
  }
  std::shuffle(all.items.begin(), all.items.end(), random);
  const size_t heads = ranking->heads()->count();
  const Request::Ranking asked = all.ranking;
  const std::vector<catalogue::ItemOrdinal> items = all.items;
  const uint32_t forecast = rank_rows(all);
  const uint64_t before = engine_->stats().decode_tokens;
  const Completion whole = answer(std::move(all));
  // Suffixes that items of a SID share, and SIDs in two chunks, are what it does not know.
  const auto rows = static_cast<double>(engine_->stats().decode_tokens - before);
  EXPECT_NEAR(forecast / rows, 1, 0.1);
  ASSERT_TRUE(whole.status.is_ok()) << whole.status.message();
  ASSERT_EQ(whole.heads.size(), items.size() * heads);
  for (uint32_t i = 0; i < items.size(); i += 97) {
    Request one = request(1, ranking);
    one.items = {items[i]};
    one.ranking.suffix_tokens.assign(asked.suffix_tokens.begin() + asked.suffix_offsets[i],
                                     asked.suffix_tokens.begin() + asked.suffix_offsets[i + 1]);
    one.ranking.suffix_offsets = {0, static_cast<uint32_t>(one.ranking.suffix_tokens.size())};
    const Completion alone = answer(std::move(one));
    EXPECT_EQ(bits_of(alone.heads), bits_of(std::span(whole.heads).subspan(i * heads, heads)));
  }
}

TEST_F(RankingTest, LeavesThePromptOfAnActivatedAdapterToEveryRecall) {
  open("qwen3-tied", {.keeps_kv = true});
  bind_catalogue("qwen3-tied");
  const auto ranking = load("qwen3-activated");
  const auto prompt = [&](Request request) {
    request.prompt.assign(100, 9);
    request.kv.user = "u";
    request.kv.keep_tokens = 100;
    return request;
  };
  Request plain = prompt(request(1, ranking, recall_task()));
  plain.ranking = {};
  plain.kv.user = "another";
  const Completion before = answer(std::move(plain));
  const Completion ranked = answer(prompt(request(2, ranking)));
  ASSERT_TRUE(ranked.status.is_ok()) << ranked.status.message();
  Request again = prompt(request(3, ranking, recall_task()));
  again.ranking = {};
  const Completion after = answer(std::move(again));
  EXPECT_EQ(std::accumulate(after.kv_tokens.begin(), after.kv_tokens.end(), 0u), 99u);
  EXPECT_EQ(bits_of(after.answer.path_scores), bits_of(before.answer.path_scores));
}

TEST_F(RankingTest, RefusesByName) {
  open("qwen3-tied", {});
  bind_catalogue("qwen3-tied");
  const auto heads = load("qwen3-heads");
  const auto ordinary = load("qwen3-ordinary");
  const auto activated = load("qwen3-activated");
  const auto refusal = [&](const auto& change) {
    Request one = request(1, heads);
    change(one);
    return answer(std::move(one)).status.message();
  };
  using R = Request&;
  EXPECT_EQ(refusal([](R r) { r.items.clear(); }), "items.length: expected 1..16384, got 0");
  EXPECT_EQ(refusal([](R r) { r.items[2] = 99'999; }),
            "items[2]: expected a live item whose SID has tokens, got 99999");
  EXPECT_EQ(refusal([](R r) { r.ranking.adapter = nullptr; }),
            "rankSlot: expected an adapter, got none");
  EXPECT_EQ(refusal([&](R r) { r.ranking.adapter = ordinary; }),
            "rankSlot: expected an activated adapter, one of heads alone or the request's own, got "
            "another one with factors");
  EXPECT_EQ(refusal([&](R r) { r.adapter = activated; }),
            "adapter: expected one that may change a prompt, got an activated one");
  EXPECT_EQ(refusal([](R r) { r.ranking.prefix = {-1}; }).substr(0, 30),
            "rankPrefix[0]: expected a toke");
  EXPECT_EQ(refusal([](R r) { r.ranking.suffix_offsets = {0, 0, 0}; }).substr(0, 37),
            "rankSuffixes.length: expected 0, 1 or");
  EXPECT_EQ(refusal([](R r) { r.ranking.prefix.assign(kRankTokensMax + 1, 1); }),
            "rankSuffixes: expected at most 32 tokens of an item beside its SID, got 33");
}

}  // namespace ranking_test
}  // namespace tessera::engine
