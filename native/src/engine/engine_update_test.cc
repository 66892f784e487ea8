// New weights for an engine that serves: no request fails, and every answer is that of one set of
// weights, the one that it names.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <thread>

#include "engine/engine.h"
#include "engine/test_fixture.h"

namespace tessera::engine {
namespace engine_update_test {

namespace fs = std::filesystem;
using std::chrono::seconds;

fs::path recorded_model() {
  return fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/parity/qwen3-tied";
}

/// The recorded model with every n-th weight of the other sign.
class OtherModel {
 public:
  explicit OtherModel(uint64_t n)
      : path_(fs::temp_directory_path() /
              ("tessera-update-" + std::to_string(::getpid()) + "-" + std::to_string(n))) {
    fs::create_directories(path_);
    fs::copy_file(recorded_model() / "config.json", path_ / "config.json",
                  fs::copy_options::overwrite_existing);
    std::ifstream from(recorded_model() / "model.safetensors", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(from)), {});
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (uint64_t at = 8 + header + 3; at < bytes.size(); at += 4 * n) bytes[at] ^= '\x80';
    std::ofstream(path_ / "model.safetensors", std::ios::binary) << bytes;
  }
  ~OtherModel() { fs::remove_all(path_); }
  OtherModel(const OtherModel&) = delete;
  OtherModel& operator=(const OtherModel&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

using Bits = std::vector<uint32_t>;

Bits bits_of(const Completion& completion) {
  Bits bits = completion.answer.path_codes;
  for (const float score : completion.answer.path_scores)
    bits.push_back(std::bit_cast<uint32_t>(score));
  return bits;
}

uint32_t tokens_found(const Completion& completion) {
  return std::accumulate(completion.kv_tokens.begin(), completion.kv_tokens.end(), 0u);
}

class UpdateTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(held_by(engine_.get()), std::vector<std::string>{}); }
  UpdateTest() : UpdateTest(fixture_options(recorded_model())) {}
  explicit UpdateTest(EngineOptions options) {
    options.kv.is_enabled = true;
    options.kv.store_queue_max = options.kv.prefetch_queue_max = 8;
    engine_ = std::move(open_fixture_engine(options, sink_)).value();
    cases_ = read_cases(recorded_model());
    for (size_t which = 0; which < cases_.size(); ++which) {
      cases_[which].prompt.resize(70);
      for (int32_t i = 0; i < 70; ++i) {
        cases_[which].prompt[static_cast<size_t>(i)] =
            (static_cast<int32_t>(which) * 13 + i * 7) % 80;
      }
    }
    snapshot_ = open_fixture_catalogue(recorded_model());
    binding_ = bind_fixture(engine_->model().config, snapshot_, cases_.front());
    version_ = engine_->add_version("template", "codebook").value();
  }
  Request request(uint32_t ticket) {
    const size_t which = ticket % cases_.size();
    Request made = make_request(ticket, binding_, cases_[which]);
    made.kv = {.version = version_,
               .user = "user" + std::to_string(which),
               .keep_tokens = static_cast<uint32_t>(made.prompt.size())};
    return made;
  }
  void submit(uint32_t ticket) {
    std::vector<Request> requests;
    requests.push_back(request(ticket));
    ASSERT_EQ(engine_->submit(std::move(requests)).accepted, 1u);
  }
  Completion answer(uint32_t ticket) {
    submit(ticket);
    return std::move(sink_.wait_for(1).begin()->second);
  }
  /// Answers of all cases by an engine that has never had other weights.
  std::vector<Bits> answers_of(const std::string& folder) {
    EngineOptions options = fixture_options(recorded_model());
    options.model_path = folder;
    CollectingSink sink;
    const auto engine = std::move(open_fixture_engine(options, sink)).value();
    std::vector<Bits> answers;
    for (uint32_t i = 0; i < cases_.size(); ++i) {
      std::vector<Request> requests;
      requests.push_back(make_request(i, binding_, cases_[i]));
      engine->submit(std::move(requests));
      answers.push_back(bits_of(sink.wait_for(1).begin()->second));
    }
    return answers;
  }

