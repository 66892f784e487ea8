import { type Position, positionOf } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import type { Act } from '@tessera/log';
import { stateDigest } from './position.js';

/** Place of an entry in the log. */
export interface Place {
  readonly offset: number;
  /** Milliseconds since 1970, by the clock of the log. */
  readonly atMs: number;
}

export interface PartOutcome {
  /** For who appended the entry. */
  readonly value: unknown;
  /** The mark was kept in one commit with the effect. */
  readonly isMarked: boolean;
}

/** A part of a node's state: all that it changes by comes from entries of its kinds. */
export interface StatePart {
  readonly name: string;
  readonly kinds: readonly string[];
  /**
   * Applies an entry, also one that has been applied before a crash kept its mark from being
   * written. Rejects with a TesseraError: what passes (PASSING) is tried again, all else refuses
   * the entry, as every node has to.
   */
  apply(act: Act, place: Place, mark: string): Promise<PartOutcome>;
  /**
   * An entry of the newest ones that was applied before this process began, in the order of the
   * log: for what the part remembers of them. Left out: nothing.
   */
  readonly recall?: (act: Act, place: Place) => void;
  /** Digest of the content: equal on all nodes that have applied the same entries. */
  digest(): Promise<unknown>;
}

/** Keeps the position durably where no part has. */
export interface PositionKeeper {
  mark(): string;
  note(mark: string): Promise<void>;
}

/** Errors of this node, not of an entry. */
const PASSING: ReadonlySet<string> = new Set([
  'STORE_FULL',
  'STORE_UNAVAILABLE',
  'IO_FAILED',
  'ADAPTER_SOURCE_UNAVAILABLE',
  'PUSH_CONFLICT',
  'ENGINE_OVERLOADED',
  'ENGINE_UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'CANCELLED',
]);

/** A push on its way in, here, passes; the lease of another holder is the same on all nodes. */
const isOfEntry = ({ code, field }: TesseraError) => code === 'PUSH_CONFLICT' && field === 'holder';

export function mayPass(thrown: unknown): boolean {
  const error = TesseraError.from(thrown);
  return PASSING.has(error.code) && !isOfEntry(error);
}

/** All parts of a node's state, which entries of one log change one after another. */
export class ReplicatedState {
  private readonly byKind: ReadonlyMap<string, StatePart>;

  constructor(
    private readonly keeper: PositionKeeper,
    private readonly parts: readonly StatePart[],
    /** `some`: entries of other kinds are for others, and they have no digest of this state. */
    readonly scope: 'all' | 'some' = 'all',
  ) {
    this.byKind = new Map(parts.flatMap((part) => part.kinds.map((kind) => [kind, part])));
  }

  /** Undefined: none of a log. */
  position(): Position | undefined {
    return positionOf(this.keeper.mark());
  }

  /**
   * Rejects with STORE_NEWER for a kind that this release does not know, and as the part does; then
   * the mark is not kept.
   */
  async apply(act: Act, place: Place, mark: string): Promise<unknown> {
    const part = this.byKind.get(act.kind);
    if (part === undefined && this.scope === 'some') {
      await this.note(mark);
      return undefined;
    }
    if (part === undefined) {
      const message = `expected a kind of entry that this release knows, got '${act.kind}'`;
      throw new TesseraError('STORE_NEWER', `${message}, which a newer release wrote`);
    }
    const { value, isMarked } = await part.apply(act, place, mark);
    if (!isMarked) await this.note(mark);
    return value;
  }

  /** An entry of the newest ones, applied before. Unknown kinds are passed over. */
  recall(act: Act, place: Place): void {
    this.byKind.get(act.kind)?.recall?.(act, place);
  }

  note(mark: string): Promise<void> {
    return this.keeper.note(mark);
  }

  /** '' of a part alone. */
  async digest(erased: string): Promise<string> {
    if (this.scope === 'some') return '';
    const digests: Record<string, unknown> = { erased };
    for (const part of this.parts) digests[part.name] = await part.digest();
    return stateDigest(digests);
  }
}
