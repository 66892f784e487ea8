import { protoSchema } from '@tessera/contracts';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import { fieldOf, fieldsAt, numberAt, textAt } from './wire-path.js';

const root = protobuf.Root.fromJSON(protoSchema as protobuf.INamespace);
const typeOf = (name: string) => root.lookupType(`tessera.${name}`);
const bytesOf = (name: string, message: object) => {
  const type = typeOf(name);
  return Buffer.from(type.encode(type.fromObject(message)).finish());
};
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();
const words = fc.string({ unit: 'grapheme', maxLength: 200 });

it('finds the user of a recall as a parser does, whatever else is in it', () => {
  const recall = fc.record({
    requestId: words,
    userId: words,
    profile: fc.dictionary(fc.string({ minLength: 1 }), words, { maxKeys: 3 }),
    widths: fc.array(fc.nat(500), { maxLength: 5 }),
    deadlineMs: fc.nat(100_000),
    eligibility: fc.record({ denied: fc.array(words, { maxLength: 3 }) }),
  });
  fc.assert(
    fc.property(recall, (message) => {
      const bytes = bytesOf('recall.v1.RecallRequest', message);
      const { userId } = typeOf('recall.v1.RecallRequest').decode(bytes) as unknown as {
        userId: string;
      };
      expect(text(textAt(bytes, [2]))).toBe(userId === '' ? undefined : userId);
      const explain = bytesOf('explain.v1.ExplainRequest', { request: message, itemId: 'i' });
      expect(text(textAt(explain, [1, 2]))).toBe(userId === '' ? undefined : userId);
    }),
    { seed: 7, numRuns: 200 },
  );
});

it('takes the last of several, and none of a message that is cut off or is none', () => {
  const twice = Buffer.concat([fieldOf(2, Buffer.from('a')), fieldOf(2, Buffer.from('bc'))]);
  expect(text(textAt(twice, [2]))).toBe('bc');
  for (let end = 1; end < twice.length; end += 1) {
    if (end === 3) continue;
    expect(textAt(twice.subarray(0, end), [2]), `${end} bytes`).toBeUndefined();
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (bytes, n) => {
      const fields = fieldsAt(bytes, n);
      for (const { content, from, to } of fields ?? []) {
        expect(from).toBeLessThan(to);
        expect(to).toBeLessThanOrEqual(bytes.length);
        expect(content.length).toBeLessThan(to - from);
      }
      numberAt(bytes, n);
    }),
    { seed: 8, numRuns: 2000 },
  );
});

it('finds the user whom the parser of the nodes sees where a message is there twice', () => {
  const part = fc.record(
    { userId: fc.constantFrom('', 'ann', 'bob'), requestId: words },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 3 }), { maxLength: 3 }), (requests) => {
      const explain = Buffer.concat(
        requests.map((parts) =>
          fieldOf(1, Buffer.concat(parts.map((one) => bytesOf('recall.v1.RecallRequest', one)))),
        ),
      );
      const { request } = typeOf('explain.v1.ExplainRequest').decode(explain) as unknown as {
        request: { userId: string } | null;
      };
      expect(text(textAt(explain, [1, 2])) ?? '').toBe(request?.userId ?? '');
    }),
    { seed: 9, numRuns: 500 },
  );
});

it('cuts repeated fields out so that they are the same message again', () => {
  const behaviours = Array.from({ length: 300 }, (_, n) => ({
    userId: `u${n}`,
    itemId: 'x'.repeat(n),
    timeMs: n,
  }));
  const bytes = bytesOf('behaviour.v1.AppendRequest', { behaviours });
  const fields = fieldsAt(bytes, 1) ?? [];
  expect(fields.map(({ content }) => text(textAt(content, [1])))).toEqual(
    behaviours.map(({ userId }) => userId),
  );
  const again = Buffer.concat(fields.map(({ from, to }) => bytes.subarray(from, to)));
  expect(again.equals(bytes)).toBe(true);
  const own = Buffer.concat(fields.map(({ content }) => fieldOf(1, content)));
  expect(own.equals(bytes)).toBe(true);
});

it('reads flags', () => {
  const drop = (message: object) => bytesOf('kv.v1.DropUserRequest', message);
  expect(numberAt(drop({ userId: 'u', deadlineMs: 3, withRecords: true }), 3)).toBe(1);
  expect(numberAt(drop({ userId: 'u', deadlineMs: 3 }), 3)).toBe(0);
});
