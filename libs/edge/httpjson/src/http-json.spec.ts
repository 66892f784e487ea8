import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { HttpJson } from './http-json.js';

const PROTO = `
  syntax = "proto3";
  package test.v1;
  message Names { repeated string item_ids = 1; }
  message Target { oneof target { string item_id = 1; Names names = 2; } }
  message Inner { string attribute = 1; uint32 max_items = 2; }
  message Asked {
    string request_id = 1;
    oneof source { string user_id = 2; Names history = 3; }
    map<string, string> scene = 4;
    repeated Inner inner = 5;
    optional uint32 count = 6;
    repeated Target targets = 7;
    bool secret = 8;
    Inner free = 9;
  }
  // The result. Nothing else.
  message Answered { Names names = 1; double score = 2; optional double rest = 3; }
  service Asking {
    // Asks for it. At once.
    rpc Ask(Asked) returns (Answered);
  }
`;

const root = protobuf.parse(PROTO, { keepCase: false, alternateCommentMode: true }).root;
const json = new HttpJson(root.toJSON({ keepComments: true }), {
  required: new Set(['Inner.attribute']),
  hidden: new Set(['Asked.secret']),
  ids: new Set(['userId', 'itemId', 'itemIds']),
  positive: new Set(['count']),
  verbatim: new Set(['Asked.free']),
  bare: { Target: 'itemId' },
  prefixes: { 'test.v1': 'Test' },
});
const RPC = 'test.v1.Asking.Ask';
const read = (body: unknown) => json.readRequest<Record<string, unknown>>(RPC, body);

describe('a request', () => {
  it('that says nothing has the defaults of proto', () => {
    expect(read({})).toEqual({ requestId: '', scene: {}, inner: [], targets: [] });
  });

  it('has lists for messages of one list, integers for IDs and bare members', () => {
    const message = read({
      history: [1, 'b'],
      targets: ['x', 7, { names: ['y'] }],
      free: { a: 1 },
    });
    expect(message.history).toEqual({ itemIds: ['1', 'b'] });
    expect(message.targets).toEqual([
      { itemId: 'x' },
      { itemId: '7' },
      { names: { itemIds: ['y'] } },
    ]);
    expect(message.free).toEqual({ a: 1 });
  });

  it('has one of several members that exclude each other where the others are undefined', () => {
    expect(read({ userId: 'a', history: undefined, count: 1 })).toMatchObject({ userId: 'a' });
  });

  it.each([
    [[], 'body: expected a JSON object, got []'],
    [{ secret: true }, 'secret: unknown field; expected requestId, userId, history, scene'],
    [{ requestId: 7 }, 'requestId: expected a string, got 7'],
    [{ inner: [{ maxItems: 1 }] }, 'inner[0].attribute: expected a string, got nothing'],
    [{ inner: [{ attribute: 'a', b: 1 }] }, 'inner[0].b: unknown field; expected attribute'],
    [{ scene: { a: 1 } }, 'scene.a: expected a string, got 1'],
    [{ count: 1.5 }, 'count: expected an integer, got 1.5'],
    [
      { history: [653247040368672800] },
      'history[0]: expected the ID as text (a number beyond 2^53 is rounded), ' +
        'got 653247040368672800',
    ],
    [{ userId: 'a', history: [] }, 'body: expected one of userId, history, got userId and history'],
    [
      { targets: ['x', { itemId: 'x', names: ['y'] }] },
      'targets[1]: expected one of itemId, names, got itemId and names',
    ],
    [{ userId: 'a', user_id: 'b' }, 'user_id: the field stands there twice; expected userId'],
    [{ count: '1.5' }, 'count: expected an integer, got "1.5"'],
    [{ count: 4_294_967_301 }, 'count: expected an integer in 0..4294967295, got 4294967301'],
    [{ count: -1 }, 'count: expected an integer in 0..4294967295, got -1'],
    [{ count: '' }, 'count: expected an integer, got ""'],
    [{ history: [true] }, 'history[0]: expected a string or an integer, got true'],
  ])('%j is refused', (body, message) => {
    expect(() => read(body)).toThrow(message);
  });
});

it('an answer has what the message describes and nothing else', () => {
  const message = { names: { itemIds: ['a'] }, score: 0, kept: 'inside' };
  expect(json.writeResponse(RPC, message)).toEqual({ names: ['a'], score: 0 });
});

it('schemas have the fields, the comments and the names of the document', () => {
  const { schemas, rpcs } = json.schemas([RPC]);
  expect(rpcs).toEqual([
    { request: 'TestAsked', response: 'TestAnswered', summary: 'Asks for it' },
  ]);
  expect(schemas.TestAsked).toMatchObject({
    additionalProperties: false,
    properties: {
      userId: { type: 'string', 'x-or-integer': true },
      inner: { type: 'array', items: { $ref: '#/components/schemas/TestInner' } },
      count: { minimum: 1 },
    },
  });
  expect(schemas.TestInner).toMatchObject({ required: ['attribute'] });
  expect(schemas.TestAnswered).toMatchObject({
    description: 'The result. Nothing else.',
    // Of an answer all but what may be left out.
    required: ['names', 'score'],
    properties: { names: { items: { type: 'string' } } },
  });
});
