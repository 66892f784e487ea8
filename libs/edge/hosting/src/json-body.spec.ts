import { JSON_DEPTH_MAX, JSON_MEMBERS_MAX, JSON_VALUES_MAX } from '@tessera/errors';
import { expect, it } from 'vitest';
import { parseJsonBody } from './json-body.js';

const scene = (members: number) => {
  const entries = Array.from({ length: members - 1 }, (_, i) => [`a:"${i}`, 'b:']);
  return Buffer.from(JSON.stringify({ scene: Object.fromEntries(entries) }));
};

it('parses as many members and levels as may be, whatever stands in texts', async () => {
  expect(await parseJsonBody(scene(JSON_MEMBERS_MAX))).toHaveProperty('scene');
  const deep = '['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX);
  expect(await parseJsonBody(Buffer.from(deep))).toHaveLength(1);
});

it('refuses more of any before it parses them', async () => {
  await expect(parseJsonBody(scene(JSON_MEMBERS_MAX + 1))).rejects.toThrow(
    'body: expected JSON of at most 4000 members, got more',
  );
  const twice = Buffer.from('{"rank":{"items":1,"items":2}}');
  await expect(parseJsonBody(twice)).rejects.toThrow('rank.items: expected it once, got it twice');
  const deep = Buffer.from('['.repeat(JSON_DEPTH_MAX + 1));
  await expect(parseJsonBody(deep)).rejects.toThrow('nested at most 256 deep, got more');
  const empty = (of: string, count: number) => Buffer.from(`[${Array(count).fill(of).join()}]`);
  expect(await parseJsonBody(empty('{}', JSON_MEMBERS_MAX))).toHaveLength(JSON_MEMBERS_MAX);
  await expect(parseJsonBody(empty('{}', JSON_MEMBERS_MAX + 1))).rejects.toThrow('4000 members');
  expect(await parseJsonBody(empty('1', JSON_VALUES_MAX))).toHaveLength(JSON_VALUES_MAX);
  await expect(parseJsonBody(empty('1', JSON_VALUES_MAX + 1))).rejects.toThrow(
    'body: expected JSON of at most 200000 values, got more',
  );
});

it('makes the same of a body that is long enough for its thread', async () => {
  const filler = 'x'.repeat(40_000);
  const given = { filler, __proto__: 1, text: 'é"\\"\u2028', list: [1, null, true, { a: [] }] };
  const json = JSON.stringify(given).replace('{', '{"__proto__":{"x":1},');
  const parsed = await parseJsonBody(Buffer.from(json));
  expect(parsed).toEqual(JSON.parse(json));
  const some = '"some":{"a":null,"b":[null,{"c":null}]}';
  for (const long of ['', filler]) {
    const body = Buffer.from(`{"none":null,${some},"long":"${long}"}`);
    expect(await parseJsonBody(body)).toStrictEqual({ some: { b: [null, {}] }, long });
  }
  expect(Object.keys(parsed as object)).toContain('__proto__');
  for (const [bytes, words] of [
    [Buffer.from(`{"a":"${filler}"`), 'body: expected JSON, got: '],
    [Buffer.concat([Buffer.from(`"${filler}`), Buffer.from([0xff])]), 'body: expected UTF-8'],
  ] as const) {
    await expect(parseJsonBody(bytes)).rejects.toThrow(words);
    await expect(parseJsonBody(bytes)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  }
});

it('leaves the thread to others while it parses a long body', async () => {
  const body = Buffer.from(
    JSON.stringify({ seen: Array.from({ length: 65_536 }, (_, i) => `i${i}`) }),
  );
  await parseJsonBody(body);
  const turns: string[] = [];
  const parsed = parseJsonBody(body).then(() => turns.push('parsed'));
  await new Promise(setImmediate);
  turns.push('others');
  await parsed;
  expect(turns).toEqual(['others', 'parsed']);
});
