// Every format read as its writers write it, and every way in which a file can be wrong refused by
// name.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catalogue/builder.h"
#include "catalogue/import.h"
#include "catalogue/snapshot.h"

namespace tessera::catalogue {
namespace import_test {

using Sid = std::vector<uint32_t>;

class ImportTest : public testing::Test {
 protected:
  ImportTest() {
    const std::filesystem::path base = std::filesystem::is_directory("/dev/shm")
                                           ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path();
    folder_ = base / ("tessera-import-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~ImportTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << content;
    return folder_ / name;
  }

  CatalogueInput import(const std::string& content, const ImportOptions& options = {},
                        const std::string& domain = "") const {
    Result<CatalogueInput> input = import_file({write("file", content), domain}, options, {});
    EXPECT_TRUE(input.is_ok()) << input.status().message();
    return input.is_ok() ? std::move(input).value() : CatalogueInput{};
  }

  std::shared_ptr<const Snapshot> build(const CatalogueInput& input) const {
    const std::string path = folder_ / "snapshot";
    const Result<BuildReport> report = build_snapshot(input, path, {});
    EXPECT_TRUE(report.is_ok()) << report.status().message();
    return Snapshot::open(path).value();
  }

  void expect_refused(const std::string& content, const std::string& words,
                      const ImportOptions& options = {}, const std::string& domain = "") const {
    const std::string path = write("file", content);
    Result<CatalogueInput> input = import_file({path, domain}, options, {});
    Status status;
    if (input.is_ok()) {
      status = build_snapshot(input.value(), folder_ / "refused", {}).status();
    } else {
      status = input.status();
    }
    EXPECT_EQ(status.code(), Code::kCatalogueInvalid) << content.substr(0, 200);
    EXPECT_EQ(status.message().rfind(path, 0), 0u) << status.message();
    EXPECT_NE(status.message().find(words), std::string::npos)
        << "got: " << status.message() << "\nexpected: " << words;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused"));
  }

  std::filesystem::path folder_;
};

Sid sid_of(const CatalogueInput& input, size_t item) {
  const auto sid = input.sid(item);
  return Sid(sid.begin(), sid.end());
}

TEST_F(ImportTest, IndexOfIntegerCodesIsRead) {
  const CatalogueInput input = import(R"({"0": [228, 220, 159], "x y": [3], "2": [0, 1]})");
  ASSERT_EQ(input.item_count(), 3u);
  EXPECT_EQ(input.item_ids[1], "x y");
  EXPECT_EQ(sid_of(input, 0), (Sid{228, 220, 159}));
  EXPECT_EQ(sid_of(input, 1), (Sid{3}));
  EXPECT_TRUE(input.level_patterns.empty());
  EXPECT_EQ(build(input)->level_size(0), 229u);
}

TEST_F(ImportTest, IndexOfTokensIsReadWithItsPatterns) {
  const CatalogueInput input =
      import(R"({"0": ["<a_236>", "<b_231>"], "1": ["<a_0>", "<b_7>", "c:12!"]})");
  EXPECT_EQ(sid_of(input, 0), (Sid{236, 231}));
  EXPECT_EQ(sid_of(input, 1), (Sid{0, 7, 12}));
  EXPECT_EQ(input.level_patterns,
            (std::vector<std::string>{"<a_{code}>", "<b_{code}>", "c:{code}!"}));
  EXPECT_EQ(build(input)->level_pattern(2), "c:{code}!");
}

TEST_F(ImportTest, Sid2PidKeysAreTakenApartByTheirBase) {
  const std::string content = R"({
    "67117057": [{"pid": 77, "count": 2, "count_after_downsample": 1}, {"iid": "b", "count": 9}],
    "0": [{"pid": -5}]})";
  const CatalogueInput input = import(content, {}, "ad");
  ASSERT_EQ(input.item_count(), 3u);
  EXPECT_EQ(sid_of(input, 0), (Sid{1, 1, 1}));  // 8192 * 8192 + 8192 + 1 = 67117057
  EXPECT_EQ(input.item_ids[0], "77");
  EXPECT_EQ(input.item_ids[1], "b");
  EXPECT_EQ(input.item_ids[2], "-5");
  const auto snapshot = build(input);
  EXPECT_EQ(snapshot->level_size(0), 8192u);
  const ItemRange range = snapshot->items(snapshot->find_node(Sid{1, 1, 1}));
  ASSERT_EQ(range.count, 2u);
  EXPECT_EQ(snapshot->item_id(range.first), "b");  // the higher count comes first
  EXPECT_EQ(snapshot->attributes(range.first), R"({"domain":"ad"})");
  ImportOptions options;
  options.sid2pid_base = 10;
  EXPECT_EQ(sid_of(import(R"({"345": [{"pid": 1}]})", options), 0), (Sid{3, 4, 5}));
}

TEST_F(ImportTest, JsonLinesAreReadWithAllTheirFields) {
  const CatalogueInput input = import(
      "{\"item_id\": 12, \"sid\": [1, 2]}\r\n"
      "\n"
      "{\"sid\": [1], \"title\": \"Gl\\u00fchwein\", \"item_id\": \"a\", \"priority\": 2.5,"
      " \"attributes\": {\"age\": [18, 99], \"x\": {\"y\": null}}}\n"
      "{\"item_id\": 18446744073709551615, \"sid\": [3], \"title\": null}",
      {}, "video");
  ASSERT_EQ(input.item_count(), 3u);
  EXPECT_EQ(input.item_ids[0], "12");
  EXPECT_EQ(input.item_ids[2], "18446744073709551615");
  const auto snapshot = build(input);
  const ItemOrdinal a = snapshot->find_item("a");
  EXPECT_EQ(snapshot->title(a), "Glühwein");
  EXPECT_EQ(snapshot->priority(a), 2.5);
  EXPECT_EQ(snapshot->attributes(a), R"({"domain":"video","age":[18,99],"x":{"y":null}})");
  EXPECT_EQ(snapshot->attributes(snapshot->find_item("12")), R"({"domain":"video"})");
  EXPECT_EQ(snapshot->title(snapshot->find_item("12")), "");
}

TEST_F(ImportTest, AByteOrderMarkIsPartOfNoFormat) {
  for (const char* content :
       {R"({"a": [0, 1]})", R"({"a": ["<a_0>", "<b_1>"]})", R"({"item_id": "a", "sid": [0, 1]})"}) {
    EXPECT_EQ(import("\xef\xbb\xbf" + std::string(content)).item_ids[0], "a");
  }
}

TEST_F(ImportTest, TitlesComeFromJsonOrTsv) {
  ImportOptions options;
  options.titles_path = write("titles.json", R"({"1": {"x": [1], "title": "one"}, "9": {}})");
  const std::string index = R"({"0": [1], "1": [2]})";
  EXPECT_EQ(import(index, options).titles[1], "one");
  EXPECT_EQ(import(index, options).titles[0], "");
  options.titles_path = write("titles.tsv", "item\tasin\ttitle\r\n0\tB0\tzero\r\n5\tB5\tfive\r\n");
  EXPECT_EQ(import(index, options).titles[0], "zero");
  options.titles_path = write("titles.tsv", "title\titem_id\nzero\t0\n");
  EXPECT_EQ(import(index, options).titles[0], "zero");
}

TEST_F(ImportTest, ASnapshotIsImportedAsItWasBuilt) {
  const auto first =
      build(import("{\"item_id\": \"a\", \"sid\": [1, 2], \"title\": \"t\", \"priority\": 3}\n"
                   "{\"item_id\": \"b\", \"sid\": [1], \"attributes\": {\"k\": 1}}\n"));
  std::filesystem::rename(folder_ / "snapshot", folder_ / "first");
  EXPECT_EQ(detect_format(folder_ / "first").value(), FileFormat::kSnapshot);
  const auto again = import_file({folder_ / "first", ""}, {}, {});
  ASSERT_TRUE(again.is_ok()) << again.status().message();
  EXPECT_EQ(build(again.value())->digest(), first->digest());
}

TEST_F(ImportTest, SeveralSourcesAreJoinedEachWithItsDomain) {
  const std::vector<ImportSource> sources = {
      {write("ads", R"({"5": [{"pid": 1, "count": 3}]})"), "ad"},
      {write("goods", "{\"item_id\": 2, \"sid\": [0, 0, 5]}"), "product"},
  };
  const auto input = import_files(sources, {}, {});
  ASSERT_TRUE(input.is_ok()) << input.status().message();
  const auto snapshot = build(input.value());
  EXPECT_EQ(snapshot->path_count(), 1u);
  EXPECT_EQ(snapshot->attributes(snapshot->find_item("1")), R"({"domain":"ad"})");
  EXPECT_EQ(snapshot->attributes(snapshot->find_item("2")), R"({"domain":"product"})");
}

TEST_F(ImportTest, ADuplicateAcrossSourcesNamesBothPlaces) {
  const std::vector<ImportSource> sources = {
      {write("first", R"({"1": [1]})"), ""},
      {write("second", "\n{\"item_id\": 1, \"sid\": [2]}"), ""},
  };
  const auto input = import_files(sources, {}, {});
  ASSERT_TRUE(input.is_ok());
  const Status status = build_snapshot(input.value(), folder_ / "refused", {}).status();
  EXPECT_NE(status.message().find("second line 2 (item \"1\")"), std::string::npos);
  EXPECT_NE(status.message().find("first items[0] (item \"1\")"), std::string::npos);
}

TEST_F(ImportTest, SourcesWithDifferentTokensAreRefused) {
  const std::vector<ImportSource> sources = {
      {write("first", R"({"1": ["<a_1>"]})"), ""},
      {write("second", R"({"2": ["<x_1>"]})"), ""},
  };
  const auto input = import_files(sources, {}, {});
  ASSERT_FALSE(input.is_ok());
  EXPECT_NE(input.status().message().find("expected tokens like <a_{code}>, got <x_{code}>"),
            std::string::npos)
      << input.status().message();
}

TEST_F(ImportTest, WrongIndexFilesAreRefusedByKey) {
  expect_refused("", "expected a catalogue snapshot, an index");
  expect_refused("[1, 2]", "expected a catalogue snapshot, an index");
  expect_refused("{}", "no items");
  expect_refused(R"({"0": 5})", "key \"0\": expected a list of codes");
  expect_refused(R"({"0": []})", "sid has 0 codes");
  expect_refused(R"({"0": [1], "1": 7})", "key \"1\": expected a list of codes, got 7");
  expect_refused(R"({"0": [1, -2]})", "key \"0\": sid[1]: expected an integer code in");
  expect_refused(R"({"0": [1, 2.5]})", "got 2.5");
  expect_refused(R"({"0": [1e400]})", "key \"0\": sid[0]: expected an integer code");
  expect_refused(R"({"0": [99999999999999999999999]})", "got 99999999999999999999999");
  expect_refused(R"({"0": [1048576]})", "got 1048576");
  expect_refused(R"({"0": [1, [2]]})", "key \"0\": sid[1]: expected an integer code");
  expect_refused(R"({"0": [1], "0": [2]})", "items[1] (item \"0\"): item ID already given");
  expect_refused(R"({"0": [1], "1": ["<a_1>"]})", "got both");
  expect_refused(R"({"0": [7, "<a_1>"]})", "got both");
  expect_refused(R"({"0": ["<a_1>"], "1": ["<b_1>"]})",
                 "level 0: expected tokens like <a_{code}>, got \"<b_1>\"");
  expect_refused(R"({"0": ["abc"]})", "expected a token with a code");
  expect_refused(R"({"0": ["<a_01>"]})", "expected a token with a code");
  expect_refused(R"({"0": ["<a_99999999>"]})", "expected a token with a code");
  expect_refused(R"({"0": [1], )", "JSON");
  expect_refused(R"({"0": [1]} {"1": [2]})", "expected nothing after the object");
  expect_refused(R"({"0": [1]]})", "JSON");
  expect_refused("{\"0\xff\": [1]}", "not valid UTF-8");
  expect_refused("{\"" + std::string(1025, 'k') + "\": [1]}", "item_id has 1025 bytes");
  std::string deep = "{\"0\": [";
  for (int i = 0; i < 33; ++i) deep += i == 0 ? "1" : ",1";
  expect_refused(deep + "]}", "expected at most 32 codes");
  ImportOptions options;
  options.level_sizes = {4, 4};
  expect_refused(R"({"0": [1, 4]})", "sid[1] is 4, expected a code in [0, 4)", options);
}

TEST_F(ImportTest, WrongSid2PidFilesAreRefusedByKey) {
  expect_refused(R"({"x": [{"pid": 1}]})", "key \"x\": expected an integer below 8192 cubed");
  expect_refused(R"({"549755813888": [{"pid": 1}]})", "key \"549755813888\": expected an integer");
  expect_refused(R"({"1": [{"pid": 1}], "2": []})", "key \"2\": expected at least one item");
  expect_refused(R"({"1": [{"pid": 1}, 5]})", "items[1]: expected an object");
  expect_refused(R"({"1": [{"count": 1}]})", "items[0]: expected a pid or an iid");
  expect_refused(R"({"1": [{"pid": 1, "iid": 2}]})", "got two");
  expect_refused(R"({"1": [{"pid": 1.5}]})", "items[0].pid: expected an integer or a string");
  expect_refused(R"({"1": [{"pid": null}]})", "items[0].pid: expected an integer or a string");
  expect_refused(R"({"1": [{"pid": 1, "count": "3"}]})", "items[0].count: expected a number");
  expect_refused(R"({"1": [{"pid": 1, "count": -3}]})", "items[0].count: expected a number");
  expect_refused(R"({"1": [{"pid": 1}], "2": [{"pid": 1}]})", "item ID already given");
  expect_refused(R"({"1": [{"pid": 1}])", "JSON");
  ImportOptions options;
  options.sid2pid_base = 1;
  expect_refused(R"({"1": [{"pid": 1}]})", "sid2pid base: expected 2 to 1048576", options);
}

TEST_F(ImportTest, WrongJsonLinesAreRefusedByLine) {
  const std::string good = "{\"item_id\": 1, \"sid\": [1]}\n";
  expect_refused(good + "{\"item_id\": 2}", "line 2: field sid is missing");
  expect_refused(good + "\n{\"sid\": [2]}", "line 3: field item_id is missing");
  expect_refused(good + "{\"item_id\": 1, \"sid\": [2]}",
                 "line 2 (item \"1\"): item ID already given by");
  expect_refused(good + "{\"item_id\": 2.5, \"sid\": [2]}",
                 "item_id: expected a string or an integer, got 2.5");
  expect_refused(good + "{\"item_id\": \"\", \"sid\": [2]}", "item_id has 0 bytes");
  expect_refused(good + "{\"item_id\": 2, \"sid\": []}", "line 2 (item \"2\"): sid has 0 codes");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1.5]}", "line 2: sid[0]: expected an integer");
  expect_refused(good + "{\"item_id\": 2, \"sid\": 5}", "line 2: sid: expected a list");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1], \"sid\": [2]}", "\"sid\" given twice");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1], \"titel\": \"\"}",
                 "line 2: unknown field \"titel\"");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1], \"title\": 5}", "title: expected a string");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1], \"attributes\": [1]}",
                 "attributes: expected an object, got [1]");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1], \"priority\": \"x\"}",
                 "priority: expected a number");
  expect_refused(good + "{\"item_id\": 2, \"sid\": [1]", "line 2: not valid JSON");
  expect_refused(good + "{\"item_id\": \"\xff\", \"sid\": [1]}", "line 2: not valid JSON");
  expect_refused(good + "[1]", "line 2: expected an object, got [1]");
  expect_refused(good + std::string((1 << 20) + 1, ' '), "line 2: longer than 1048576 bytes");
  expect_refused(good + "{\"item_id\": 2, \"sid\": " + std::string(2000, '['), "line 2");
  expect_refused("{\"item_id\": 2, \"sid\": [1], \"attributes\": {\"domain\": \"x\"}}",
                 "domain: expected \"ad\", got \"x\"", {}, "ad");
  expect_refused(good, "domain: expected at most 256 bytes", {}, std::string(257, 'd'));
  expect_refused(good, "domain: expected at most 256 bytes of UTF-8", {}, "\xff");
}

