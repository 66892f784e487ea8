import { expect, it } from 'vitest';
import { parseChangeLine } from './change-line.js';
import { clauseOf } from './clause-json.js';

it('reads every kind of change, and an item without an op as one to put in', () => {
  const lines = [
    '{"op":"upsert","item_id":"a","sid":[1,2],"title":"A","attributes":{"x":1},"priority":2}',
    '{"item_id":17,"sid":[0]}',
    '{"op":"pause","item_id":"c"}',
    '{"op":"set_attributes","item_id":"d","attributes":{}}',
    '{"op":"set_priority","item_id":"e","priority":-1.5}',
    '{"op":"remove","predicate":{"all":[]}}',
    '{"op":"patch_attributes","item_id":"f","set":{"a":null},"add":{"l":["x"]},"delta":{"n":-2}}',
    '{"op":"patch_attributes","predicate":{"not":{"any":[]}},"unset":["a"],"take":{"l":[]}}',
    '{"op":"set_pace","attribute":"campaign","text":"spring","factor":0.5}',
  ];
  expect(lines.map((line, index) => parseChangeLine(line, index + 1))).toEqual([
    { op: 'upsert', itemId: 'a', sid: [1, 2], title: 'A', attributes: '{"x":1}', priority: 2 },
    { op: 'upsert', itemId: '17', sid: [0], title: '', attributes: '{}', priority: 0 },
    { op: 'pause', itemId: 'c' },
    { op: 'set_attributes', itemId: 'd', attributes: '{}' },
    { op: 'set_priority', itemId: 'e', priority: -1.5 },
    { op: 'remove', itemId: '', predicate: clauseOf('all', {}) },
    {
      op: 'patch_attributes',
      itemId: 'f',
      patch: {
        set: '{"a":null}',
        unset: [],
        add: [{ attribute: 'l', texts: ['x'] }],
        take: [],
        delta: [{ attribute: 'n', delta: -2 }],
      },
    },
    {
      op: 'patch_attributes',
      itemId: '',
      predicate: clauseOf('not', { clauses: [clauseOf('any', {})] }),
      patch: { set: '', unset: ['a'], add: [], take: [{ attribute: 'l', texts: [] }], delta: [] },
    },
    { op: 'set_pace', itemId: '', pace: { attribute: 'campaign', text: 'spring', factor: 0.5 } },
  ]);
});

it.each([
  ['{', 'lines[7]', 'expected a JSON object'],
  ['[1]', 'lines[7]', 'expected a JSON object'],
  ['null', 'lines[7]', 'expected a JSON object'],
  ['{"op":"drop","item_id":"a"}', 'lines[7].op', 'expected upsert, pause'],
  ['{"op":"pause","op":"resume","item_id":"a"}', 'lines[7].op', 'expected it once, got "it twice"'],
  [
    '{"item_id":"a","sid":[1],"attributes":{"bid":1,"bid":2}}',
    'lines[7].attributes.bid',
    'expected it once',
  ],
  ['{"op":"pause"}', 'lines[7].item_id', 'expected a text of well-formed Unicode, got nothing'],
  ['{"op":"pause","item_id":""}', 'lines[7].item_id', 'expected a string or an integer'],
  ['{"op":"pause","item_id":3.5}', 'lines[7].item_id', 'got 3.5'],
  ['{"op":"pause","item_id":"\\ud800"}', 'lines[7].item_id', 'well-formed'],
  ['{"op":"pause","item_id":"a","sid":[1]}', 'lines[7].sid', 'expected one of op, item_id'],
  ['{"item_id":"a"}', 'lines[7].sid', 'expected a list of 1 to 32 codes'],
  ['{"item_id":"a","sid":[1.5]}', 'lines[7].sid', 'got [1.5]'],
  ['{"item_id":"a","sid":["<a_3>","<b_1>"]}', 'lines[7].sid', 'got ["<a_3>","<b_1>"]'],
  ['{"item_id":"a","sid":["x",1,2]}', 'lines[7].sid', 'codes below 1048576'],
  ['{"item_id":"a","sid":[4294967296]}', 'lines[7].sid', 'got [4294967296]'],
  ['{"item_id":"a","sid":[true]}', 'lines[7].sid', 'got [true]'],
  ['{"item_id":"a","sid":"1,1,2"}', 'lines[7].sid', 'got "1,1,2"'],
  ['{"item_id":"a","sid":[1],"title":5}', 'lines[7].title', 'expected a text'],
  ['{"item_id":"a","sid":[1],"title":{}}', 'lines[7].title', 'expected a text'],
  ['{"item_id":"a","sid":[1],"bid":5}', 'lines[7].bid', 'expected one of op, item_id, sid'],
  ['{"item_id":"a","sid":[1],"attributes":[]}', 'lines[7].attributes', 'a JSON object'],
  ['{"op":"pause","item_id":"a","predicate":{}}', 'lines[7].predicate', 'none beside item_id'],
  ['{"op":"pause","predicate":[]}', 'lines[7].predicate', 'a JSON object'],
  ['{"op":"set_priority","predicate":{},"priority":1}', 'lines[7].predicate', 'one of op'],
  [
    '{"item_id":"a","sid":[1],"attributes":{"bid":[1e400]}}',
    'lines[7].attributes',
    'finite numbers, got Infinity',
  ],
  [
    '{"op":"patch_attributes","item_id":"a","set":{"bid":-1e400}}',
    'lines[7].set',
    'finite numbers, got -Infinity',
  ],
  ['{"op":"patch_attributes","item_id":"a","set":[1]}', 'lines[7].set', 'a JSON object'],
  ['{"op":"patch_attributes","item_id":"a","unset":"x"}', 'lines[7].unset', 'a list of texts'],
  ['{"op":"patch_attributes","item_id":"a","add":{"l":"x"}}', 'lines[7].add.l', 'list of texts'],
  ['{"op":"patch_attributes","item_id":"a","take":{"l":[1]}}', 'lines[7].take.l[0]', 'a text'],
  ['{"op":"patch_attributes","item_id":"a","delta":{"n":"1"}}', 'lines[7].delta.n', 'a finite'],
  ['{"op":"set_priority","item_id":"a","priority":"1"}', 'lines[7].priority', 'a finite number'],
  ['{"op":"set_pace","item_id":"a"}', 'lines[7].item_id', 'expected one of op, attribute, text'],
  ['{"op":"set_pace","attribute":"c"}', 'lines[7].text', 'a text'],
  ['{"op":"set_pace","attribute":"c","text":"s"}', 'lines[7].factor', 'above 0 and at most 1'],
])('refuses %s naming line and member', (text, field, message) => {
  expect(() => parseChangeLine(text, 7)).toThrow(
    expect.objectContaining({
      code: 'CATALOGUE_INVALID',
      field,
      message: expect.stringContaining(message),
    }),
  );
});
