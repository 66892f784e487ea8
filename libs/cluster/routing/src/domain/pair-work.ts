/** Microseconds of a node's tokens, as it measured them itself. */
export interface PairRates {
  /** Of a token without context, computed among others. */
  readonly tokenUs: number;
  /** More for each token before it. */
  readonly pairUs: number;
}

/**
 * Documents of one query, in an order in which those with the longest common beginnings are
 * neighbours, such as that of their bytes.
 */
export interface PairWork {
  /** Tokens that all prompts begin with. */
  readonly sharedTokens: number;
  /** Of these, the first that nodes have from calls before; left out: none. */
  readonly keptTokens?: number;
  /** Per document: tokens of its prompt behind the shared ones. */
  readonly tokens: readonly number[];
  /** Per document: of these, the first ones that the document before it has as well. */
  readonly common: readonly number[];
}

/** Documents that stand one behind the other in the order, both ends included. */
export interface Run {
  readonly first: number;
  readonly last: number;
}

/** What documents of one call cost on one node, each beside those that are computed there too. */
export class PairCosts {
  /** Microseconds of what all prompts begin with. */
  readonly sharedUs: number;
  /** Of the documents before each one, each beside its neighbour. */
  private readonly sums: Float64Array;

  constructor(
    private readonly work: PairWork,
    private readonly rates: PairRates,
  ) {
    const { tokens, common, sharedTokens, keptTokens = 0 } = work;
    this.sharedUs = this.tokensUs(sharedTokens - keptTokens, keptTokens);
    this.sums = new Float64Array(tokens.length + 1);
    for (let at = 0; at < tokens.length; at += 1) {
      const us = this.documentUs(at, at === 0 ? 0 : (common[at] as number));
      this.sums[at + 1] = (this.sums[at] as number) + us;
    }
  }

  /** Of a document whose first `common` tokens behind the shared ones are computed anyway. */
  documentUs(document: number, common: number): number {
    const { tokens, sharedTokens } = this.work;
    return this.tokensUs((tokens[document] as number) - common, sharedTokens + common);
  }

  /** Of the documents of a run, with nobody before them. */
  runUs({ first, last }: Run): number {
    return this.documentUs(first, 0) + this.behindFirstUs(first, last);
  }

  /** Of any documents in their order. */
  documentsUs(documents: readonly number[]): number {
    let us = 0;
    for (const [at, document] of documents.entries()) {
      us += this.documentUs(document, this.commonOf(documents[at - 1], document));
    }
    return us;
  }

  /** What a run costs more among documents in their order, at the place that it has there. */
  addedUs(documents: readonly number[], { first, last }: Run, at: number): number {
    return this.betweenUs(documents[at - 1], documents[at], { first, last });
  }

  /** What the document at a place costs more than nothing in its stead. */
  heldUs(documents: readonly number[], at: number): number {
    const document = documents[at] as number;
    const run = { first: document, last: document };
    return this.betweenUs(documents[at - 1], documents[at + 1], run);
  }

  private betweenUs(
    before: number | undefined,
    after: number | undefined,
    { first, last }: Run,
  ): number {
    const own =
      this.documentUs(first, this.commonOf(before, first)) + this.behindFirstUs(first, last);
    if (after === undefined) return own;
    const changed = this.documentUs(after, this.commonOf(last, after));
    return own + changed - this.documentUs(after, this.commonOf(before, after));
  }

  /** First tokens in common; none with nobody. REQUIRES: a < b. */
  private commonOf(a: number | undefined, b: number): number {
    if (a === undefined) return 0;
    const { common } = this.work;
    let least = common[b] as number;
    for (let at = b - 1; at > a && least > 0; at -= 1) {
      least = Math.min(least, common[at] as number);
    }
    return least;
  }

  private behindFirstUs(first: number, last: number): number {
    return (this.sums[last + 1] as number) - (this.sums[first + 1] as number);
  }

  private tokensUs(tokens: number, position: number): number {
    const { tokenUs, pairUs } = this.rates;
    return tokenUs * tokens + pairUs * tokens * (position + tokens / 2);
  }
}

/** The place of a document among others in their order. */
export function placeOf(documents: readonly number[], document: number): number {
  let [low, high] = [0, documents.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((documents[middle] as number) < document) low = middle + 1;
    else high = middle;
  }
  return low;
}
