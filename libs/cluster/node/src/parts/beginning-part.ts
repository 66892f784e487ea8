import type { Position } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { RecallOperations } from '@tessera/recall';
import { REFUSE } from '../body-reader.js';
import { startOf } from '../domain/position.js';
import type { StatePart } from '../domain/replicated-state.js';
import { BEGINS, SNAPSHOT } from '../snapshots-there.js';

const FIELD = 'cluster.name';

/** First entry of a log: a state. */
export interface Beginning {
  readonly seeds: Readonly<Record<string, string>>;
  /** Digest of the position whose state the part begins with; '' for the seeds alone. */
  readonly founder: string;
  /** Digest of the snapshot that the part begins with; '' for none. */
  readonly snapshot: string;
}

/** The entries that say what the log begins with, and where its snapshots are. */
export class BeginningPart {
  newestSnapshot = 0;
  /** Position of this node's state when it was opened. */
  start: Position = startOf('');

  constructor(
    private readonly operations: RecallOperations,
    private readonly names: readonly string[],
  ) {}

  readonly part: StatePart = {
    name: 'beginning',
    kinds: [BEGINS, SNAPSHOT, REFUSE],
    recall: ({ kind, body }) => this.noteSnapshot(kind, body),
    apply: async ({ kind, body }, { offset }) => {
      if (kind === BEGINS) this.check(body as Beginning);
      this.noteSnapshot(kind, body);
      return { value: offset, isMarked: false };
    },
    digest: async () => '',
  };

  /** Nothing has been changed here since the sources were read. */
  isSeedAlone(): boolean {
    const { adapters, weights } = this.operations;
    const isSame = this.names.every((name) => this.sequenceOf(name) === 0);
    const versions = adapters?.list('') ?? [];
    return isSame && versions.length === 0 && weights.current().serving === '';
  }

  seeds(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.names.map((name) => [name, this.operations.changesOf(name).seedDigest]),
    );
  }

  private sequenceOf(name: string): number {
    return this.operations.changesOf(name).state().sequence;
  }

  private noteSnapshot(kind: string, body: unknown): void {
    if (kind !== SNAPSHOT) return;
    const { offset } = (body ?? {}) as { readonly offset?: unknown };
    // An entry that no node wrote names none.
    if (!Number.isSafeInteger(offset)) return;
    this.newestSnapshot = Math.max(this.newestSnapshot, offset as number);
  }

  /** @throws TesseraError LOG_DIFFERENT, or LOG_TRIMMED where the state here is not the log's */
  private check({ seeds, founder, snapshot }: Beginning): void {
    const own = this.seeds();
    for (const [name, digest] of Object.entries(own)) {
      if (seeds[name] === digest) continue;
      const message =
        `catalogue '${name}': expected the sources that the log began with (${seeds[name]}), ` +
        `got others (${digest}): change items through the log, or name another cluster`;
      throw new TesseraError('LOG_DIFFERENT', message, { field: FIELD });
    }
    const isThat = snapshot === '' ? this.isSeedAlone() : this.start.entry === founder;
    if (this.start.offset > 0 || isThat) return;
    throw new TesseraError('LOG_TRIMMED', 'expected the state that the log begins with, got other');
  }
}
