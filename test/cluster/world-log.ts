/** Faults of the log of a simulated world, and the acts of a person who mends them. */

import { entryBytes, readEntry } from '@tessera/log';
import type { LogCopy, MemoryLogState, SimulatedClock } from '@tessera/testing';
import type { Change, Ledger } from './world-ledger.js';
import type { Seat } from './world-seat.js';

export interface LogFaultsParts {
  readonly clock: SimulatedClock;
  readonly log: MemoryLogState;
  readonly contents: Map<string, Uint8Array>;
  readonly seats: readonly Seat[];
  readonly ledger: Ledger;
  /** Acts after a while of less than so many milliseconds. */
  readonly later: (belowMs: number, act: () => void) => void;
  readonly below: (count: number) => number;
}

export class LogFaults {
  private older: LogCopy | undefined;
  /** The log that was there before it went back. */
  private newer: LogCopy | undefined;
  /** Words of entries whose body is lost, by their offset: no node can apply them. */
  private readonly lost = new Map<number, string>();
  private made = 0;
  private logs = 1;

  constructor(private readonly parts: LogFaultsParts) {}

  get hasGoneBack(): boolean {
    return this.newer !== undefined;
  }

  /** The copy to which the log goes back next. */
  copy(): void {
    this.older = this.parts.log.copy();
  }

  /** A large entry, whose body the store loses after a while. */
  loseBody(): void {
    if (this.newer !== undefined || this.parts.log.end === 0) return;
    this.made += 1;
    const word = `b${this.made}`;
    const name = `entries/${word}`;
    this.parts.contents.set(name, Buffer.from(JSON.stringify({ word })));
    const offset = this.parts.log.append(bytesOf({ key: word, kind: 'add' }, '', name));
    this.lost.set(offset, word);
    this.parts.later(2000, () => {
      this.parts.contents.delete(name);
      this.parts.later(9000, () => this.refuseLost());
    });
  }

  /** A person refuses entries that nobody has; where a node has one, it makes a snapshot. */
  refuseLost(): void {
    if (this.newer !== undefined) return;
    for (const [offset, word] of this.lost) {
      if (this.parts.contents.has(`entries/${word}`)) continue;
      this.lost.delete(offset);
      const has = ({ disk }: Seat) => disk.words.includes(`${word}@${offset}`);
      const owners = this.parts.seats.filter(has);
      // A node that waits for the entry needs the snapshot of its owner.
      for (const { store } of owners) store.takeSnapshots();
      if (owners.length > 0) continue;
      this.parts.ledger.count('entry refused');
      const refusal = JSON.stringify({ offset });
      this.parts.log.append(bytesOf({ key: `refuse ${word}`, kind: 'refuse' }, refusal));
    }
  }

  /** The log is put back to a copy, once; a person mends that a while later. */
  goBack(): void {
    if (this.older === undefined) {
      if (this.parts.log.end > 0) this.copy();
      return;
    }
    const end = this.older.first + this.older.entries.length - 1;
    const gone = this.parts.log.entries.filter(({ offset }) => offset > end);
    const words = keysOf(gone);
    const isLost = ({ word }: Change) => words.has(word);
    // Entries that nobody was told of are lost to nobody.
    if (this.newer !== undefined || !this.parts.ledger.acknowledged.some(isLost)) return;
    this.parts.ledger.count('log went back');
    this.newer = this.parts.log.copy();
    this.parts.log.restore(this.older);
    this.parts.later(40_000, () => this.mend());
  }

  /** A person puts the newer copy back, or begins the log anew. */
  mend(): void {
    const { newer } = this;
    if (newer === undefined) return;
    this.newer = undefined;
    const kept = new Set(newer.entries.map(({ chain }) => chain));
    const others = this.parts.log.entries.filter(
      ({ offset, chain }) => offset >= newer.first && !kept.has(chain),
    );
    // An append that was sent before may land there: nobody is told that it did.
    const [taken, before] = [keysOf(others), keysOf(newer.entries)];
    const isTold = ({ word }: Change) => taken.has(word) && !before.has(word);
    if (this.parts.ledger.acknowledged.some(isTold))
      this.parts.ledger.faults.add('an older copy of the log took entries');
    if (this.parts.below(2) === 0) this.parts.log.restore(newer);
    else this.beginAnew();
  }

  /** A person goes on with the node that has the most entries, and the noted ones. */
  private beginAnew(): void {
    const offsetOf = ({ position }: Seat) =>
      position?.log === this.parts.log.identity ? position.offset : 0;
    const toldOf = (seat: Seat) => this.parts.ledger.acknowledgedAt(seat).length;
    const [founder] = [...this.parts.seats].sort(
      (a, b) => offsetOf(b) - offsetOf(a) || toldOf(b) - toldOf(a),
    ) as [Seat];
    this.parts.ledger.noteBegunAnew(this.parts.clock.nowMs());
    this.logs += 1;
    const continues = [this.parts.log.identity, ...(this.parts.log.anew?.continues ?? [])];
    this.parts.log.beginAnew(`log-${this.logs}`, { founder: founder.name, continues });
    founder.store.takeSnapshots();
    this.lost.clear();
    this.older = undefined;
    for (const seat of [founder, ...this.parts.seats.filter((one) => one !== founder)]) {
      void seat.stop().then(() => seat.start());
    }
  }
}

const keysOf = (entries: LogCopy['entries']) =>
  new Set(entries.map(({ bytes }) => readEntry(bytes).key));

/** Bytes of an entry that no node wrote. */
function bytesOf(
  { key, kind }: { readonly key: string; readonly kind: string },
  body: string,
  stored = '',
): Uint8Array {
  return entryBytes({ key, node: 'x', kind }, body, { offset: 0, chain: '' }, stored);
}
