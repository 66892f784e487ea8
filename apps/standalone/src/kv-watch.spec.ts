import { expect, it } from 'vitest';
import { noteKvPool } from './kv-watch.js';

it('tells once that stores stop and once that they go on, and what was lost', () => {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const log = { debug: keep, info: keep, warn: keep, error: keep };
  const full = { isStoring: 0, storeError: 'disk full', storesDropped: 2, loadsCorrupt: 0 };
  let seen = { isStoring: true, storesDropped: 2, loadsCorrupt: 0 };
  seen = noteKvPool(seen, full, log);
  seen = noteKvPool(seen, full, log);
  expect(lines).toEqual([
    'the KV pool stores nothing on disk; serving goes on {"reason":"disk full"}',
  ]);
  seen = noteKvPool(seen, { ...full, isStoring: 1, storesDropped: 5, loadsCorrupt: 1 }, log);
  expect(lines.slice(1)).toEqual([
    'the KV pool stores on disk again {}',
    'the KV pool did not store users: its queue was full {"dropped":3}',
    'blocks on disk did not have their checksum: given up {"corrupt":1}',
  ]);
  expect(seen).toEqual({ isStoring: true, storesDropped: 5, loadsCorrupt: 1 });
});
