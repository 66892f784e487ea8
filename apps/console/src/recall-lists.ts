import { Injectable } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { ListedRecall } from './api-types.js';
import type { ListSearch } from './recall-search.js';
import { Recorded } from './recorded.js';

/** Lists of the recalls that are recorded here. */
@Injectable()
export class RecallLists {
  constructor(private readonly recorded: Recorded) {}

  /** In the order that is asked for; those of a set in its own. */
  async list(
    { set, ...search }: ListSearch,
    node: string,
    signal?: AbortSignal,
  ): Promise<readonly ListedRecall[]> {
    const { store } = this.recorded;
    if (set === undefined) {
      const recalls = await store.recalls(search, signal);
      return recalls.map((recall) => ({ node, ...recall }));
    }
    const { offset, limit } = search;
    const ids = (await this.idsOf(set)).slice(offset, offset + limit);
    const recalls = await store.recalls({ order: 'time', offset: 0, limit, ids }, signal);
    const found = new Map(recalls.map((recall) => [recall.id, { node, ...recall }]));
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  private async idsOf(name: string): Promise<readonly string[]> {
    const sets = await this.recorded.store.shelf.savedSets();
    const set = sets.find((one) => one.name === name);
    if (set !== undefined) return set.recallIds;
    const message = `set: expected the name of one that is kept, got '${name.slice(0, 80)}'`;
    throw new TesseraError('ROUTE_NOT_FOUND', message, { field: 'set' });
  }
}