TEST_F(ImportTest, WrongTitleFilesAreRefused) {
  ImportOptions options;
  const auto refused = [&](const std::string& titles, const std::string& words) {
    options.titles_path = write("titles", titles);
    const auto input = import_file({write("file", R"({"0": [1]})"), ""}, options, {});
    ASSERT_FALSE(input.is_ok()) << words;
    EXPECT_EQ(input.status().code(), Code::kCatalogueInvalid);
    EXPECT_NE(input.status().message().find(words), std::string::npos) << input.status().message();
  };
  refused("a\tb\n0\tx\n", "line 1: expected a JSON object, or a header");
  refused("item\ttitle\n0\tx\ty\n", "line 2: expected 2 columns, got 3");
  refused("item\ttitle\n0\tx\n0\ty\n", "item \"0\" given twice");
  refused("item\ttitle\n0\t\xff\n", "is not valid UTF-8");
  refused(R"({"0": {"title": 5}})", "key \"0\": title: expected a string");
  refused(R"({"0": "t"})", "key \"0\": expected an object with a title");
  refused(R"({"0": {"title": "a"}, "0": {"title": "b"}})", "item \"0\" given twice");
  refused(R"({"0": {"title": "a"})", "JSON");
  options.titles_path = folder_ / "absent";
  const auto input = import_file({write("file", R"({"0": [1]})"), ""}, options, {});
  EXPECT_EQ(input.status().code(), Code::kCatalogueNotFound);
}

