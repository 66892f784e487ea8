import { describe, expect, it } from 'vitest';
import { WaitingCalls } from './waiting-calls.js';

interface Call {
  readonly name: number;
  isOver: boolean;
}

/** Calls in a caller whose connections have so much room. */
function caller(room: number) {
  const sent: number[] = [];
  const server = { room };
  const waiting = new WaitingCalls<Call>(({ name }) => {
    if (server.room === 0) return false;
    server.room -= 1;
    sent.push(name);
    return true;
  });
  const calls: Call[] = [];
  const add = (name: number) => {
    calls[name] = { name, isOver: false };
    waiting.add(calls[name] as Call);
  };
  return { sent, server, waiting, calls, add };
}

describe('calls that wait in their caller', () => {
  it('go in the order of their arrival as room appears', () => {
    const { sent, server, waiting, add } = caller(2);
    for (let name = 0; name < 6; name++) add(name);
    expect(sent).toEqual([0, 1]);
    server.room = 3;
    waiting.sendOn();
    expect(sent).toEqual([0, 1, 2, 3, 4]);
  });

  it('are not overtaken by a call that comes when there is room again', () => {
    const { sent, server, add } = caller(0);
    add(0);
    add(1);
    server.room = 2;
    add(2);
    expect(sent).toEqual([0, 1]);
  });

  it('are never sent once they have expired, and take no room', () => {
    const { sent, server, waiting, calls, add } = caller(0);
    for (let name = 0; name < 4; name++) add(name);
    for (const name of [0, 2]) (calls[name] as Call).isOver = true;
    server.room = 1;
    waiting.sendOn();
    expect(sent).toEqual([1]);
    server.room = 1;
    waiting.sendOn();
    expect(sent).toEqual([1, 3]);
  });

  it('are each sent once, however room comes and goes', () => {
    const { sent, server, waiting, add } = caller(0);
    for (let name = 0; name < 1000; name++) {
      server.room = name % 3 === 0 ? 2 : 0;
      add(name);
    }
    server.room = 1000;
    waiting.sendOn();
    expect(sent).toEqual(Array.from({ length: 1000 }, (_, name) => name));
  });
});
