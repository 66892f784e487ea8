import { describe, expect, it } from 'vitest';
import { Turns } from './turns.js';

/** An event loop whose acts take time by promises that run behind them, as Node's does. */
function loop() {
  let now = 0;
  let immediates: (() => void)[] = [];
  const thrown: unknown[] = [];
  const promises: (() => void)[] = [];
  const turns = new Turns(
    () => now,
    (act) => immediates.push(act),
    (fault) => thrown.push(fault),
  );
  const ran: string[] = [];
  const act = (name: string, ms: number) => () => {
    ran.push(name);
    promises.push(() => {
      now += ms;
    });
  };
  const settle = () => {
    for (const promise of promises.splice(0)) promise();
  };
  const turn = () => {
    ran.splice(0);
    const due = immediates;
    immediates = [];
    for (const immediate of due) {
      immediate();
      settle();
    }
    return ran.length;
  };
  const call = (name: string, ms: number) => turns.call(act(name, ms));
  const answer = (name: string, ms: number) => turns.answer(act(name, ms));
  return { turns, thrown, call, answer, turn, ran, isIdle: () => immediates.length === 0 };
}

describe('turns of the event loop', () => {
  it('run what is alone at once', () => {
    const { call, answer, turn, ran, isIdle } = loop();
    call('one', 5);
    expect(ran).toEqual(['one']);
    turn();
    expect(isIdle()).toBe(true);
    answer('two', 5);
    expect(ran).toEqual(['two']);
  });

  it('take as many as fit by what each costs with its promises', () => {
    const { call, turn } = loop();
    for (let i = 0; i < 1001; i++) call(`${i}`, 0.1);
    const taken = Array.from({ length: 20 }, turn);
    expect(taken[0]).toBe(4);
    expect(taken.at(-1)).toBeGreaterThanOrEqual(18);
    expect(taken.every((count, i) => i === 0 || count >= (taken[i - 1] as number))).toBe(true);
  });

  it('run at least one in a turn, however long each takes, in the order of their arrival', () => {
    const { call, turn, ran } = loop();
    for (let i = 0; i < 8; i++) call(`${i}`, 50);
    expect(turn()).toBe(4);
    expect(ran).toEqual(['1', '2', '3', '4']);
    expect(turn()).toBe(1);
    expect(turn()).toBe(1);
    expect(ran).toEqual(['6']);
  });

  it('run the others of a turn where one throws', () => {
    const { turns, turn, thrown } = loop();
    const ran: number[] = [];
    const fault = new Error('an act that throws');
    turns.call(() => ran.push(0));
    turns.call(() => {
      throw fault;
    });
    for (let i = 1; i < 3; i++) turns.call(() => ran.push(i));
    turn();
    expect(ran).toEqual([0, 1, 2]);
    expect(thrown).toEqual([fault]);
  });

  it('settle answers before calls begin', () => {
    const { call, answer, turn, ran } = loop();
    for (let i = 0; i < 3; i++) call(`call ${i}`, 1);
    for (let i = 0; i < 2; i++) answer(`answer ${i}`, 1);
    turn();
    expect(ran).toEqual(['answer 0', 'answer 1']);
    turn();
    expect(ran).toEqual(['call 1', 'call 2']);
  });
});
