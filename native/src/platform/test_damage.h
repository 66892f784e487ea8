// Damage to a folder of files, for tests: any file, any place.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace tessera::platform {

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_content(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

inline std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Flips a bit, cuts, deletes, zeroes a range of, or swaps files. Returns what was done.
inline std::string damage_a_file(const std::filesystem::path& folder, std::mt19937_64& random) {
  const auto files = files_of(folder);
  const auto file = files[random() % files.size()];
  std::string content = content_of(file);
  const size_t at = content.empty() ? 0 : random() % content.size();
  const std::string name = file.filename();
  switch (random() % 5) {
    case 0:
      if (!content.empty()) content[at] = static_cast<char>(content[at] ^ (1 << random() % 8));
      write_content(file, content);
      return "bit of byte " + std::to_string(at) + " of " + name + " flipped";
    case 1:
      std::filesystem::resize_file(file, at);
      return name + " cut to " + std::to_string(at) + " of " + std::to_string(content.size());
    case 2: std::filesystem::remove(file); return name + " deleted";
    case 3: {
      const size_t bytes = std::min(content.size() - at, size_t{1} + random() % 5000);
      std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(at), bytes, '\0');
      write_content(file, content);
      return std::to_string(bytes) + " bytes at " + std::to_string(at) + " of " + name + " zeroed";
    }
    default: {
      const auto other = files[random() % files.size()];
      const std::string others = content_of(other);
      write_content(other, content);
      write_content(file, others);
      return name + " and " + other.filename().string() + " swapped";
    }
  }
}

}  // namespace tessera::platform
