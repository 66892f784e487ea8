// An arena takes and refuses adapters, counts their bytes and gives them back.
#include "lora/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "device/backends.h"
#include "lora/test_adapter.h"
#include "model/processor_decoder.h"

namespace tessera::lora {
namespace arena_test {

using model::ComputeType;
using model::TestFolder;
using model::TestShape;

constexpr Limits kLimits{64, 1e3};
const std::string kQ = "base_model.model.model.layers.0.self_attn.q_proj";

class ArenaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_folder_.write_model(shape_, test_tensors(shape_, tensor::DType::kF32, 1));
    device_ = device::open_cpu_device({.thread_count = 1, .instruction_set = {}}).value();
    decoder_ =
        model::ProcessorDecoder::load(model_folder_.path(), ComputeType::kF32, *device_).value();
    arena_ = Arena::open(decoder_, 4u << 20).value();
  }

  TestAdapter adapter(uint32_t rank, uint64_t seed = 1) const {
    TestAdapterShape shape;
    shape.ranks = {rank};
    return random_adapter(shape_, shape, seed);
  }

  Result<std::shared_ptr<const Adapter>> load(const TestAdapter& adapter,
                                              const Limits& limits = kLimits) {
    const TestFolder folder;
    adapter.write(folder);
    return arena_->load(folder.path(), limits);
  }

  void expect_refused(const TestAdapter& adapter, Code code, const std::string& part) {
    const auto loaded = load(adapter);
    ASSERT_FALSE(loaded.is_ok()) << part;
    EXPECT_EQ(loaded.status().code(), code) << loaded.status().message();
    EXPECT_NE(loaded.status().message().find(part), std::string::npos) << loaded.status().message();
    EXPECT_EQ(arena_->use().used_bytes, 0u);
    EXPECT_EQ(arena_->use().adapters, 0u);
  }

  TestShape shape_;
  const TestFolder model_folder_;
  std::unique_ptr<device::Device> device_;
  std::shared_ptr<const model::ProcessorDecoder> decoder_;
  std::unique_ptr<Arena> arena_;
};

TEST_F(ArenaTest, AnAdapterTakesMemoryByItsActualRanksAndGivesItBackWithItsLastHolder) {
  auto small = load(adapter(2));
  auto large = load(adapter(64));
  ASSERT_TRUE(small.is_ok() && large.is_ok());
  EXPECT_LT(small.value()->summary().bytes, large.value()->summary().bytes);
  EXPECT_EQ(small.value()->summary().rank_max, 2u);
  EXPECT_EQ(small.value()->summary().target_count, 14u);
  EXPECT_GT(small.value()->summary().largest_norm, 0.0);
  EXPECT_EQ(arena_->use().used_bytes,
            small.value()->summary().bytes + large.value()->summary().bytes);
  const std::shared_ptr<const Adapter> held = large.value();
  small = Status(Code::kInternal, "gone");
  large = Status(Code::kInternal, "gone");
  EXPECT_EQ(arena_->use().used_bytes, held->summary().bytes);
  EXPECT_EQ(arena_->use().adapters, 1u);
}

TEST_F(ArenaTest, TheSameContentIsThereOnceWhateverItsFolderIsCalled) {
  const auto first = load(adapter(4)), second = load(adapter(4)), other = load(adapter(4, 2));
  ASSERT_TRUE(first.is_ok() && second.is_ok() && other.is_ok());
  EXPECT_EQ(first.value(), second.value());
  EXPECT_NE(first.value()->summary().digest, other.value()->summary().digest);
  EXPECT_EQ(arena_->use().adapters, 2u);
}

TEST_F(ArenaTest, TheDigestIsOfWhatCountsAndOfNothingElse) {
  TestAdapter one = adapter(4), same = one, scaled = one;
  same.config.insert(1, "\"base_model_name_or_path\": \"elsewhere\", \"lora_dropout\": 0.5, ");
  scaled.config.insert(1, "\"use_rslora\": true, ");
  EXPECT_EQ(load(one).value()->summary().digest, load(same).value()->summary().digest);
  EXPECT_NE(load(one).value()->summary().digest, load(scaled).value()->summary().digest);
}

