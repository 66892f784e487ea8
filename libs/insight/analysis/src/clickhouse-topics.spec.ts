/** The readers of topics in deploy/analytics, with messages of the protos in a real ClickHouse. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { protoSchema } from '@tessera/contracts';
import { MessageCodec } from '@tessera/kafka';
import { temporaryFolder } from '@tessera/testing';
import { afterAll, expect, it } from 'vitest';
import { type Chdb, openChdb } from './fixture/chdb-facts.js';

const AT_MS = Date.UTC(2026, 10, 26, 9, 30);
const AT = `fromUnixTimestamp64Milli(toInt64(${AT_MS}), 'UTC')`;
const folder = temporaryFolder({});
const chdb: Chdb | undefined = openChdb();

const answered = {
  timeMs: AT_MS,
  edge: 'grpc',
  arm: 'canary',
  predicateId: '0123456789abcdef',
  request: { requestId: 'q1', userId: 'u1', scene: { daypart: 'noon' } },
  response: {
    requestId: 'q1',
    short: true,
    widthsUsed: [64, 32],
    items: [
      {
        itemId: 'ad-1',
        score: -1.126,
        propensity: 1,
        value: { value: 0.5, terms: { bid: 2 } },
        ranking: { heads: { click: 0.5 }, value: { value: 1.5 }, recallRank: 7 },
      },
      {
        itemId: 'ad-2',
        score: -2.5,
        propensity: 0.25,
        explored: true,
        value: { value: 0.25 },
        ranking: { heads: { click: 0.25 }, value: { value: 1.25 }, recallRank: 2 },
      },
    ],
    ranking: {
      adapter: 'hhh',
      adapterName: 'ranking',
      items: 50,
      leftOut: 3,
      heads: ['click'],
      valuation: { name: 'worth' },
    },
    valuation: { name: 'ecpm' },
    exploration: { slots: 1, temperature: 1.5, seed: 7 },
    versions: {
      model: 'm',
      promptTemplate: 't',
      catalogueSequence: 12,
      adapter: 'aaa',
      adapterName: 'summer',
      node: 'n1',
    },
    timings: { decodeUs: 1234.4, totalUs: 5678.6 },
    kv: { tokensByTier: { host: 30, disk: 5 }, sharedTokens: 2, computedTokens: 7 },
  },
};
const refused = {
  timeMs: AT_MS + 1,
  edge: 'http',
  request: { requestId: 'q2', userId: '' },
  refusal: { code: 'ENGINE_OVERLOADED', message: 'queue too long' },
};
const done = {
  userId: 'u1',
  itemId: 'ad-2',
  action: 'click',
  timeMs: AT_MS + 5000,
  requestId: 'q1',
  position: 2,
};
const changed = {
  catalogue: 'travel',
  changes: [{ upsert: { itemId: 'ad-3', sid: [1, 2] } }, { pauseItemId: 'ad-4' }],
};

const MESSAGES: Readonly<Record<string, readonly object[]>> = {
  recall_topic: [answered, refused],
  behaviour_topic: [{ behaviour: done }],
  change_topic: [changed],
};
const READER =
  /(CREATE TABLE IF NOT EXISTS (\w+)\s*\(([^;]*)\))\s*ENGINE = Kafka\s+SETTINGS([^;]*);/g;

/** The tables of the file without a broker, which chdb cannot read: rows are put in. */
async function readersOf(own: Chdb): Promise<void> {
  const inserts: string[] = [];
  const read = (_all: string, table: string, name: string, columns: string, settings: string) => {
    const setting = (key: string) => new RegExp(`${key} = '([^']*)'`).exec(settings)?.[1] ?? '';
    const [schema, type] = [setting('kafka_schema'), setting('kafka_format')];
    const [file = '', message = ''] = schema.split(':');
    const codec = new MessageCodec<object>(
      protoSchema,
      `${file.slice(0, file.lastIndexOf('/')).replaceAll('/', '.')}.${message}`,
    );
    for (const [index, one] of (MESSAGES[name] ?? []).entries()) {
      const path = join(folder.path, `${name}-${index}`);
      writeFileSync(path, codec.encode(one));
      inserts.push(
        `INSERT INTO ${name} SELECT *${name === 'change_topic' ? `, ${AT}` : ''} FROM ` +
          `file('${path}', '${type}', $$${columns}$$) SETTINGS format_schema = '${schema}'`,
      );
    }
    // A column of Kafka's engine.
    const stamped = table.replace(/\)$/, ", _timestamp_ms DateTime64(3, 'UTC'))");
    return `${name === 'change_topic' ? stamped : table} ENGINE = Null;`;
  };
  await own.define('clickhouse.sql');
  await own.define('clickhouse-topics.sql', (text) => text.replaceAll(READER, read));
  for (const insert of inserts) await own.ask(insert);
}

afterAll(() => {
  chdb?.close();
  folder.remove();
});

it('reads recalls, behaviours and changes into the tables of facts', async (context) => {
  if (chdb === undefined) {
    context.skip('expected chdb of PyPI in .cache/chdb, .venv or python3, got none');
    return;
  }
  await readersOf(chdb);
  const recalls = await chdb.ask(
    'SELECT *, toUnixTimestamp64Milli(time) AS time_ms FROM recall_fact ORDER BY time',
  );
  expect(recalls).toMatchObject([
    {
      time_ms: AT_MS,
      request_id: 'q1',
      node: 'n1',
      edge: 'grpc',
      scene: { daypart: 'noon' },
      model: 'm',
      adapter: 'aaa',
      adapter_name: 'summer',
      arm: 'canary',
      catalogue_seq: 12,
      template: 't',
      predicate_id: '0123456789abcdef',
      widths: [64, 32],
      code: 'OK',
      short: 1,
      decode_us: 1234,
      total_us: 5679,
      kv_host: 30,
      kv_disk: 5,
      kv_shared: 2,
      kv_computed: 7,
      item_ids: ['ad-1', 'ad-2'],
      scores: [-1.125, -2.5],
      valuation: 'ecpm',
      item_values: [0.5, 0.25],
      item_terms: [{ bid: 2 }, {}],
      explore_slots: 1,
      explore_temperature: 1.5,
      explore_seed: 7,
      explored: [0, 1],
      propensities: [1, 0.25],
      no_propensities: '',
      rank_adapter: 'hhh',
      rank_adapter_name: 'ranking',
      rank_valuation: 'worth',
      ranked_items: 50,
      rank_left_out: 3,
      item_heads: [{ click: 0.5 }, { click: 0.25 }],
      rank_values: [1.5, 1.25],
      recall_ranks: [7, 2],
    },
    {
      request_id: 'q2',
      code: 'ENGINE_OVERLOADED',
      user_hash: 0,
      item_ids: [],
      arm: '',
      propensities: [],
      rank_adapter: '',
      item_heads: [],
      rank_values: [],
      recall_ranks: [],
    },
  ]);
  const [clicked] = await chdb.ask(
    'SELECT item_id, action, request_id, position, user_hash IN ' +
      '(SELECT user_hash FROM recall_fact) AS is_known FROM behaviour',
  );
  expect(clicked).toEqual({
    item_id: 'ad-2',
    action: 'click',
    request_id: 'q1',
    position: 2,
    is_known: 1,
  });
  const changes = await chdb.ask('SELECT catalogue, op, item_id FROM change ORDER BY item_id');
  expect(changes).toEqual([
    { catalogue: 'travel', op: 'other', item_id: '' },
    { catalogue: 'travel', op: 'upsert', item_id: 'ad-3' },
  ]);
}, 120_000);
