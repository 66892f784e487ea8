/** The only item that a recall may get is paused while it runs: one version, start to end. */

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { CatalogueClient } from '../../tools/served/catalogue-client.js';
import { RecallClient } from '../integration/recall-client.js';
import { SLOW, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

// A request that cannot be done in time is refused at once and never runs.
const CALL_MS = 600_000;
const running = 'tessera_engine_requests{state="running"}';
const folder = temporaryFolder({});
const only = { predicate: { in: { attribute: 'only', values: ['yes'] } } };
// Takes seconds, and is another one each time, so that the KV pool has nothing of it.
const longHistory = (round: number) =>
  Array.from({ length: 400 }, (_, i) => String((i * 37 + round) % 200));

let service: Service;
let recalls: RecallClient;
let catalogue: CatalogueClient;

beforeAll(async () => {
  service = await Service.start({
    TESSERA_MODEL_PATH: writeRandomModel(join(folder.path, 'model'), SLOW),
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_CATALOGUE_CHANGES_PATH: join(folder.path, 'changes'),
    TESSERA_ENGINE_PROMPT_TOKENS_MAX: '8000',
    TESSERA_RECALL_DEADLINE_MS_MAX: String(CALL_MS),
    TESSERA_ENGINE_PREFILL_CHUNK_TOKENS: '16',
  });
  recalls = new RecallClient(service.grpcAddress);
  catalogue = new CatalogueClient(service.grpcAddress);
});

afterAll(async () => {
  recalls?.close();
  catalogue?.close();
  await service?.stop();
  folder.remove();
});

async function apply(change: object): Promise<number> {
  const { sequence } = await catalogue.call<{ sequence: number }>(
    'Apply',
    { changes: [change] },
    CALL_MS,
  );
  return sequence;
}

interface Answer {
  readonly items: { readonly itemId: string }[];
  readonly short: boolean;
  readonly versions: { readonly catalogueSequence: number };
}

/** A recall under way, and its answer. */
function begin(history: readonly string[]): Promise<Answer> {
  const message = { history: { itemIds: history }, eligibility: only };
  const { reply } = recalls.begin(message, { deadline: Date.now() + CALL_MS });
  return reply.then(({ status, details, answer }) => {
    expect(status, details).toBe(0);
    return answer as never as Answer;
  });
}

it('a recall gets its last item though it is paused meanwhile, the next one nothing', async () => {
  const sid = [1, 2, 3];
  let before = await apply({ upsert: { itemId: 'last', sid, attributes: '{"only":"yes"}' } });
  // Until the pause was acknowledged while the recall ran: the version was pinned before it ran.
  for (let round = 0; ; round += 1) {
    const held = begin(longHistory(round));
    await service.metricBecomes(running, 1);
    const paused = await apply({ pauseItemId: 'last' });
    const isStillRunning = (await service.metric(running)) === 1;

    const first = await held;
    expect(first.items.map(({ itemId }) => itemId)).toEqual(['last']);
    expect(first.versions.catalogueSequence).toBe(before);

    const next = await begin(['7']);
    expect(next.items).toEqual([]);
    expect(next.short).toBe(true);
    expect(next.versions.catalogueSequence).toBe(paused);
    if (isStillRunning) break;
    before = await apply({ resumeItemId: 'last' });
  }
});

it('a clause about it is false when it has left, before a compaction and after', async () => {
  const removed = await apply({ removeItemId: 'last' });
  for (const compacts of [false, true]) {
    if (compacts) await catalogue.call('Compact', {}, CALL_MS);
    const answer = await begin(['7']);
    expect(answer.items).toEqual([]);
    expect(answer.versions.catalogueSequence).toBeGreaterThanOrEqual(removed);
  }
});
