import type { CatalogueChanges } from '@tessera/catalogue';
import type { RecallRequest } from '@tessera/recall';
import { MILLISECONDS_PER_HOUR } from '@tessera/units';
import { OWN_LIST, predicateIdOf, predicateText } from './domain/recall-facts.js';
import type { ChildFactStore } from './outside/child-fact-store.js';

export interface PredicateFeedParts {
  readonly store: Pick<ChildFactStore, 'offerRow'>;
  /** Changes of a catalogue by its name. */
  readonly catalogue: (name: string) => Pick<CatalogueChanges, 'items'>;
  readonly nowMs: () => number;
  readonly onFault: (thrown: unknown) => void;
}

/** Predicates that are evaluated in an hour; recalls with others are counted as unknown. */
const PREDICATES_MAX = 200;
/** Items of one that are listed. */
const ELIGIBLE_MAX = 200_000;
const WAITING_MAX = 200;

interface Asked {
  readonly id: string;
  readonly catalogue: string;
  readonly eligibility: NonNullable<RecallRequest['eligibility']>;
  readonly hourMs: number;
}

/** Tells the facts, once an hour for each predicate, which items the catalogue admits for it. */
export class PredicateFeed {
  private hourMs = 0;
  private readonly seen = new Set<string>();
  private readonly waiting: Asked[] = [];
  private running: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly parts: PredicateFeedParts) {}

  /** Cheap where the predicate has been seen in this hour. */
  note({ eligibility, catalogue = '' }: RecallRequest): void {
    const id = predicateIdOf(eligibility);
    if (eligibility === undefined || id === '' || id === OWN_LIST) return;
    const now = this.parts.nowMs();
    const hourMs = now - (now % MILLISECONDS_PER_HOUR);
    if (hourMs !== this.hourMs) {
      this.hourMs = hourMs;
      this.seen.clear();
    }
    const key = `${catalogue} ${id}`;
    if (this.seen.has(key) || this.seen.size >= PREDICATES_MAX) return;
    if (this.waiting.length >= WAITING_MAX) return;
    this.seen.add(key);
    this.waiting.push({ id, catalogue, eligibility, hourMs });
    this.running ??= this.evaluateAll().finally(() => {
      this.running = undefined;
    });
  }

  async settled(): Promise<void> {
    await this.running;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.running;
  }

  private async evaluateAll(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined && !this.isClosed; ) {
      await this.evaluate(next).catch(this.parts.onFault);
      this.waiting.shift();
      next = this.waiting[0];
    }
  }

  private async evaluate({ id, catalogue, eligibility, hourMs }: Asked): Promise<void> {
    const { predicate, allowed } = eligibility;
    const shared = { predicate, allowed, denied: [], seen: [], drawn: undefined };
    const admitted = await this.parts.catalogue(catalogue).items.admitted(shared, ELIGIBLE_MAX);
    // Too many to list: recalls with it count as unknown.
    if (admitted === undefined) return;
    this.parts.store.offerRow('predicate', {
      time: hourMs,
      catalogue,
      predicate_id: id,
      catalogue_seq: admitted.sequence,
      text: predicateText(eligibility),
      eligible: admitted.itemIds.length,
      item_ids: admitted.itemIds,
    });
  }
}
