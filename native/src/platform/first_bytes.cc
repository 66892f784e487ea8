#include "platform/first_bytes.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tessera::platform {
namespace {

constexpr size_t kUtf16Bytes = 8;

struct Kind {
  std::string_view begin;  // in small letters
  std::string_view name;
};

constexpr std::string_view kPage = "HTML (a page in its place: download the file again)";
constexpr std::array<Kind, 8> kKinds = {
    {{"version https://git-lfs.github.com/spec/", "a Git LFS pointer to it (git lfs pull)"},
     {"# xet version ", "a Xet pointer to it (git xet, or hf download)"},
     {"<!doctype html", kPage},
     {"<html", kPage},
     {"<?xml", "XML (an answer in its place: download the file again)"},
     {"\x1f\x8b\x08", "gzip (decompress it)"},
     {"pk\x03\x04", "zip (unpack it)"},
     {"gguf", "GGUF (quantised for other programs: take the model's safetensors)"}}};

/// A mark and four characters of Latin letters: fewer bytes may be a number's.
bool is_utf16(std::string_view text) {
  if (text.size() < kUtf16Bytes) return false;
  const bool is_little = text.starts_with("\xff\xfe");
  if (!is_little && !text.starts_with("\xfe\xff")) return false;
  for (size_t i = 2; i < kUtf16Bytes; i += 2) {
    if (text[i + (is_little ? 1 : 0)] != '\0') return false;
  }
  return true;
}

}  // namespace

std::string_view foreign_content(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_utf16(text)) return "UTF-16 (save it as UTF-8)";
  for (const Kind& kind : kKinds) {
    const auto is_same = [](char given, char known) {
      return std::tolower(static_cast<unsigned char>(given)) == static_cast<unsigned char>(known);
    };
    if (text.size() >= kind.begin.size() &&
        std::equal(kind.begin.begin(), kind.begin.end(), text.begin(),
                   [&](char known, char given) { return is_same(given, known); })) {
      return kind.name;
    }
  }
  return {};
}

}  // namespace tessera::platform
