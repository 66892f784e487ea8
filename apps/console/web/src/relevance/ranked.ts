import type { ScoredDocument } from '../../../src/api-types.js';

/** Best first, equal scores in the order given, those without a score last. */
export function ranked(documents: readonly ScoredDocument[]) {
  const worth = ({ score }: ScoredDocument) => score ?? Number.NEGATIVE_INFINITY;
  return documents
    .map((document, index) => ({ document, index }))
    .sort((a, b) => {
      const [left, right] = [worth(a.document), worth(b.document)];
      return left === right ? a.index - b.index : right - left;
    });
}
