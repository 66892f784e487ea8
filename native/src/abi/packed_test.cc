// Packed records: what one side writes the other reads, and nothing else is taken for a record.
#include <gtest/gtest.h>

#include "abi/generated/packed_in.h"
#include "abi/pack_completion.h"
#include "abi/packed_writer.h"

namespace tessera::abi {
namespace packed_test {

/// As native/ts/packed.ts writes one.
std::vector<uint32_t> written() {
  PackedWriter out;
  out.u32(7);
  out.flag(true);
  out.f64(-0.25);
  out.u53((uint64_t{1} << 53) - 1);
  out.text("first");
  out.u32s(std::vector<uint32_t>{1, 2, 3});
  out.text("a \xC3\xA4");
  return out.end();
}

struct Values {
  uint32_t integer = 0;
  bool truth = false;
  double number = 0;
  uint64_t large = 0;
  std::string first, second;
  std::vector<uint32_t> list;
};

Values read_all(PackedReader& in) {
  Values to;
  in.u32(to.integer);
  in.flag(to.truth);
  in.f64(to.number);
  in.u53(to.large);
  in.text(to.first);
  in.u32s(to.list);
  in.text(to.second);
  return to;
}

TEST(PackedRecord, IsReadAsItWasWritten) {
  const std::vector<uint32_t> words = written();
  PackedReader in(words);
  const Values values = read_all(in);
  EXPECT_TRUE(in.is_whole());
  EXPECT_EQ(in.size(), words.size());
  EXPECT_EQ(values.integer, 7u);
  EXPECT_TRUE(values.truth);
  EXPECT_EQ(values.number, -0.25);
  EXPECT_EQ(values.large, (uint64_t{1} << 53) - 1);
  EXPECT_EQ(values.first, "first");
  EXPECT_EQ(values.second, "a \xC3\xA4");
  EXPECT_EQ(values.list, (std::vector<uint32_t>{1, 2, 3}));
}

TEST(PackedRecord, IsNotWholeWithAWordLessOrAFieldUnread) {
  const std::vector<uint32_t> words = written();
  for (size_t count = 0; count < words.size(); ++count) {
    PackedReader in(std::span<const uint32_t>(words).first(count));
    read_all(in);
    EXPECT_FALSE(in.is_whole()) << count << " words";
  }
  PackedReader partly(words);
  uint32_t integer = 0;
  partly.u32(integer);
  EXPECT_FALSE(partly.is_whole());
  EXPECT_TRUE(partly.is_good());
}

std::vector<uint32_t> with_blobs() {
  PackedWriter out;
  out.count(3);
  for (const char* text : {"", "abcd", "efghi"}) out.blob(text);
  out.text("behind");
  return out.end();
}

TEST(PackedRecord, HasByteStringsAmongItsWords) {
  const std::vector<uint32_t> words = with_blobs();
  std::vector<std::string> strings;
  std::string text;
  PackedReader in(words);
  in.blobs(strings);
  in.text(text);
  EXPECT_TRUE(in.is_whole());
  EXPECT_EQ(strings, (std::vector<std::string>{"", "abcd", "efghi"}));
  EXPECT_EQ(text, "behind");
}

TEST(PackedRecord, HasNoByteStringLongerThanItsWords) {
  for (const uint32_t bytes : {13u, 0xFFFFFFFDu, 0xFFFFFFFFu}) {
    std::vector<uint32_t> words = with_blobs();
    words[kHeaderWords + 4] = bytes;  // of the last one, before 12 bytes of fields
    std::vector<std::string> strings;
    PackedReader in(words);
    in.blobs(strings);
    EXPECT_FALSE(in.is_good()) << bytes;
  }
}

TEST(PackedRecord, HasEntriesWithTheirEndsBeforeTheirBytes) {
  PackedWriter out;
  const std::vector<std::pair<std::string, std::string>> entries = {{"k", "value"}, {"key", ""}};
  out.entries(entries);
  const std::vector<uint32_t> words = out.end();
  std::vector<uint32_t> found(words.begin() + kHeaderWords, words.begin() + kHeaderWords + 5);
  EXPECT_EQ(found, (std::vector<uint32_t>{2, 1, 6, 9, 9}));
  const auto* bytes = reinterpret_cast<const char*>(words.data() + kHeaderWords + 5);
  EXPECT_EQ(std::string_view(bytes, 9), "kvaluekey");
  EXPECT_EQ(words.size(), kHeaderWords + 5 + 3);
}

TEST(PackedRecord, HasNoEnumeratorBeyondTheLast) {
  PackedWriter out;
  out.u32(3);
  const std::vector<uint32_t> words = out.end();
  uint32_t choice = 0;
  PackedReader three(words);
  three.choice(choice, 3);
  EXPECT_FALSE(three.is_good());
  PackedReader four(words);
  four.choice(choice, 4);
  EXPECT_TRUE(four.is_whole());
  EXPECT_EQ(choice, 3u);
}

TEST(PackedRecord, CountsNoMoreThanItHolds) {
  PackedWriter out;
  out.count(0xFFFFFFFF);
  const std::vector<uint32_t> words = out.end();
  std::vector<uint32_t> numbers, offsets;
  PackedReader array(words);
  array.u32s(numbers);
  EXPECT_FALSE(array.is_good());
  PackedReader paths(words);
  paths.paths(numbers, offsets);
  EXPECT_FALSE(paths.is_good());
  EXPECT_TRUE(numbers.empty());
}

TEST(PackedCompletion, SaysWhyThereIsNoAnswer) {
  engine::Completion completion;
  completion.ticket = 9;
  completion.status = {Code::kEngineOverloaded, "the queue is full"};
  completion.retry_after_us = 250;
  const std::vector<uint32_t> words = pack_completion(completion);
  PackedReader in(words);
  uint32_t ticket = 0, status = 0, kind = 0, retry = 0;
  std::string message;
  in.u32(ticket);
  in.u32(status);
  in.u32(kind);
  in.text(message);
  in.u32(retry);
  EXPECT_TRUE(in.is_whole());
  EXPECT_EQ(ticket, 9u);
  EXPECT_EQ(status, static_cast<uint32_t>(Code::kEngineOverloaded));
  EXPECT_EQ(message, "the queue is full");
  EXPECT_EQ(retry, 250u);
}

/// A completion holds no view: its texts are its own, and a snapshot that is gone is not missed.
TEST(PackedCompletion, HasTheTextsOfItsItemsInItself) {
  engine::Completion completion;
  completion.task = &engine::recall_task();
  completion.answer.item_ordinals = {4};
  completion.answer.item_scores = {-1};
  completion.answer.item_paths = {0};
  completion.texts.ids.add("ad-4");
  completion.texts.titles.add("title of 4");
  const std::vector<uint32_t> words = pack_completion(completion);
  const std::string_view texts(reinterpret_cast<const char*>(words.data() + words[1]), words[2]);
  EXPECT_EQ(texts, "ad-4title of 4");
}

}  // namespace packed_test
}  // namespace tessera::abi
