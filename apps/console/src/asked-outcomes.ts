import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type AnalysisFilter,
  type Asking,
  exploredTraffic,
  outcomesPage,
  type Reward,
} from '@tessera/analysis';
import { TesseraError } from '@tessera/errors';
import type { QueryResult, RecordedAnswer, RecordedRecall } from '@tessera/inspection';
import { type RecallRequest, TEMPERATURE_MIN } from '@tessera/recall';
import { MICROSECONDS_PER_MILLISECOND, MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { OutcomesPage } from './api-types.js';
import { ConsoleParts } from './console-parts.js';
import { invalid } from './fields.js';
import { Recorded } from './recorded.js';
import { BASE, replayOf } from './replay.js';
import { versionedContext } from './trial-settings.js';

/** Recorded recalls that are looked through for those of facts. */
const RECORDS_MAX = 50_000;
/** Draws by which a target that explores says how likely its items are. */
const DRAWS = 8;
const SEED_BYTES = 6;
/** Recalls of this service that are under way at a time. */
const AT_ONCE = 4;
/** Recorded recalls that are read together. */
const READ_AT_ONCE = 100;
/** A valuation's name that stands for none: items go by likelihood. */
const NONE = 'none';

/** Other settings than a recall had; with a temperature the target draws as many places. */
export interface Target {
  readonly adapter?: string;
  readonly valuation?: string;
  readonly temperature?: number;
}

const MEMBERS = ['adapter', 'valuation', 'temperature'] as const;

/** Reads `adapter=B,temperature=2`. @throws TesseraError REQUEST_INVALID */
export function targetOf(text: string): Target {
  const pairs = text.split(',').map((part) => {
    const at = part.indexOf('=');
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    if (MEMBERS.some((one) => one === name) && value !== '') return [name, value] as const;
    throw invalid('what', 'adapter=NAME, valuation=NAME, temperature=NUMBER', text);
  });
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) {
    throw invalid('what', 'each name once', text);
  }
  const { temperature, ...named } = Object.fromEntries(pairs);
  if (temperature === undefined) return named;
  const number = Number(temperature);
  if (number >= TEMPERATURE_MIN && Number.isFinite(number))
    return { ...named, temperature: number };
  throw invalid('what', `a temperature of at least ${TEMPERATURE_MIN}`, temperature);
}

/** Seed of a recall's draws: one seed would draw one item for many users at once. */
function seedOf(recallId: string, draw: number): number {
  return createHash('sha256').update(`${recallId} ${draw}`).digest().readUIntBE(0, SEED_BYTES);
}

type Replayed = Pick<RecordedRecall, 'id' | 'request'> & {
  readonly answer: Pick<RecordedAnswer, 'versions' | 'history' | 'profile'>;
};

/** @throws TesseraError REQUEST_INVALID where it was removed meanwhile */
function replayedOf(id: string, recall: RecordedRecall | undefined): Replayed {
  if (recall?.answer === undefined) throw invalid('recall', 'one that is kept, with an answer', id);
  return { id, request: recall.request, answer: recall.answer };
}

/** The recall as it was asked, of the target: once, or with so many seeds. */
export function requestsOf(
  { id, request, answer }: Replayed,
  { adapter, valuation, temperature }: Target,
): RecallRequest[] {
  const { explore, valuation: own, ...replay } = replayOf(request, answer);
  const named = valuation === undefined ? own : { name: valuation, weights: {} };
  const asked: RecallRequest = {
    ...replay,
    priority: 'low',
    // Of a recall that explores, whatever it said.
    scoreNorm: 'allowed',
    adapter: adapter ?? (answer.versions.adapter || BASE),
    ...(named !== undefined && named.name !== NONE && { valuation: named }),
  };
  if (temperature === undefined) return [asked];
  return Array.from({ length: DRAWS }, (_, draw) => ({
    ...asked,
    explore: { ...explore, temperature, seed: seedOf(id, draw) },
  }));
}

/** @throws TesseraError REQUEST_INVALID where a name of the target is at fault, not the recall */
function refuseTarget({ field, message }: TesseraError, { adapter, valuation }: Target): void {
  const isOfTarget =
    (field === 'adapter' && adapter !== undefined) ||
    (field === 'valuation.name' && valuation !== undefined);
  if (!isOfTarget) return;
  throw new TesseraError('REQUEST_INVALID', message.replace(field, 'what'), { field: 'what' });
}

