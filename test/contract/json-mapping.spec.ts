/** Bodies as stock serialisers of protobuf write them, of every route and every field. */

import { protoSchema } from '@tessera/contracts';
import { parseJsonBody } from '@tessera/hosting';
import { SERVICE_JSON } from '@tessera/httpjson';
import { METHODS, rpcOf } from '@tessera/methods';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { partitionAt } from '../../apps/gateway/src/http/http-hop.js';
import { parseEmbed, parseEmbeddings } from '../../apps/retrieval/src/http/embedding-body.js';
import { parseRerank, parseTeiRerank } from '../../apps/retrieval/src/wire/rerank.js';

const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace).resolveAll();
const ROUTES = METHODS.flatMap(({ path, http, routing }) =>
  http === undefined ? [] : [{ http, rpc: rpcOf(path), routing }],
);

/** JSON of other forms than their message's (`verbatim` of service-json.ts), and calls inside. */
const OTHERWISE = /^(eligibility|attributes|set|withRecords|onlyHeld)$/;
const INTEGERS = /^u?int64$/;

function requestOf(rpc: string): protobuf.Type {
  const at = rpc.lastIndexOf('.');
  const service = root.lookupService(rpc.slice(0, at));
  return service.lookupType(service.methods[rpc.slice(at + 1)]?.requestType ?? '');
}

type Style = 'camel' | 'snake';

const snake = (name: string) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

/** A value of the field as a serialiser of protobuf writes it. */
function written(field: protobuf.Field, style: Style): unknown {
  const { type, resolvedType } = field;
  if (resolvedType instanceof protobuf.Enum) return Object.keys(resolvedType.values)[1];
  if (resolvedType instanceof protobuf.Type) return bodyOf(resolvedType, style);
  if (INTEGERS.test(type)) return '7';
  return { string: 'x', bool: true }[type] ?? 3;
}

/** Each field of a message, of several that exclude each other the first. */
function bodyOf(type: protobuf.Type, style: Style, wanted?: (name: string) => boolean): object {
  const fields = type.fieldsArray.filter(({ name, partOf }) => {
    const isFirst = partOf === null || partOf.oneof[0] === name || wanted?.(name) === true;
    return isFirst && !OTHERWISE.test(name) && wanted?.(name) !== false;
  });
  const isEndless = (field: protobuf.Field) => field.resolvedType?.name === 'Predicate';
  const entries = fields.map((field) => {
    const value = isEndless(field.resolve()) ? {} : written(field, style);
    const all = field.map ? { x: value } : field.repeated ? [value] : value;
    return [style === 'snake' ? snake(field.name) : field.name, all] as const;
  });
  return Object.fromEntries(entries);
}

const parsed = (body: object) => parseJsonBody(Buffer.from(JSON.stringify(body)));

/** The message, or the refusal. */
async function outcomeOf(rpc: string, body: object): Promise<unknown> {
  const json = await parsed(body);
  try {
    return SERVICE_JSON.readRequest(rpc, json);
  } catch (thrown) {
    return String(thrown);
  }
}

describe.each(ROUTES)('$http', ({ rpc }) => {
  const type = requestOf(rpc);

  it('reads both spellings, integers as text and the names of words alike', async () => {
    const camel = await outcomeOf(rpc, bodyOf(type, 'camel'));
    expect(camel).toBeTypeOf('object');
    expect(await outcomeOf(rpc, bodyOf(type, 'snake'))).toEqual(camel);
    const asNumbers = JSON.stringify(bodyOf(type, 'camel')).replaceAll('"7"', '7');
    expect(await outcomeOf(rpc, JSON.parse(asNumbers))).toEqual(camel);
  });

  it.each(type.fieldsArray.map(({ name }) => name).filter((name) => !OTHERWISE.test(name)))(
    'takes %s for absent where it is null',
    async (name) => {
      const without = bodyOf(type, 'camel', (other) => other !== name);
      const nulled = Object.assign({}, without, { [snake(name)]: null });
      expect(await outcomeOf(rpc, nulled)).toEqual(await outcomeOf(rpc, without));
    },
  );
});

const ROUTED = ROUTES.flatMap(({ http, rpc, routing }) =>
  routing.to === 'user' ? [{ http, rpc, at: routing.userAt }] : [],
);

it.each(ROUTED)('$http is routed by either spelling', ({ rpc, at }) => {
  const [camel, snaked] = (['camel', 'snake'] as const).map((style) =>
    partitionAt(
      bodyOf(requestOf(rpc), style, (name) => name === at.split('.')[0]),
      at,
    ),
  );
  expect(camel).toBeTypeOf('number');
  expect(snaked).toBe(camel);
});

it.each([
  [parseEmbeddings, { input: 'a' }, ['model', 'dimensions', 'prompt_name', 'user', 'truncation']],
  [parseEmbed, { inputs: 'a' }, ['normalize', 'truncate', 'dimensions', 'parameters']],
  [parseRerank, { query: 'a', documents: [{ text: 'b', itemId: null }] }, ['top_n', 'priority']],
  [parseTeiRerank, { query: 'a', texts: ['b'] }, ['truncate', 'raw_scores', 'return_text']],
])('%o takes nulls for absent', async (parse, body, names) => {
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  const read = parse(await parsed(Object.assign({}, body, nulls)));
  expect(read).toEqual(parse(await parsed(body)));
});
