import { describe, expect, it } from 'vitest';
import { HandlerTurns } from './handler-turns.js';

function loop() {
  let now = 0;
  const immediates: (() => void)[] = [];
  const turns = new HandlerTurns(
    () => now,
    (act) => immediates.push(act),
  );
  const ran: number[] = [];
  const call = (name: number, ms: number) =>
    turns.add(() => {
      ran.push(name);
      now += ms;
    });
  const turn = () => {
    for (const act of immediates.splice(0)) act();
  };
  return { call, turn, ran, immediates };
}

describe('turns of handlers', () => {
  it('run a call that is alone at once', () => {
    const { call, turn, ran, immediates } = loop();
    call(1, 5);
    expect(ran).toEqual([1]);
    turn();
    expect(immediates).toEqual([]);
    call(2, 5);
    expect(ran).toEqual([1, 2]);
  });

  it('let sockets be read between stretches of handlers, in the order of the calls', () => {
    const { call, turn, ran } = loop();
    for (let name = 0; name < 6; name++) call(name, 0.9);
    expect(ran).toEqual([0]);
    turn();
    expect(ran).toEqual([0, 1, 2, 3]);
    call(6, 0.9);
    expect(ran).toHaveLength(4);
    turn();
    expect(ran).toEqual([0, 1, 2, 3, 4, 5, 6]);
    turn();
    call(7, 0.9);
    expect(ran.at(-1)).toBe(7);
  });

  it('run at least one in a turn, however long each takes', () => {
    const { call, turn, ran } = loop();
    for (let name = 0; name < 3; name++) call(name, 50);
    turn();
    expect(ran).toEqual([0, 1]);
    turn();
    expect(ran).toEqual([0, 1, 2]);
  });
});
