#include "attention/delta_state.h"

#include <algorithm>
#include <cstring>

namespace tessera::attention {
namespace {

/// Calls fn(piece, offset in it, bytes, bytes before) for the pieces that hold [first, first +
/// bytes).
template <typename Fn>
void for_pieces(uint64_t piece_bytes, uint64_t first, uint64_t bytes, const Fn& fn) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t at = first + done, offset = at % piece_bytes;
    const uint64_t part = std::min(bytes - done, piece_bytes - offset);
    fn(at / piece_bytes, offset, part, done);
    done += part;
  }
}

}  // namespace

void DeltaCapture::write(uint64_t first, const float* from, uint64_t count) const {
  for_pieces(piece_bytes, first * sizeof(float), count * sizeof(float),
             [&](uint64_t piece, uint64_t offset, uint64_t bytes, uint64_t before) {
               std::memcpy(static_cast<char*>(pieces[piece]) + offset,
                           reinterpret_cast<const char*>(from) + before, bytes);
             });
}

void read_pieces(void* const* pieces, uint64_t piece_bytes, uint64_t count, float* to) {
  for_pieces(piece_bytes, 0, count * sizeof(float),
             [&](uint64_t piece, uint64_t offset, uint64_t bytes, uint64_t before) {
               std::memcpy(reinterpret_cast<char*>(to) + before,
                           static_cast<const char*>(pieces[piece]) + offset, bytes);
             });
}

}  // namespace tessera::attention
