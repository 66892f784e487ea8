/** A recall under way, and the phases that its answer goes through. */

import type { EngineAnswer, EngineWork, KvUse, Reach, ReachRequest } from '@tessera/engine';
import type { Cancellation } from '@tessera/errors';
import type { EngineFacts } from '../answer/answer-facts.js';
import type {
  AppliedExploration,
  AppliedItemPolicy,
  Certificate,
  RecallAnswer,
  RecalledItem,
} from '../answer/answer-types.js';
import type { CountedCaps } from '../context/count-caps.js';
import type { Prepared } from '../context/prepared.js';
import type { RecallParts } from '../context/recall-parts.js';
import type { SearchSettings } from '../request/check-recall.js';
import type { RecallRequest } from '../request/request-types.js';
import type { ValueProof } from '../request/valuations.js';
import type { Ranker } from './ranker.js';

/** A recall that is checked and prepared. Phases read it and change nothing of it. */
export interface AskedRecall {
  readonly parts: RecallParts;
  readonly request: RecallRequest;
  readonly search: SearchSettings;
  /** Undefined where heads do not rank the items. */
  readonly ranker: Ranker | undefined;
  readonly prepared: Prepared;
  readonly caps: CountedCaps;
  /** Eligibility with what the caps keep out, item policy and valuation. */
  readonly reachRequest: ReachRequest;
  /** Version to answer of, with its reach; undefined: the newest. */
  readonly pinned: Reach | undefined;
  readonly signal: Cancellation;
  /** Remaining budget of the request, microseconds. */
  readonly leftUs: () => number;
}

/** Items of a recall before heads, and what the answer says of how they were found. */
export interface FoundItems
  extends EngineFacts,
    ValueProof,
    Omit<Certificate, 'search'>,
    Pick<EngineAnswer, 'widthsUsed' | 'completeness' | 'tree'>,
    Pick<EngineAnswer, 'bestLeftOutId' | 'bestLeftOutBid'> {
  /** Best first; drawn items last. */
  readonly items: readonly RecalledItem[];
  readonly itemPolicy: AppliedItemPolicy;
  /** Undefined where every live item could be found. */
  readonly reach: Reach | undefined;
  /** Undefined where no place was to be drawn. */
  readonly exploration: AppliedExploration | undefined;
  /** Undefined where the engine was not asked. */
  readonly searched: Searched | undefined;
}

/** A search of the engine, for requests that follow on the same prompt. */
export interface Searched {
  readonly answer: EngineAnswer;
  readonly work: EngineWork & { readonly kv: KvUse };
}

/** Items in the order of the answer, with what later phases say of the order. */
export type Draft = Pick<
  RecallAnswer,
  'items' | 'ranking' | 'valuation' | 'runnerUp' | 'exploration'
>;

/**
 * A step of every recall. It returns the draft unchanged where the request does not ask for it or
 * where the found items do not admit it.
 */
export type Phase = (draft: Draft, asked: AskedRecall, found: FoundItems) => Draft | Promise<Draft>;
