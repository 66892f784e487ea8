import type { PairRates, PairWork } from './pair-work.js';

/** What a node that scores texts says of itself in `/health`. */
export interface RelevanceProfile extends PairRates {
  /** Digest of the weights, and name of the template: nodes that differ score differently. */
  readonly model: string;
  readonly template: string;
  readonly documentsMax: number;
  /** Microseconds of a pass whatever its tokens. */
  readonly passUs: number;
  /** Predicted microseconds of all that the node has to score. */
  readonly backlogUs: number;
  /** Of the documents that the node has read lately. */
  readonly bytesPerToken: number;
  /** Tokens of a prompt before the document, without the query. */
  readonly tokensBefore: number;
  readonly tokensBehind: number;
  /** Of those before, the first that the node keeps between calls; earlier versions say nothing. */
  readonly tokensKept?: number;
  /** Whether the query stands before the document, so that all documents share its tokens. */
  readonly isQueryBefore: boolean;
}

const NUMBERS = [
  ...['tokenUs', 'pairUs', 'documentsMax', 'passUs', 'backlogUs'],
  ...['bytesPerToken', 'tokensBefore', 'tokensBehind'],
];

/** Undefined: the node scores no texts, or says so in another way than this version does. */
export function parseRelevanceProfile(value: unknown): RelevanceProfile | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Record<string, unknown>;
  const isNumber = (name: string) => Number.isFinite(given[name]) && Number(given[name]) >= 0;
  const isWhole =
    NUMBERS.every(isNumber) &&
    Number(given.bytesPerToken) > 0 &&
    [given.model, given.template].every((text) => typeof text === 'string') &&
    (given.tokensKept === undefined || isNumber('tokensKept')) &&
    typeof given.isQueryBefore === 'boolean';
  return isWhole ? (value as RelevanceProfile) : undefined;
}

/** Bytes of a call's texts. Of an item of the catalogue a guess, for its node has the title. */
export interface CallBytes {
  readonly query: number;
  /** In the order of the documents' bytes. */
  readonly documents: readonly number[];
  /** Per document: first bytes that the one before it has as well. */
  readonly common: readonly number[];
}

/** Beginnings of fewer tokens are no work to speak of, and looked at for nothing. */
const COMMON_TOKENS_MIN = 8;

/**
 * Tokens by the bytes of the texts: who splits has no tokenizer. Texts of one call are of one kind
 * mostly, so that a wrong ratio is wrong for all of them alike and the parts are even all the same.
 */
export function pairWorkOf(profile: RelevanceProfile, bytes: CallBytes): PairWork {
  const { bytesPerToken, tokensBefore, tokensBehind, tokensKept = 0, isQueryBefore } = profile;
  const tokensOf = (count: number) => Math.ceil(count / bytesPerToken);
  const query = tokensOf(bytes.query);
  const behind = tokensBehind + (isQueryBefore ? 0 : query);
  return {
    sharedTokens: tokensBefore + (isQueryBefore ? query : 0),
    keptTokens: Math.min(tokensKept, tokensBefore),
    tokens: bytes.documents.map((count) => tokensOf(count) + behind),
    common: bytes.common.map((count, at) => {
      // Of equal documents all tokens are, what stands behind them included.
      const isEqual = count === bytes.documents[at] && count === bytes.documents[at - 1];
      const tokens = isEqual ? tokensOf(count) + behind : Math.floor(count / bytesPerToken);
      return tokens < COMMON_TOKENS_MIN && !isEqual ? 0 : tokens;
    }),
  };
}
