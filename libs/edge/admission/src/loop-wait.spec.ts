import { expect, it } from 'vitest';
import { LoopWait } from './loop-wait.js';

function loop() {
  const state = { nowMs: 100, idleMs: 0, endings: [] as (() => void)[] };
  const wait = new LoopWait(
    () => state.nowMs,
    () => state.idleMs,
    (act) => state.endings.push(act),
  );
  const endIteration = () => {
    for (const act of state.endings.splice(0)) act();
  };
  return { state, wait, endIteration };
}

it('counts what a busy loop kept waiting since its last look at the sockets', () => {
  const { state, wait, endIteration } = loop();
  wait.touch();
  state.nowMs += 40;
  wait.touch();
  expect(wait.waitedMs).toBe(0);
  endIteration();
  expect(wait.roundMs).toBe(40);
  wait.touch();
  expect(wait.waitedMs).toBe(40);
});

it('counts nothing where the loop has slept: the bytes woke it', () => {
  const { state, wait, endIteration } = loop();
  wait.touch();
  state.nowMs += 5;
  endIteration();
  state.nowMs += 1000;
  state.idleMs += 1000;
  wait.touch();
  expect(wait.waitedMs).toBe(0);
});

it('forgets a long iteration within some short ones', () => {
  const { state, wait, endIteration } = loop();
  for (const takenMs of [80, ...Array.from({ length: 60 }, () => 1)]) {
    wait.touch();
    state.nowMs += takenMs;
    endIteration();
  }
  expect(wait.roundMs).toBeLessThan(2);
});
