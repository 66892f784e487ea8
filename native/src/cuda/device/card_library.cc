#include "cuda/device/card_library.h"

#include <dlfcn.h>

#include <filesystem>

namespace tessera::device::cuda {
namespace {

constexpr char kName[] = "tessera_card.so";
/// Folders above a program's own: build/native/src/cuda has tests, build/native the library.
constexpr int kFoldersAbove = 3;

Status unavailable(const std::string& expected, const std::string& got) {
  return {Code::kEngineUnavailable, "device: expected " + expected + ", got " + got};
}

/// The file that has this code: the addon, or a program that is linked with it.
std::filesystem::path own_folder() {
  Dl_info info{};
  std::error_code ignored;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
  return std::filesystem::absolute(info.dli_fname, ignored).parent_path();
}

std::string find_library() {
  std::filesystem::path folder = own_folder();
  for (int above = 0; above <= kFoldersAbove && !folder.empty(); ++above) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / kName, ignored)) return (folder / kName).string();
    folder = folder.parent_path();
  }
  return {};
}

Status outcome(const char* call, int result) {
  if (result == 0) return Status::ok();
  return unavailable("0 of " + std::string(call), std::to_string(result));
}

}  // namespace

Result<std::shared_ptr<const CardLibrary>> CardLibrary::open() {
  const std::string path = find_library();
  if (path.empty()) {
    return Status(Code::kEngineUnavailable,
                  "device: built without kernels for a card: expected tessera_card.so beside the "
                  "engine (npm run bootstrap -- --cuda), got none");
  }
  const auto library = std::make_shared<CardLibrary>(Face{});
  // Never closed: its CUDA runtime has destructors of threads that outlive an engine.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return unavailable(path + " to open", ::dlerror());
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    return function != nullptr;
  };
  decltype(&tessera_card_version) version = nullptr;
  if (!find(version, "tessera_card_version") || version() != TESSERA_CARD_VERSION) {
    return unavailable(path + " of version " + std::to_string(TESSERA_CARD_VERSION),
                       version == nullptr ? "none" : std::to_string(version()));
  }
  decltype(&tessera_card_images) images = nullptr;
  if (!find(images, "tessera_card_images") || !find(library->face_.load, "tessera_card_load") ||
      !find(library->face_.multiply, "tessera_card_multiply") ||
      !find(library->face_.attend, "tessera_card_attend")) {
    return unavailable(path + " with the functions of its version", "another file");
  }
  library->face_.images = images();
  return std::shared_ptr<const CardLibrary>(library);
}

Status CardLibrary::load() const { return outcome("tessera_card_load", face_.load()); }

Status CardLibrary::multiply(const TesseraCardProduct& product, void* stream) const {
  return outcome("tessera_card_multiply", face_.multiply(&product, stream));
}

Status CardLibrary::attend(const TesseraCardAttention& attention, void* stream) const {
  return outcome("tessera_card_attend", face_.attend(&attention, stream));
}

}  // namespace tessera::device::cuda
