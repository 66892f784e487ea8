// The kernels of a search by name and parameters, as a queue launches them.
#pragma once

#include "beam/cuda/export_kernels.h"
#include "beam/cuda/select_kernels.h"
#include "device/cuda/queue.h"

namespace tessera::beam::cuda {

using device::cuda::Kernel;

inline constexpr Kernel<Trie, const Search*> kCountCandidates{"tessera_count_candidates"};
inline constexpr Kernel<Trie, const Search*> kWriteKeys{"tessera_write_keys"};
inline constexpr Kernel<const Search*, uint32_t> kCountDigits{"tessera_count_digits"};
inline constexpr Kernel<const Search*> kChooseDigit{"tessera_choose_digit"};
inline constexpr Kernel<const Search*> kGatherWinners{"tessera_gather_winners"};
inline constexpr Kernel<Trie, const Search*> kAdvance{"tessera_advance"};
inline constexpr Kernel<Trie, const Export*> kExportItems{"tessera_export_items"};
inline constexpr Kernel<Fork> kFork{"tessera_fork"};

}  // namespace tessera::beam::cuda
