// Generated from native/abi by tools/generate.mjs. Do not edit.

import type { PackedReader, PackedWriter } from '../packed.js';
import {
  COMPLETENESS,
  VERDICTS,
  type AnswerFacts,
  type AnswerItem,
  type AnswerPath,
  type AttributeDeclaration,
  type AttributeDeclarations,
  type AttributePatch,
  type ChangeMessage,
  type ChangeOp,
  type Clause,
  type ClauseKind,
  type CodebookLayer,
  type CodebookLevel,
  type CompletionHead,
  type CountedCap,
  type DeclaredType,
  type DiversityCap,
  type Eligibility,
  type EnginePass,
  type EngineTimings,
  type Failure,
  type GivenCodebooks,
  type ItemChange,
  type ItemPolicy,
  type KvFound,
  type KvTierTokens,
  type PatchNumber,
  type PatchTexts,
  type Priority,
  type ReachRequest,
  type RecallAnswer,
  type RecallRequest,
  type RelevanceAnswer,
  type RelevanceRequest,
  type RequestHead,
  type RequestKind,
  type RequestWork,
  type ScoreAnswer,
  type ScoreNorm,
  type ScoreRequest,
  type StoreBatch,
  type StoreDirection,
  type StoreDurability,
  type StoreEntries,
  type StoreFound,
  type StorePut,
  type StoreQuery,
  type StoreRange,
  type StoreValue,
  type WatchedItem,
} from './types.js';

const CLAUSE_KINDS_CODES: Readonly<Record<ClauseKind, number>> = {
  'all': 0,
  'any': 1,
  'not': 2,
  'in': 3,
  'contains': 4,
  'range': 5,
};

const CHANGE_OPS_CODES: Readonly<Record<ChangeOp, number>> = {
  'upsert': 0,
  'pause': 1,
  'resume': 2,
  'remove': 3,
  'set_attributes': 4,
  'set_priority': 5,
  'patch_attributes': 6,
};

const DECLARED_TYPES_CODES: Readonly<Record<DeclaredType, number>> = {
  'text': 0,
  'set': 1,
  'number': 2,
  'untyped': 3,
};

const STORE_DIRECTIONS_CODES: Readonly<Record<StoreDirection, number>> = {
  'ascending': 0,
  'descending': 1,
};

const STORE_DURABILITIES_CODES: Readonly<Record<StoreDurability, number>> = {
  'process': 0,
  'machine': 1,
};

const REQUEST_KINDS_CODES: Readonly<Record<RequestKind, number>> = {
  'recall': 0,
  'score': 1,
  'append': 2,
  'relevance': 3,
};

const PRIORITIES_CODES: Readonly<Record<Priority, number>> = {
  'high': 0,
  'normal': 1,
  'low': 2,
};

const SCORE_NORMS_CODES: Readonly<Record<ScoreNorm, number>> = {
  'full': 0,
  'level': 1,
  'allowed': 2,
};

export function writeClause(to: PackedWriter, from: Clause): void {
  to.u32(CLAUSE_KINDS_CODES[from.kind]);
  to.text(from.attribute);
  to.texts(from.values);
  to.f64(from.min);
  to.f64(from.max);
  to.list(from.clauses, writeClause);
}

export function writePatchTexts(to: PackedWriter, from: PatchTexts): void {
  to.text(from.attribute);
  to.texts(from.texts);
}

export function writePatchNumber(to: PackedWriter, from: PatchNumber): void {
  to.text(from.attribute);
  to.f64(from.delta);
}

export function writeAttributePatch(to: PackedWriter, from: AttributePatch): void {
  to.text(from.set);
  to.texts(from.unset);
  to.list(from.add, writePatchTexts);
  to.list(from.take, writePatchTexts);
  to.list(from.delta, writePatchNumber);
}

export function writeItemChange(to: PackedWriter, from: ItemChange): void {
  to.u32(CHANGE_OPS_CODES[from.op]);
  to.text(from.itemId);
  to.u32s(from.sid);
  to.text(from.title);
  to.text(from.attributes);
  to.f64(from.priority);
  to.flag(from.predicate !== undefined);
  if (from.predicate !== undefined) writeClause(to, from.predicate);
  writeAttributePatch(to, from.patch);
  to.f32s(from.vector);
}

