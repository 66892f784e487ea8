import type { ItemFate, Judgement } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { ExplainAnswer } from './recall-types.js';

type VerdictFields = Pick<
  ExplainAnswer,
  'verdict' | 'rank' | 'step' | 'score' | 'cutScore' | 'clause' | 'attribute' | 'notLiveSince'
>;

/** The verdict where the catalogue decides alone; undefined where it takes a search. */
export function catalogueVerdict({
  verdict,
  clause,
  notLiveSince,
}: Judgement): VerdictFields | undefined {
  switch (verdict) {
    case 'not-in-catalogue':
      return { verdict };
    case 'not-live':
      return { verdict, notLiveSince };
    case 'not-eligible':
      return { verdict, clause };
    default:
      return undefined;
  }
}

/** The verdict of the search that watched the item. */
export function searchVerdict(fate: ItemFate | undefined): VerdictFields {
  if (fate === undefined || fate.verdict === 'open') {
    throw new TesseraError('INTERNAL', 'the search ended without a verdict on the item');
  }
  const { verdict, rank, step, score, cutScore, attribute } = fate;
  if (verdict === 'pruned') return { verdict, rank, step, score, cutScore };
  if (verdict === 'behind-diversity-cap') return { verdict, score, attribute };
  return verdict === 'returned' ? { verdict, rank, score } : { verdict, score };
}
