import type { ItemFate, Judgement } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import type { ExplainAnswer, RecallVersions } from './recall-types.js';

type Told = Pick<
  ExplainAnswer,
  'verdict' | 'rank' | 'step' | 'score' | 'cutScore' | 'clause' | 'attribute' | 'notLiveSince'
>;

/** What the catalogue says where it decides alone; undefined where a search must tell. */
export function toldByCatalogue({ verdict, clause, notLiveSince }: Judgement): Told | undefined {
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

/** What the search says of the item that it watched. */
export function toldBySearch(fate: ItemFate | undefined): Told {
  if (fate === undefined || fate.verdict === 'open') {
    throw new TesseraError('INTERNAL', 'the engine told nothing of the item');
  }
  const { verdict, rank, step, score, cutScore, attribute } = fate;
  if (verdict === 'pruned') return { verdict, rank, step, score, cutScore };
  if (verdict === 'behind-diversity-cap') return { verdict, score, attribute };
  return verdict === 'returned' ? { verdict, rank, score } : { verdict, score };
}

/**
 * An answer of another model, template or catalogue cannot be replayed here.
 * @throws TesseraError REQUEST_INVALID with the field
 */
export function checkSameVersions(
  asked: RecallVersions | undefined,
  served: Omit<RecallVersions, 'catalogueSequence'>,
): void {
  if (asked === undefined) return;
  for (const name of ['model', 'promptTemplate', 'catalogue', 'adapter'] as const) {
    if (asked[name] === served[name]) continue;
    const field = `versions.${name}`;
    const message = `${field}: expected '${served[name]}', which is served, came '${asked[name]}'`;
    throw new TesseraError('REQUEST_INVALID', message, { field });
  }
}
