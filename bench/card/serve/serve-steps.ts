import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_ADAPTER } from '@tessera/adapter';
import { temporaryFolder } from '@tessera/testing';
import { AdapterClient } from '../../../tools/served/adapter-client.js';
import { randomAdapter } from '../../models/random-adapter.js';
import { quantile } from '../../result.js';
import { type CardLine, lineOf } from '../card-documents.js';
import {
  CALL_MS,
  CardService,
  contentOf,
  expectThat,
  type ServeSetting,
  secondsOf,
  userIds,
} from './card-service.js';
import { threeTimesTheLoad } from './three-times.js';

const RECALLS = 100;
const RANK = 16;
const IN_FLIGHT = 8;
const BEHAVIOURS = 20;
const TRAFFIC_MS = 1000;
/** Every n-th weight of a set has the other sign. */
const CHANGED = 7;

type ServeStep = (setting: ServeSetting) => Promise<CardLine[]>;

const line = (name: string, value: number, unit: string) => lineOf(`serve/${name}`, value, unit);

async function recalls(setting: ServeSetting): Promise<CardLine[]> {
  const [withStop, lines] = await secondsOf(() =>
    CardService.with(setting, async (service) => {
      const times: number[] = [];
      for (let at = 0; at < RECALLS; at += 1) {
        const userId = userIds[at % userIds.length];
        const [seconds, answer] = await secondsOf(() => service.recall(userId));
        expectThat('items for every user', answer.items.length > 0);
        times.push(1000 * seconds);
      }
      const first = contentOf(await service.recall());
      const others = userIds.slice(1, IN_FLIGHT).map((id) => service.recall(id));
      const beside = contentOf(await service.recall());
      await Promise.all(others);
      expectThat('the same bits beside others', beside === first);
      return [
        line('recall over gRPC, median', quantile(times, 0.5), 'ms'),
        line('recall over gRPC, p99', quantile(times, 0.99), 'ms'),
      ];
    }),
  );
  return [...lines, line(`start, ${RECALLS} recalls and stop`, withStop, 's')];
}

interface Pushed {
  readonly version: { readonly digest: string };
}

/** Pushed, activated beside recalls, and back. */
async function adapter(setting: ServeSetting): Promise<CardLine[]> {
  const folder = temporaryFolder({});
  randomAdapter(folder.path, setting.shape, RANK, 1);
  try {
    return await CardService.with(setting, async (service) => {
      const base = await service.recall();
      const adapters = new AdapterClient(service.address);
      const name = DEFAULT_ADAPTER;
      try {
        const pushed = { name, baseModel: base.versions?.model ?? '' };
        const [pushSeconds, { version }] = await secondsOf(() =>
          adapters.pushFolder<Pushed>(folder.path, pushed, CALL_MS),
        );
        const { digest } = version;
        const activated = { name, digest, force: true };
        const [seconds] = await besideRecalls(service, () =>
          adapters.call('Activate', activated, CALL_MS),
        );
        const adapted = await service.recall();
        expectThat('answers of the adapter', adapted.versions?.adapter === digest);
        expectThat('other scores by the adapter', contentOf(adapted) !== contentOf(base));
        await adapters.call('Rollback', { name }, CALL_MS);
        const back = contentOf(await service.recall());
        expectThat('the bits of before behind a rollback', back === contentOf(base));
        return [
          line(`push of an adapter of rank ${RANK}`, pushSeconds, 's'),
          line('activation beside recalls', seconds, 's'),
        ];
      } finally {
        adapters.close();
      }
    });
  } finally {
    folder.remove();
  }
}

