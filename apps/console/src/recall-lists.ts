import { Injectable } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { QueryResult, RecordedRecall } from '@tessera/inspection';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { ListedRecall } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { isDeep, type RecallSearch, searchSql } from './recall-search.js';
import { Recorded } from './recorded.js';

/** Recalls that are remembered: those of a hundred pages. */
const KNOWN_MAX = 5000;

/** Recalls of one millisecond among which one is looked for. */
const AT_ONCE_MAX = 500;

type Traits = Pick<ListedRecall, 'scene' | 'versions'>;

function traitsOf({ request: { scene }, answer }: RecordedRecall): Traits {
  return answer === undefined ? { scene } : { scene, versions: answer.versions };
}

/** A recall as far as its list entry needs it. */
interface Read {
  readonly userId: string;
  readonly timeMs: number;
  readonly traits: Traits;
}

/** Lists of the recalls that are recorded here. */
@Injectable()
export class RecallLists {
  /** A recorded recall never changes: what was read of it once is kept, the oldest goes first. */
  private readonly known = new Map<string, Read>();
  /** Erasures so far: what was read before one may be of the user who went. */
  private erasures = 0;

  constructor(
    private readonly parts: ConsoleParts,
    private readonly recorded: Recorded,
  ) {
    parts.store?.onErasure((userId) => this.forget(userId));
  }

  /** In the order that is asked for; those of a set newest first. */
  async list(
    search: RecallSearch,
    node: string,
    signal?: AbortSignal,
  ): Promise<readonly ListedRecall[]> {
    const { store } = this.recorded;
    await store.settled();
    if (search.set !== undefined) return this.ofSet(search.set, search, node);
    if (isDeep(search)) return this.ofIds(await this.found(search, signal), node);
    const recalls = await store.recalls(search);
    const listed: ListedRecall[] = [];
    for (const recall of recalls) {
      const read = await this.read(recall.id);
      if (read !== undefined) listed.push(Object.assign({ node }, recall, read.traits));
    }
    return listed;
  }

  private async ofSet(name: string, { offset, limit }: RecallSearch, node: string) {
    const sets = await this.recorded.store.shelf.savedSets();
    const set = sets.find((one) => one.name === name);
    if (set === undefined) {
      const message = `set: expected the name of one that is kept, got '${name.slice(0, 80)}'`;
      throw new TesseraError('ROUTE_NOT_FOUND', message, { field: 'set' });
    }
    return this.ofIds(set.recallIds.slice(offset, offset + limit), node);
  }

  /** Those that are still kept. */
  private async ofIds(ids: readonly string[], node: string): Promise<readonly ListedRecall[]> {
    const listed: ListedRecall[] = [];
    for (const id of ids) {
      const read = await this.read(id);
      if (read === undefined) continue;
      const { timeMs, traits } = read;
      const span = { fromMs: timeMs, beforeMs: timeMs + 1, limit: AT_ONCE_MAX };
      const recalls = await this.recorded.store.recalls(span);
      const summary = recalls.find((recall) => recall.id === id);
      if (summary !== undefined) listed.push(Object.assign({ node }, summary, traits));
    }
    return listed;
  }

  /** Undefined: it is no longer kept. */
  private async read(id: string): Promise<Read | undefined> {
    const known = this.known.get(id);
    if (known !== undefined) return known;
    const { erasures } = this;
    const recall = await this.recorded.store.recall(id);
    if (recall === undefined) return undefined;
    const { timeMs, request } = recall;
    const read = { userId: request.userId ?? '', timeMs, traits: traitsOf(recall) };
    if (erasures !== this.erasures) return read;
    this.known.set(id, read);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= KNOWN_MAX) break;
      this.known.delete(oldest);
    }
    return read;
  }

  private forget(userId: string): void {
    this.erasures += 1;
    for (const [id, read] of this.known) if (read.userId === userId) this.known.delete(id);
  }

  private async found(search: RecallSearch, signal?: AbortSignal): Promise<readonly string[]> {
    const { sqlSeconds } = this.parts.limits;
    const limits = { rowsMax: search.limit, timeoutMs: sqlSeconds * MILLISECONDS_PER_SECOND };
    const json = await this.recorded.store.query(searchSql(search), limits, signal);
    const { rows } = JSON.parse(new TextDecoder().decode(json)) as QueryResult;
    return rows.map(([id]) => String(id));
  }
}