export function writeChangeMessage(to: PackedWriter, from: ChangeMessage): void {
  to.list(from.changes, writeItemChange);
}

export function writeAttributeDeclaration(to: PackedWriter, from: AttributeDeclaration): void {
  to.text(from.name);
  to.u32(DECLARED_TYPES_CODES[from.type]);
  to.texts(from.values);
}

export function writeAttributeDeclarations(to: PackedWriter, from: AttributeDeclarations): void {
  to.list(from.attributes, writeAttributeDeclaration);
}

export function writeCodebookLayer(to: PackedWriter, from: CodebookLayer): void {
  to.f32s(from.weights);
  to.f32s(from.bias);
}

export function writeCodebookLevel(to: PackedWriter, from: CodebookLevel): void {
  to.f32s(from.values);
}

export function writeGivenCodebooks(to: PackedWriter, from: GivenCodebooks): void {
  to.u32(from.dimension);
  to.u32(from.capacity);
  to.list(from.encoder, writeCodebookLayer);
  to.list(from.levels, writeCodebookLevel);
}

export function writeCountedCap(to: PackedWriter, from: CountedCap): void {
  to.text(from.path);
  to.text(from.attribute);
  to.u32(from.maxBehaviours);
  to.texts(from.itemIds);
  to.u32s(from.behaviours);
}

export function writeEligibility(to: PackedWriter, from: Eligibility): void {
  to.flag(from.predicate !== undefined);
  if (from.predicate !== undefined) writeClause(to, from.predicate);
  to.flag(from.allowed !== undefined);
  if (from.allowed !== undefined) to.texts(from.allowed);
  to.texts(from.denied);
  to.texts(from.seen);
  to.list(from.caps, writeCountedCap);
}

export function writeDiversityCap(to: PackedWriter, from: DiversityCap): void {
  to.text(from.attribute);
  to.u32(from.maxItems);
}

export function writeItemPolicy(to: PackedWriter, from: ItemPolicy): void {
  to.text(from.orderBy);
  to.list(from.diversity, writeDiversityCap);
}

export function writeReachRequest(to: PackedWriter, from: ReachRequest): void {
  writeEligibility(to, from.eligibility);
  writeItemPolicy(to, from.itemPolicy);
}

export function writeStoreRange(to: PackedWriter, from: StoreRange): void {
  to.blob(from.from);
  to.blob(from.to);
  to.u32(from.limit);
  to.u32(STORE_DIRECTIONS_CODES[from.direction]);
}

export function writeStoreQuery(to: PackedWriter, from: StoreQuery): void {
  to.blobs(from.keys);
  to.list(from.ranges, writeStoreRange);
}

export function writeStorePut(to: PackedWriter, from: StorePut): void {
  to.blob(from.key);
  to.blob(from.value);
}

export function writeStoreBatch(to: PackedWriter, from: StoreBatch): void {
  to.blobs(from.erased);
  to.list(from.put, writeStorePut);
  to.u32(STORE_DURABILITIES_CODES[from.durability]);
}

export function writeRequestHead(to: PackedWriter, from: RequestHead): void {
  to.u32(from.ticket);
  to.u32(REQUEST_KINDS_CODES[from.kind]);
  to.u32(from.binding);
  to.u32(from.adapter);
  to.f64(from.budgetUs);
}

export function writeRequestWork(to: PackedWriter, from: RequestWork): void {
  to.u32(PRIORITIES_CODES[from.priority]);
  to.i32s(from.promptTokens);
  to.text(from.userId);
  to.u32(from.prefixTokens);
  to.u32(from.keepTokens);
  to.flag(from.wantsExactKv);
}

export function writeRecallRequest(to: PackedWriter, from: RecallRequest): void {
  to.u32s(from.widths);
  to.u32(from.rowBudget);
  to.u32(from.resultCount);
  to.u32(from.itemsPerSid);
  to.u32(SCORE_NORMS_CODES[from.scoreNorm]);
  to.flag(from.allowsPartial);
  to.u32(from.watchedItem);
  to.texts(from.attributes);
  to.flag(from.wantsTree);
}

export function writeScoreRequest(to: PackedWriter, from: ScoreRequest): void {
  to.paths(from.sids);
  to.u32(SCORE_NORMS_CODES[from.scoreNorm]);
}

