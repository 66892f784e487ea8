import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startLimited } from './process/child-limits.js';

/** Policies of sched(7), as the 41st field of /proc/PID/stat (proc(5)) numbers them. */
const SCHED_OTHER = 0;
const SCHED_IDLE = 5;
const POLICY_AFTER_NAME = 38;

const REPORT = `
  const stat = require('node:fs').readFileSync('/proc/self/stat', 'utf8');
  process.send(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[${POLICY_AFTER_NAME}]));
`;

async function policyOf(isIdle: boolean): Promise<unknown> {
  const child = startLimited(['-e', REPORT], { isIdle });
  const [policy] = await once(child, 'message');
  child.disconnect();
  return policy;
}

const hasChrt = spawnSync('chrt', ['--version']).status === 0;

it.skipIf(!hasChrt)('runs an idle child where a core has nothing else to do', async () => {
  expect(await policyOf(true)).toBe(SCHED_IDLE);
  expect(await policyOf(false)).toBe(SCHED_OTHER);
});