type Shares = Map<string, number>;

/** Estimates of targets that this service answers itself, for recalls that it has recorded. */
@Injectable()
export class AskedOutcomes {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly recorded: Recorded,
  ) {}

  async page(
    asking: Asking,
    filter: AnalysisFilter,
    wanted: { readonly target: Target; readonly reward: Reward; readonly recallsMax: number },
  ): Promise<OutcomesPage> {
    const { target, reward, recallsMax } = wanted;
    const traffic = await exploredTraffic(asking, filter, reward);
    const records = await this.records(filter, asking.signal);
    const alike = Map.groupBy(traffic.recalls, ({ requestId }) => requestId);
    const found = traffic.recalls.flatMap(({ recallId, requestId }) => {
      const record = records.get(requestId);
      const isOne = alike.get(requestId)?.length === 1;
      return record === undefined || !isOne ? [] : [{ recallId, record }];
    });
    const unasked: Record<string, number> = {};
    const leave = (reason: string, count: number) => {
      if (count > 0) unasked[reason] = (unasked[reason] ?? 0) + count;
    };
    leave('unrecorded', traffic.recalls.length - found.length);
    const targets = new Map<string, Shares>();
    const signal = asking.signal ?? new AbortController().signal;
    for (let from = 0; from < Math.min(found.length, recallsMax); from += READ_AT_ONCE) {
      const part = found.slice(from, Math.min(from + READ_AT_ONCE, recallsMax));
      const details = await this.details(part, signal);
      const queue = part.values();
      const work = async () => {
        for (const { recallId, record } of queue) {
          signal.throwIfAborted();
          try {
            const asked = replayedOf(record, details.get(record));
            targets.set(recallId, await this.sharesOf(asked, target, signal));
          } catch (thrown) {
            const error = TesseraError.from(thrown);
            refuseTarget(error, target);
            leave(error.code, 1);
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    }
    return outcomesPage(traffic, targets, { reward, unasked });
  }

  /** IDs of recorded recalls by their request IDs, of those that one recall alone has. */
  private async records(filter: AnalysisFilter, signal: AbortSignal | undefined) {
    const time = (ms: number) => `make_timestamp(${ms}::BIGINT * 1000)`;
    const sql =
      'SELECT request_id, min(id) FROM recalls ' +
      `WHERE code = 'OK' AND time >= ${time(filter.fromMs)} AND time < ${time(filter.toMs)} ` +
      'GROUP BY request_id HAVING count(*) = 1 ' +
      `ORDER BY max(time) DESC LIMIT ${RECORDS_MAX}`;
    const timeoutMs = this.parts.limits.sqlSeconds * MILLISECONDS_PER_SECOND;
    const limits = { rowsMax: RECORDS_MAX, timeoutMs };
    const json = await this.recorded.store.query(sql, limits, signal);
    const { rows } = JSON.parse(new TextDecoder().decode(json)) as QueryResult;
    return new Map(rows.map(([requestId, id]) => [String(requestId), String(id)]));
  }

  /** Recorded recalls by their IDs; one by one each would be looked for anew. */
  private async details(found: readonly { readonly record: string }[], signal: AbortSignal) {
    const ids = found.map(({ record }) => record);
    const recalls = await this.recorded.store.recallsOf(ids, signal);
    return new Map(recalls.map((recall) => [recall.id, recall]));
  }

  /** How often the target's answers have each item: 0..1. */
  private async sharesOf(of: Replayed, target: Target, signal: AbortSignal): Promise<Shares> {
    const { serving } = this.parts.runtime;
    const requests = requestsOf(of, target);
    const [first] = requests as [RecallRequest];
    const budgetUs = this.parts.limits.defaultDeadlineMs * MICROSECONDS_PER_MILLISECOND;
    const { catalogueSequence } = of.answer.versions;
    const plain = { signal, budgetUs, isOwn: true };
    const context = await versionedContext(serving, first, catalogueSequence, plain);
    const shares: Shares = new Map();
    for (const asked of requests) {
      const { items } = await serving.recall(asked, context);
      for (const { itemId } of items) {
        shares.set(itemId, (shares.get(itemId) ?? 0) + 1 / requests.length);
      }
    }
    return shares;
  }
}
