/* Matrix products on an NVIDIA card by CUTLASS, and attention by a kernel of FlashInfer: the C face
 * of tessera_card.so, which the engine opens at run time. Plain C, so that neither side depends on
 * the other's compiler or C++ library.
 *
 * An element of y has the bits that its row of x, its row of w and k give it on a card: the same
 * in any batch, at any place of it and with any tile. Cards of compute capability 9.0 and others
 * may differ.
 *
 * Work goes to the stream of the call and to the card whose context the calling thread has current
 * (cuCtxSetCurrent of the primary context). A call allocates nothing, waits for nothing and needs
 * no workspace, so a chain of them may be captured into a graph; what pointers of a call point to
 * is read anew at each replay. The first call of a tile on a card loads its code: it must not be
 * captured (tessera_card_load).
 *
 * A call returns 0, a cudaError_t (above 0), or one of TesseraCardFault (below 0); it never throws.
 * Faults of running work are found by the stream's next wait, as after any launch.
 *
 * Thread-safety: any threads at once. */
#ifndef TESSERA_CARD_LIBRARY_H
#define TESSERA_CARD_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts with each change of this file; both sides compare it before all else. */
#define TESSERA_CARD_VERSION 1

enum TesseraCardFault {
  TESSERA_CARD_BAD_PRODUCT =
      -1,                     /* sizes, alignment or pointers that TesseraCardProduct rules out */
  TESSERA_CARD_BAD_TILE = -2, /* a tile that the card does not have */
  TESSERA_CARD_TOO_OLD = -3,  /* compute capability below 8.0 */
  TESSERA_CARD_BAD_ATTENTION = -4 /* heads that TesseraCardAttention rules out */
};

/* y[i][j] = x[i] . w[j] + bias[j], summed in F32 over k in its order. All but y_f32 is BF16.
 * Pointers are to memory of the card, rows without gaps. rows or columns of 0: nothing is done.
 * rows, columns and k: below 2^31. */
typedef struct TesseraCardProduct {
  const uint16_t* x; /* [rows][k], aligned to 16 bytes, as w is */
  const uint16_t* w; /* [columns][k] */
  uint32_t rows;
  uint32_t columns;
  uint32_t k;           /* not 0; a multiple of 8 */
  uint32_t tile;        /* 0: by the shape (tessera_card_tile); else of 1 .. */
  const uint16_t* bias; /* [columns], or null: none */
  uint16_t* y;          /* [rows][columns], or null */
  float* y_f32;         /* the same unrounded, or null */
} TesseraCardProduct;

/* A tile: the part of y that a block computes, and the values of k that it loads at once. */
typedef struct TesseraCardTile {
  uint32_t columns;
  uint32_t rows;
  uint32_t k;
} TesseraCardTile;

/* TESSERA_CARD_VERSION of the library. */
int tessera_card_version(void);

/* Fat binaries of the engine's own kernels (cuda/kernels), ended by null; good while the library is
 * open. */
const void* const* tessera_card_images(void);

int tessera_card_multiply(const TesseraCardProduct* product, void* stream);

/* The tile that a product of this shape gets on the current card. */
int tessera_card_tile(uint32_t rows, uint32_t columns, uint32_t* tile);

/* Sizes of a tile of the current card, from 1 on; TESSERA_CARD_BAD_TILE after its last. */
int tessera_card_tile_sizes(uint32_t tile, TesseraCardTile* sizes);

/* Rows of one request that see a prompt: tokens of a chunk, or beams. In memory of the card. */
typedef struct TesseraCardRows {
  const uint16_t* q; /* [rows][heads][head_dim] BF16; null: spare splits, nothing is done */
  /* Half the address of each block of the prompt: blocks are found in elements of BF16. */
  const int64_t* blocks;
  uint32_t rows;
  uint32_t visible;      /* positions that row 0 sees, at least 1 */
  uint32_t visible_step; /* that each row sees more than the one before */
  uint32_t first_split;  /* among all groups' */
  uint32_t splits;       /* ceil(positions that the last row sees / TESSERA_CARD_SPLIT) */
  float* part_values;    /* out: [splits][rows][heads][head_dim], each part divided by its sum */
  float* part_logs;      /* out: [splits][rows][heads], base 2, of the sums of 2^score */
} TesseraCardRows;

#define TESSERA_CARD_SPLIT 512 /* positions; splits begin at its multiples */
#define TESSERA_CARD_NOTHING (-40000.0f)

/* Attention of all groups' rows in a layer. Blocks have 32 positions, aligned to 16 bytes:
 *   [layer][ keys: [kv_head][32][head_dim] ][ values: the same ] BF16
 * A part of which a row sees nothing has values of 0 and a log below TESSERA_CARD_NOTHING, for
 * which scores below it are taken too. */
typedef struct TesseraCardAttention {
  const TesseraCardRows* groups; /* on the card, by first_split; together they have all splits */
  uint32_t layer;
  uint32_t heads; /* a multiple of kv_heads */
  uint32_t kv_heads;
  uint32_t head_dim;  /* 64 or 128 */
  uint32_t row_tiles; /* of the longest group: ceil(rows * heads / kv_heads / 64); below 65,536 */
  uint32_t splits;    /* of all groups */
} TesseraCardAttention;

/* Softmax of q . k / sqrt(head_dim) over the positions of each split, times the values; weights are
 * rounded to BF16. A row's parts depend on the row and what it sees alone. */
int tessera_card_attend(const TesseraCardAttention* attention, void* stream);

/* Loads the code of every tile and of attention onto the current card. */
int tessera_card_load(void);

#ifdef __cplusplus
}
#endif

#endif
