import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expecting, TesseraError } from '@tessera/errors';
import type { Etcd, EtcdEntry } from './etcd.js';

/** A node that is gone leaves after so long. */
const NODE_LEASE_MS = 3000;
const KEEP_EVERY_MS = 500;
/** A process that was killed holds its name until its lease ends. */
const TAKE_ATTEMPTS_MAX = 10;
const NAME_FIELD = 'node.name';
const NO_KEY = '0';
const NO_LEASE = '0';

const invalid = expecting('CONFIG_INVALID');

export const nodesOf = (cluster: string) => `/tessera/${cluster}/nodes/`;

/**
 * The key of this process among the nodes of its cluster: one value made of parts, under one lease,
 * by one process at a time. Owner: the process, which leaves at its end.
 */
export class NodeKey {
  /** ID of this process: another process of the same name has another. */
  readonly instance = randomUUID();
  readonly key: string;
  private lease = '';
  private parts: Readonly<Record<string, unknown>> = {};
  /** Revision at which the key was made; NO_KEY: this process has none. */
  private created = NO_KEY;
  private keptUntilMs = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private fault = '';
  private hasLeft = false;

  constructor(
    readonly etcd: Etcd,
    readonly cluster: string,
    readonly node: string,
  ) {
    this.key = nodesOf(cluster) + node;
  }

  /** '' while the key is there, or nobody has put it. */
  get reason(): string {
    return this.fault;
  }

  /** Until then, by performance.now(), etcd keeps the key at least. */
  get heldUntilMs(): number {
    return this.keptUntilMs;
  }

  /** Holds while the key is this process's own. */
  get condition(): { readonly key: string; readonly created: string } {
    return { key: this.key, created: this.created };
  }

  /**
   * Puts parts of the value, beside those put before. Rejects with CONFIG_INVALID where another
   * process keeps the name, and with STORE_UNAVAILABLE where etcd is away: they are put when it is
   * back.
   */
  async put(parts: Readonly<Record<string, unknown>>): Promise<void> {
    this.parts = Object.assign({}, this.parts, parts);
    try {
      await this.inTurn(() => this.write(TAKE_ATTEMPTS_MAX));
      this.keepOn();
    } catch (thrown) {
      if (TesseraError.from(thrown).code === 'STORE_UNAVAILABLE') this.keepOn();
      throw thrown;
    }
  }

  /** Sees to it that the key is there. Rejects as put() does. */
  async hold(): Promise<void> {
    if (this.created === NO_KEY) await this.put({});
  }

  /** The key was found to be gone, or another process's. */
  lost(): void {
    this.created = NO_KEY;
    this.keptUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** The node goes: nobody waits for the lease to end. Never rejects. */
  async leave(): Promise<void> {
    this.hasLeft = true;
    clearInterval(this.timer);
    await this.inTurn(async () => {
      // One that was put over it has no lease to end with.
      const own = this.created !== NO_KEY && [this.condition];
      if (own) await this.etcd.transact(own, { where: [{ remove: this.key }] });
      if (this.lease !== '') await this.etcd.revoke(this.lease);
      this.lost();
    }).catch(() => undefined);
  }

  private keepOn(): void {
    if (this.timer !== undefined || this.hasLeft) return;
    this.timer = setInterval(() => void this.inTurn(() => this.keep()), KEEP_EVERY_MS);
    this.timer.unref();
  }

  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const own = this.turn.then(act);
    this.turn = own.catch(() => undefined);
    return own;
  }

  private async write(attempts: number): Promise<void> {
    if (this.hasLeft) throw new TesseraError('CANCELLED', 'the node has left its cluster');
    if (this.created !== NO_KEY && (await this.replace())) return;
    for (let attempt = 1; ; attempt += 1) {
      const other = await this.take();
      if (other === undefined) return;
      if (attempt >= attempts) {
        throw invalid(NAME_FIELD, 'a name that no other node of the cluster has', other);
      }
      await pause(KEEP_EVERY_MS);
    }
  }

  /** False: the key is not this process's any more. */
  private async replace(): Promise<boolean> {
    const put = { put: this.key, value: this.value(), lease: this.lease };
    const isLeaseGone = (thrown: unknown) => /lease not found/.test((thrown as Error).message);
    const { holds } = await this.etcd
      .transact([this.condition], { where: [put] })
      .catch((thrown: unknown) => {
        if (isLeaseGone(thrown)) return { holds: false };
        throw thrown;
      });
    if (!holds) this.lost();
    return holds;
  }

  /** @returns what has the name instead; undefined: this process has it */
  private async take(): Promise<string | undefined> {
    const { etcd, key } = this;
    const begunMs = performance.now();
    const isKept = this.lease !== '' && (await etcd.keep(this.lease));
    if (!isKept) this.lease = await etcd.grant(NODE_LEASE_MS / 1000);
    const put = { put: key, value: this.value(), lease: this.lease };
    const get = { get: key };
    const steps = { where: [put, get], otherwise: [get] };
    let { holds, found } = await etcd.transact([{ key, created: NO_KEY }], steps);
    let [entry] = found[0] ?? [];
    if (!holds && entry !== undefined && !this.isOfAnother(entry)) {
      ({ holds, found } = await etcd.transact([{ key, modified: entry.modified }], steps));
      [entry] = found[0] ?? [];
    }
    if (!holds || entry === undefined) {
      const { grpc } = wordsOf(entry?.value ?? Buffer.of());
      return `'${this.node}'${grpc === undefined ? '' : ` at ${grpc}`}`;
    }
    this.created = entry.created;
    this.keptUntilMs = begunMs + NODE_LEASE_MS;
    return undefined;
  }

  /** A process that lives keeps a lease and names its instance; anything else is put over. */
  private isOfAnother({ value, lease }: EtcdEntry): boolean {
    const { instance } = wordsOf(value);
    return lease !== NO_LEASE && typeof instance === 'string' && instance !== this.instance;
  }

  /**
   * Keeps the lease and sees that the key is what this process would write: a lease may live on
   * while its key was taken away or put over, by hand or by a snapshot that etcd was restored from.
   */
  private async keep(): Promise<void> {
    if (this.hasLeft) return;
    try {
      const begunMs = performance.now();
      const isKept = this.created !== NO_KEY && (await this.etcd.keep(this.lease));
      const isOwn = isKept && ((await this.isThere()) || (await this.replace()));
      if (isOwn) this.keptUntilMs = begunMs + NODE_LEASE_MS;
      else await this.write(1);
      this.fault = '';
    } catch (thrown) {
      const { field, message } = TesseraError.from(thrown);
      this.fault = field === NAME_FIELD ? `another process has the name: ${message}` : message;
    }
  }

  private async isThere(): Promise<boolean> {
    const { key, lease } = this;
    const whole = [this.condition, { key, value: this.value() }, { key, lease }];
    return (await this.etcd.transact(whole, { where: [] })).holds;
  }

  private value(): Buffer {
    return Buffer.from(JSON.stringify(Object.assign({ instance: this.instance }, this.parts)));
  }
}

function wordsOf(value: Buffer): { readonly instance?: unknown; readonly grpc?: unknown } {
  try {
    const words: unknown = JSON.parse(value.toString());
    return typeof words === 'object' && words !== null ? words : {};
  } catch {
    return {};
  }
}
