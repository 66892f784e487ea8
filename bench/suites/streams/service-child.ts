import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BehaviourOptions } from '@tessera/behaviour';
import { nextMessage } from '../../next-message.js';

const PROGRAM = fileURLToPath(new URL('./service-process.js', import.meta.url));

export interface ServiceOptions {
  readonly broker: string;
  /** Of every recall in the engine. */
  readonly delayMs: number;
  readonly store: BehaviourOptions['store'];
  /** Folder of the embedded store. */
  readonly path: string;
  readonly redis: string;
}

export interface ServiceLoad {
  /** Of all its threads, since it was last asked. */
  readonly cpuUs: number;
  /** How late its event loop was, 99th percentile since it was last asked. */
  readonly loopDelayMs: number;
}

interface ServingAt {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  readonly userIds: readonly string[];
}

export interface ServiceSaid {
  readonly serving?: ServingAt;
  readonly load?: ServiceLoad;
}

/** The service with a stand-in for its engine, as a process beside this one. */
export class ServiceChild {
  private constructor(
    private readonly child: ChildProcess,
    readonly at: ServingAt,
  ) {}

  static async start(options: ServiceOptions): Promise<ServiceChild> {
    const child = fork(PROGRAM, [JSON.stringify(options)]);
    const { serving } = await nextMessage<ServiceSaid>(child);
    return new ServiceChild(child, serving as ServingAt);
  }

  /** Its work since the last call. */
  async load(): Promise<ServiceLoad> {
    this.child.send('load');
    return (await nextMessage<ServiceSaid>(this.child)).load as ServiceLoad;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
