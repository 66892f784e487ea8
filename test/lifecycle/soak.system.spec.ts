/** Some seconds of `npm run soak -- overload`: cancellations, hopeless deadlines, flat memory. */

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('an overloaded engine keeps its memory and ends every request as it may', () => {
  const soak = ['dist/test/soak/main.js', 'overload', '--rounds', '15'];
  const run = spawnSync(process.execPath, soak, { encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
  const outcomes = JSON.parse(run.stdout) as Record<string, number>;
  for (const code of ['OK', 'ENGINE_OVERLOADED', 'DEADLINE_EXCEEDED', 'CANCELLED']) {
    expect(outcomes[code]).toBeGreaterThan(0);
  }
});
