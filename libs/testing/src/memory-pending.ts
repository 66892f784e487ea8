import type { PendingErasure, PendingErasures } from '@tessera/erasure';

/** Erasures that are to be done, on a disk that outlives processes. */
export class MemoryPending implements Pick<PendingErasures, 'list' | 'has' | 'put' | 'remove'> {
  private readonly all = new Map<string, PendingErasure>();

  list(): readonly PendingErasure[] {
    return [...this.all.values()].sort((a, b) => a.offset - b.offset);
  }

  has(userId: string): boolean {
    return this.list().some((one) => one.userId === userId);
  }

  async put(erasure: PendingErasure): Promise<void> {
    this.all.set(keyOf(erasure), erasure);
  }

  async remove(erasure: PendingErasure): Promise<void> {
    this.all.delete(keyOf(erasure));
  }
}

const keyOf = ({ userId, offset }: PendingErasure) => `${offset} ${userId}`;
