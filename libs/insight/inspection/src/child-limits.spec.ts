import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startLimited } from './process/child-limits.js';
import { coresIn, latterHalf } from './process/idle-cores.js';

/** Policies of sched(7), as the 41st field of /proc/PID/stat (proc(5)) numbers them. */
const SCHED_OTHER = 0;
const SCHED_IDLE = 5;
const POLICY_AFTER_NAME = 38;

const REPORT = `
  const stat = require('node:fs').readFileSync('/proc/self/stat', 'utf8');
  const status = require('node:fs').readFileSync('/proc/self/status', 'utf8');
  process.send({
    policy: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[${POLICY_AFTER_NAME}]),
    cores: /^Cpus_allowed_list:\\s*(.*)$/m.exec(status)[1],
  });
`;

async function placeOf(isIdle: boolean): Promise<{ policy: number; cores: string }> {
  const child = startLimited(['-e', REPORT], { isIdle });
  const [place] = await once(child, 'message');
  child.disconnect();
  return place;
}

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

it.skipIf(!has('chrt') || !has('taskset'))(
  'runs an idle child on half of the cores, where one has nothing else to do',
  async () => {
    const other = await placeOf(false);
    expect(other.policy).toBe(SCHED_OTHER);
    const idle = await placeOf(true);
    expect(idle.policy).toBe(SCHED_IDLE);
    expect(coresIn(idle.cores)).toEqual(coresIn(latterHalf(other.cores)));
  },
);

it('may have so much memory beside what its Node begins with', async () => {
  const bytes = 64 << 20;
  const grow = `
    const all = [];
    const grow = (left) => {
      if (left === 0) return process.send('grown');
      all.push(Buffer.alloc(1 << 20, 1));
      setImmediate(grow, left - 1);
    };
    grow(Number(process.argv[1]));`;
  const ends = async (mebibytes: number) => {
    const child = startLimited(['-e', grow, String(mebibytes)], { dataBytes: bytes });
    const first = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    child.kill();
    return first[0];
  };
  expect(await ends(8)).toBe('grown');
  expect(await ends(512)).not.toBe('grown');
});

it.each([
  ['0', '0'],
  ['0-1', '1'],
  ['0-2', '1,2'],
  ['2,5,8-9', '8,9'],
])('of the cores %s takes %s for idle children', (allowed, taken) => {
  expect(latterHalf(allowed)).toBe(taken);
});
