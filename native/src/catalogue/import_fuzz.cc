// Seeded mutations of index, sid2pid, JSON lines and titles files, imported and, when accepted,
// built and opened: nothing may crash, and what the importers accept the builder refuses by name or
// writes well. With Clang's libFuzzer only LLVMFuzzerTestOneInput is used; otherwise main()
// mutates.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/check.h"
#include "catalogue/builder.h"
#include "catalogue/import.h"
#include "catalogue/snapshot.h"

namespace tessera::catalogue {
namespace {

std::string scratch_path(const char* name) {
  const std::filesystem::path folder = std::filesystem::is_directory("/dev/shm")
                                           ? std::filesystem::path("/dev/shm")
                                           : std::filesystem::temp_directory_path();
  return folder / (name + std::to_string(::getpid()));
}

void check_refusal(const Status& status, const std::string& path) {
  TESSERA_CHECK(status.code() == Code::kCatalogueInvalid ||
                status.code() == Code::kCatalogueCorrupt);
  TESSERA_CHECK(status.message().size() > path.size());
  TESSERA_CHECK(status.message().rfind(path, 0) == 0);
}

void import_and_build(const std::string& path, const ImportOptions& options,
                      const std::string& domain, const std::string& blamed) {
  static const std::string built = scratch_path("tessera-import-fuzz-built-");
  Result<CatalogueInput> input = import_file({path, domain}, options, {});
  if (!input.is_ok()) return check_refusal(input.status(), blamed);
  const Result<BuildReport> report = build_snapshot(input.value(), built, {});
  if (!report.is_ok()) return check_refusal(report.status(), path);
  const auto opened = Snapshot::open(built);
  TESSERA_CHECK(opened.is_ok());
  TESSERA_CHECK(opened.value()->item_count() == input.value().item_count());
  for (size_t item = 0; item < input.value().item_count(); ++item) {
    const ItemOrdinal found = opened.value()->find_item(input.value().item_ids[item]);
    TESSERA_CHECK(found != kNoItem);
    const auto sid = input.value().sid(item);
    TESSERA_CHECK(opened.value()->find_node(sid) == opened.value()->node_of(found));
  }
  std::filesystem::remove(built);
}

/// The content as a catalogue file, with and without a domain, and as a titles file.
void read_content(const std::string& content) {
  static const std::string path = scratch_path("tessera-import-fuzz-");
  static const std::string index = scratch_path("tessera-import-fuzz-index-");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  std::ofstream(index, std::ios::binary | std::ios::trunc) << R"({"0": [1, 2], "7": [3]})";
  ImportOptions options;
  options.sid2pid_base = 64;
  import_and_build(path, options, "", path);
  import_and_build(path, options, "ad", path);
  options.titles_path = path;
  import_and_build(index, options, "", path);
  std::filesystem::remove(path);
  std::filesystem::remove(index);
}

[[maybe_unused]] std::string seed_text(std::mt19937_64& random) {
  const char* const texts[] = {
      R"({"0": [228, 220, 159], "1": [3, 4], "12": [3], "7": [228, 220, 160]})",
      R"({"0": ["<a_236>", "<b_231>"], "1": ["<a_2>", "<b_7>"], "2": ["<a_236>", "<b_1>"]})",
      R"({"70": [{"pid": 77, "count": 2, "x": []}, {"iid": "b", "count": 9}], "3": [{"pid": -5}]})",
      "{\"item_id\": 12, \"sid\": [1, 2], \"title\": \"x\"}\n"
      "{\"item_id\": \"a\", \"sid\": [1], \"attributes\": {\"a\": [1, {\"b\": null}], \"domain\": "
      "\"ad\"}}\n{\"item_id\": 3, \"sid\": [9, 9, 9], \"priority\": -2.5}\n",
      R"({"0": {"x": {"y": []}, "title": "one \u00fc"}, "7": {"title": "seven"}})",
      "item\tasin\ttitle\n0\tB0\tzero\n7\tB7\tseven\n",
  };
  return texts[random() % std::size(texts)];
}

[[maybe_unused]] std::string mutate(std::string text, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  const char* const pieces[] = {"{",
                                "}",
                                "[",
                                "]",
                                ",",
                                ":",
                                "\"",
                                "\\",
                                "-1",
                                "1e400",
                                "0.5",
                                "4294967296",
                                "18446744073709551616",
                                "null",
                                "true",
                                "\n",
                                "\t",
                                "\xff",
                                "\xc3",
                                "\"item_id\"",
                                "\"sid\":",
                                "\\u0000",
                                "\\ud800",
                                "[[[[[[[[",
                                "{\"a\":",
                                "<a_",
                                "007"};
  const size_t changes = 1 + below(5);
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1: text.erase(std::min(at, text.size()), below(8)); break;
      case 2: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
      case 3: text.resize(below(8) == 0 ? at : text.size()); break;
      default: text.insert(at, pieces[below(std::size(pieces))]);
    }
  }
  return text;
}

}  // namespace
}  // namespace tessera::catalogue

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tessera::catalogue::read_content(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#if !defined(TESSERA_LIBFUZZER)
/// import_fuzz [cases [seed]]: a failure is repeated by the seed that was printed last.
int main(int argc, char** argv) {
  using namespace tessera::catalogue;
  const uint64_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 6000;
  const uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    if (seed % 100 == first_seed % 100) {
      std::printf("import_fuzz: seed %llu\n", static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
    std::mt19937_64 random(seed);
    read_content(mutate(seed_text(random), random));
  }
  std::printf("import_fuzz: %llu cases\n", static_cast<unsigned long long>(cases));
  return 0;
}
#endif
