import { randomUUID } from 'node:crypto';
import { TesseraError } from '@tessera/errors';
import {
  type ChainPoint,
  LEASE_MS,
  NO_OFFSET,
  type NodePosition,
  type NodeStanding,
  type SeenPosition,
} from '@tessera/log';
import { LASTING } from './domain/faults.js';
import type { History } from './domain/history.js';
import type { Life } from './domain/life.js';
import type { ReplicatedState } from './domain/replicated-state.js';
import { Lease } from './lease.js';
import type { WatchedLog } from './watched-log.js';
import type { Running, Work } from './work.js';

export interface PublicationParts {
  readonly log: WatchedLog;
  readonly node: string;
  readonly state: ReplicatedState;
  readonly history: History;
  readonly life: Life;
  readonly work: Work;
  /** Erasures that are done here, with all entries up to `offset` applied. */
  readonly erased: (offset: number) => Pick<NodePosition, 'erased' | 'open'>;
  /** Told where the log ends, and of a fault that lasts. */
  readonly onEnd: (end: number) => void;
  readonly onFault: (fault: TesseraError) => void;
  readonly leaseMs: number;
}

/** True for the word of a node that others wait for, which may not say what log it follows. */
export const isServing = (
  { ageMs, standing, log }: SeenPosition,
  leaseMs: number,
  identity: string,
): boolean => ageMs < leaseMs && standing === 'serving' && (log === '' || log === identity);

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
  /** Snapshots can be made here. */
  canSnapshot = true;
  /** Digest of the state behind the entries applied; undefined: none was looked at yet. */
  private place: (ChainPoint & { readonly digest: string }) | undefined;
  private standing: NodeStanding = 'serving';
  private comparedOffset = NO_OFFSET;
  private beats: Running | undefined;
  private isEnded = false;

  constructor(private readonly parts: PublicationParts) {
    this.lease = new Lease(parts.log, parts.work.clock);
    parts.life.onFault((fault) => this.fail(fault));
  }

  /** Digest of the state after the newest entries; '' before they are applied. */
  get stateDigest(): string {
    return this.place?.digest ?? '';
  }

  get isMade(): boolean {
    return this.place !== undefined;
  }

  /** Publishes the node's position. Rejects with CONFIG_INVALID for a taken name. */
  async open(): Promise<void> {
    const { work, leaseMs } = this.parts;
    await this.note();
    try {
      await this.beat();
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code === 'CONFIG_INVALID' || LASTING.has(error.code)) throw error;
    }
    this.beats = work.begin({
      name: 'the word of this node to the others',
      everyMs: Math.min(leaseMs, LEASE_MS) / BEATS_PER_LEASE,
      limitMs: leaseMs,
      run: () => this.beat(),
    });
  }

  /** Publishes the position after applied entries; other nodes are told at once. */
  async note(): Promise<void> {
    const { history, state } = this.parts;
    const { offset, chain, erased: sum } = history.position;
    this.place = { offset, chain, digest: await state.digest(sum) };
    if (offset % COMPARED_EVERY === 0) this.compareBeside();
    this.beats?.wake();
  }

  /** Something changed that the newest word does not have. */
  tell(): void {
    this.beats?.wake();
  }

  /** Others see this node so from now on. */
  stand(standing: NodeStanding): void {
    if (this.standing === standing || this.isEnded) return;
    this.standing = standing;
    if (standing !== 'serving') this.lease.lapse();
    this.tell();
  }

  /**
   * Compares the state with the log's word of it before anybody counts on this node. Rejects with
   * STATE_DIFFERENT alone: a log that is away is compared with later.
   */
  async check(): Promise<void> {
    const place = this.comparable;
    if (place === undefined) return;
    await this.compare(place).catch((thrown: unknown) => {
      if (TesseraError.from(thrown).code === 'STATE_DIFFERENT') throw thrown;
    });
  }

  /** Compares the state with what the log has of it, while entries go on. */
  compareBeside(): void {
    const { onFault } = this.parts;
    const place = this.comparable;
    if (place === undefined || place.offset === this.comparedOffset) return;
    this.comparedOffset = place.offset;
    this.compare(place).catch((thrown: unknown) => {
      const error = TesseraError.from(thrown);
      if (error.code === 'STATE_DIFFERENT') onFault(error);
    });
  }

  async close(): Promise<void> {
    this.lease.end();
    this.isEnded = true;
    await this.parts.work.end(this.beats);
    const word = this.word();
    this.place = undefined;
    if (word !== undefined) await this.parts.log.leave(word).catch(() => undefined);
  }

  /** The noted state, where the log has a word of it. */
  private get comparable() {
    const isWhole = this.parts.state.scope === 'all';
    return isWhole && this.place?.offset !== NO_OFFSET ? this.place : undefined;
  }

  private word(): NodePosition | undefined {
    const { place, process, standing, canSnapshot } = this;
    const { history, node, erased } = this.parts;
    if (place === undefined) return undefined;
    const { log } = history.position;
    return Object.assign(
      { node, process, log, standing, canSnapshot },
      place,
      erased(place.offset),
    );
  }

  private async compare({ offset, digest }: ChainPoint & { digest: string }): Promise<void> {
    const expected = await this.parts.log.digestAt(offset, digest);
    if (expected === digest) return;
    const state = `state behind entry ${offset}`;
    const message = `${state}: expected digest ${expected}, which was said first, got ${digest}`;
    throw new TesseraError('STATE_DIFFERENT', message);
  }

  /** Also while an entry takes long: then nothing else says how far the node is. */
  private async beat(): Promise<undefined> {
    const { log, onEnd, onFault, life } = this.parts;
    const word = this.word();
    if (word === undefined) return;
    try {
      if (this.standing === 'serving') await this.lease.renew(word);
      else await log.say(word);
      if (life.fault !== undefined) return;
      await log.positions();
      onEnd((await log.bounds()).end);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (LASTING.has(error.code)) onFault(error);
      throw error;
    }
  }

  /** Others wait for this node no longer; where the log went back they hear how far it was. */
  private fail({ code }: TesseraError): void {
    if (code === 'LOG_DIFFERENT') this.stand('stopped');
    this.lease.end();
    this.isEnded = true;
    if (code !== 'LOG_DIFFERENT') void this.close();
  }
}
