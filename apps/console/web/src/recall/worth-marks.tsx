import type { RecordedRecall } from '../../../src/api-types.js';
import { Mark } from '../ui/mark.js';

type Answer = NonNullable<RecordedRecall['answer']>;
type Applied = Pick<Answer, 'valuation' | 'exploration'>;

const weightsText = (weights: Readonly<Record<string, number>>) =>
  Object.entries(weights)
    .map(([name, weight]) => `${name}=${weight}`)
    .join(', ');

/** False where places go by value, or are drawn: then no score is a bound. */
export const isByScore = ({ valuation, exploration }: Applied) =>
  valuation === undefined && exploration === undefined;

/** The valuation of an answer as a form has it, to be tried with other weights. */
export function whatIf({ valuation }: Partial<Applied> = {}) {
  if (valuation === undefined) return {};
  return { valuation: valuation.name, weights: weightsText(valuation.weights) };
}

/** By which value an answer went, and how many of its places were drawn. */
export function WorthMarks({ valuation, exploration }: Applied) {
  return (
    <>
      {valuation !== undefined && (
        <Mark title={`score × ${valuation.scoreWeight}, ${weightsText(valuation.weights)}`}>
          by value {valuation.name}
          {valuation.bestLeftOut !== undefined &&
            `, best left out ${valuation.bestLeftOut.toFixed(3)}`}
        </Mark>
      )}
      {exploration !== undefined && (
        <Mark color="grape" title={`seed ${exploration.seed}`}>
          {exploration.slots} drawn, temperature {exploration.temperature}
          {exploration.noPropensities !== '' && `, no propensities: ${exploration.noPropensities}`}
        </Mark>
      )}
    </>
  );
}
