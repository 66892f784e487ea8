import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { usersOfFile } from '@tessera/behaviour';
import { loadConfig } from '@tessera/config';
import { kvOptions } from '@tessera/engine';
import type { RecallDefaults, RecallRuntimeOptions } from '@tessera/recall';
import { Flags } from '../../../tools/terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from '../../../tools/terminal/model-flags.js';
import { Random } from '../../models/random.js';

const SEED = 2026;
export const BEHAVIOURS = 200;
/** Seconds between two behaviours of a user: 200 of them in about a day. */
const BETWEEN_SECONDS = 420;
const IMPRESSION_SHARE = 0.75;
/** Of ten items each in the demo's catalogue. */
const CAMPAIGNS = 70;

export const USERS = Array.from({ length: 8 }, (_, user) => `${user}`);

/** Files of the days in a folder. */
export interface DayFiles {
  readonly modelPath: string;
  /** The model's items, each of a campaign. */
  readonly cataloguePath: string;
  /** Users with as many behaviours of late, most of them impressions of random items. */
  readonly usersPath: string;
}

export function writeDayFiles(folder: string, modelPath: string): DayFiles {
  const random = new Random(SEED);
  const lines = readFileSync(join(modelPath, 'catalogue.jsonl'), 'utf8').trim().split('\n');
  const items = lines.map((line, at) => {
    const { attributes, ...item } = JSON.parse(line) as { item_id: string; attributes: object };
    return { ...item, attributes: { ...attributes, campaign: `${at % CAMPAIGNS}` } };
  });
  const nowSeconds = Math.floor(Date.now() / 1000);
  const behaviours = () =>
    Array.from({ length: BEHAVIOURS }, (_, back) => ({
      item_id: items[random.below(items.length)]?.item_id,
      action: random.uniform() < IMPRESSION_SHARE ? 'impression' : 'click',
      time: nowSeconds - (BEHAVIOURS - back) * BETWEEN_SECONDS,
    }));
  const users = USERS.map((userId) => [userId, { behaviours: behaviours() }]);
  const usersPath = join(folder, 'users.json');
  writeFileSync(usersPath, JSON.stringify(Object.fromEntries(users)));
  const cataloguePath = join(folder, 'catalogue.jsonl');
  writeFileSync(cataloguePath, items.map((item) => JSON.stringify(item)).join('\n'));
  return { modelPath, cataloguePath, usersPath };
}

/** A model as the service serves it, with its pool of keys and values in memory. */
export function servedOptions(
  { modelPath, cataloguePath, usersPath }: DayFiles,
  recall: Partial<RecallDefaults> = {},
): RecallRuntimeOptions {
  const flags = Flags.parse(
    ['--model', modelPath, '--catalogue', cataloguePath, '--dtype', 'bf16'],
    MODEL_FLAGS,
  );
  const options = runtimeOptions(flags, () => undefined);
  const { kv } = loadConfig().config;
  return {
    ...options,
    behaviours: usersOfFile(usersPath),
    kv: { ...kvOptions(kv), diskBytes: 0, versionsBackMax: 0, diskReserveBytes: 0 },
    recall: { ...options.recall, ...recall },
  };
}
