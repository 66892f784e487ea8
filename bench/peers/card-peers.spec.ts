import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LEVEL_CODES, LEVELS, TINY } from '../models/model-shape.js';
import { Random } from '../models/random.js';
import { randomCatalogue } from '../models/random-catalogue.js';
import { randomModel } from '../models/random-model.js';
import { BenchEngine } from '../suites/engine/bench-engine.js';
import { PEER_KINDS, PYTHON } from './peer-kinds.js';

const ITEMS = 20_000;
const transformers = PEER_KINDS.filter(({ name }) =>
  /^transformers (loop|generate) f32$/.test(name),
);
const hasTorch = transformers.every(({ mark }) => existsSync(mark));
if (!hasTorch) {
  console.log('peers on PyTorch are skipped: node bench/peers/install.mjs transformers');
}
const folder = mkdtempSync(join(tmpdir(), 'tessera-card-peers-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Found {
  readonly paths: readonly { readonly score: number; readonly sid: readonly number[] }[];
  readonly allowed: readonly (readonly number[])[];
}

const NORM = 10;
const CODES = 16;
const DEPTH = 3;

/** Answers of the sparse-matrix peer, a request each. */
function ask(words: readonly string[], requests: readonly object[]): Promise<Found[]> {
  return new Promise((resolve, reject) => {
    const script = 'bench/peers/sparse_constraint_peer.py';
    const child = execFile(PYTHON, [script, 'search', ...words], (error, stdout) => {
      if (error === null)
        resolve(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
      else reject(error);
    });
    child.stdin?.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  });
}

/** Beam search as it is defined: all children of all kept paths, the best of them. */
function bruteForce(sids: readonly number[][], logits: readonly number[][], width: number): Found {
  let kept: { sid: readonly number[]; score: number }[] = [{ sid: [], score: 0 }];
  const allowed: number[][] = [];
  for (const [level, row] of logits.entries()) {
    const children = (path: readonly number[]) => {
      const below = sids.filter((sid) => path.every((code, at) => sid[at] === code));
      return [...new Set(below.map((sid) => sid[level] as number))].sort((a, b) => a - b);
    };
    allowed.push(children(kept[0]?.sid ?? []));
    kept = kept
      .flatMap(({ sid, score }) =>
        children(sid).map((code) => ({
          sid: [...sid, code],
          score: score + (row[code] as number) - NORM,
        })),
      )
      .sort((a, b) => b.score - a.score)
      .slice(0, width);
  }
  return { paths: kept, allowed };
}

/** Half a minute of it is loading transformers: `npm run test:long`. */
const isLong = process.env.PEERS !== undefined;

describe.skipIf(!hasTorch)('peers of the suite cuda', () => {
  it('finds by sparse matrices the paths and codes that brute force finds', async () => {
    const seed = 12;
    const random = new Random(seed);
    const sids = Array.from({ length: 150 }, () =>
      Array.from({ length: DEPTH }, () => random.below(CODES)),
    );
    const file = join(folder, 'sids.u16');
    writeFileSync(file, Uint16Array.from(sids.flat()));
    const requests = [1, 5, 40].map((width) => ({
      width,
      logits: Array.from({ length: DEPTH }, () =>
        Array.from({ length: CODES }, () => 8 * random.uniform() - 4),
      ),
    }));
    const asked = [0, 2].flatMap((denseLayers) =>
      requests.map((request) => ({ ...request, denseLayers })),
    );
    const given = asked.map((request) => ({
      ...request,
      logits: request.logits.map((row) => row.map((logit) => logit - NORM)),
    }));
    const found = await ask([file, String(DEPTH), String(CODES), 'cpu'], given);
    for (const [at, { width, logits, denseLayers }] of asked.entries()) {
      const expected = bruteForce(sids, logits, width);
      const what = `seed ${seed}, width ${width}, ${denseLayers} dense layers`;
      expect(found[at]?.allowed, what).toEqual(expected.allowed);
      expect(
        found[at]?.paths.map(({ sid }) => sid),
        what,
      ).toEqual(expected.paths.map(({ sid }) => sid));
      for (const [rank, { score }] of expected.paths.entries()) {
        expect(found[at]?.paths[rank]?.score, what).toBeCloseTo(score, 4);
      }
    }
  });

  it.skipIf(!isLong)('finds with transformers the paths that the engine finds', async () => {
    const quiet = () => undefined;
    const { sidsPath } = await randomCatalogue(ITEMS, quiet);
    const engine = await BenchEngine.open(TINY, 'f32', { threadCount: 1 }, quiet, ITEMS);
    try {
      const request = { tokens: engine.prompt(24, 5), width: 8 };
      const { paths } = await engine.recall(request);
      for (const kind of transformers) {
        const peer = await kind.start({
          modelPath: randomModel(TINY, quiet),
          sidsPath,
          levels: LEVELS,
          codes: LEVEL_CODES,
          threads: 1,
          promptTokens: 24,
        });
        const answer = await peer.ask(request).finally(() => peer.close());
        expect(
          answer.paths?.map(({ sid }) => [...sid]),
          kind.name,
        ).toEqual(paths.map(({ sid }) => [...sid]));
        for (const [rank, { score }] of paths.entries()) {
          expect(answer.paths?.[rank]?.score, kind.name).toBeCloseTo(score, 3);
        }
      }
    } finally {
      await engine.close();
    }
  });
});
