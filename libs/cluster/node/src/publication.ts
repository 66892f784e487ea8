import { randomUUID } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import { type ClusterLog, type LogBounds, NO_OFFSET, type NodePosition } from '@tessera/log';
import type { History } from './domain/history.js';
import type { Life } from './domain/life.js';
import type { ReplicatedState } from './domain/replicated-state.js';
import { Lease } from './lease.js';

export interface PublicationParts {
  readonly log: ClusterLog;
  readonly node: string;
  readonly state: ReplicatedState;
  readonly history: History;
  readonly life: Life;
  /** Offset up to which all erasures are done here, with all entries up to `offset` applied. */
  readonly erasedUpTo: (offset: number) => number;
  /** Told where the log ends, and begins. @throws TesseraError where it is another one */
  readonly onBounds: (bounds: LogBounds) => void;
  readonly leaseMs: number;
}

const BEATS_PER_LEASE = 3;
/** Entries between two comparisons of digests under load. */
export const COMPARED_EVERY = 64;

/**
 * The word of this node to the others: how far it is, and the digest of its state there.
 * The first digest that is said of an offset is the log's.
 */
export class Publication {
  readonly process = randomUUID();
  readonly lease: Lease;
  private word: NodePosition | undefined;
  private comparedOffset = NO_OFFSET;
  private timer: NodeJS.Timeout | undefined;
  private isOpen = false;

  constructor(private readonly parts: PublicationParts) {
    this.lease = new Lease(parts.log);
    parts.life.onFault(({ code }) => void this.fail(code));
  }

  /** Of the state behind the newest entries; '' before they are applied. */
  get stateDigest(): string {
    return this.word?.digest ?? '';
  }

  get isMade(): boolean {
    return this.word !== undefined;
  }

  /** From now on others wait for this node. Rejects with CONFIG_INVALID for a taken name. */
  async open(): Promise<void> {
    this.isOpen = true;
    const beat = () => void this.beat().catch(() => undefined);
    this.timer = setInterval(beat, this.parts.leaseMs / BEATS_PER_LEASE);
    await this.note().catch((thrown: unknown) => {
      if (TesseraError.from(thrown).code === 'CONFIG_INVALID') throw thrown;
    });
  }

  /** Behind entries that were applied. */
  async note(): Promise<void> {
    const { history, state, node } = this.parts;
    const { offset, chain, erased: sum } = history.position;
    const digest = await state.digest(sum);
    const erased = this.parts.erasedUpTo(offset);
    const { process } = this;
    this.word = { node, process, offset, chain, erased, digest, needsSnapshot: false };
    if (!this.isOpen) return;
    await this.lease.renew(this.word);
    if (offset % COMPARED_EVERY === 0) this.compareBeside();
  }

  /** An erasure is done that the newest word did not have. */
  async noteErased(): Promise<void> {
    if (this.word === undefined || !this.isOpen) return;
    const erased = this.parts.erasedUpTo(this.word.offset);
    this.word = { ...this.word, erased };
    await this.lease.renew(this.word);
  }

  /** Compares the state with what the log has of it, while entries go on. */
  compareBeside(): void {
    const { state, life } = this.parts;
    const { word } = this;
    if (state.scope === 'some' || word === undefined) return;
    if (word.offset === this.comparedOffset || word.offset === NO_OFFSET) return;
    this.comparedOffset = word.offset;
    this.compare(word).catch((thrown: unknown) => {
      const error = TesseraError.from(thrown);
      if (error.code === 'STATE_DIFFERENT') life.fail(error);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.retract();
  }

  private async compare({ offset, digest }: NodePosition): Promise<void> {
    const expected = await this.parts.log.digestAt(offset, digest);
    if (expected === digest) return;
    const state = `state behind entry ${offset}`;
    const message = `${state}: expected digest ${expected}, which was said first, got ${digest}`;
    throw new TesseraError('STATE_DIFFERENT', message);
  }

  /** Also while an entry takes long: then nothing else says how far the node is. */
  private async beat(): Promise<void> {
    if (this.word === undefined) return;
    if (this.word.needsSnapshot) await this.parts.log.say(this.word);
    else await this.noteErased();
    if (this.isOpen) this.parts.onBounds(await this.parts.log.bounds());
  }

  /** Others wait for this node no longer. Beats go on only to ask for a snapshot. */
  private async fail(code: string): Promise<void> {
    if (code !== 'LOG_INCOMPLETE' || this.word === undefined) {
      clearInterval(this.timer);
      return this.retract();
    }
    this.word = { ...this.word, needsSnapshot: true };
    this.lease.end();
    this.isOpen = false;
    await this.parts.log.say(this.word).catch(() => undefined);
  }

  private async retract(): Promise<void> {
    const { word } = this;
    this.lease.end();
    this.isOpen = false;
    this.word = undefined;
    if (word !== undefined) await this.parts.log.leave(word).catch(() => undefined);
  }
}
