import { TesseraError } from '@tessera/errors';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AdmissionPlace, EdgeAdmission, type PriorityClass } from './edge-admission.js';

const WAITS_US = [1000, 50_000, 800_000] as const;
const forecast = { waitUs: (cls: PriorityClass) => WAITS_US[cls] };

function refusalOf(act: () => unknown): TesseraError {
  try {
    act();
  } catch (thrown) {
    return TesseraError.from(thrown);
  }
  throw new Error('expected a refusal, got none');
}

it('refuses what would wait longer than its deadline, with the wait and when to come again', () => {
  const admission = new EdgeAdmission({ forecast, inFlightMax: 10 });
  admission.admit(0, 100);
  const error = refusalOf(() => admission.admit(2, 500));
  expect(error).toMatchObject({
    code: 'ENGINE_OVERLOADED',
    message: 'queue too long: expected wait 800 ms, deadline in 500 ms',
    retryAfterMs: 300,
  });
  expect(admission.inFlight).toBe(1);
  expect(() => admission.admit(1, 500)).not.toThrow();
});

it('judges a call whose class is not known yet by the shortest wait', () => {
  const admission = new EdgeAdmission({ forecast, inFlightMax: 10 });
  admission.admit(0, 100);
  expect(() => admission.check(2)).not.toThrow();
  expect(refusalOf(() => admission.check(0.5)).code).toBe('ENGINE_OVERLOADED');
  expect(admission.inFlight).toBe(1);
});

it('serves a call that runs alone, whatever the forecast', () => {
  const admission = new EdgeAdmission({ forecast, inFlightMax: 1 });
  expect(() => admission.check(0)).not.toThrow();
  expect(() => admission.admit(2, 0)).not.toThrow();
});

it('counts the places taken, each given back once, and never more than there are', () => {
  const act = fc.record({ isTaking: fc.boolean(), which: fc.nat(20), cls: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      let refusals = 0;
      const onRefused = () => {
        refusals += 1;
      };
      const quick = { waitUs: () => 0 };
      const admission = new EdgeAdmission({ forecast: quick, inFlightMax: 5, onRefused });
      const held: AdmissionPlace[] = [];
      const back: AdmissionPlace[] = [];
      let refused = 0;
      for (const { isTaking, which, cls } of acts) {
        if (isTaking) {
          try {
            held.push(admission.admit(cls as PriorityClass, 10));
          } catch {
            refused += 1;
            expect(held.length).toBe(5);
          }
        } else {
          const [place] = held.splice(which % Math.max(1, held.length), 1);
          if (place !== undefined) back.push(place);
          for (const one of back) one.giveBack();
        }
        expect(admission.inFlight).toBe(held.length);
      }
      expect(refusals).toBe(refused);
    }),
    { seed: 44, numRuns: 200 },
  );
});
