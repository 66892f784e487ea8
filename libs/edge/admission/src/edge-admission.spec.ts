import { TesseraError } from '@tessera/errors';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AdmissionPlace,
  EdgeAdmission,
  type Forecast,
  type PriorityClass,
} from './edge-admission.js';

const WAITS_US = [1000, 50_000, 800_000] as const;

/** A queue with these waits, whose classes have turns unless told otherwise. */
function queue(turnUs = 0) {
  const refused = [0, 0, 0];
  const forecast: Forecast = {
    of: (cls) => ({ waitUs: WAITS_US[cls], turnUs }),
    requestUs: 0,
    turnsShare: 0.25,
    noteRefused: (cls) => {
      refused[cls] = (refused[cls] ?? 0) + 1;
    },
  };
  return { forecast, refused };
}
const { forecast } = queue();

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

it('counts calls that are refused by their heads as demand of the classes that call', () => {
  const { forecast, refused } = queue();
  const admission = new EdgeAdmission({ forecast, inFlightMax: 10_000 });
  for (let n = 0; n < 3000; n += 1) admission.admit(n % 3 === 0 ? 1 : 0, 1e6);
  for (let n = 0; n < 300; n += 1) expect(() => admission.check(0.5)).toThrow();
  const [high = 0, normal = 0, low = 0] = refused;
  expect(high + normal + low).toBe(300);
  expect(Math.abs(high - 200)).toBeLessThan(10);
  expect(Math.abs(normal - 100)).toBeLessThan(10);
  expect(low).toBeLessThan(3);
});

it('bounds calls that share the time of the queue by their deadline', () => {
  const idle = { waitUs: 0, turnUs: 0 };
  const forecast = {
    of: () => idle,
    requestUs: 80_000,
    turnsShare: 1,
    noteRefused: () => undefined,
  };
  const admission = new EdgeAdmission({ forecast, inFlightMax: 100 });
  for (let n = 0; n < 9; n += 1) admission.admit(1, 1000);
  expect(() => admission.admit(1, 1000)).not.toThrow();
  expect(refusalOf(() => admission.admit(1, 1000)).message).toBe(
    'queue too long: expected wait 1100 ms, deadline in 1000 ms',
  );
});

it('makes a class without a turn wait where it would take much of the time left', () => {
  const { forecast, refused } = queue(120_000);
  const admission = new EdgeAdmission({ forecast, inFlightMax: 10 });
  admission.admit(1, 1000);
  expect(refusalOf(() => admission.admit(1, 100))).toMatchObject({
    message: 'overloaded: priority normal used its share; retry after 120 ms',
    retryAfterMs: 120,
  });
  expect(refused).toEqual([0, 1, 0]);
  expect(() => admission.admit(1, 1000)).not.toThrow();
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
      const idle = { waitUs: 0, turnUs: 0 };
      const quick = { of: () => idle, requestUs: 0, turnsShare: 1, noteRefused: () => undefined };
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
