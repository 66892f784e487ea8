import { type Behaviour, BehaviourStore } from '../domain/behaviour-store.js';
import type { User } from '../domain/parse-users.js';

/** Users held in memory, as read from a file at the start. */
export class MemoryBehaviourStore extends BehaviourStore {
  constructor(private readonly users: ReadonlyMap<string, User>) {
    super();
  }

  get userCount(): number {
    return this.users.size;
  }

  entries(): Iterable<[string, User]> {
    return this.users.entries();
  }

  async history(userId: string, limit: number): Promise<readonly Behaviour[] | null> {
    const user = this.users.get(userId);
    if (user === undefined) return null;
    return limit > 0 ? user.behaviours.slice(-limit) : [];
  }

  async profile(userId: string): Promise<Readonly<Record<string, string>> | null> {
    return this.users.get(userId)?.profile ?? null;
  }

  async userIds(limit: number, prefix = ''): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const id of this.users.keys()) {
      if (ids.length >= limit) break;
      if (id.startsWith(prefix)) ids.push(id);
    }
    return ids;
  }
}