TEST_F(ArenaTest, AFullArenaRefusesAndSaysWhatIsNeededAndWhatIsFree) {
  const uint64_t bytes = load(adapter(32)).value()->summary().bytes;
  arena_ = Arena::open(decoder_, 2 * bytes - 1).value();
  const auto first = load(adapter(32));
  ASSERT_TRUE(first.is_ok());
  const auto second = load(adapter(32, 2));
  ASSERT_FALSE(second.is_ok());
  EXPECT_EQ(second.status().code(), Code::kAdapterArenaFull);
  EXPECT_NE(second.status().message().find(std::to_string(bytes)), std::string::npos);
  EXPECT_NE(second.status().message().find(std::to_string(bytes - 1)), std::string::npos);
  EXPECT_TRUE(load(adapter(32)).is_ok()) << "what is there needs nothing";
  EXPECT_EQ(arena_->use().used_bytes, bytes);
}

TEST_F(ArenaTest, TensorsThatDoNotFitTheModelAreRefusedByName) {
  const std::vector<std::pair<std::string, std::function<void(TestAdapter&)>>> spoils = {
      {kQ + ".lora_B.weight", [](TestAdapter& a) { a.tensors.erase(kQ + ".lora_B.weight"); }},
      {kQ + ".lora_A.weight: expected shape [4,24], got [4,23]",
       [](TestAdapter& a) {
         a.tensors[kQ + ".lora_A.weight"] =
             tensor_of(std::vector<float>(92), {4, 23}, tensor::DType::kF32);
       }},
      {"layers.7.",
       [](TestAdapter& a) {
         a.tensors["base_model.model.model.layers.7.mlp.up_proj.lora_A.weight"] =
             a.tensors[kQ + ".lora_A.weight"];
       }},
      {"expected no such tensor (use_dora is false)",
       [](TestAdapter& a) {
         a.tensors[kQ + ".lora_magnitude_vector"] = a.tensors[kQ + ".lora_A.weight"];
       }},
      {"mlp.gate.lora_A.weight: expected no factors of a router",
       [](TestAdapter& a) {
         a.tensors["base_model.model.model.layers.0.mlp.gate.lora_A.weight"] =
             a.tensors[kQ + ".lora_A.weight"];
       }},
      {"lora_embedding_A",
       [](TestAdapter& a) {
         a.tensors["base_model.model.model.embed_tokens.lora_embedding_A"] =
             a.tensors[kQ + ".lora_A.weight"];
       }},
      {"begins with base_model.model.",
       [](TestAdapter& a) { a.tensors["elsewhere"] = a.tensors[kQ + ".lora_A.weight"]; }},
      {"target_modules",
       [](TestAdapter& a) {
         a.config.replace(a.config.find("\"model.layers.0.self_attn.q_proj\""), 33, "\"nothing\"");
       }},
      {"target_parameters: expected parameters of the model's experts, got experts.down_proj",
       [](TestAdapter& a) {
         a.config.insert(1, "\"target_parameters\":[\"experts.down_proj\"],");
       }},
      {"expected F32, BF16 or F16, got I32",
       [](TestAdapter& a) { a.tensors[kQ + ".lora_A.weight"].dtype = "I32"; }},
      {"trainable_token_indices: expected tokens in 0..69, got 70",
       [](TestAdapter& a) {
         a.config.replace(a.config.find("\"embed_tokens\":[]"), 17, "\"embed_tokens\":[70]");
       }},
      {"trainable_tokens_delta: expected a tensor, got nothing",
       [](TestAdapter& a) {
         a.config.replace(a.config.find("\"embed_tokens\":[]"), 17, "\"embed_tokens\":[7]");
       }},
  };
  for (const auto& [part, spoil] : spoils) {
    TestAdapter spoilt = adapter(4);
    spoil(spoilt);
    expect_refused(spoilt, Code::kAdapterInvalid, part);
  }
}

