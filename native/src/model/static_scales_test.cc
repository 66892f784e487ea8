// Encoders with static scales: measured, written, read and refused, and their vectors bit for bit
// between companies, threads and instruction sets.
#include "model/static_scales.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "device/backends.h"
#include "model/test_model.h"
#include "model/text_model.h"

namespace tessera::model {
namespace static_scales_test {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(TESSERA_REPOSITORY_ROOT) / "test/fixtures/encoders";
constexpr const char* kFolders[] = {"bert-mean", "roberta-cls", "modernbert-mean"};
constexpr uint32_t kMaxRows = 1024, kMaxTexts = 16;
constexpr uint64_t kSeed = 22003;

using Vector = std::vector<float>;
using Tokens = std::vector<int32_t>;

std::unique_ptr<device::Device> open(uint32_t threads,
                                     std::optional<device::InstructionSet> set = {}) {
  auto device = device::open_cpu_device({.thread_count = threads, .instruction_set = set});
  EXPECT_TRUE(device.is_ok());
  return std::move(device).value();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Tokens> random_texts(const ModelConfig& config, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tokens> texts(count);
  for (Tokens& text : texts) {
    text.resize(1 + random() % std::min<uint64_t>(40, config.max_positions));
    for (int32_t& token : text) token = static_cast<int32_t>(random() % config.vocab_size);
  }
  return texts;
}

std::vector<Vector> embed(const TextModel& model, const std::vector<Tokens>& texts,
                          InputRanges* ranges = nullptr) {
  auto workspace = model.make_workspace(kMaxRows, kMaxTexts);
  EXPECT_TRUE(workspace.is_ok());
  workspace.value()->measure(ranges);
  std::vector<EncoderText> given;
  for (const Tokens& tokens : texts) given.push_back({tokens});
  Vector all(texts.size() * model.dimension());
  EXPECT_TRUE(model.embed(given, *workspace.value(), all.data()).is_ok());
  std::vector<Vector> vectors;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto begin = all.begin() + static_cast<ptrdiff_t>(i * model.dimension());
    vectors.emplace_back(begin, begin + model.dimension());
  }
  return vectors;
}

/// A copy of a fixture with scales measured over random texts.
struct Calibrated {
  explicit Calibrated(const char* fixture, uint64_t seed = kSeed) : device(open(2)) {
    fs::copy(kFixtures / fixture, folder.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    auto f32 = load(ComputeType::kF32);
    EXPECT_TRUE(f32.is_ok()) << f32.status().message();
    const Encoder& encoder = f32.value().encoder();
    InputRanges ranges(encoder.recipe());
    embed(f32.value(), random_texts(encoder.config(), kMaxTexts, seed), &ranges);
    folder.write(std::string(kStaticScalesFile), ranges.file(encoder.recipe(), encoder.digest()));
  }
  Result<TextModel> load(ComputeType type) const { return load(type, *device); }
  Result<TextModel> load(ComputeType type, device::Device& on) const {
    return TextModel::load(folder.path(), type, on);
  }
  std::string path() const { return folder.path() + "/" + std::string(kStaticScalesFile); }

  TestFolder folder;
  std::unique_ptr<device::Device> device;
};

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double cosine(const Vector& a, const Vector& b) {
  double product = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return product / std::sqrt(aa * bb);
}

TEST(StaticScalesTest, VectorsAreNearThoseOfF32) {
  for (const char* name : kFolders) {
    SCOPED_TRACE(name);
    const Calibrated made(name);
    const auto f32 = made.load(ComputeType::kF32), fixed = made.load(ComputeType::kW8A8Static);
    ASSERT_TRUE(f32.is_ok() && fixed.is_ok()) << fixed.status().message();
    const auto texts = random_texts(f32.value().encoder().config(), kMaxTexts, kSeed);
    const auto exact = embed(f32.value(), texts), ours = embed(fixed.value(), texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_GE(cosine(ours[i], exact[i]), 0.99) << i;
      EXPECT_FALSE(same_bits(ours[i], exact[i]));
    }
  }
}

TEST(StaticScalesTest, AVectorIsTheSameBitsAloneAndOnAnyThreadsAndSetOfInstructions) {
  for (const char* name : kFolders) {
    SCOPED_TRACE(name);
    const Calibrated made(name);
    const auto reference = made.load(ComputeType::kW8A8Static);
    ASSERT_TRUE(reference.is_ok());
    const auto texts = random_texts(reference.value().encoder().config(), kMaxTexts, kSeed + 1);
    const std::vector<Vector> together = embed(reference.value(), texts);
    const auto three = open(3);
    const auto other = made.load(ComputeType::kW8A8Static, *three);
    ASSERT_TRUE(other.is_ok());
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_TRUE(same_bits(embed(other.value(), {texts[i]})[0], together[i])) << i;
    }
    const device::NumericClass numbers = made.device->kernels().numeric_class;
    for (const auto set : device::available_instruction_sets(numbers)) {
      const auto device = open(1, set);
      const auto model = made.load(ComputeType::kW8A8Static, *device);
      ASSERT_TRUE(model.is_ok());
      const std::vector<Vector> vectors = embed(model.value(), texts);
      for (size_t i = 0; i < texts.size(); ++i) EXPECT_TRUE(same_bits(vectors[i], together[i]));
    }
  }
}

TEST(StaticScalesTest, ADigestTellsTypesAndCalibrationsApart) {
  const Calibrated made("bert-mean"), other("bert-mean", kSeed + 7);
  const std::string own = made.load(ComputeType::kW8A8Static).value().digest();
  EXPECT_EQ(own.size(), 64u);
  EXPECT_NE(own, made.load(ComputeType::kF32).value().digest());
  EXPECT_NE(own, made.load(ComputeType::kW8A8).value().digest());
  EXPECT_NE(own, other.load(ComputeType::kW8A8Static).value().digest());
  EXPECT_EQ(made.load(ComputeType::kF32).value().digest(),
            other.load(ComputeType::kF32).value().digest());
}

TEST(StaticScalesTest, WithoutAFileTheCommandThatWritesItIsNamed) {
  const auto device = open(1);
  const auto model =
      TextModel::load((kFixtures / "bert-mean").string(), ComputeType::kW8A8Static, *device);
  ASSERT_FALSE(model.is_ok());
  EXPECT_EQ(model.status().code(), Code::kModelInvalid);
  EXPECT_NE(model.status().message().find("npm run doctor -- --calibrate"), std::string::npos)
      << model.status().message();
}

TEST(StaticScalesTest, ADecoderHasNone) {
  TestShape shape;
  TestFolder folder;
  folder.write_model(shape, test_tensors(shape, tensor::DType::kF32, 7));
  const auto device = open(1);
  const auto model = Encoder::load(folder.path(), ComputeType::kW8A8Static, *device);
  ASSERT_FALSE(model.is_ok());
  EXPECT_EQ(model.status().code(), Code::kModelInvalid);
  EXPECT_NE(model.status().message().find("model_type"), std::string::npos);
}

TEST(StaticScalesTest, AFileThatDoesNotFitIsRefusedByItsTensor) {
  const Calibrated made("bert-mean");
  const std::string good = read_file(made.path());
  const auto refusal = [&](const std::string& content) {
    made.folder.write(std::string(kStaticScalesFile), content);
    const auto model = made.load(ComputeType::kW8A8Static);
    return model.is_ok() ? Status::ok() : model.status();
  };
  const auto renamed = [&](const std::string& from, const std::string& to) {
    std::string content = good;
    return content.replace(content.find(from), from.size(), to);
  };
  uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof header);
  const auto with_number = [&](size_t place, float number) {
    std::string content = good;
    std::memcpy(content.data() + sizeof header + header + place * sizeof number, &number,
                sizeof number);
    return content;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::pair<std::string, std::string> faults[] = {
      {renamed("layers.0.attention.scale", "layers.9.attention.scale"), "layers.0.attention.scale"},
      {renamed("model_digest", "model_dijest"), "model_digest"},
      {with_number(0, nan), "layers.0.attention.scale[0]"},
      {with_number(3, 0.0f), "layers.0.attention.scale[3]"},
      {with_number(5, -1.0f), "layers.0.attention.scale[5]"},
      {with_number(5, std::numeric_limits<float>::infinity()), "layers.0.attention.scale[5]"},
      {renamed("\"U8\"", "\"I8\""), "model_digest"}};
  for (const auto& [content, named] : faults) {
    const Status status = refusal(content);
    EXPECT_EQ(status.code(), Code::kModelInvalid) << named;
    EXPECT_NE(status.message().find(named), std::string::npos) << status.message();
  }
  std::string stranger = good;
  stranger.back() = stranger.back() == '0' ? '1' : '0';
  EXPECT_NE(refusal(stranger).message().find("the digest of the model at hand"), std::string::npos);
  for (const size_t bytes : {size_t{0}, size_t{7}, size_t{100}, good.size() - 1}) {
    EXPECT_EQ(refusal(good.substr(0, bytes)).code(), Code::kModelCorrupt) << bytes;
  }
  EXPECT_TRUE(refusal(good).is_ok());
}

}  // namespace static_scales_test
}  // namespace tessera::model
