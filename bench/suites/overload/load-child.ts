import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { nextMessage } from '../../next-message.js';
import type { LoadOutcome, LoadPlan } from './load-plan.js';

const PROGRAM = fileURLToPath(new URL('./load-process.js', import.meta.url));

/** The generator of load in a process of its own. */
export class LoadChild {
  private readonly child: ChildProcess = fork(PROGRAM);

  get pid(): number {
    return this.child.pid as number;
  }

  async run(plan: LoadPlan): Promise<LoadOutcome> {
    this.child.send(plan);
    return nextMessage(this.child);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    this.child.kill();
    await ended;
  }
}