TEST_F(ArenaTest, AModuleThatIsSavedHasItsTensorAndIsServed) {
  const auto saving = [&](const std::string& modules) {
    TestAdapter saved = adapter(2);
    saved.config.insert(1, "\"modules_to_save\":" + modules + ",");
    return saved;
  };
  expect_refused(saving(R"(["lm_head"])"), Code::kAdapterInvalid,
                 "base_model.model.lm_head.weight: expected a tensor, got nothing");
  expect_refused(saving(R"(["model.embed_tokens"])"), Code::kAdapterInvalid,
                 "base_model.model.model.embed_tokens.weight: expected a tensor, got nothing");
  expect_refused(saving(R"(["head"])"), Code::kAdapterInvalid,
                 "base_model.model.lm_head.weight: expected a tensor, got nothing");
  for (const std::string module : {"norm", "proj", "mlp", "model", "layers.0", ""}) {
    expect_refused(saving("[\"lm_head\",\"" + module + "\"]"), Code::kAdapterInvalid,
                   "modules_to_save: expected embed_tokens or lm_head, got " + module);
  }
  // PEFT passes over names that the base model has not.
  for (const std::string none : {"[]", "null", R"(["wte","embed","layers.0.lm_head"])"}) {
    EXPECT_TRUE(load(saving(none)).is_ok()) << none;
  }
  TestAdapter whole = saving(R"(["wte","lm_head"])");
  whole.tensors["base_model.model.lm_head.weight"] =
      test_tensors(shape_, tensor::DType::kF32, 2).at("lm_head.weight");
  EXPECT_EQ(load(whole).value()->summary().replaced_rows, shape_.vocab);
}

TEST_F(ArenaTest, FactorsOfAModuleThatTargetModulesDoesNotNameAreRefused) {
  TestAdapter none = adapter(2);
  none.config.replace(none.config.find("\"target_modules\""), 16,
                      "\"target_modules\":null,\"base_model_name_or_path\"");
  expect_refused(none, Code::kAdapterInvalid, "target_modules does not name it");
  TestAdapter head = adapter(2);
  const auto zeros = [](uint64_t rows, uint64_t columns) {
    return tensor_of(std::vector<float>(rows * columns), {rows, columns}, tensor::DType::kF32);
  };
  head.tensors["base_model.model.lm_head.lora_A.weight"] = zeros(1, shape_.hidden);
  head.tensors["base_model.model.lm_head.lora_B.weight"] = zeros(shape_.vocab, 1);
  expect_refused(head, Code::kAdapterInvalid,
                 "lm_head.lora_A.weight: expected no factors (target_modules does not name it)");
}

class HybridArenaTest : public ArenaTest {
 protected:
  HybridArenaTest() { shape_.model_type = "qwen3_5_text"; }
};

TEST_F(HybridArenaTest, SavedModulesOfATowerAreLeftAsideWithIt) {
  TestAdapter tower = adapter(2);
  tower.config.insert(1, R"("modules_to_save":["merger"],)");
  tower.tensors["base_model.model.model.visual.merger.linear_fc1.weight"] =
      tensor_of({1, 2, 3, 4}, {2, 2}, tensor::DType::kF32);
  EXPECT_TRUE(load(tower).is_ok()) << load(tower).status().message();
}

class TiedArenaTest : public ArenaTest {
 protected:
  TiedArenaTest() { shape_.tied = true; }
};

TEST_F(TiedArenaTest, BothSidesAreOneUnlessTheAdapterSavesOneOfThem) {
  const std::string embedding = "base_model.model.model.embed_tokens.weight";
  const std::string head = "base_model.model.lm_head.weight";
  const auto rows = [&](uint64_t seed) {
    return test_tensors(shape_, tensor::DType::kF32, seed).at("model.embed_tokens.weight");
  };
  const std::string saved = R"("modules_to_save":["embed_tokens"],)";
  const std::string tied = R"("ensure_weight_tying":true,)";
  const struct {
    std::string fields;
    uint64_t embedding, head;  // seeds of rows; 0: none
    std::string refusal;
  } cases[] = {
      {"", 2, 0, "modules_to_save: expected the same rows of embed_tokens and lm_head"},
      {"", 0, 2, "modules_to_save: expected the same rows"},
      {"", 2, 3, "modules_to_save: expected the same rows"},
      {"", 2, 2, ""},
      {R"("modules_to_save":["wte"],)", 2, 3, "modules_to_save: expected the same rows"},
      {saved, 2, 0, ""},
      {saved, 2, 3, ""},
      {saved + tied, 2, 0, "ensure_weight_tying: expected the same rows"},
      {saved + tied, 2, 3, "ensure_weight_tying: expected the same rows"},
      {saved + tied, 2, 2, ""},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.fields + std::to_string(one.embedding) + std::to_string(one.head));
    TestAdapter whole = adapter(2);
    whole.config.insert(1, one.fields);
    if (one.embedding > 0) whole.tensors[embedding] = rows(one.embedding);
    if (one.head > 0) whole.tensors[head] = rows(one.head);
    if (one.refusal.empty()) {
      EXPECT_TRUE(load(whole).is_ok()) << load(whole).status().message();
    } else {
      expect_refused(whole, Code::kAdapterInvalid, one.refusal);
    }
  }
}

