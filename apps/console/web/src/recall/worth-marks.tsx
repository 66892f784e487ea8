import type { RecordedRecall } from '../../../src/api-types.js';
import { formatCount, shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';

type Answer = NonNullable<RecordedRecall['answer']>;
type Applied = Pick<Answer, 'valuation' | 'exploration' | 'ranking'>;
type Ranking = NonNullable<Answer['ranking']>;

const weightsText = (weights: Readonly<Record<string, number>>) =>
  Object.entries(weights)
    .map(([name, weight]) => `${name}=${weight}`)
    .join(', ');

/** False where places go by value or heads, or are drawn: then no score is a bound. */
export const isByScore = ({ valuation, exploration, ranking }: Applied) =>
  valuation === undefined && exploration === undefined && ranking === undefined;

/** Valuation and ranking of an answer as a form has them, to be tried with other weights. */
export function whatIf({ valuation, ranking }: Partial<Applied> = {}) {
  return {
    ...(valuation && { valuation: valuation.name, weights: weightsText(valuation.weights) }),
    ...(ranking && {
      rank: ranking.adapterName || ranking.adapter,
      rankItems: String(ranking.items),
      rankValuation: ranking.valuation?.name ?? '',
      rankWeights: weightsText(ranking.valuation?.weights ?? {}),
    }),
  };
}

function RankingMark({ adapter, adapterName, items, leftOut, heads, valuation }: Ranking) {
  const by = valuation === undefined ? heads[0] : `value ${valuation.name}`;
  const weights = valuation
    ? `score × ${valuation.scoreWeight}, ${weightsText(valuation.weights)}`
    : 'no valuation';
  return (
    <>
      <Mark color="indigo" title={weights}>
        {formatCount(items)} ranked by {by}
        {leftOut > 0 && `, ${formatCount(leftOut)} left out`}
      </Mark>
      <Mark title={adapter}>
        heads of {adapterName} {shortDigest(adapter)}
      </Mark>
    </>
  );
}

/** The value by which an answer went, how many of its places were drawn, and its ranking. */
export function WorthMarks({ valuation, exploration, ranking }: Applied) {
  return (
    <>
      {valuation !== undefined && (
        <Mark title={`score × ${valuation.scoreWeight}, ${weightsText(valuation.weights)}`}>
          by value {valuation.name}
          {valuation.bestLeftOut !== undefined &&
            `, best left out ${valuation.bestLeftOut.toFixed(3)}`}
          {valuation.noPrices !== '' && `, no critical bids: ${valuation.noPrices}`}
        </Mark>
      )}
      {exploration !== undefined && (
        <Mark color="grape" title={`seed ${exploration.seed}`}>
          {exploration.slots} drawn, temperature {exploration.temperature}
          {exploration.noPropensities !== '' && `, no propensities: ${exploration.noPropensities}`}
        </Mark>
      )}
      {ranking !== undefined && <RankingMark {...ranking} />}
    </>
  );
}