  CollectingSink sink_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<const catalogue::Snapshot> snapshot_;
  std::vector<FixtureCase> cases_;
  std::shared_ptr<const Binding> binding_;
  kv::Version version_ = 0;
};

TEST_F(UpdateTest, UnderLoadEveryAnswerIsThatOfTheWeightsThatItNames) {
  const OtherModel other(5);
  const std::vector<Bits> expected[] = {answers_of(recorded_model().string()),
                                        answers_of(other.path())};
  ASSERT_NE(expected[0], expected[1]);
  constexpr uint32_t kUpdates = 6, kAtOnce = 4;
  std::atomic<bool> is_over{false};
  std::thread updating([&] {
    for (uint32_t i = 1; i <= kUpdates; ++i) {
      const auto report = engine_->update_weights(
          i % 2 == 1 ? other.path() : recorded_model().string(), seconds(30));
      ASSERT_TRUE(report.is_ok()) << report.status().message();
      ASSERT_EQ(report.value().generation, i);
    }
    is_over = true;
  });
  std::map<uint64_t, uint32_t> answered;  // by generation
  for (uint32_t ticket = 0; !is_over || answered.rbegin()->first < kUpdates;) {
    for (uint32_t i = 0; i < kAtOnce; ++i) submit(ticket++);
    for (const auto& [of, completion] : sink_.wait_for(kAtOnce)) {
      ASSERT_TRUE(completion.status.is_ok()) << completion.status.message();
      const uint64_t generation = completion.weights_generation;
      EXPECT_EQ(bits_of(completion), expected[generation % 2][of % cases_.size()])
          << "ticket " << of << ", generation " << generation;
      ++answered[generation];
    }
  }
  updating.join();
  EXPECT_EQ(engine_->stats().failed, 0u);
}

TEST_F(UpdateTest, FindsNothingOfWhatWasKeptUnderTheOldWeightsAndKeepsItsVersion) {
  const OtherModel other(5);
  const uint32_t kept = [&] {
    answer(0);
    const Completion again = answer(0);
    return tokens_found(again);
  }();
  EXPECT_GT(kept, 0u);
  ASSERT_TRUE(engine_->update_weights(other.path(), seconds(30)).is_ok());
  EXPECT_EQ(tokens_found(answer(0)), 0u);
  EXPECT_EQ(tokens_found(answer(0)), kept);
  EXPECT_EQ(engine_->add_version("template", "codebook").value(), version_);
}

TEST_F(UpdateTest, ThatIsRefusedChangesNothing) {
  const OtherModel spoiled(5);
  std::fstream file(fs::path(spoiled.path()) / "model.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4, std::ios::end);
  file << std::string("\xff\xff\xff\x7f", 4);
  file.close();
  const Bits before = bits_of(answer(1));
  const auto refused = engine_->update_weights(spoiled.path(), seconds(30));
  EXPECT_EQ(refused.status().code(), Code::kModelCorrupt) << refused.status().message();
  EXPECT_EQ(engine_->update_weights("/nowhere", seconds(30)).status().code(), Code::kModelNotFound);
  const Completion after = answer(1);
  EXPECT_EQ(bits_of(after), before);
  EXPECT_EQ(after.weights_generation, 0u);
}

TEST_F(UpdateTest, ToTheWeightsThatServeIsDoneAtOnce) {
  const auto report = engine_->update_weights(recorded_model().string(), seconds(30));
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(report.value().digest, engine_->model().digest);
  EXPECT_EQ(report.value().generation, 0u);
}

TEST_F(UpdateTest, GivesUpWhereThoseThatRunDoNotEndInTime) {
  const OtherModel other(5);
  std::atomic<bool> is_over{false};
  std::thread asking([&] {
    // Prompts of many lengths: they hardly ever all end in one pass, so that somebody runs.
    for (uint32_t ticket = 1000; !is_over;) {
      std::vector<Request> requests;
      for (uint32_t i = 0; i < 16; ++i) {
        requests.push_back(request(ticket++));
        requests.back().prompt.resize(1 + ticket * 7 % requests.back().prompt.size());
        requests.back().kv = {};
      }
      for (const auto& [of, completion] :
           sink_.wait_for(engine_->submit(std::move(requests)).accepted))
        EXPECT_TRUE(completion.status.is_ok()) << completion.status.message();
    }
  });
  bool gave_up = false;
  for (uint32_t tries = 0; tries < 200 && !gave_up; ++tries) {
    const std::string from = tries % 2 == 0 ? other.path() : recorded_model().string();
    const auto report = engine_->update_weights(from, seconds(0));
    if (report.is_ok()) continue;
    EXPECT_EQ(report.status().code(), Code::kDeadlineExceeded) << report.status().message();
    gave_up = true;
  }
  EXPECT_TRUE(gave_up);
  is_over = true;
  asking.join();
}

/// Overwrites the last weight of the model with NaN.
void spoil(const OtherModel& model) {
  std::fstream file(fs::path(model.path()) / "model.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4, std::ios::end);
  file << std::string("\xff\xff\xff\x7f", 4);
}

/// Holds the engine's thread in the delivery of an answer until it is let go.
class HoldingSink final : public CompletionSink {
 public:
  void complete(Completion completion) override {
    {
      MutexLock lock(mutex_);
      is_held_ = true;
      changed_.notify_all();
      lock.wait(changed_, [&] { return is_let_go_; });
    }
    answers.complete(std::move(completion));
  }
  void wait_until_held() {
    MutexLock lock(mutex_);
    lock.wait(changed_, [&] { return is_held_; });
  }
  void let_go() {
    const MutexLock lock(mutex_);
    is_let_go_ = true;
    changed_.notify_all();
  }
  CollectingSink answers;

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false, is_let_go_ = false;
};

TEST_F(UpdateTest, AfterWhichNeitherWeightsAreThereEndsAllWork) {
  // Both files are spoiled while the engine's thread is held, later and later, until the new one
  // has been looked through by then.
  for (uint64_t patience = 1;; patience *= 2) {
    const OtherModel before(7), after(5);
    EngineOptions options = fixture_options(recorded_model());
    options.model_path = before.path();
    HoldingSink sink;
    const auto engine = std::move(open_fixture_engine(options, sink)).value();
    const auto ask = [&](uint32_t ticket) {
      std::vector<Request> requests;
      requests.push_back(make_request(ticket, binding_, cases_[0]));
      return engine->submit(std::move(requests));
    };
    ASSERT_EQ(ask(1).accepted, 1u);
    sink.wait_until_held();
    Result<UpdateReport> report = Status(Code::kInternal, "not asked yet");
    std::thread updating([&] { report = engine->update_weights(after.path(), seconds(30)); });
    for (uint64_t turn = 0; turn < patience; ++turn) std::this_thread::yield();
    spoil(before);
    spoil(after);
    sink.let_go();
    updating.join();
    ASSERT_FALSE(report.is_ok());
    if (report.status().code() != Code::kEngineUnavailable) {
      EXPECT_EQ(report.status().code(), Code::kModelCorrupt) << report.status().message();
      continue;
    }
    EXPECT_NE(report.status().message().find("putting the old ones back"), std::string::npos);
    ask(3);
    EXPECT_EQ(sink.answers.wait_for(2).at(3).status.code(), Code::kEngineUnavailable);
    return;
  }
}

TEST_F(UpdateTest, EndsWithTheEngine) {
  const OtherModel other(5);
  std::thread closing([this] { engine_->close(); });
  const auto report = engine_->update_weights(other.path(), seconds(30));
  closing.join();
  EXPECT_TRUE(report.is_ok() || report.status().code() == Code::kEngineClosed);
  EXPECT_EQ(engine_->update_weights(recorded_model().string(), seconds(1)).is_ok(), false);
}

}  // namespace engine_update_test
}  // namespace tessera::engine
