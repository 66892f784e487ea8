#include "engine/measure_scales.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "device/backends.h"
#include "model/processor_decoder.h"
#include "model/test_model.h"

namespace tessera::engine {
namespace measure_scales_test {

ScaleMeasurement options_for(const model::TestFolder& folder) {
  folder.write_model({}, model::test_tensors({}, tensor::DType::kBf16, 5));
  return {folder.path(), folder.path() + "/scales.json", 1, 1000, {{1, 2, 3}, {4, 5, 6, 7, 8}}};
}

TEST(MeasureScalesTest, TheFileThatItWritesIsTakenByADecoderOfTheSameModelOnly) {
  const model::TestFolder folder, other;
  const ScaleMeasurement options = options_for(folder);
  const auto rows = measure_scales(options);
  ASSERT_TRUE(rows.is_ok()) << rows.status().message();
  EXPECT_EQ(rows.value().rows, 8u);
  EXPECT_TRUE(rows.value().unseen.empty());
  const auto device = device::open_cpu_device({.thread_count = 1, .instruction_set = {}});
  const auto load = [&](const model::TestFolder& from) {
    return model::ProcessorDecoder::load(from.path(), model::ComputeType::kW8A8, *device.value(),
                                         options.output_path);
  };
  EXPECT_TRUE(load(folder).is_ok());
  other.write_model({}, model::test_tensors({}, tensor::DType::kBf16, 6));
  const auto refused = load(other);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kModelInvalid);
  EXPECT_NE(refused.status().message().find("modelDigest"), std::string::npos);
}

TEST(MeasureScalesTest, LongPromptsAreMeasuredInChunks) {
  const model::TestFolder folder;
  ScaleMeasurement options = options_for(folder);
  model::TestShape shape;
  shape.max_positions = 700;
  folder.write_model(shape, model::test_tensors(shape, tensor::DType::kBf16, 5));
  options.prompts = {std::vector<int32_t>(600, 9), {3}};
  const auto rows = measure_scales(options);
  ASSERT_TRUE(rows.is_ok()) << rows.status().message();
  EXPECT_EQ(rows.value().rows, 601u);
}

TEST(MeasureScalesTest, WhatCannotBeRunIsRefusedByItsFieldAndWritesNothing) {
  const model::TestFolder folder;
  const ScaleMeasurement good = options_for(folder);
  ScaleMeasurement none = good, empty = good, stranger = good, long_one = good, share = good;
  none.prompts.clear();
  empty.prompts[1].clear();
  stranger.prompts[1][2] = 70;
  long_one.prompts[0].assign(201, 1);
  share.kept_per_mille = 0;
  const std::pair<ScaleMeasurement, std::string> cases[] = {{none, "promptOffsets"},
                                                            {empty, "prompts[1]"},
                                                            {stranger, "prompts[1]"},
                                                            {long_one, "prompts[0]"},
                                                            {share, "keptPerMille"}};
  for (const auto& [options, field] : cases) {
    const auto rows = measure_scales(options);
    ASSERT_FALSE(rows.is_ok()) << field;
    EXPECT_EQ(rows.status().code(), Code::kRequestInvalid);
    EXPECT_NE(rows.status().message().find(field), std::string::npos) << rows.status().message();
    EXPECT_FALSE(std::filesystem::exists(options.output_path));
  }
  ScaleMeasurement nowhere = good;
  nowhere.output_path = folder.path() + "/absent/scales.json";
  EXPECT_EQ(measure_scales(nowhere).status().code(), Code::kIoFailed);
}

}  // namespace measure_scales_test
}  // namespace tessera::engine
