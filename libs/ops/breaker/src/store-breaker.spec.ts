import { TesseraError } from '@tessera/errors';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StoreBreaker } from './store-breaker.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store that can be away. */
function stored() {
  const state = { isAway: false, calls: 0 };
  const breaker = new StoreBreaker('the store');
  const ask = () =>
    breaker.call(async () => {
      state.calls += 1;
      if (state.isAway) throw new TesseraError('STORE_UNAVAILABLE', 'no answer within 500 ms');
      return 'answer';
    });
  const code = () =>
    ask().then(
      () => 'OK',
      (thrown: unknown) => TesseraError.from(thrown).code,
    );
  return { state, breaker, ask, code };
}

it('asks a store that is away three times, then refuses at once, and says why', async () => {
  const { state, breaker, ask, code } = stored();
  expect(await ask()).toBe('answer');
  expect(breaker.read()).toEqual({ state: 'ok', reason: '' });
  state.isAway = true;
  for (let call = 0; call < 10; call++) expect(await code()).toBe('STORE_UNAVAILABLE');
  expect(state.calls).toBe(1 + 3);
  expect(breaker.read()).toEqual({ state: 'down', reason: 'no answer within 500 ms' });
  await expect(ask()).rejects.toMatchObject({ retryAfterMs: 1000 });
});

it('tries once a second, and serves again as soon as the store answers', async () => {
  const { state, breaker, code } = stored();
  state.isAway = true;
  for (let call = 0; call < 3; call++) await code();
  vi.advanceTimersByTime(1001);
  await code();
  await code();
  expect(state.calls).toBe(4);
  state.isAway = false;
  vi.advanceTimersByTime(1001);
  expect([await code(), await code()]).toEqual(['OK', 'OK']);
  expect(breaker.read().state).toBe('ok');
});

it('does not take a full store, or a fault of the caller, for one that is away', async () => {
  const breaker = new StoreBreaker('the store');
  for (let call = 0; call < 10; call++) {
    const full = breaker.call(() => Promise.reject(new TesseraError('STORE_FULL', 'no room')));
    await expect(full).rejects.toMatchObject({ code: 'STORE_FULL' });
  }
  expect(breaker.read().state).toBe('ok');
});

it('asks the store by itself while it is away, so that it is found without a call', async () => {
  let isAway = true;
  let probes = 0;
  const probe = async () => {
    probes += 1;
    if (isAway) throw new TesseraError('STORE_UNAVAILABLE', 'no answer');
  };
  const breaker = new StoreBreaker('the store', { probe });
  for (let call = 0; call < 3; call++) await breaker.call(probe).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(2500);
  expect(breaker.read().state).toBe('down');
  isAway = false;
  await vi.advanceTimersByTimeAsync(2500);
  expect(breaker.read().state).toBe('ok');
  const asked = probes;
  await vi.advanceTimersByTimeAsync(5000);
  expect(probes).toBe(asked);
});
