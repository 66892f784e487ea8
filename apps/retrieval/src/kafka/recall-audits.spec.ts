import { protoSchema, type WireRecallAudited } from '@tessera/contracts';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { MessageCodec } from '@tessera/kafka';
import { describe, expect, it } from 'vitest';
import { AUDITS_WAITING_MAX, RecallAudits } from './recall-audits.js';

const PATIENCE_MS = 60_000;
const REQUEST = {
  requestId: 'r',
  userId: 'u',
  profile: {},
  scene: {},
  resultCount: 0,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: false,
};
const AUDITED = {
  edge: 'grpc' as const,
  request: REQUEST,
  outcome: new TesseraError('USER_NOT_FOUND', 'userId: not known', { field: 'userId' }),
  traceId: '',
};
const log = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 };

/** Audits to a broker that answers as `send` says; counts by outcome. */
function auditsTo(send: () => Promise<void>, erasures = new Erasures()) {
  const counts = { written: 0, failed: 0, dropped: 0 };
  const sent: number[] = [];
  const values: Uint8Array[] = [];
  const audits = new RecallAudits({
    producer: {
      send: async (_topic, messages) => {
        await send();
        sent.push(messages.length);
        values.push(...messages.map(({ value }) => value as Uint8Array));
      },
    },
    topic: 'recall.audits',
    metrics: {
      countAudits: (outcome, count) => {
        counts[outcome] += count;
      },
    },
    log,
    erasures,
    nowMs: () => 1,
  });
  return { audits, counts, sent, values };
}

describe('audits on their way', () => {
  it('are written together and all of them by the end', async () => {
    const { audits, counts, sent } = auditsTo(async () => undefined);
    for (let i = 0; i < 1000; i += 1) audits.write(AUDITED);
    await audits.close(PATIENCE_MS);
    expect(counts).toEqual({ written: 1000, failed: 0, dropped: 0 });
    expect(sent.length).toBeLessThan(10);
  });

  it('have the valuation, exploration and ranking that were asked for', async () => {
    const { audits, values } = auditsTo(async () => undefined);
    const valuation = { name: 'ecpm', scoreWeight: 0.5, weights: { bid: 2 }, floor: -20 };
    const explore = { slots: 2, temperature: 1.5, seed: 7 };
    const rank = { items: 50, adapter: 'ranking', valuation };
    audits.write({ ...AUDITED, request: { ...REQUEST, valuation, explore, rank } });
    audits.write(AUDITED);
    await audits.close(PATIENCE_MS);
    const codec = new MessageCodec<WireRecallAudited>(
      protoSchema,
      'tessera.recall.events.v1.RecallAudited',
    );
    const [asked, plain] = values.map((value) => codec.decode(value).request);
    expect(asked).toMatchObject({ valuation, explore, rank });
    expect(plain?.valuation ?? plain?.explore ?? plain?.rank).toBeUndefined();
  });

  it('are written once by a broker that was away for a while', async () => {
    let attempts = 0;
    const { audits, counts } = auditsTo(async () => {
      attempts += 1;
      if (attempts <= 2) throw new TesseraError('BROKER_UNAVAILABLE', 'away');
    });
    audits.write(AUDITED);
    await expect.poll(() => counts.written, { timeout: 60_000 }).toBe(1);
    await audits.close(PATIENCE_MS);
    expect({ attempts, ...counts }).toEqual({ attempts: 3, written: 1, failed: 0, dropped: 0 });
  });

  it('are bounded, and counted where they are lost', async () => {
    const { audits, counts } = auditsTo(async () => {
      throw new TesseraError('BROKER_UNAVAILABLE', 'away');
    });
    for (let i = 0; i < AUDITS_WAITING_MAX + 5; i += 1) audits.write(AUDITED);
    await audits.close(PATIENCE_MS);
    expect(counts).toEqual({ written: 0, failed: AUDITS_WAITING_MAX, dropped: 5 });
  });
});

it('are counted at the end by a broker that never answers', async () => {
  const { audits, counts } = auditsTo(() => new Promise(() => undefined));
  audits.write(AUDITED);
  audits.write(AUDITED);
  await audits.close(1);
  expect(counts).toEqual({ written: 0, failed: 2, dropped: 0 });
});

it('writes nothing of a user who was erased while the broker was away', async () => {
  const erasures = new Erasures();
  let isAway = true;
  let failed: () => void = () => undefined;
  const tried = new Promise<void>((resolve) => {
    failed = resolve;
  });
  const send = async () => {
    failed();
    if (isAway) throw new TesseraError('BROKER_UNAVAILABLE', 'away');
  };
  const { audits, counts, sent } = auditsTo(send, erasures);
  audits.write({ ...AUDITED, request: { ...REQUEST, userId: 'erased' } });
  audits.write({ ...AUDITED, request: { ...REQUEST, userId: 'other' } });
  await tried;
  erasures.note('erased');
  audits.write({ ...AUDITED, request: { ...REQUEST, userId: 'erased' } });
  isAway = false;
  await audits.close(PATIENCE_MS);
  expect(counts).toEqual({ written: 2, failed: 0, dropped: 1 });
  expect(sent.reduce((sum, count) => sum + count)).toBe(2);
});
