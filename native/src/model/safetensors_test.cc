#include "model/safetensors.h"

#include <gtest/gtest.h>

#include <string>

#include "model/test_model.h"

namespace tessera::model {
namespace safetensors_test {

Result<std::vector<TensorEntry>> read(const std::string& file) {
  return read_safetensors(std::as_bytes(std::span(file)), "m.safetensors");
}

void expect_corrupt(const std::string& file, const std::string& says) {
  Result<std::vector<TensorEntry>> entries = read(file);
  ASSERT_FALSE(entries.is_ok()) << says;
  EXPECT_EQ(entries.status().code(), Code::kModelCorrupt);
  EXPECT_NE(entries.status().message().find("m.safetensors"), std::string::npos);
  EXPECT_NE(entries.status().message().find(says), std::string::npos) << entries.status().message();
}

std::string entry(const char* name, const char* dtype, const char* shape, const char* offsets) {
  return "\"" + std::string(name) + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}
std::string one(const char* dtype, const char* shape, const char* offsets) {
  return "{" + entry("t", dtype, shape, offsets) + "}";
}
const std::string kEightBytes = "12345678";

TEST(SafetensorsTest, EveryTensorOfAValidFileIsFoundWithItsBytes) {
  const TestTensors tensors = test_tensors({}, tensor::DType::kBf16, 1);
  const std::string file = safetensors_file(tensors);
  Result<std::vector<TensorEntry>> entries = read(file);
  ASSERT_TRUE(entries.is_ok()) << entries.status().message();
  ASSERT_EQ(entries.value().size(), tensors.size());
  for (const TensorEntry& found : entries.value()) {
    const TestTensor& expected = tensors.at(found.name);
    EXPECT_EQ(found.shape, expected.shape);
    EXPECT_EQ(found.type, tensor::DType::kBf16);
    const std::string bytes(reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size());
    EXPECT_EQ(bytes, expected.bytes);
  }
}

TEST(SafetensorsTest, TypesThatAreNotComputedWithAreListedWithoutAType) {
  Result<std::vector<TensorEntry>> entries =
      read(safetensors_file(one("I64", "[1]", "[0,8]"), kEightBytes));
  ASSERT_TRUE(entries.is_ok());
  EXPECT_EQ(entries.value()[0].dtype, "I64");
  EXPECT_FALSE(entries.value()[0].type.has_value());
}

TEST(SafetensorsTest, ScalarsAndEmptyTensorsAreRead) {
  const std::string header = "{" + entry("empty", "F32", "[0,5]", "[4,4]") + "," +
                             entry("scalar", "F32", "[]", "[0,4]") + "}";
  EXPECT_TRUE(read(safetensors_file(header, "1234")).is_ok());
}

TEST(SafetensorsTest, AFileCutAnywhereIsRefused) {
  const std::string file = safetensors_file(test_tensors({}, tensor::DType::kF16, 2));
  for (size_t size = 0; size < file.size(); size += size < 4000 ? 1 : 997) {
    ASSERT_FALSE(read(file.substr(0, size)).is_ok()) << size;
  }
}

TEST(SafetensorsTest, AHeaderLongerThanTheFileIsRefused) {
  std::string file = safetensors_file("{}", "");
  file[0] = 3;
  expect_corrupt(file, "header length");
  for (int i = 0; i < 8; ++i) file[static_cast<size_t>(i)] = '\xFF';
  expect_corrupt(file, "header length");
}

TEST(SafetensorsTest, AnotherContentIsShownByItsFirstBytes) {
  expect_corrupt("{\"error\": \"Entry not found\"}", "begins with JSON, '{\"error\": \"Entry'");
  expect_corrupt("\x80\x02}q\x01(Xlayers", "begins with '..}q.(Xlayers'");
}

TEST(SafetensorsTest, OffsetsThatLieAreRefused) {
  expect_corrupt(safetensors_file(one("F32", "[2]", "[0,9]"), kEightBytes), "t.data_offsets");
  expect_corrupt(safetensors_file(one("F32", "[2]", "[8,0]"), kEightBytes), "t.data_offsets");
  expect_corrupt(safetensors_file(one("F32", "[2]", "[0]"), kEightBytes), "t.data_offsets");
  expect_corrupt(safetensors_file(one("F32", "[2]", "[-1,7]"), kEightBytes), "t.data_offsets");
  expect_corrupt(safetensors_file(one("F32", "[2]", "[0,4]"), kEightBytes), "8 bytes");
  expect_corrupt(safetensors_file(one("F32", "[2]", "[0,8]"), kEightBytes + "x"), "data");
  expect_corrupt(safetensors_file(one("F32", "[1]", "[4,8]"), kEightBytes), "no hole");
}

TEST(SafetensorsTest, OverlappingTensorsAreRefused) {
  const std::string header =
      "{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[1]", "[4,8]") + "}";
  expect_corrupt(safetensors_file(header, kEightBytes), "no overlap");
}

TEST(SafetensorsTest, ATensorNamedTwiceIsRefused) {
  const std::string header =
      "{" + entry("a", "F32", "[1]", "[0,4]") + "," + entry("a", "F32", "[1]", "[4,8]") + "}";
  expect_corrupt(safetensors_file(header, kEightBytes), "two");
}

TEST(SafetensorsTest, ShapesThatOverflowOrAreNoNumbersAreRefused) {
  expect_corrupt(safetensors_file(one("F32", "[4294967296,4294967296]", "[0,8]"), kEightBytes),
                 "t.shape");
  expect_corrupt(safetensors_file(one("F32", "[\"2\"]", "[0,8]"), kEightBytes), "t.shape");
  expect_corrupt(safetensors_file(one("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), kEightBytes),
                 "t.shape");
  expect_corrupt(safetensors_file(one("F31", "[2]", "[0,8]"), kEightBytes), "t.dtype");
}

TEST(SafetensorsTest, AHeaderThatIsNoObjectIsRefused) {
  for (const char* header :
       {"", "[]", "{\"t\":3}", "{\"t\":{\"dtype\":\"F32\"}}", "{", "\xFF\xFE"}) {
    EXPECT_FALSE(read(safetensors_file(header, "")).is_ok()) << header;
  }
}

}  // namespace safetensors_test
}  // namespace tessera::model
