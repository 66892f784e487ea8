// The inner loops of a selection, one file per instruction set (scan_portable.cc, scan_avx2.cc,
// scan_avx512.cc). Plain data only: these files are compiled with flags of their own, and no inline
// function may leak out of them. All give the same bits.
#pragma once

#include <cstdint>

namespace tessera::beam {

/// A candidate as one integer: smaller is better. High half: the score's bits, mapped so that a
/// higher score is a smaller integer; low half: its node, because nodes of one level are numbered
/// in the order of their SIDs.
using CandidateKey = uint64_t;

/// A run of children of one beam; child i has code codes[i] and is node first_child + i.
struct ScanRun {
  const float* logits = nullptr;  // the beam's row, indexed by code
  const void* codes = nullptr;    // u8, u16 or u32; null when the node has every child: code i is i
  uint32_t code_bytes = 1;
  uint32_t begin = 0;  // children [begin, end) of the node
  uint32_t end = 0;
  uint32_t first_child = 0;
  float beam_score = 0;
  float norm = 0;
};

/// Keys that a scan may write beyond the last one it counts.
inline constexpr uint32_t kScanSlack = 16;

struct ScanKernels {
  const char* name;
  /// Writes the keys of the children whose score is not below `threshold`, in order; returns their
  /// number. The score is beam_score + min(0, logit - norm), so never above beam_score;
  /// not-a-number becomes minus infinity, -0 becomes +0. REQUIRES: room for end - begin +
  /// kScanSlack keys.
  uint32_t (*scan)(const ScanRun& run, float threshold, CandidateKey* keys);
  /// log(sum(exp(values))); not-a-number is left out; minus infinity when nothing is left.
  float (*log_sum_exp)(const float* values, uint32_t count);
  /// out[i] = logits[code of child begin + i] for the children of the run.
  void (*gather)(const ScanRun& run, float* out);
};

extern const ScanKernels kPortableScan;
#if defined(__x86_64__)
extern const ScanKernels kAvx2Scan;    // REQUIRES: AVX2
extern const ScanKernels kAvx512Scan;  // REQUIRES: AVX-512 F, BW, DQ, VL
#endif

/// The fastest that this processor has.
const ScanKernels& best_scan_kernels();

}  // namespace tessera::beam
