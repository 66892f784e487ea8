import {
  closeSync,
  copyFileSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { safetensorsHeader, valuesOf } from '@tessera/testing';
import { type ModelShape, SHAPES, type TensorShape, tensorsOf } from '../../models/model-shape.js';
import { bf16 } from '../../models/random.js';
import { randomFolder } from '../../models/random-model.js';
import type { ModelFolder } from './search-model.js';

/**
 * A small trained model inside a large shape: its numbers are the first of each vector, its layers
 * the first layers, everything else is nought. A pass costs what one of the large shape costs, and
 * gives the logits of the small model up to the rounding of its weights to BF16: no distribution of
 * a random head is like those that training makes.
 *
 * Norms over a vector of which a part is nought find a smaller mean square: their weights make up
 * for it, those of queries also for the other scale of attention. Numbers of a head lie `stride`
 * apart, so that each meets the rotation of its own frequency.
 */
interface Source {
  readonly shape: ModelShape;
  readonly config: Config;
  readonly tensors: ReadonlyMap<string, Float32Array>;
}

interface Config {
  readonly vocab_size: number;
  readonly num_hidden_layers: number;
  readonly hidden_size: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly intermediate_size: number;
  readonly rms_norm_eps: number;
}

const BF16_BYTES = 2;
const FROM_SMALL = ['catalogue.jsonl', 'prompt.json', 'tokenizer.json', 'tokenizer_config.json'];

/** Folder of the trained model in the 0.6B shape, made where it is absent or older. */
export function widenedModel({ name, folder }: ModelFolder, say: (line: string) => void): string {
  const source = readSmall(folder);
  const shape = { ...SHAPES['qwen3-0.6b'], vocabulary: source.config.vocab_size };
  const { mtimeMs } = statSync(join(folder, 'model.safetensors'));
  return randomFolder(`${name}-widened-${Math.round(mtimeMs)}`, say, (fresh) => {
    for (const file of FROM_SMALL) copyFileSync(join(folder, file), join(fresh, file));
    const config = JSON.stringify(configOf(source, shape), null, 2);
    writeFileSync(join(fresh, 'config.json'), `${config}\n`);
    writeTensors(join(fresh, 'model.safetensors'), source, shape);
  });
}

function configOf({ config }: Source, shape: ModelShape): object {
  const { layers, hidden, heads, kvHeads, headDim, inner } = shape;
  return Object.assign({}, config, {
    dtype: 'bfloat16',
    num_hidden_layers: layers,
    hidden_size: hidden,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    intermediate_size: inner,
    layer_types: Array.from({ length: layers }, () => 'full_attention'),
    max_window_layers: layers,
    rms_norm_eps: (config.rms_norm_eps * config.hidden_size) / hidden,
  });
}

interface HeaderEntry {
  readonly dtype: string;
  readonly data_offsets: readonly [number, number];
}

function readSmall(folder: string): Source {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Config;
  const bytes = readFileSync(join(folder, 'model.safetensors'));
  const length = Number(bytes.readBigUInt64LE());
  const header = JSON.parse(bytes.toString('utf8', 8, 8 + length)) as Record<string, HeaderEntry>;
  const tensors = new Map<string, Float32Array>();
  for (const [name, { dtype, data_offsets: range }] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const data = bytes.subarray(8 + length + range[0], 8 + length + range[1]);
    tensors.set(name, floatsOf(data, dtype));
  }
  const shape: ModelShape = {
    name: 'small',
    layers: config.num_hidden_layers,
    hidden: config.hidden_size,
    heads: config.num_attention_heads,
    kvHeads: config.num_key_value_heads,
    headDim: config.head_dim,
    inner: config.intermediate_size,
    vocabulary: config.vocab_size,
  };
  return { shape, config, tensors };
}

function floatsOf(data: Buffer, dtype: string): Float32Array {
  if (dtype === 'F32') {
    return Float32Array.from({ length: data.length / 4 }, (_, at) => data.readFloatLE(4 * at));
  }
  if (dtype !== 'BF16') throw new Error(`expected weights in F32 or BF16, got ${dtype}`);
  const bits = Uint32Array.from(
    { length: data.length / BF16_BYTES },
    (_, at) => data.readUInt16LE(BF16_BYTES * at) << 16,
  );
  return new Float32Array(bits.buffer);
}

/** Where number i of a vector of the small model lies in one of the large. */
type Places = (index: number) => number;

const same: Places = (index) => index;

/** Of the numbers of all heads: those of one lie apart, each half in its half. */
export function headPlaces(small: number, large: number): Places {
  const stride = large / small;
  return (index) => {
    const [head, at] = [Math.floor(index / small), index % small];
    const half = small / 2;
    const within = at < half ? at * stride : large / 2 + (at - half) * stride;
    return head * large + within;
  };
}

interface Placement {
  readonly rows: Places;
  readonly columns: Places;
  readonly gain: number;
}

/** By the end of a tensor's name; all others stay where they are. */
function placementOf(name: string, small: ModelShape, large: ModelShape): Placement {
  const heads = headPlaces(small.headDim, large.headDim);
  const hiddenGain = Math.sqrt(small.hidden / large.hidden);
  const headGain = Math.sqrt(small.headDim / large.headDim);
  if (/\.(q|k|v)_proj\.weight$/.test(name)) return { rows: heads, columns: same, gain: 1 };
  if (name.endsWith('.o_proj.weight')) return { rows: same, columns: heads, gain: 1 };
  // The scale of attention, one over the root of a head's size, is made up for in the queries.
  if (name.endsWith('.q_norm.weight')) return { rows: same, columns: heads, gain: 1 };
  if (name.endsWith('.k_norm.weight')) return { rows: same, columns: heads, gain: headGain };
  if (name.endsWith('norm.weight')) return { rows: same, columns: same, gain: hiddenGain };
  return { rows: same, columns: same, gain: 1 };
}

function writeTensors(path: string, source: Source, large: ModelShape): void {
  const tensors = tensorsOf(large);
  const sizes = new Map(tensorsOf(source.shape).map(({ name, shape }) => [name, shape]));
  const file = openSync(path, 'w');
  try {
    const header = safetensorsHeader(tensors, 'BF16');
    writeSync(file, header);
    let begin = header.length;
    for (const tensor of tensors) {
      const shape = sizes.get(tensor.name);
      if (shape !== undefined) writeWidened(file, begin, tensor, shape, source, large);
      begin += BF16_BYTES * valuesOf(tensor);
    }
    // Numbers that are not written are nought.
    ftruncateSync(file, begin);
  } finally {
    closeSync(file);
  }
}

function writeWidened(
  file: number,
  begin: number,
  { name, shape: large }: TensorShape,
  small: readonly number[],
  { tensors, shape }: Source,
  largeShape: ModelShape,
): void {
  const values = tensors.get(name);
  if (values === undefined) throw new Error(`expected a tensor ${name} in the trained model`);
  const { rows, columns, gain } = placementOf(name, shape, largeShape);
  const [width, largeWidth] = [small.at(-1) ?? 0, large.at(-1) ?? 0];
  for (let row = 0; row < values.length / width; row += 1) {
    const line = new Uint16Array(largeWidth);
    for (let column = 0; column < width; column += 1) {
      line[columns(column)] = bf16(gain * (values[row * width + column] as number));
    }
    writeSync(file, line, 0, line.byteLength, begin + BF16_BYTES * largeWidth * rows(row));
  }
}
