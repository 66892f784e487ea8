import { EdgeAdmission } from '@tessera/admission';
import { TesseraError } from '@tessera/errors';
import { beforeEach, expect, it, vi } from 'vitest';
import { Call, type CallParts } from './call.js';
import { LOOP_LAG } from './loop-lag.js';

const IDLE = () => ({ waitUs: 0, turnUs: 0 });
let lagMs = 0;
beforeEach(() => {
  lagMs = 0;
  vi.spyOn(LOOP_LAG, 'ms', 'get').mockImplementation(() => lagMs);
});

const limits = { defaultDeadlineMs: 100, deadlineMsMax: 1000 };
const US = 1000;

function callOf(more: Partial<CallParts> = {}): Call {
  return new Call({
    edge: 'grpc',
    caller: { name: 'caller' },
    signal: new AbortController().signal,
    transportMs: Number.POSITIVE_INFINITY,
    limits,
    trace: {},
    field: () => undefined,
    ...more,
  });
}

const leftMs = (call: Call) => Math.round(call.leftUs / US / 10) * 10;

it.each([
  ['the default where neither names a time', Number.POSITIVE_INFINITY, undefined, 100],
  ['the time of the body where the transport names none', Number.POSITIVE_INFINITY, 500, 500],
  ['the shorter of both', 300, 500, 300],
  ['the shorter of both', 700, 500, 500],
  ['the cap where the transport names more', 90_000, undefined, 1000],
])('has %s', (_what, transportMs, deadlineMs, expected) => {
  const call = callOf({ transportMs });
  call.limit(deadlineMs);
  expect(leftMs(call)).toBe(expected);
});

it('leaves out the lag of the event loop, and half of the time at most', () => {
  lagMs = 40;
  expect(leftMs(callOf({ transportMs: 500 }))).toBe(460);
  lagMs = 400;
  expect(leftMs(callOf({ transportMs: 500 }))).toBe(250);
});

it('counts from when its bytes could be read', () => {
  const call = callOf({ waitedMs: 60 });
  call.limit(500);
  expect(leftMs(call)).toBe(440);
});

it.each([0, 1001, -5])('refuses %d ms in the body', (deadlineMs) => {
  expect(() => callOf().limit(deadlineMs)).toThrow(
    `deadlineMs: expected 1..1000, got ${deadlineMs}`,
  );
});

it('owns one place in admission from the first admit to its end', () => {
  const admission = new EdgeAdmission({ forecast: IDLE, inFlightMax: 2 });
  const [first, second, third] = [1, 2, 3].map(() => callOf({ admission })) as [Call, Call, Call];
  first.admit(1);
  first.admit(1);
  second.admit(1);
  expect(admission.inFlight).toBe(2);
  expect(() => third.admit(1)).toThrow(TesseraError);
  third.end();
  expect(admission.inFlight).toBe(2);
  first.end();
  first.end();
  first.admit(1);
  expect(admission.inFlight).toBe(1);
  second.end();
  expect(admission.inFlight).toBe(0);
});
