import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogFields } from './logger.js';
import { registerProcess, watchRejections } from './process-metrics.js';

// Listeners of the test runner would end the run.
let others: NodeJS.UnhandledRejectionListener[] = [];

beforeEach(() => {
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
});

afterEach(() => {
  process.removeAllListeners('unhandledRejection');
  for (const other of others) process.on('unhandledRejection', other);
});

it('goes on where a promise is rejected that nothing awaits, logs and counts it', async () => {
  const registry = new Registry();
  const logged: [LogFields, string][] = [];
  const error = (fields: LogFields, message: string) => logged.push([fields, message]);
  watchRejections({ error } as never);
  registerProcess(registry);
  const failure = new Error('the disk is gone');
  void Promise.reject(failure);
  await setImmediate();
  expect(logged).toEqual([
    [{ err: failure }, 'a failure in the background was awaited by nothing'],
  ]);
  expect(await registry.metrics()).toContain('tessera_unawaited_rejections_total 1\n');
});