export function writeRelevanceRequest(to: PackedWriter, from: RelevanceRequest): void {
  to.i32s(from.labelTokens);
  to.u32(from.siblingTokens);
  to.u32(SCORE_NORMS_CODES[from.scoreNorm]);
}

export function readStoreValue(from: PackedReader): StoreValue {
  return {
    isThere: from.flag(),
    value: from.blob(),
  };
}

export function readStoreEntries(from: PackedReader): StoreEntries {
  return {
    entries: from.entries(),
  };
}

export function readStoreFound(from: PackedReader): StoreFound {
  return {
    values: from.list(readStoreValue),
    ranges: from.list(readStoreEntries),
  };
}

export function readCompletionHead(from: PackedReader): CompletionHead {
  return {
    ticket: from.u32(),
    status: from.u32(),
    kind: from.u32(),
  };
}

export function readFailure(from: PackedReader): Failure {
  return {
    message: from.text(),
    retryAfterUs: from.u32(),
  };
}

export function readKvTierTokens(from: PackedReader): KvTierTokens {
  return {
    tier: from.text(),
    tokens: from.u32(),
  };
}

export function readKvFound(from: PackedReader): KvFound {
  return {
    deviceTokens: from.u32(),
    hostTokens: from.u32(),
    diskTokens: from.u32(),
    tiers: from.list(readKvTierTokens),
    lossy: from.flag(),
    inheritedTokens: from.u32(),
    versionsBack: from.u32(),
    waitUs: from.u32(),
  };
}

export function readEngineTimings(from: PackedReader): EngineTimings {
  return {
    queueUs: from.f32(),
    planUs: from.f32(),
    prefillUs: from.f32(),
    decodeUs: from.f32(),
    projectionsUs: from.f32(),
    attentionUs: from.f32(),
    headUs: from.f32(),
    selectUs: from.f32(),
    forkUs: from.f32(),
    exportUs: from.f32(),
    totalUs: from.f32(),
  };
}

export function readAnswerFacts(from: PackedReader): AnswerFacts {
  return {
    weightsGeneration: from.u53(),
    catalogueSequence: from.u53(),
    prefixReusedTokens: from.u32(),
    kv: readKvFound(from),
    timings: readEngineTimings(from),
  };
}

export function readAnswerItem(from: PackedReader): AnswerItem {
  return {
    ordinal: from.u32(),
    itemId: from.text(),
    title: from.text(),
    attributes: from.text(),
    score: from.f32(),
    path: from.u32(),
  };
}

export function readAnswerPath(from: PackedReader): AnswerPath {
  return {
    sid: from.codes(),
    score: from.f32(),
  };
}

export function readWatchedItem(from: PackedReader): WatchedItem {
  return {
    verdict: from.word(VERDICTS),
    rank: from.u32(),
    step: from.u32(),
    score: from.f32(),
    cutScore: from.f32(),
    attribute: from.text(),
  };
}

export function readEnginePass(from: PackedReader): EnginePass {
  return {
    kind: from.word(['prefill', 'decode'] as const),
    rows: from.u32(),
    planUs: from.f32(),
    forwardUs: from.f32(),
    projectionsUs: from.f32(),
    attentionUs: from.f32(),
    headUs: from.f32(),
    selectUs: from.f32(),
    forkUs: from.f32(),
  };
}

export function readRecallAnswer(from: PackedReader): RecallAnswer {
  return {
    items: from.list(readAnswerItem),
    paths: from.list(readAnswerPath),
    itemsPerSid: from.u32(),
    leftOutByDiversity: from.u32(),
    completeness: from.word(COMPLETENESS),
    certified: from.flag(),
    gap: from.f32(),
    rows: from.u32(),
    watched: readWatchedItem(from),
    widthsUsed: from.codes(),
    treeCells: from.rows(5),
    treeScores: from.f32s(),
    passes: from.list(readEnginePass),
  };
}

export function readScoreAnswer(from: PackedReader): ScoreAnswer {
  return {
    scores: from.f32s(),
  };
}

export function readRelevanceAnswer(from: PackedReader): RelevanceAnswer {
  return {
    logits: from.f32s(),
  };
}
