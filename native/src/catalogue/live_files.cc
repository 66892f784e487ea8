#include "catalogue/live_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace tessera::catalogue {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLogSuffix = ".changes";
constexpr const char* kSnapshotSuffix = ".snapshot";

}  // namespace

std::string log_path_in(const std::string& folder, uint64_t generation) {
  return folder + "/" + std::to_string(generation) + kLogSuffix;
}

std::string snapshot_path_in(const std::string& folder, const std::string& digest) {
  return folder + "/" + digest + kSnapshotSuffix;
}

std::string marks_path_in(const std::string& folder) { return folder + "/marks"; }

std::vector<uint64_t> generations_in(const std::string& folder) {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    uint64_t number = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (bad == std::errc() && std::string_view(end) == kLogSuffix) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status check_marks(const std::string& folder) {
  const std::vector<uint64_t> numbers = generations_in(folder);
  const std::string marks_path = marks_path_in(folder);
  const Result<platform::LogMarks::Found> found = platform::LogMarks::find(marks_path);
  if (!found.is_ok()) return found.status();
  const auto damaged = [](const std::string& message) {
    return Status(Code::kCatalogueCorrupt, message + "; `npm run repair` shows what would be lost");
  };
  const auto& [presence, marks] = found.value();
  const uint64_t newest = numbers.empty() ? 0 : numbers.back();
  if (!marks.empty() && marks.back().log > newest) {
    return damaged(log_path_in(folder, marks.back().log) + ": expected a log up to change " +
                   std::to_string(marks.back().sequence) + ", got no such file");
  }
  if (presence == platform::LogMarks::Presence::kGood) return Status::ok();
  if (presence == platform::LogMarks::Presence::kDamaged) {
    return damaged(marks_path + ": expected the marks of the logs, got something else");
  }
  if (numbers.empty()) return Status::ok();
  if (!ChangeLog::read(log_path_in(folder, newest)).is_ok()) return Status::ok();
  return damaged(marks_path + ": expected the marks of the logs, got no such file");
}

Status check_whole(const std::string& folder, uint64_t number, const LogContent& content,
                   std::span<const platform::LogMark> marks) {
  const std::string path = log_path_in(folder, number);
  const uint64_t last = content.ends.back().sequence;
  const std::string place = path + ": byte " + std::to_string(content.good_bytes) + " of " +
                            std::to_string(content.file_bytes) + ": ";
  const std::string readable = "; changes up to " + std::to_string(last) +
                               " can be read; `npm run repair` shows what would be lost";
  if (content.header.generation != number) {
    return {Code::kCatalogueCorrupt, path + ": expected log " + std::to_string(number) +
                                         ", got log " + std::to_string(content.header.generation) +
                                         readable};
  }
  for (const platform::LogMark& mark : marks) {
    if (mark.log != number || content.reaches(mark)) continue;
    return {Code::kCatalogueCorrupt, place + "expected changes up to " +
                                         std::to_string(mark.sequence) + " as acknowledged, got " +
                                         std::to_string(last) + readable};
  }
  if (!content.has_later_records) return Status::ok();
  return {Code::kCatalogueCorrupt,
          place + "expected a record, got something else with whole records behind it" + readable};
}

Result<LogContent> read_whole(const std::string& folder, uint64_t number) {
  const Result<platform::LogMarks::Found> found = platform::LogMarks::find(marks_path_in(folder));
  if (!found.is_ok()) return found.status();
  Result<LogContent> content = ChangeLog::read(log_path_in(folder, number));
  if (!content.is_ok()) return content.status();
  TESSERA_RETURN_IF_ERROR(check_whole(folder, number, content.value(), found.value().marks));
  return content;
}

}  // namespace tessera::catalogue
