import { type AdmissionSlot, EdgeAdmission } from '@tessera/admission';
import { TesseraError } from '@tessera/errors';
import { NO_TRACING } from '@tessera/telemetry';
import { describe, expect, it } from 'vitest';
import { type EdgeCall, type EdgeParts, RecallEdge } from './recall-edge.js';

const nothing = () => undefined;
const LATE = new TesseraError('DEADLINE_EXCEEDED', 'late');

/** An edge whose every request is refused further in, and its judge on a clock of its own. */
function edge() {
  const clock = { nowMs: 1000 };
  const judge = new EdgeAdmission(() => clock.nowMs);
  const refuse = () => Promise.reject(LATE);
  const loop = { touch: nothing, waitedMs: 0, roundMs: 0 };
  const parts = {
    recalls: { recall: refuse },
    serving: { score: refuse, explain: refuse },
    readiness: { takesCalls: true, fail: nothing },
    metrics: { observe: nothing, observeScore: nothing, observeExplain: nothing },
    log: { debug: nothing, error: nothing },
    limits: { defaultDeadlineMs: 400, deadlineMsMax: 60_000 },
    tracing: NO_TRACING,
    admission: { edge: judge, loop },
  };
  return { edge: new RecallEdge(parts as unknown as EdgeParts), judge, clock };
}

const call = (slot?: AdmissionSlot): EdgeCall => ({
  edge: 'grpc',
  signal: new AbortController().signal,
  budgetUs: Number.POSITIVE_INFINITY,
  caller: {},
  slot,
});

const parse = () => ({ request: {} as never, deadlineMs: undefined });

describe('the place of a call in admission', () => {
  it('is taken for a call that no gate has judged, and given back when it is refused', async () => {
    const { edge: recalls, judge } = edge();
    for (const ask of ['recall', 'score', 'explain'] as const) {
      const asked = recalls[ask](parse, call());
      expect(judge.inFlight).toBe(1);
      await expect(asked).rejects.toBe(LATE);
      expect(judge.inFlight).toBe(0);
    }
  });

  it('is its owner’s to give back where it came with the call', async () => {
    const { edge: recalls, judge } = edge();
    const slot = judge.admit(1, 400) as AdmissionSlot;
    await expect(recalls.recall(parse, call(slot))).rejects.toBe(LATE);
    expect(judge.inFlight).toBe(1);
    slot.end(true);
    expect(judge.inFlight).toBe(0);
  });

  it.each([0, 10, 25, 45])(
    'lets %d refused calls in a window say nothing of what others can be answered',
    async (refusals) => {
      const { edge: recalls, judge, clock } = edge();
      const queue: AdmissionSlot[] = [];
      for (let ms = 0; ms < 4000; ms++) {
        clock.nowMs += 1;
        for (let i = 0; i < 2; i++) {
          const decision = judge.admit(1, 400);
          if (!('retryAfterMs' in decision)) queue.push(decision);
        }
        if (ms % 2 === 0) queue.shift()?.end(true);
        if (ms % 100 !== 50) continue;
        const refused = Array.from({ length: refusals }, () => recalls.explain(parse, call()));
        await Promise.allSettled(refused);
      }
      expect(judge.capacity).toBeGreaterThan(400);
      expect(judge.capacity).toBeLessThan(600);
    },
  );
});