TEST_F(ArenaTest, NamesThatALibraryChangedAreSaidOnceWithTheRemedy) {
  const auto renamed = [&](const std::string& before, const std::string& after) {
    TestAdapter changed = adapter(4);
    model::TestTensors tensors;
    for (auto& [name, tensor] : changed.tensors) {
      tensors[after + name.substr(before.size())] = std::move(tensor);
    }
    changed.tensors = std::move(tensors);
    return changed;
  };
  expect_refused(renamed("", "_orig_mod."), Code::kAdapterInvalid, "model._orig_mod");
  expect_refused(renamed("base_model.model.", ""), Code::kAdapterInvalid,
                 "names that begin with base_model.model. (save with save_pretrained()");
  TestAdapter raw = adapter(4);
  raw.tensors[kQ + ".lora_A.default.weight"] = raw.tensors[kQ + ".lora_A.weight"];
  expect_refused(raw, Code::kAdapterInvalid, "save with save_pretrained() of the PeftModel");
  TestAdapter named = adapter(4);
  named.tensors[kQ + ".lora_B.mytask.weight"] = named.tensors[kQ + ".lora_B.weight"];
  expect_refused(named, Code::kAdapterInvalid, "a name without the adapter's (.mytask)");
  TestAdapter empty = adapter(4);
  empty.tensors.clear();
  expect_refused(empty, Code::kAdapterInvalid, "have to be gathered before they are saved");
  TestAdapter gathered = adapter(4);
  gathered.tensors[kQ + ".lora_B.weight"] = tensor_of({}, {0}, tensor::DType::kF32);
  expect_refused(gathered, Code::kAdapterInvalid, "got [0] (weights that were sharded");
}

TEST_F(ArenaTest, OtherRowsThanTheBaseHasAreSaidInWordsAndOtherColumnsAreNot) {
  const auto of_shape = [&](uint64_t rows, uint64_t columns) {
    TestAdapter other = adapter(4);
    other.tensors["base_model.model.model.embed_tokens.weight"] =
        tensor_of(std::vector<float>(rows * columns), {rows, columns}, tensor::DType::kF32);
    return other;
  };
  expect_refused(of_shape(75, 24), Code::kAdapterInvalid,
                 "the base has 70 rows: extend the base model's vocabulary and serve that first");
  expect_refused(of_shape(67, 24), Code::kAdapterInvalid,
                 "got [67,24] (the base has 70 rows: it was trained on a base of fewer)");
  const auto wide = load(of_shape(70, 25));
  EXPECT_TRUE(wide.status().message().ends_with("expected shape [70,24], got [70,25]"))
      << wide.status().message();
}

