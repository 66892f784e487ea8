import type { AppliedBatch, CatalogueChanges } from '@tessera/catalogue';
import type { ChildFactStore } from './outside/child-fact-store.js';

/** A catalogue that is followed. */
export interface FollowedCatalogue {
  /** '' for the first. */
  readonly name: string;
  readonly changes: Pick<CatalogueChanges, 'listItems' | 'items'>;
}

export interface ItemFeedParts {
  readonly store: Pick<ChildFactStore, 'applyItems' | 'replaceItems' | 'offerRow'>;
  readonly catalogue: FollowedCatalogue;
  readonly nowMs: () => number;
  readonly onFault: (thrown: unknown) => void;
}

interface ListedItem {
  readonly itemId: string;
  readonly title: string;
  readonly attributes: string;
  readonly isPaused: boolean;
  readonly sid: readonly number[];
}

/** Batches that wait to be told; behind one more, all items are listed instead. */
const BATCHES_MAX = 1000;
/** Items of a call, each some hundred bytes. */
const ITEMS_PER_CALL = 1024;
/** Pages of a listing, each a millisecond of Node's thread, between two of which others run. */
const PAGE_PAUSE_MS = 10;

const itemRow = ({ itemId, title, attributes, isPaused, sid }: ListedItem) => ({
  item_id: itemId,
  live: !isPaused,
  sid: sid.join('-'),
  title,
  attributes,
});

/** Tells the facts each change of a catalogue, and what its items are from then on. */
export class ItemFeed {
  private readonly waiting: { readonly batch: AppliedBatch; readonly timeMs: number }[] = [];
  private mustList = true;
  private running: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly parts: ItemFeedParts) {}

  /** Lists all items once; the facts find out what has changed since they were told last. */
  start(): void {
    this.go();
  }

  applied(batch: AppliedBatch): void {
    if (this.waiting.length >= BATCHES_MAX) this.mustList = true;
    else this.waiting.push({ batch, timeMs: this.parts.nowMs() });
    this.go();
  }

  /** Resolves when all that was applied before has been told. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.running;
  }

  private go(): void {
    this.running ??= this.tellAll()
      .catch((thrown: unknown) => {
        this.mustList = true;
        this.parts.onFault(thrown);
      })
      .finally(() => {
        this.running = undefined;
      });
  }

  private async tellAll(): Promise<void> {
    while (!this.isClosed && (this.mustList || this.waiting.length > 0)) {
      if (this.mustList) {
        this.mustList = false;
        await this.list();
        continue;
      }
      const [next] = this.waiting;
      if (next !== undefined) await this.tell(next.batch, next.timeMs);
      this.waiting.shift();
    }
  }

  private async tell(batch: AppliedBatch, timeMs: number): Promise<void> {
    const { store, catalogue } = this.parts;
    const { sequence, source } = batch;
    const named = new Set<string>();
    for (const message of batch.messages) {
      for (const { op, itemId } of message) {
        const row = { time: timeMs, catalogue: catalogue.name, seq: sequence, source, op };
        store.offerRow('change', Object.assign(row, { item_id: itemId }));
        if (itemId === '') this.mustList = true;
        else named.add(itemId);
      }
      await pause(0);
    }
    if (batch.messages.every((message) => message.length === 0)) {
      const [op = ''] = Object.keys(batch.ops);
      const row = { time: timeMs, catalogue: catalogue.name, seq: sequence, source, op };
      store.offerRow('change', Object.assign(row, { item_id: '' }));
      this.mustList = true;
    }
    // A listing tells them as well.
    if (this.mustList) return;
    const ids = [...named];
    for (let first = 0; first < ids.length; first += ITEMS_PER_CALL) {
      const states = await catalogue.changes.items.of(ids.slice(first, first + ITEMS_PER_CALL));
      const items = JSON.stringify(states.map((state) => itemRow(state)));
      await store.applyItems({ catalogue: catalogue.name, sequence, timeMs, items });
    }
  }

  private async list(): Promise<void> {
    const { store, catalogue, nowMs } = this.parts;
    const { sequence, pages } = await catalogue.changes.listItems();
    const isClosed = () => this.isClosed;
    async function* texts() {
      for (const page of pages) {
        if (isClosed()) return;
        yield JSON.stringify(page.map(itemRow));
        await pause(PAGE_PAUSE_MS);
      }
    }
    await store.replaceItems({ catalogue: catalogue.name, sequence, timeMs: nowMs() }, texts());
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
