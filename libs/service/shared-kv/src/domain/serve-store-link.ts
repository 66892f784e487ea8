import { TesseraError } from '@tessera/errors';
import type { SharedKvStore } from './kv-store.js';
import type { StoreCall, StoreLink } from './store-link.js';

export interface ServeOptions {
  /** Age up to which a failing erasure is tried again, milliseconds. */
  readonly eraseMs: number;
  /** Milliseconds before an erasure is tried again: the first pause, and the longest. */
  readonly pauseMs?: readonly [number, number];
}

export interface ServedLink {
  /**
   * Offset of the newest erasure that this process has applied. The engine has given up what it was
   * about to write of those erased before this is called.
   */
  setErasedUntil(offset: number): void;
  /** Erasures are tried no more; the calls that run end as the store ends them. */
  close(): void;
  /** Resolves when all calls that came before it have ended. */
  ended(): Promise<void>;
}

interface Serving {
  readonly link: StoreLink;
  readonly store: SharedKvStore;
  readonly options: ServeOptions;
  erasedUntil: number;
  isClosed: boolean;
  /** Ends the pauses of erasures. */
  readonly pauses: Set<() => void>;
}

const NEVER_ERASED = -1;
const PAUSES_MS = [100, 10_000] as const;

/**
 * Answers the engine's calls with a store. Each call ends exactly once, whatever the store does.
 * The link and the store belong to the caller, which closes both behind it.
 */
export function serveStoreLink(
  link: StoreLink,
  store: SharedKvStore,
  options: ServeOptions,
): ServedLink {
  const rest = { erasedUntil: NEVER_ERASED, isClosed: false, pauses: new Set<() => void>() };
  const serving: Serving = { link, store, options, ...rest };
  const running = new Set<Promise<void>>();
  link.serve((call) => {
    const run = answer(serving, call).finally(() => running.delete(run));
    running.add(run);
  });
  return {
    ended: async () => {
      await Promise.allSettled(running);
    },
    setErasedUntil: (offset) => {
      serving.erasedUntil = Math.max(offset, serving.erasedUntil);
    },
    close: () => {
      serving.isClosed = true;
      for (const end of serving.pauses) end();
    },
  };
}

type End = Parameters<StoreLink['end']> extends [number, ...infer Rest] ? Rest : never;

async function answer(serving: Serving, call: StoreCall): Promise<void> {
  const end = await outcomeOf(serving, call).catch(failed);
  serving.link.end(call.id, ...end);
}

function failed(thrown: unknown): End {
  const { code, message } = TesseraError.from(thrown);
  return ['failed', undefined, `${code}: ${message}`];
}

async function outcomeOf(serving: Serving, call: StoreCall): Promise<End> {
  const { store } = serving;
  switch (call.kind) {
    case 'find': {
      const found = await store.find(call);
      return found === undefined ? ['missing'] : ['ok', found.head, found.revision];
    }
    case 'read': {
      const bytes = await store.read(call, call.block);
      return bytes === undefined ? ['missing'] : ['ok', bytes];
    }
    case 'erase':
      await eraseSurely(serving, call);
      return ['ok'];
    default:
      return sent(serving, call);
  }
}

/** A write or a publish. */
async function sent({ link, store, erasedUntil }: Serving, call: StoreCall): Promise<End> {
  const bytes = link.bytes(call.id);
  if (bytes === undefined) return ['failed', undefined, 'CANCELLED: the engine has given it up'];
  if (call.kind === 'write') {
    const outcome = await store.write(call, call.block, bytes, erasedUntil);
    return [outcome === 'kept' ? 'ok' : outcome];
  }
  const { replaces, gone } = call;
  const outcome = await store.publish(call, bytes, replaces, gone, erasedUntil);
  return typeof outcome === 'string' ? [outcome] : ['ok', undefined, outcome.kept];
}

async function eraseSurely(serving: Serving, { owner, at }: StoreCall): Promise<void> {
  const { store, options, pauses } = serving;
  const [firstMs, longestMs] = options.pauseMs ?? PAUSES_MS;
  const endMs = performance.now() + options.eraseMs;
  for (let pauseMs = firstMs; ; pauseMs = Math.min(2 * pauseMs, longestMs)) {
    try {
      return await store.erase(owner, at);
    } catch (thrown) {
      if (serving.isClosed || performance.now() + pauseMs > endMs) throw thrown;
    }
    await pausing(pauseMs, pauses);
  }
}

function pausing(pauseMs: number, pauses: Set<() => void>): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      pauses.delete(end);
      resolve();
    };
    const timer = setTimeout(end, pauseMs);
    pauses.add(end);
  });
}