TEST_F(ArenaTest, AnAdapterThatChangesNoNumberIsRefusedWhateverItSays) {
  const auto base = test_tensors(shape_, tensor::DType::kF32, 1);
  const auto none = [&] {
    TestAdapter zero = adapter(2);
    for (auto& [name, tensor] : zero.tensors) {
      if (name.find("lora_B") == std::string::npos) continue;
      tensor.bytes.assign(tensor.bytes.size(), '\0');
    }
    return zero;
  };
  expect_refused(none(), Code::kAdapterInvalid, "got one that changes nothing");
  TestAdapter rows = none();
  const std::string embedding = base.at("model.embed_tokens.weight").bytes;
  model::TestTensor& delta =
      rows.tensors["base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta"];
  delta = tensor_of(std::vector<float>(shape_.hidden), {1, shape_.hidden}, tensor::DType::kF32);
  delta.bytes = embedding.substr(7 * delta.bytes.size(), delta.bytes.size());
  rows.config.replace(rows.config.find("\"embed_tokens\":[]"), 17, "\"embed_tokens\":[7]");
  expect_refused(rows, Code::kAdapterInvalid, "got one that changes nothing");
  TestAdapter whole = none();
  whole.tensors["base_model.model.lm_head.weight"] = base.at("lm_head.weight");
  expect_refused(whole, Code::kAdapterInvalid, "got one that changes nothing");
  delta.bytes[0] = static_cast<char>(delta.bytes[0] + 1);
  const auto changed = load(rows);
  ASSERT_TRUE(changed.is_ok()) << changed.status().message();
  EXPECT_EQ(changed.value()->summary().replaced_rows, 1u);
}

class MixtureArenaTest : public ArenaTest {
 protected:
  MixtureArenaTest() { shape_.model_type = "olmoe"; }
};

TEST_F(MixtureArenaTest, ExpertsHaveFactorsAllOrNoneAndApartOrTogether) {
  const std::string expert = "base_model.model.model.layers.1.mlp.experts.3.up_proj.lora_";
  const std::string together = "base_model.model.model.layers.0.mlp.experts.lora_";
  TestAdapter part = adapter(4);
  part.tensors.erase(expert + "A.weight");
  part.tensors.erase(expert + "B.weight");
  expect_refused(part, Code::kAdapterInvalid, expert + "A.weight: expected a tensor, got nothing");
  TestAdapter none = adapter(4);
  std::erase_if(none.tensors,
                [](const auto& one) { return one.first.find("experts") != std::string::npos; });
  EXPECT_TRUE(load(none).is_ok());
  TestAdapter both = adapter(4);
  both.config.insert(1, "\"target_parameters\":[\"layers.0.mlp.experts.down_proj\"],");
  both.config.replace(both.config.find("\"r\":1"), 5, "\"r\":2");
  const auto zeros = [](uint64_t rows, uint64_t columns) {
    return tensor_of(std::vector<float>(rows * columns), {rows, columns}, tensor::DType::kF32);
  };
  both.tensors[together + "A.weight"] = zeros(10, 37);
  both.tensors[together + "B.weight"] = zeros(24, 10);
  expect_refused(both, Code::kAdapterInvalid, "target_parameters: expected experts");
  both.tensors[together + "B.weight"] = zeros(24, 9);
  expect_refused(both, Code::kAdapterInvalid, "lora_B.weight: expected shape [24,10], got [24,9]");
}

TEST_F(ArenaTest, NumbersThatAreNotFiniteAndFilesThatAreCutAreCorrupt) {
  TestAdapter spoilt = adapter(4);
  std::vector<float> a = floats_of(spoilt.tensors[kQ + ".lora_A.weight"]);
  a[17] = std::numeric_limits<float>::quiet_NaN();
  spoilt.tensors[kQ + ".lora_A.weight"] = tensor_of(a, {4, 24}, tensor::DType::kF32);
  expect_refused(spoilt, Code::kAdapterCorrupt, "q_proj.lora_A.weight");
  const TestFolder folder;
  const std::string file = model::safetensors_file(adapter(4).tensors);
  folder.write("adapter_config.json", adapter(4).config);
  for (const size_t size : {size_t{0}, size_t{5}, size_t{300}, file.size() - 1}) {
    folder.write("adapter_model.safetensors", file.substr(0, size));
    EXPECT_EQ(arena_->load(folder.path(), kLimits).status().code(), Code::kAdapterCorrupt) << size;
  }
}

