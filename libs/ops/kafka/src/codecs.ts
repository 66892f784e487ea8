/** The codecs that batches of records are compressed with: gzip, snappy, lz4 and zstd. */

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { decompressFrame } from 'lz4-napi';
import { uncompress } from 'snappy';
import { placeholders } from './undecodable.js';

/** Bytes of the records of one batch: a few bytes may stand for any number of zeros. */
export const DECOMPRESSED_BYTES_MAX = 64 * 2 ** 20;

type Codec = 'gzip' | 'snappy' | 'lz4' | 'zstd';

function checkSize(bytes: number): void {
  if (bytes > DECOMPRESSED_BYTES_MAX) {
    throw new Error(`more than ${DECOMPRESSED_BYTES_MAX} bytes`);
  }
}

const unzip = promisify(gunzip);

/** A block begins with the bytes that it comes to, seven bits a byte, the lowest first. */
function snappyBytes(block: Buffer): number {
  let bytes = 0;
  for (let at = 0, scale = 1; at < 5 && at < block.length; at += 1, scale *= 0x80) {
    const byte = block[at] as number;
    bytes += (byte & 0x7f) * scale;
    if (byte < 0x80) return bytes;
  }
  throw new Error('a snappy block without a length');
}

const SNAPPY_STREAM = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
/** The magic bytes and two versions. */
const SNAPPY_HEADER_BYTES = 16;

/** Decompresses one block, or the stream of Java's library: blocks, each after its length. */
function snappyBlocks(compressed: Buffer): Buffer[] {
  if (!compressed.subarray(0, SNAPPY_STREAM.length).equals(SNAPPY_STREAM)) return [compressed];
  const blocks: Buffer[] = [];
  for (let at = SNAPPY_HEADER_BYTES; at < compressed.length; ) {
    const end = at + 4 + compressed.readUInt32BE(at);
    if (end > compressed.length) throw new Error('a snappy block that is cut off');
    blocks.push(compressed.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

async function snappy(compressed: Buffer): Promise<Buffer> {
  const blocks = snappyBlocks(compressed);
  checkSize(blocks.reduce((sum, block) => sum + snappyBytes(block), 0));
  return Buffer.concat((await Promise.all(blocks.map((one) => uncompress(one)))) as Buffer[]);
}

/** Most bytes that an LZ4 frame comes to, by the headers of its blocks (lz4_Frame_format). */
function lz4BytesMax(frame: Buffer): number {
  const flags = frame.readUInt8(4);
  const blockBytesMax = 2 ** (8 + 2 * ((frame.readUInt8(5) >> 4) & 7));
  const hasSize = (flags & 0x08) !== 0;
  const hasBlockSums = (flags & 0x10) !== 0;
  let bytes = 0;
  for (let at = hasSize ? 15 : 7; ; bytes += blockBytesMax) {
    const length = frame.readUInt32LE(at) & 0x7fffffff;
    if (length === 0) return bytes;
    at += 4 + length + (hasBlockSums ? 4 : 0);
  }
}

async function lz4(compressed: Buffer): Promise<Buffer> {
  checkSize(lz4BytesMax(compressed));
  return decompressFrame(compressed);
}

async function zstd(compressed: Buffer): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const stream = new Decompress((part) => {
    bytes += part.length;
    checkSize(bytes);
    parts.push(part);
  });
  stream.push(compressed, true);
  return Buffer.concat(parts);
}

const DECOMPRESS: Readonly<Record<Codec, (compressed: Buffer) => Promise<Buffer>>> = {
  gzip: (compressed) => unzip(compressed, { maxOutputLength: DECOMPRESSED_BYTES_MAX }),
  snappy,
  lz4,
  zstd,
};

/**
 * The records of a batch, as kafkajs asks for them; placeholders where they cannot be had, each to
 * be buried by its offset. Batches are read here and never written.
 */
export const decompression = (codec: Codec) => () => ({
  compress: async (): Promise<never> => {
    throw new Error(`records are not compressed with ${codec}`);
  },
  decompress: async (compressed: Buffer): Promise<Buffer> => {
    try {
      return await DECOMPRESS[codec](compressed);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      return placeholders(`${codec}: ${reason}`);
    }
  },
});
