import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildCatalogue, type LevelTokens } from '@tessera/engine';
import { LEVEL_CODES, LEVELS } from './model-shape.js';
import { Random } from './random.js';
import { BENCH_CACHE } from './random-model.js';

const RECIPE = 1;
const SEED = 21;
const CHUNK_ITEMS = 10_000;
/** Children of a node at most, by level: a wide tree above, single paths below, as from RQ-VAE. */
const BRANCHES = [LEVEL_CODES, 64, 16, 8] as const;

export interface RandomCatalogue {
  /** Snapshot for openCatalogue. */
  readonly snapshotPath: string;
  /** Codes of all items, uint16 little endian each: what peers read. */
  readonly sidsPath: string;
  readonly sids: Uint16Array;
  readonly form: SidForm;
}

/** A catalogue of that many random items, made where it is absent. */
export async function randomCatalogue(
  items: number,
  say: (line: string) => void,
): Promise<RandomCatalogue> {
  const folder = join(BENCH_CACHE, `catalogue-${items}-${RECIPE}`);
  const snapshotPath = join(folder, 'catalogue.snapshot');
  const sidsPath = join(folder, 'sids.u16');
  if (!existsSync(snapshotPath)) {
    say(`catalogue of ${items} random items into ${folder}`);
    mkdirSync(folder, { recursive: true });
    const sids = drawSids(items);
    writeFileSync(sidsPath, sids);
    const source = join(folder, 'items.jsonl');
    writeItems(source, sids);
    const fresh = `${snapshotPath}.${process.pid}`;
    await buildCatalogue(
      {
        sources: [{ path: source, domain: '' }],
        titlesPath: '',
        levelSizes: Array<number>(LEVELS).fill(LEVEL_CODES),
        outputPath: fresh,
      },
      () => undefined,
    );
    renameSync(fresh, snapshotPath);
  }
  return { snapshotPath, sidsPath, sids: readSids(sidsPath), form: RANDOM_FORM };
}

export function readSids(path: string): Uint16Array {
  const bytes = readFileSync(path);
  return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
}

/** Levels of all SIDs, and codes of a level: code c of level l is token l * codes + c. */
export interface SidForm {
  readonly levels: number;
  readonly codes: number;
}

const RANDOM_FORM: SidForm = { levels: LEVELS, codes: LEVEL_CODES };

/** Tokens of the codes in the vocabulary of the random models. */
export function levelTokens({ levels, codes } = RANDOM_FORM): LevelTokens {
  return {
    levels: Array.from({ length: levels }, (_, level) =>
      Int32Array.from({ length: codes }, (_, code) => level * codes + code),
    ),
    terminal: [],
  };
}

/** A user's history: the tokens of random items, the last one cut where the length asks for it. */
export function randomPrompt(
  sids: Uint16Array,
  length: number,
  seed: number,
  { levels, codes } = RANDOM_FORM,
): Int32Array {
  const random = new Random(seed);
  const tokens = new Int32Array(length);
  for (let at = 0; at < length; at += levels) {
    const item = random.below(sids.length / levels) * levels;
    for (let level = 0; level < Math.min(levels, length - at); level += 1) {
      tokens[at + level] = level * codes + (sids[item + level] as number);
    }
  }
  return tokens;
}

/** The children of a node are a few codes that its path alone decides. */
export function drawSids(items: number): Uint16Array {
  const random = new Random(SEED);
  const sids = new Uint16Array(items * LEVELS);
  for (let item = 0; item < items; item += 1) {
    let path = 1;
    for (const [level, branches] of BRANCHES.entries()) {
      const child = random.below(branches);
      const code = (Math.imul(path, 0x9e37_79b1) >>> 8) + child * (LEVEL_CODES / branches);
      sids[item * LEVELS + level] = code % LEVEL_CODES;
      path = Math.imul(path, 0x85eb_ca6b) + (code % LEVEL_CODES) + 1;
    }
  }
  return sids;
}

function writeItems(path: string, sids: Uint16Array): void {
  const file = openSync(path, 'w');
  try {
    const items = sids.length / LEVELS;
    for (let begin = 0; begin < items; begin += CHUNK_ITEMS) {
      const lines: string[] = [];
      for (let item = begin; item < Math.min(items, begin + CHUNK_ITEMS); item += 1) {
        const sid = sids.subarray(item * LEVELS, (item + 1) * LEVELS).join(',');
        lines.push(`{"item_id":"${item}","sid":[${sid}]}\n`);
      }
      writeSync(file, lines.join(''));
    }
  } finally {
    closeSync(file);
  }
}