TEST_F(ArenaTest, LimitsOfRankAndNormHoldAndAreNamed) {
  const auto over_rank = load(adapter(8), {7, 1e3});
  ASSERT_FALSE(over_rank.is_ok());
  EXPECT_EQ(over_rank.status().code(), Code::kAdapterInvalid);
  EXPECT_NE(over_rank.status().message().find("at most 7, got 8"), std::string::npos);
  const auto loaded = load(adapter(8));
  ASSERT_TRUE(loaded.is_ok());
  const double norm = loaded.value()->summary().largest_norm;
  EXPECT_TRUE(load(adapter(8), {8, norm * 1.0001}).is_ok());
  const auto over_norm = load(adapter(8), {8, norm * 0.9999});
  ASSERT_FALSE(over_norm.is_ok());
  EXPECT_EQ(over_norm.status().code(), Code::kAdapterInvalid);
  EXPECT_NE(over_norm.status().message().find("norm"), std::string::npos);
  for (const Limits& bad : {Limits{0, 1}, Limits{129, 1}, Limits{8, 0}, Limits{8, -1},
                            Limits{8, std::numeric_limits<double>::infinity()}}) {
    EXPECT_EQ(load(adapter(2), bad).status().code(), Code::kRequestInvalid);
  }
}

TEST_F(ArenaTest, TheNormIsThatOfTheProductOfTheFactors) {
  TestAdapter one = adapter(3);
  for (auto& [name, tensor] : one.tensors) {
    if (name.find("layers.1") == std::string::npos) continue;
    tensor =
        tensor_of(std::vector<float>(tensor.bytes.size() / 4), tensor.shape, tensor::DType::kF32);
  }
  double largest = 0;
  for (const auto& [name, a_tensor] : one.tensors) {
    const size_t at = name.find(".lora_A");
    if (at == std::string::npos) continue;
    const std::vector<float> a = floats_of(a_tensor);
    const auto& b_tensor = one.tensors.at(name.substr(0, at) + ".lora_B.weight");
    const std::vector<float> b = floats_of(b_tensor);
    double squares = 0;
    for (uint64_t o = 0; o < b_tensor.shape[0]; ++o) {
      for (uint64_t i = 0; i < a_tensor.shape[1]; ++i) {
        double sum = 0;
        for (uint64_t r = 0; r < 3; ++r)
          sum +=
              static_cast<double>(b[o * 3 + r]) * static_cast<double>(a[r * a_tensor.shape[1] + i]);
        squares += sum * sum;
      }
    }
    largest = std::max(largest, 6.0 / 3 * std::sqrt(squares));
  }
  EXPECT_NEAR(load(one).value()->summary().largest_norm, largest, 1e-4 * largest);
}

TEST_F(ArenaTest, OfAWholeMatrixOnlyTheRowsThatDifferAreKept) {
  const std::string name = "base_model.model.lm_head.weight";
  const auto tensors = test_tensors(shape_, tensor::DType::kF32, 1);
  TestAdapter whole = adapter(2);
  whole.tensors[name] = tensors.at("lm_head.weight");
  EXPECT_EQ(load(whole).value()->summary().replaced_rows, 0u);
  const uint64_t bytes = load(whole).value()->summary().bytes;
  EXPECT_EQ(bytes, load(adapter(2)).value()->summary().bytes);
  std::vector<float> values = floats_of(whole.tensors[name]);
  values[5 * shape_.hidden] += 1;
  values[69 * shape_.hidden + 23] += 1;
  whole.tensors[name] = tensor_of(values, {shape_.vocab, shape_.hidden}, tensor::DType::kF32);
  EXPECT_EQ(load(whole).value()->summary().replaced_rows, 2u);
}

TEST_F(ArenaTest, FoldersThatAreNoAdaptersAreRefusedAndPickleFilesAreNotRead) {
  const TestFolder folder;
  EXPECT_EQ(arena_->load(folder.path() + "/absent", kLimits).status().code(),
            Code::kAdapterNotFound);
  EXPECT_EQ(arena_->load(folder.path(), kLimits).status().code(), Code::kAdapterNotFound);
  folder.write("adapter_config.json", adapter(2).config);
  EXPECT_EQ(arena_->load(folder.path(), kLimits).status().code(), Code::kAdapterNotFound);
  folder.write("adapter_model.bin", "pickle");
  const auto pickle = arena_->load(folder.path(), kLimits);
  EXPECT_EQ(pickle.status().code(), Code::kAdapterInvalid);
  EXPECT_NE(pickle.status().message().find("adapter_model.bin"), std::string::npos);
}

}  // namespace arena_test
}  // namespace tessera::lora
