// The engine's way to a card in a build without kernels: nothing of cuda/ is compiled for it.
#include "cuda/engine/open_on_card.h"

namespace tessera::engine::cuda {

Result<EngineParts> open_on_card(EngineOptions& /*options*/, uint32_t /*card*/) {
  return Status(Code::kEngineUnavailable,
                "device: built without kernels for a card: npm run bootstrap -- --cuda");
}

}  // namespace tessera::engine::cuda
