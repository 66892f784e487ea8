import type { Carrier, Tracing } from '@tessera/telemetry';
import { expect, it } from 'vitest';
import { counting, type TracedCall } from './counted.js';

it('makes a call a span of its caller, and gives the nodes that span', async () => {
  const caller = { traceparent: 'of the caller' };
  const begun: [name: string, caller: Carrier][] = [];
  const tracing = {
    serve: async (name: string, carrier: Carrier, act: (span: object) => Promise<unknown>) => {
      begun.push([name, carrier]);
      return act({ set: () => undefined });
    },
    outgoing: () => ({ traceparent: 'of the gateway' }),
  } as unknown as Tracing;
  const headers: Record<string, string> = { ...caller, authorization: 'a' };
  const call: TracedCall = {
    header: (name) => headers[name],
    put: (own) => void Object.assign(headers, own),
  };
  const seen: string[] = [];
  const count = counting(
    ({ method, code }) => void seen.push(`${method} ${code}`),
    'grpc',
    tracing,
  );
  const path = '/tessera.recall.v1.RecallService/Recall';
  expect(await count(path, call, async () => headers.traceparent)).toBe('of the gateway');
  expect(begun).toEqual([['forward RecallService/Recall', caller]]);
  expect(headers.authorization).toBe('a');
  const failing = count('/v1/models', call, async () => Promise.reject(new Error('x')));
  await expect(failing).rejects.toThrow('x');
  expect(seen).toEqual(['RecallService/Recall OK', '/v1/models INTERNAL']);
});
