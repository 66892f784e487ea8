// What passes cost on a card: as calibrate.h, waited for one by one.
#pragma once

#include "engine/calibrate.h"
#include "model/cuda/card_decoder.h"

namespace tessera::engine::cuda {

/// All zero when there is no memory to run them in. Errors: what the queue says.
Result<scheduler::PassCost> calibrate_card(const EngineOptions& options,
                                           model::cuda::CardDecoder& decoder,
                                           device::cuda::Queue& queue);

}  // namespace tessera::engine::cuda
