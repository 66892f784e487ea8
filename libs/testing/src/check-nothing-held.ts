import type { Engine } from '@tessera/engine';

/**
 * Checks an engine without a request under way: whatever requests took is given back, and every
 * block of the pool is free or of a user. Rejects with what is held.
 */
export async function checkNothingHeld(engine: Pick<Engine, 'held' | 'kvPool'>): Promise<void> {
  const held = Object.entries(engine.held()).filter(([, count]) => count !== 0);
  const { faults } = await engine.kvPool.checkIntegrity();
  if (held.length === 0 && faults.length === 0) return;
  const got = JSON.stringify({ held: Object.fromEntries(held), faults });
  throw new Error(`engine: expected nothing to be held while it is idle, got ${got}`);
}

interface Runtime {
  readonly facts: { heldWhileIdle(): Readonly<Record<string, number>> };
  close(): Promise<void>;
}

/** The runtime, whose close() rejects where requests have left something behind. */
export function closingEmpty<Opened extends Runtime>(runtime: Opened): Opened {
  let isOpen = true;
  const close = async () => {
    const held = isOpen ? runtime.facts.heldWhileIdle() : {};
    isOpen = false;
    await runtime.close();
    if (Object.values(held).every((count) => count === 0)) return;
    const got = JSON.stringify(held);
    throw new Error(`runtime: expected nothing to be held while it is idle, got ${got}`);
  };
  return { ...runtime, close };
}
