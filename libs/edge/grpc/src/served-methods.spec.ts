/** Handlers over a real server and client: forms of methods, errors, places in admission. */

import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { EdgeAdmission } from '@tessera/admission';
import type { Call, Handler } from '@tessera/call';
import { TesseraError } from '@tessera/errors';
import { StalledReader } from '@tessera/testing';
import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { letIn } from './call-interceptor.js';
import { addHandlers } from './served-methods.js';

const RECALL = '/tessera.recall.v1.RecallService/Recall';
const LIST = '/tessera.catalogue.v1.CatalogueService/ListItems';
const PAGES = 50;
const IDLE = () => ({ waitUs: 0, turnUs: 0 });

type Answer = (message: object, metadata: object, call: object) => never;

/** How Nest would ask a handler. */
function served(path: string, handler: Handler, responseStream: boolean) {
  const admission = new EdgeAdmission({ forecast: IDLE, inFlightMax: 10 });
  let answer: Answer | undefined;
  const server = {
    addHandler: (_pattern: unknown, given: Answer) => {
      answer = given;
    },
  };
  const method = { path, requestStream: false, responseStream };
  addHandlers(server as never, { service: { method } } as never, {
    handlers: new Map([[path, handler]]),
    limits: { defaultDeadlineMs: 100, deadlineMsMax: 1000 },
    admissions: { decoder: admission },
    log: { error: () => undefined },
  });
  const call = Object.assign(new StalledReader(), {
    metadata: { get: () => [] },
    getDeadline: () => Number.POSITIVE_INFINITY,
  });
  letIn(call.metadata as never, { name: 'caller' });
  return { ask: () => answer?.({}, call.metadata, call) as never, call, admission };
}

it('gives back the place of a call that is answered, and of one that fails', async () => {
  for (const fails of [false, true]) {
    let seen: Call | undefined;
    const handler = async (_read: unknown, call: Call) => {
      seen = call;
      call.admit(1);
      await turnOfTheLoop();
      if (fails) throw new TesseraError('DEADLINE_EXCEEDED', 'late');
      return { items: [] };
    };
    const { ask, admission } = served(RECALL, handler as Handler, false);
    const answered = lastValueFrom<object>(ask());
    expect(admission.inFlight).toBe(1);
    if (fails) await expect(answered).rejects.toMatchObject({ code: 4, details: 'late' });
    else await expect(answered).resolves.toEqual({ items: [] });
    expect(admission.inFlight).toBe(0);
    expect(seen?.caller).toEqual({ name: 'caller' });
  }
});

it('aborts the signal of a call that its client cancels', async () => {
  let seen: Call | undefined;
  const handler = (_read: unknown, call: Call) => {
    seen = call;
    return new Promise(() => undefined);
  };
  const { ask, call } = served(RECALL, handler as Handler, false);
  void (ask() as { subscribe: () => void }).subscribe();
  expect(seen?.signal.aborted).toBe(false);
  call.emit('cancelled');
  expect(seen?.signal.aborted).toBe(true);
});

it('makes one message for a reader that takes none, and goes on when it does', async () => {
  let made = 0;
  function* pages() {
    for (; made < PAGES; made += 1) yield { items: [] };
  }
  const { ask, call } = served(LIST, () => pages(), true);
  let taken = 0;
  (ask() as { subscribe: (next: () => void) => void }).subscribe(() => {
    taken += 1;
  });
  await expect.poll(() => call.listenerCount('drain')).toBe(1);
  for (let turn = 0; turn < PAGES; turn += 1) await turnOfTheLoop();
  expect(taken).toBe(1);
  call.writableNeedDrain = false;
  call.emit('drain');
  await expect.poll(() => taken).toBe(PAGES);
});
