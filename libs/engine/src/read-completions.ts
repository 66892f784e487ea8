import {
  type AnswerFacts,
  type PackedReader,
  type RecallAnswer,
  readRankAnswer,
  readRecallAnswer,
  readRelevanceAnswer,
  readScoreAnswer,
} from '@tessera/native';
import type {
  BeamTree,
  EngineAnswer,
  EngineAppended,
  EngineLogits,
  EngineRanked,
  EngineScores,
  ItemFate,
} from './engine.js';

/** Facts of every answer, with the weights by their digest. */
export interface AnsweredFacts extends AnswerFacts {
  readonly modelDigest: string;
}

function fateOf({ watched }: RecallAnswer): ItemFate | undefined {
  return watched.verdict === 'open' ? undefined : watched;
}

function treeOf({ treeCells, treeScores }: RecallAnswer): BeamTree | undefined {
  return treeScores.length === 0 ? undefined : { cells: treeCells, scores: treeScores };
}

export function readAnswer(from: PackedReader, facts: AnsweredFacts): EngineAnswer {
  const answer = readRecallAnswer(from);
  const { watched: _, treeCells: __, treeScores: ___, ...found } = answer;
  return {
    ...found,
    modelDigest: facts.modelDigest,
    catalogueSequence: facts.catalogueSequence,
    fate: fateOf(answer),
    tree: treeOf(answer),
    prefixReusedTokens: facts.prefixReusedTokens,
    kv: facts.kv,
    timings: facts.timings,
  };
}

export function readScores(from: PackedReader, facts: AnsweredFacts): EngineScores {
  const { scores } = readScoreAnswer(from);
  const { modelDigest, catalogueSequence, prefixReusedTokens, kv, timings } = facts;
  return {
    scores: [...scores].map((score) => (Number.isNaN(score) ? undefined : score)),
    modelDigest,
    catalogueSequence,
    prefixReusedTokens,
    kv,
    timings,
  };
}

export function readRanked(from: PackedReader, facts: AnsweredFacts): EngineRanked {
  const { heads } = readRankAnswer(from);
  const { modelDigest, catalogueSequence, prefixReusedTokens, kv, timings } = facts;
  return { heads: heads.slice(), modelDigest, catalogueSequence, prefixReusedTokens, kv, timings };
}

export function readAppended(
  _: PackedReader,
  { kv, prefixReusedTokens }: AnsweredFacts,
): EngineAppended {
  return { kv, prefixReusedTokens };
}

export function readLogits(from: PackedReader, facts: AnsweredFacts): EngineLogits {
  const { logits } = readRelevanceAnswer(from);
  const { modelDigest, prefixReusedTokens, kv } = facts;
  const foundTokens = kv.deviceTokens + kv.hostTokens + kv.diskTokens;
  const reusedTokens = prefixReusedTokens + foundTokens;
  return { logits: Float32Array.from(logits), modelDigest, reusedTokens };
}
