// Test only: what tessera_card.so computes (cuda/library/card_library.h), in double precision.
#pragma once

#include "cuda/library/card_library.h"

namespace tessera::device::cuda::plain {

void multiply(const TesseraCardProduct& product);
void attend(const TesseraCardAttention& attention);

}  // namespace tessera::device::cuda::plain
