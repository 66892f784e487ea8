import { expecting } from '@tessera/errors';
import { openRegular, refuseForeign } from '@tessera/files';

const invalid = expecting('CATALOGUE_INVALID');

const LENGTH_BYTES = 8;
const HEADER_BYTES_MAX = 1 << 20;
/** Maximum bytes of a file that is read whole. */
const FILE_BYTES_MAX = 2 ** 31;
const BYTES = { F32: 4, F64: 8 } as const;
type Dtype = keyof typeof BYTES;

export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Float64Array;
}

export interface Safetensors {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly tensors: ReadonlyMap<string, Tensor>;
  /** The whole file. */
  readonly content: Buffer;
}

/**
 * A small file of float tensors (https://github.com/huggingface/safetensors), read whole.
 * @throws TesseraError CATALOGUE_INVALID with path and tensor; what opening a file throws
 */
export async function readSafetensors(path: string): Promise<Safetensors> {
  const file = await openRegular(path);
  try {
    const { size } = await file.stat();
    if (size > FILE_BYTES_MAX) throw invalid(path, `at most ${FILE_BYTES_MAX} bytes`, size);
    const content = await file.readFile();
    refuseForeign(path, content, 'CATALOGUE_INVALID');
    return parseSafetensors(content, path);
  } finally {
    await file.close();
  }
}

function parseSafetensors(content: Buffer, path: string): Safetensors {
  const length = content.length >= LENGTH_BYTES ? content.readBigUInt64LE(0) : 0n;
  const begin = LENGTH_BYTES + Number(length);
  if (length === 0n || length > HEADER_BYTES_MAX || begin > content.length) {
    const first = JSON.stringify(content.toString('latin1', 0, 16));
    throw invalid(path, 'a safetensors file', `${content.length} bytes that begin with ${first}`);
  }
  const header = jsonObject(content.toString('utf8', LENGTH_BYTES, begin), path);
  const { __metadata__: metadata = {}, ...described } = header;
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(described)) {
    tensors.set(name, tensorOf(content.subarray(begin), entry, `${path}: ${name}`));
  }
  return { metadata: metadata as Record<string, unknown>, tensors, content };
}

function jsonObject(text: string, path: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Record<string, unknown>;
    }
  } catch {
    // Refused below.
  }
  throw invalid(path, 'a safetensors header in JSON', text.slice(0, 80));
}

function tensorOf(data: Buffer, entry: unknown, field: string): Tensor {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  if (dtype !== 'F32' && dtype !== 'F64') throw invalid(field, 'F32 or F64', dtype);
  if (!isCounts(shape) || !isCounts(offsets) || offsets.length !== 2) {
    throw invalid(field, 'shape and data_offsets', entry);
  }
  const [first = 0, last = 0] = offsets;
  const bytes = shape.reduce((product, size) => product * size, BYTES[dtype as Dtype]);
  if (last - first !== bytes || last > data.length) {
    throw invalid(field, `${bytes} bytes inside the file`, offsets);
  }
  // Copied: numbers of a file begin at any byte.
  const { buffer } = Uint8Array.from(data.subarray(first, last));
  const values = dtype === 'F32' ? new Float32Array(buffer) : new Float64Array(buffer);
  return { shape, values };
}

const isCounts = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);
