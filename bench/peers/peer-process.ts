import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Peer, PeerAnswer, PeerRequest } from './peer.js';

/** Threads stay on their cores, as this engine's do. */
const PEER_ENVIRONMENT = ['OMP_PROC_BIND=true', 'OMP_PLACES=cores'];
const TAIL_CHARACTERS = 2000;

/** A peer in a process of its own: a request a line in, an answer a line out. */
export class PeerProcess implements Peer {
  private readonly lines: AsyncIterator<string>;
  private complaints = '';

  private constructor(
    readonly name: string,
    private readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
  ) {
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.complaints = (this.complaints + text).slice(-TAIL_CHARACTERS);
    });
    child.stdin.on('error', () => undefined);
  }

  /** Resolves when the peer has loaded its model. */
  static async start(
    name: string,
    command: string,
    words: readonly string[],
  ): Promise<PeerProcess> {
    const child = spawn('env', [...PEER_ENVIRONMENT, command, ...words], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const failed = new Promise<never>((_, reject) => child.once('error', reject));
    const peer = new PeerProcess(name, child);
    await Promise.race([peer.nextLine(), failed]);
    return peer;
  }

  ask({ width, tokens }: PeerRequest): Promise<PeerAnswer> {
    return this.exchange<PeerAnswer>({ width, tokens: [...tokens] });
  }

  /** A line for a line. */
  async exchange<Answer>(asked: object): Promise<Answer> {
    this.child.stdin.write(`${JSON.stringify(asked)}\n`);
    return JSON.parse(await this.nextLine()) as Answer;
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.stdin.end();
    await ended;
  }

  private async nextLine(): Promise<string> {
    const { done, value } = await this.lines.next();
    if (done === true) throw new Error(`${this.name} ended: ${this.complaints}`);
    return value;
  }
}