TEST_F(ImportTest, AMissingFileAndAFolderAreRefused) {
  EXPECT_EQ(detect_format(folder_ / "absent").status().code(), Code::kCatalogueNotFound);
  EXPECT_EQ(detect_format(folder_).status().code(), Code::kIoFailed);
}

TEST_F(ImportTest, PublishedIndexFilesAreReadWhenPresent) {
  struct Published {
    const char* path;
    uint64_t items;
    uint64_t paths;
    uint32_t depth;
  };
  const Published files[] = {
      {"../shared/data/minionerec/raw/Industrial_and_Scientific.index.json", 3686, 3670, 3},
      {"../shared/data/amazon-beauty/index_rqvae.json", 12101, 12101, 4},
  };
  for (const Published& file : files) {
    const std::filesystem::path path = std::filesystem::path(TESSERA_REPOSITORY_ROOT) / file.path;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << file.path << " is not here";
    const auto input = import_file({path, ""}, {}, {});
    ASSERT_TRUE(input.is_ok()) << input.status().message();
    const auto snapshot = build(input.value());
    EXPECT_EQ(snapshot->item_count(), file.items);
    EXPECT_EQ(snapshot->path_count(), file.paths);
    EXPECT_EQ(snapshot->depth(), file.depth);
  }
}

}  // namespace import_test
}  // namespace tessera::catalogue
