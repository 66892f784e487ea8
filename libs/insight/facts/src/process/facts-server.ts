import { type Channel, serveCalls } from '@tessera/processes';
import type { RowTableName } from '../domain/fact-tables.js';
import type { RowBatch } from '../outside/fact-writer.js';
import { FactWriter, type FactWriterOptions, factsFailure } from '../outside/fact-writer.js';
import type { ItemBatch } from '../outside/item-versions.js';
import type { SealedText } from '../outside/seals.js';
import type { VersionRow } from '../outside/versions.js';

/** Calls of the service. `open` comes first, `close` last. */
export interface FactMethods {
  open(options: FactWriterOptions): Promise<void>;
  append(batch: RowBatch): ReturnType<FactWriter['append']>;
  applyItems(batch: ItemBatch): Promise<void>;
  beginItems(): Promise<void>;
  addItems(items: string): Promise<void>;
  endItems(batch: Omit<ItemBatch, 'items'>): Promise<void>;
  noteVersions(rows: readonly VersionRow[]): Promise<void>;
  flush(nowMs: number, only?: RowTableName): ReturnType<FactWriter['flush']>;
  tidy(nowMs: number): Promise<void>;
  find(userId: string): Promise<string | undefined>;
  forget(userId: string): Promise<boolean>;
  unseal(texts: readonly SealedText[]): Promise<(string | null)[]>;
  recordedOf(userId: string): Promise<readonly string[]>;
  sizes(): ReturnType<FactWriter['sizes']>;
  close(): Promise<void>;
}

/** The process that alone writes facts: one call after the other. */
export function serveFacts(channel: Channel): void {
  const server = new FactsServer();
  serveCalls(channel, (method, values) => server.answer(method, values));
}

class FactsServer {
  private writer: FactWriter | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  /** Calls that write rows: merges give way to them, because a stop has little time. */
  private flushes = 0;

  answer(method: string, values: readonly unknown[]): Promise<unknown> {
    const isFlush = Number(method === 'flush' || method === 'close');
    this.flushes += isFlush;
    return this.inTurn(() => {
      this.flushes -= isFlush;
      return this.act(method, values);
    });
  }

  private async act(method: string, values: readonly unknown[]): Promise<unknown> {
    if (method === 'open') {
      this.writer = await FactWriter.open(values[0] as FactWriterOptions);
      return undefined;
    }
    const { writer } = this;
    if (writer === undefined) throw new Error('expected open() before any other call');
    const act = (methodsOf(writer, () => this.flushes === 0) as unknown as Record<string, unknown>)[
      method
    ];
    if (typeof act !== 'function') throw new Error(`expected a method of facts, got ${method}`);
    return (act as (...given: readonly unknown[]) => Promise<unknown>)(...values);
  }

  private inTurn<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    const done = this.turn.then(act).catch((thrown: unknown) => {
      throw factsFailure(thrown);
    });
    this.turn = done.catch(() => undefined);
    return done;
  }
}

function methodsOf(writer: FactWriter, isIdle: () => boolean): Omit<FactMethods, 'open'> {
  const { items } = writer;
  return {
    append: (batch) => writer.append(batch),
    applyItems: (batch) => items.apply(batch),
    beginItems: () => items.beginAll(),
    addItems: (rows) => items.addAll(rows),
    endItems: (batch) => items.endAll(batch),
    noteVersions: (rows) => writer.versions.note(rows),
    flush: (nowMs, only) => writer.flush(nowMs, only),
    tidy: (nowMs) => writer.tidy(nowMs, isIdle),
    find: (userId) => writer.find(userId),
    forget: (userId) => writer.forget(userId),
    unseal: (texts) => writer.unseal(texts),
    recordedOf: (userId) => writer.recordedOf(userId),
    sizes: () => writer.sizes(),
    close: () => writer.close(),
  };
}
