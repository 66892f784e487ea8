// tessera_card.so, opened at run time (cuda/library/card_library.h): the engine's kernels as fat
// binaries, products by CUTLASS, attention by FlashInfer. A machine without it serves on its
// processor; nothing else needs CUDA at its build.
//
// Thread-safety: any threads.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "cuda/library/card_library.h"

namespace tessera::device::cuda {

class CardLibrary {
 public:
  /// Functions of the library's face.
  struct Face {
    const void* const* images = nullptr;
    decltype(&tessera_card_load) load = nullptr;
    decltype(&tessera_card_multiply) multiply = nullptr;
    decltype(&tessera_card_attend) attend = nullptr;
  };
  /// Over functions of the caller's, for tests.
  explicit CardLibrary(const Face& face) : face_(face) {}
  /// The library beside this program's file, or in a folder above it, as builds have it. Errors:
  /// ENGINE_UNAVAILABLE where there is none, or one of another version.
  static Result<std::shared_ptr<const CardLibrary>> open();

  /// Fat binaries of the engine's kernels, ended by null.
  const void* const* images() const { return face_.images; }
  /// The code of all of it, onto the card of the calling thread. Errors: ENGINE_UNAVAILABLE, as
  /// of the next.
  Status load() const;
  /// A product of BF16, and attention, asked for on the stream.
  Status multiply(const TesseraCardProduct& product, void* stream) const;
  Status attend(const TesseraCardAttention& attention, void* stream) const;

 private:
  Face face_;
};

}  // namespace tessera::device::cuda
