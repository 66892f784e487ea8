import { Injectable } from '@nestjs/common';
import { TesseraError } from '@tessera/errors';
import type { QueryResult, RecallSummary, RecordedRecall } from '@tessera/inspection';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { ListedRecall } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { isDeep, type RecallSearch, searchSql } from './recall-search.js';
import { Recorded } from './recorded.js';

/** Traits of recalls that are remembered: those of a hundred pages. */
const TRAITS_MAX = 5000;

type Traits = Pick<ListedRecall, 'scene' | 'adapter' | 'adapterName'>;

function traitsOf({ request, answer }: RecordedRecall): Traits {
  const { adapter = '', adapterName = '' } = answer?.versions ?? {};
  return { scene: request.scene, adapter, adapterName };
}

function summaryOf(recall: RecordedRecall): RecallSummary {
  const { id, timeMs, requestId, request, source, reason, code, answer } = recall;
  return {
    id,
    timeMs,
    requestId,
    userId: request.userId ?? '',
    source,
    reason,
    code,
    itemCount: answer?.items.length ?? 0,
    promptTokens: answer?.promptTokens ?? 0,
    computedTokens: answer?.kv.computedTokens ?? 0,
    totalUs: answer?.timings.totalUs ?? 0,
    catalogueSequence: answer?.versions.catalogueSequence ?? 0,
  };
}

/** Lists of the recalls that are recorded here. */
@Injectable()
export class RecallLists {
  /** A recorded recall never changes: what was read of it once is kept, the oldest goes first. */
  private readonly traits = new Map<string, Traits>();

  constructor(
    private readonly parts: ConsoleParts,
    private readonly recorded: Recorded,
  ) {}

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
      const traits = this.traits.get(recall.id) ?? (await this.read(recall.id))?.traits;
      if (traits !== undefined) listed.push(Object.assign({ node }, recall, traits));
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
      if (read !== undefined) listed.push(Object.assign({ node }, read.summary, read.traits));
    }
    return listed;
  }

  private async read(id: string) {
    const recall = await this.recorded.store.recall(id);
    if (recall === undefined) return undefined;
    const traits = traitsOf(recall);
    this.traits.set(id, traits);
    for (const oldest of this.traits.keys()) {
      if (this.traits.size <= TRAITS_MAX) break;
      this.traits.delete(oldest);
    }
    return { traits, summary: summaryOf(recall) };
  }

  private async found(search: RecallSearch, signal?: AbortSignal): Promise<readonly string[]> {
    const { sqlSeconds } = this.parts.limits;
    const limits = { rowsMax: search.limit, timeoutMs: sqlSeconds * MILLISECONDS_PER_SECOND };
    const json = await this.recorded.store.query(searchSql(search), limits, signal);
    const { rows } = JSON.parse(new TextDecoder().decode(json)) as QueryResult;
    return rows.map(([id]) => String(id));
  }
}
