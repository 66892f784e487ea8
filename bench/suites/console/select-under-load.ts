import { type Measurement, quantile } from '../../result.js';
import { demoUserIds } from '../overload/demo-users.js';
import { engineBoundKeys } from '../overload/goodput.js';
import { LoadChild } from '../overload/load-child.js';
import { ServedProcess } from '../overload/served-process.js';
import type { SuiteContext } from '../suite.js';

const OVERLOAD = 3;
const PATIENCE_MS = 5000;

/** `SELECT 42` while the engine is offered three times what it can. */
export async function selectUnderLoad({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const served = await ServedProcess.start(engineBoundKeys(say));
  const load = new LoadChild();
  const plan = {
    address: served.grpcAddress,
    userIds: demoUserIds(),
    connections: 8,
    priorities: [2],
    seed: 1,
  };
  const seconds = quick ? 20 : 60;
  try {
    say('closed loop');
    const patient = { deadlineMs: [PATIENCE_MS, PATIENCE_MS] as const };
    const closed = await load.run({ ...plan, ...patient, closed: { callers: 16 }, seconds: 6 });
    const capacity = closed.goodBySecond.slice(1, 6).reduce((sum, one) => sum + (one ?? 0), 0) / 5;
    say(`${OVERLOAD} times ${capacity.toFixed(0)} recalls/s`);
    const rate = Math.max(1, capacity * OVERLOAD);
    const busy = load.run({ ...plan, deadlineMs: [150, 1500], open: { rate }, seconds });
    const times: number[] = [];
    const endMs = performance.now() + seconds * 1000 - 2000;
    while (performance.now() < endMs) times.push(await selected(served.httpUrl));
    await busy;
    const name = `SELECT 42 at ${OVERLOAD} times the load`;
    const [p50, p95] = [0.5, 0.95].map((share) => quantile([...times], share));
    return [
      { name: `${name}: p50`, value: p50 ?? 0, unit: 'ms', bar: null },
      { name: `${name}: p95`, value: p95 ?? 0, unit: 'ms', bar: 1000, bound: 'at-most' },
    ];
  } finally {
    await load.stop();
    await served.stop();
  }
}

/** Milliseconds; without an answer those of the question's whole time. */
async function selected(httpUrl: string): Promise<number> {
  const began = performance.now();
  const headers = { 'content-type': 'application/json', 'x-tessera-console': '1' };
  const body = JSON.stringify({ sql: 'SELECT 42' });
  const reply = await fetch(`${httpUrl}/console/api/sql`, { method: 'POST', headers, body });
  await reply.arrayBuffer();
  return reply.ok ? performance.now() - began : 10_000;
}
