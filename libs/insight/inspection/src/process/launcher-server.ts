import type { ChildProcess } from 'node:child_process';
import { type Channel, endProcess, sendAll, startLimited } from '@tessera/processes';
import type { LaunchOrder, LaunchReply } from './messages.js';

/**
 * The other end of `Launcher`: starts processes, and passes on what they and the service say to
 * each other. It lives as long as its channel; what it started ends when theirs to it does.
 */
export function serveLauncher(channel: Channel): void {
  const children = new Map<number, ChildProcess>();
  const tell = (reply: LaunchReply) => void sendAll(channel, reply).catch(endProcess);
  const start = ({ number, program, limits }: Extract<LaunchOrder, { kind: 'start' }>) => {
    const ended = (reason: string) => {
      if (children.delete(number)) tell({ kind: 'ended', number, reason });
    };
    const child = startLimited(program, limits);
    children.set(number, child);
    child.on('message', (message) => tell({ kind: 'message', number, message }));
    child.once('close', () => ended(''));
    child.on('error', (cause) => ended(cause.message));
  };
  channel.on('disconnect', endProcess);
  channel.on('message', (message: unknown) => {
    const order = message as LaunchOrder;
    if (order.kind === 'start') {
      start(order);
      return;
    }
    if (order.kind === 'ping') {
      tell(order);
      return;
    }
    const child = children.get(order.number);
    if (order.kind === 'kill') child?.kill('SIGKILL');
    else if (child?.connected === true) child.send(order.message as object, () => undefined);
  });
}
