import type { AppliedBatch, CatalogueChanges, ItemState, PinnedItems } from '@tessera/catalogue';
import type { ChildFactStore } from './outside/child-fact-store.js';

/** A catalogue that is followed. */
export interface FollowedCatalogue {
  /** '' for the first. */
  readonly name: string;
  readonly changes: Pick<CatalogueChanges, 'listItems' | 'items'>;
}

export interface ItemFeedParts {
  readonly store: Pick<ChildFactStore, 'applyItems' | 'replaceItems' | 'offerRow' | 'noteDropped'>;
  readonly catalogue: FollowedCatalogue;
  readonly nowMs: () => number;
  readonly onFault: (thrown: unknown) => void;
}

/**
 * Batches that wait to be told, each with the version behind it; behind one more, its changes are
 * counted as dropped and all items are listed instead.
 */
const BATCHES_MAX = 1000;
/** Items of a call, each some hundred bytes. */
const ITEMS_PER_CALL = 1024;
/** Pages of a listing, each a millisecond of Node's thread, between two of which others run. */
const PAGE_PAUSE_MS = 10;
/** Milliseconds until a listing follows what could not be told. */
const RETRY_MS = 5000;
/** Changes that say by themselves whether their item is live behind them. */
const LIVE_BEHIND: Readonly<Record<string, boolean>> = {
  pause: false,
  remove: false,
  resume: true,
};

interface Waiting {
  readonly batch: AppliedBatch;
  readonly timeMs: number;
  readonly items: PinnedItems;
}

const itemRow = ({ itemId, title, attributes, isPaused, sid }: ItemState) => ({
  item_id: itemId,
  live: !isPaused,
  sid: sid.join('-'),
  title,
  attributes,
});

/** Tells the facts each change of a catalogue, and what its items are from then on. */
export class ItemFeed {
  private readonly waiting: Waiting[] = [];
  private mustList = true;
  /** The effects of changes up to this one are in a listing. */
  private listed = -1;
  private retry: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly parts: ItemFeedParts) {}

  /** Lists all items once; the facts find out what has changed since they were told last. */
  start(): void {
    this.go();
  }

  /** To be called when it is applied, before anything else is: items are told as they are then. */
  applied(batch: AppliedBatch): void {
    const { store, catalogue, nowMs } = this.parts;
    if (this.waiting.length >= BATCHES_MAX) {
      const rows = batch.messages.reduce((sum, { length }) => sum + length, 0) || 1;
      store.noteDropped('change', rows);
      this.mustList = true;
    } else {
      this.waiting.push({ batch, timeMs: nowMs(), items: catalogue.changes.items.pin() });
    }
    this.go();
  }

  /** Resolves when all that was applied before has been told. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  /** Tells the batches that were applied before; the next start lists all. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    await this.running;
  }

  private go(): void {
    this.running ??= this.tellAll()
      .catch((thrown: unknown) => {
        this.mustList = true;
        clearTimeout(this.retry);
        if (!this.isClosed) this.retry = setTimeout(() => this.go(), RETRY_MS).unref();
        this.parts.onFault(thrown);
      })
      .finally(() => {
        this.running = undefined;
      });
  }

  private async tellAll(): Promise<void> {
    const mustList = () => this.mustList && !this.isClosed;
    while (mustList() || this.waiting.length > 0) {
      if (mustList()) {
        this.mustList = false;
        await this.list().catch((thrown: unknown) => {
          if (!this.isClosed) throw thrown;
        });
        continue;
      }
      const next = this.waiting.shift();
      if (next !== undefined) await this.tell(next);
    }
  }

  private async tell({ batch, timeMs, items }: Waiting): Promise<void> {
    const { store, catalogue } = this.parts;
    const { sequence, source } = batch;
    const named = new Map<string, string>();
    for (const message of batch.messages) {
      for (const { op, itemId, pace } of message) {
        const row = { time: timeMs, catalogue: catalogue.name, seq: sequence, source, op };
        const { attribute = '', text: value = '', factor = null } = pace ?? {};
        const paced = { item_id: itemId, attribute, value, pace: factor };
        store.offerRow('change', Object.assign(row, paced));
        // A pace changes no item.
        if (op === 'set_pace') continue;
        if (itemId === '') this.mustList = true;
        else named.set(itemId, op);
      }
      await pause(0);
    }
    if (batch.messages.every((message) => message.length === 0)) {
      const [op = ''] = Object.keys(batch.ops);
      const row = { time: timeMs, catalogue: catalogue.name, seq: sequence, source, op };
      const unpaced = { item_id: '', attribute: '', value: '', pace: null };
      store.offerRow('change', Object.assign(row, unpaced));
      this.mustList = true;
    }
    // A listing tells them as well.
    if (this.mustList || sequence <= this.listed) return;
    const ids = [...named.keys()];
    for (let first = 0; first < ids.length; first += ITEMS_PER_CALL) {
      const rows = items.of(ids.slice(first, first + ITEMS_PER_CALL)).map((state) => {
        const row = itemRow(state);
        // Another batch was applied before anybody heard of this one.
        const isLater = items.sequence > sequence && state.sid.length > 0;
        const live = isLater ? LIVE_BEHIND[named.get(state.itemId) ?? ''] : undefined;
        return live === undefined ? row : Object.assign(row, { live });
      });
      const text = JSON.stringify(rows);
      await store.applyItems({ catalogue: catalogue.name, sequence, timeMs, items: text });
    }
  }

  private async list(): Promise<void> {
    const { store, catalogue, nowMs } = this.parts;
    const { sequence, pages } = await catalogue.changes.listItems();
    const isClosed = () => this.isClosed;
    async function* texts() {
      for (const page of pages) {
        // A listing that ended here would say that all other items are gone.
        if (isClosed()) throw new Error('expected all pages, got the end of the feed');
        yield JSON.stringify(page.map(itemRow));
        await pause(PAGE_PAUSE_MS);
      }
    }
    await store.replaceItems({ catalogue: catalogue.name, sequence, timeMs: nowMs() }, texts());
    this.listed = sequence;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
