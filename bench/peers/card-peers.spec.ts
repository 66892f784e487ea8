import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LEVEL_CODES, LEVELS, TINY } from '../models/model-shape.js';
import { randomCatalogue } from '../models/random-catalogue.js';
import { randomModel } from '../models/random-model.js';
import { BenchEngine } from '../suites/engine/bench-engine.js';
import { PEER_KINDS } from './peer-kinds.js';

const ITEMS = 20_000;
const transformers = PEER_KINDS.filter(({ name }) =>
  /^transformers (loop|generate) f32$/.test(name),
);
const hasTorch = transformers.every(({ mark }) => existsSync(mark));
if (!hasTorch) {
  console.log('peers on PyTorch are skipped: node bench/peers/install.mjs transformers');
}
/** Half a minute of it is loading transformers: `npm run test:long`. */
const isLong = process.env.PEERS !== undefined;

describe.skipIf(!hasTorch)('peers on a card', () => {
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