/** All weights replaced beside recalls, and back. */
function weights(setting: ServeSetting): Promise<CardLine[]> {
  return CardService.with(setting, async (service) => {
    writeSet(service.modelPath, join(service.weightsPath, 'other'));
    const base = await service.recall();
    const client = new AdapterClient(service.address, '', undefined, 'weights');
    try {
      const [seconds, asked] = await besideRecalls(service, () =>
        client.call('Update', { name: 'other' }, CALL_MS),
      );
      const updated = await service.recall();
      const isOther = updated.versions?.model !== base.versions?.model;
      expectThat('answers of the other weights', isOther);
      await client.call('Rollback', {}, CALL_MS);
      const back = contentOf(await service.recall());
      expectThat('the bits of before behind a rollback', back === contentOf(base));
      return [
        line('update of the weights beside recalls', seconds, 's'),
        line('recalls meanwhile, all answered', asked, 'recalls'),
      ];
    } finally {
      client.close();
    }
  });
}

function writeSet(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  copyFileSync(join(from, 'config.json'), join(to, 'config.json'));
  const bytes = readFileSync(join(from, 'model.safetensors'));
  const data = 8 + Number(bytes.readBigUInt64LE(0));
  for (let at = data + 3; at < bytes.length; at += 4 * CHANGED) {
    bytes[at] = (bytes[at] as number) ^ 0x80;
  }
  writeFileSync(join(to, 'model.safetensors'), bytes);
}

/** Does it while others recall; none of them may fail. Seconds of it, and how many recalled. */
async function besideRecalls(
  service: CardService,
  act: () => Promise<unknown>,
): Promise<readonly [seconds: number, recalls: number]> {
  let isOver = false;
  let answered = 0;
  const load = Array.from({ length: IN_FLIGHT }, async (_, caller) => {
    while (!isOver) {
      await service.recall(userIds[caller]);
      answered += 1;
    }
  });
  try {
    const [seconds] = await secondsOf(act);
    return [seconds, answered];
  } finally {
    isOver = true;
    await Promise.all(load);
  }
}

const USER = 'a user of this step';

/** Behaviours of that user. */
async function append({ client }: CardService): Promise<void> {
  const behaviours = Array.from({ length: BEHAVIOURS }, (_, at) => ({
    userId: USER,
    eventId: `card-${at}`,
    itemId: String(at + 1),
    action: 'click',
    timeMs: Date.now() - BEHAVIOURS + at,
    scene: {},
  }));
  await client.append(behaviours, CALL_MS);
}

/** A user with behaviours of their own is erased: nothing is known of them any more. */
function erasure(setting: ServeSetting): Promise<CardLine[]> {
  return CardService.with(setting, async (service) => {
    const { client } = service;
    await append(service);
    const asked = { userId: USER, resultCount: 10, requireHistory: true };
    for (let round = 0; round < 2; round += 1) {
      const { items } = await client.recall(asked, CALL_MS);
      expectThat('items for a user with a history', items.length > 0);
    }
    const [seconds] = await secondsOf(() => client.erase(USER, CALL_MS));
    const refused = await client.recall(asked, CALL_MS).then(
      () => false,
      () => true,
    );
    expectThat('no recall by the history of an erased user', refused);
    return [line('erasure of a user', seconds, 's')];
  });
}

/** `kill -9` beside recalls: the next start has every acknowledged behaviour, and answers alike. */
function kill(setting: ServeSetting): Promise<CardLine[]> {
  return CardService.with(setting, async (service) => {
    await append(service);
    const before = contentOf(await service.recall(USER));
    const { client } = service;
    const cut = userIds
      .slice(0, IN_FLIGHT)
      .map((id) => client.recall({ userId: id, resultCount: 50 }, TRAFFIC_MS));
    const ended = Promise.allSettled(cut);
    const [seconds] = await secondsOf(() => service.killAndStart());
    await ended;
    const after = contentOf(await service.recall(USER));
    expectThat('the bits of before the kill', after === before);
    return [line('kill -9 until it serves again', seconds, 's')];
  });
}

/** Every step against a service of its own, in the order of a run. */
export const SERVE_STEPS = {
  recalls,
  adapter,
  weights,
  erasure,
  kill,
  load: threeTimesTheLoad,
} as const satisfies Readonly<Record<string, ServeStep>>;

export type ServeStepName = keyof typeof SERVE_STEPS;
