import { TesseraError } from '@tessera/errors';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AdmissionPlace } from './answer-limit.js';
import type { PriorityClass } from './class-shares.js';
import { EdgeAdmission } from './edge-admission.js';

const forecast = () => ({ waitUs: 0, turnUs: 0 });

function refusalOf(act: () => unknown): TesseraError {
  try {
    act();
  } catch (thrown) {
    return TesseraError.from(thrown);
  }
  throw new Error('expected a refusal, got none');
}

/** Admission that has seen 100 answers a second behind a backlog of 20 calls. */
function measured() {
  const clock = { nowMs: 0 };
  const admission = new EdgeAdmission({ forecast, inFlightMax: 1000, nowMs: () => clock.nowMs });
  const held: AdmissionPlace[] = [];
  const admit = () => held.push(admission.admit(1, 10_000));
  for (let n = 0; n < 20; n += 1) admit();
  for (let n = 0; n < 500; n += 1) {
    clock.nowMs += 10;
    held.shift()?.giveBack('answered');
    admit();
  }
  return { admission, held };
}

it('refuses what would end behind its deadline, with the wait and when to come again', () => {
  const { admission } = measured();
  expect(admission.inFlight).toBe(20);
  const error = refusalOf(() => admission.admit(1, 100));
  expect(error.code).toBe('ENGINE_OVERLOADED');
  expect(error.message).toMatch(/^queue too long: expected wait \d{3} ms, deadline in 100 ms$/);
  expect(error.retryAfterMs).toBeGreaterThan(50);
  expect(() => admission.admit(1, 10_000)).not.toThrow();
});

it('judges a call by its head alone by the time that it has', () => {
  const { admission } = measured();
  expect(admission.refusalOf(10_000)).toBeUndefined();
  expect(admission.refusalOf(100)?.message).toMatch(/^queue too long: expected wait \d{3} ms/);
  expect(admission.inFlight).toBe(20);
});

it('serves a call that runs alone, and tells the forecast of its queue', () => {
  const asked = { waitUs: 7, turnUs: 3 };
  const admission = new EdgeAdmission({ forecast: () => asked, inFlightMax: 1 });
  expect(admission.refusalOf(0)).toBeUndefined();
  expect(() => admission.admit(2, 0)).not.toThrow();
  expect(admission.forecast(2)).toEqual(asked);
});

it('counts the places taken, each given back once, and never more than there are', () => {
  const act = fc.record({ isTaking: fc.boolean(), which: fc.nat(20), cls: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const admission = new EdgeAdmission({ forecast, inFlightMax: 5 });
      const held: AdmissionPlace[] = [];
      const back: AdmissionPlace[] = [];
      for (const { isTaking, which, cls } of acts) {
        if (isTaking) {
          try {
            held.push(admission.admit(cls as PriorityClass, 10_000));
          } catch {
            expect(held.length).toBe(5);
          }
        } else {
          const [place] = held.splice(which % Math.max(1, held.length), 1);
          if (place !== undefined) back.push(place);
          for (const one of back) one.giveBack('answered');
        }
        expect(admission.inFlight).toBe(held.length);
      }
    }),
    { seed: 44, numRuns: 200 },
  );
});
