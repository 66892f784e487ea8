/** The short form of `npm run trial`: one store, two crashes; the long one is part of test:long. */

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('nothing is lost or comes to something else when service and broker die', () => {
  const words = ['--store', 'redis', '--seed', '3', '--disturbances', '2'];
  const run = spawnSync(process.execPath, ['dist/test/trial/main.js', ...words], {
    encoding: 'utf8',
  });
  expect(run.stderr).not.toContain('FAULT');
  expect(run.status).toBe(0);
  const { requests, users, faults } = JSON.parse(run.stdout) as Record<string, number>;
  expect(requests).toBeGreaterThan(10);
  expect(users).toBeGreaterThan(10);
  expect(faults).toBe(0);
}, 600_000);
