/**
 * Bytes of everything that the built service writes: after an acknowledged erasure, and after a
 * restart, no file has the user's ID or the key of their pseudonym (docs/operate/erasure.md).
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TesseraClient } from '../../libs/edge/client/src/index.js';
import { filesWith, temporaryFolder } from '../../libs/testing/src/index.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { type Program, Service } from './service.js';

const NAME = 'unmistakable-alice@example.com';
const OTHERS = Array.from({ length: 40 }, (_, user) => `other-${user}`);
const SLOT_BYTES = 32;
/** Of what may wait after the acknowledgement: a busy machine is slow, not wrong. */
const PATIENCE = { timeout: 120_000, interval: 500 };
const SERVING: Program = { main: 'dist/apps/standalone/src/main.js', printed: /OpenAPI\s+http/ };

const folder = temporaryFolder({});
const elsewhere = temporaryFolder({});
const at = (name: string) => join(folder.path, name);
const variables = {
  TESSERA_MODEL_PATH: at('model'),
  TESSERA_CATALOGUE_CACHE_PATH: at('cache'),
  TESSERA_CATALOGUE_CHANGES_PATH: at('changes'),
  TESSERA_ADAPTERS_PATH: at('adapters'),
  TESSERA_WEIGHTS_PATH: at('weights'),
  TESSERA_BEHAVIOURS_STORE: 'embedded',
  TESSERA_BEHAVIOURS_PATH: at('behaviours'),
  TESSERA_KV_DISK_BYTES: String(2 ** 28),
  TESSERA_KV_PATH: at('kv'),
  TESSERA_INSPECTION_PATH: at('inspection'),
  TESSERA_INSPECTION_PERCENT: '100',
  // It names who was erased, as evidence: the page says so.
  TESSERA_ACCESS_AUDIT_PATH: join(elsewhere.path, 'audit.jsonl'),
};
const KEYS = at('inspection/facts/pseudonyms.keys');

let service: Service;
let client: TesseraClient;

async function start(): Promise<void> {
  service = await Service.start(variables, [], SERVING);
  client = new TesseraClient(service.grpcAddress);
}

async function stop(): Promise<void> {
  client.close();
  await service.stop();
}

beforeAll(async () => {
  writeRandomModel(at('model'), SMALL);
  await start();
}, 120_000);

afterAll(async () => {
  await stop();
  folder.remove();
  elsewhere.remove();
});

const events = (userId: string) =>
  Array.from({ length: 12 }, (_, place) => ({
    userId,
    eventId: `event-${place}`,
    itemId: String(place * 7),
    action: 'click',
    timeMs: Date.now() - place,
    scene: {},
  }));

async function use(userId: string): Promise<void> {
  await client.append(events(userId), 60_000);
  for (let time = 0; time < 2; time++) {
    const { status } = await service.post({ userId, resultCount: 5, requireHistory: true });
    expect(status).toBe(200);
  }
}

/** The slots of the file that differ. */
function slotsGone(before: Buffer, after: Buffer): Buffer[] {
  const slots: Buffer[] = [];
  for (let begin = 0; begin < before.length; begin += SLOT_BYTES) {
    const slot = before.subarray(begin, begin + SLOT_BYTES);
    if (!slot.equals(after.subarray(begin, begin + SLOT_BYTES))) slots.push(slot);
  }
  return slots;
}

it('leaves no byte of an erased user in any file, also after a restart', async () => {
  for (const userId of [...OTHERS.slice(0, 20), NAME, ...OTHERS.slice(20)]) await use(userId);
  await stop();
  await start();
  await use(NAME);
  // Behaviours and the blocks of keys and values are written behind the answers.
  await expect.poll(() => filesWith(at('behaviours'), NAME).length, PATIENCE).toBeGreaterThan(0);
  const recorded = async () => {
    const query = new URLSearchParams({ userId: NAME });
    const reply = await fetch(`${service.httpUrl}/console/api/recalls?${query}`);
    return ((await reply.json()) as { recalls: readonly unknown[] }).recalls.length;
  };
  await expect.poll(recorded, PATIENCE).toBe(4);
  const keys = readFileSync(KEYS);
  expect(await client.erase(NAME, 60_000)).toMatchObject({ known: true });

  const gone = slotsGone(keys, readFileSync(KEYS));
  // Keys of the pseudonym and of the sealed texts of recorded recalls.
  expect(gone).toHaveLength(2);
  const halves = gone.flatMap((slot) => [slot.subarray(0, 16), slot.subarray(16)]);
  const secrets = [Buffer.from(NAME), ...halves];
  const left = () => secrets.flatMap((bytes) => filesWith(folder.path, bytes));
  await expect.poll(left, PATIENCE).toEqual([]);
  await stop();
  expect(left()).toEqual([]);
  expect(service.stdout + service.stderr).not.toContain(NAME);
  await start();
  expect(left()).toEqual([]);
  const { json } = await service.post({ userId: 'other-30' }, undefined, '/v1/kv/inspect');
  expect(json.chains).not.toEqual([]);
}, 300_000);
