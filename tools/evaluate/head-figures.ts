/** Figures of a head, as `python -m trainer rank` has them: float64 sums in the rows' order. */

const LEAST_PROBABILITY = 1e-7;
const BINS_MAX = 15;

/** An exposure as a head sees it. */
export interface Row {
  readonly user: string;
  readonly label: number;
  readonly prediction: number;
}

/** null: the figure means nothing. */
export interface HeadFigures {
  readonly rows: number;
  /** Exposures without a label or a prediction. */
  readonly skipped: number;
  readonly auc: number | null;
  readonly userAuc: number | null;
  /** Users who have both outcomes. */
  readonly users: number;
  readonly logLoss: number | null;
  readonly calibrationError: number | null;
  readonly meanPrediction: number | null;
  readonly meanLabel: number | null;
  readonly rmse: number | null;
}

const NOTHING = { auc: null, userAuc: null, users: 0, logLoss: null, calibrationError: null };
const NO_MEANS = { meanPrediction: null, meanLabel: null, rmse: null };

const mean = (rows: readonly Row[], of: (row: Row) => number) =>
  rows.reduce((sum, row) => sum + of(row), 0) / rows.length;

export function headFigures(rows: readonly Row[], skipped: number): HeadFigures {
  const counts = { rows: rows.length, skipped };
  if (rows.length === 0) return { ...counts, ...NOTHING, ...NO_MEANS };
  const means = {
    meanPrediction: mean(rows, ({ prediction }) => prediction),
    meanLabel: mean(rows, ({ label }) => label),
    rmse: Math.sqrt(mean(rows, ({ prediction, label }) => (prediction - label) ** 2)),
  };
  const isBinary = rows.every(({ label }) => label === 0 || label === 1);
  if (!isBinary) return { ...counts, ...NOTHING, ...means };
  return {
    ...counts,
    auc: areaUnderCurve(rows) ?? null,
    ...userArea(rows),
    logLoss: mean(rows, lossOf),
    calibrationError: calibrationError(rows),
    ...means,
  };
}

function lossOf({ label, prediction }: Row): number {
  const clipped = Math.min(Math.max(prediction, LEAST_PROBABILITY), 1 - LEAST_PROBABILITY);
  return -(label * Math.log(clipped) + (1 - label) * Math.log(1 - clipped));
}

/** In the rows' order where predictions tie: sorting is stable. */
const ascending = (rows: readonly Row[]) => rows.toSorted((a, b) => a.prediction - b.prediction);

/** Mann-Whitney: ties have the mean of their ranks. Undefined without both outcomes. */
function areaUnderCurve(rows: readonly Row[]): number | undefined {
  const sorted = ascending(rows);
  const positives = rows.filter(({ label }) => label > 0.5).length;
  const negatives = rows.length - positives;
  if (positives === 0 || negatives === 0) return undefined;
  let sum = 0;
  for (let first = 0, end = 0; first < sorted.length; first = end) {
    while (sorted[end]?.prediction === sorted[first]?.prediction && end < sorted.length) end += 1;
    const ties = sorted.slice(first, end);
    sum += (ties.filter(({ label }) => label > 0.5).length * (first + 1 + end)) / 2;
  }
  return (sum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Mean over users who have both outcomes, by their rows. */
function userArea(rows: readonly Row[]): Pick<HeadFigures, 'userAuc' | 'users'> {
  let [sum, weight, users] = [0, 0, 0];
  for (const own of Map.groupBy(rows, ({ user }) => user).values()) {
    const area = areaUnderCurve(own);
    if (area === undefined) continue;
    sum += own.length * area;
    weight += own.length;
    users += 1;
  }
  return { userAuc: users === 0 ? null : sum / weight, users };
}

/** Expected, over bins of equal mass. */
function calibrationError(rows: readonly Row[]): number {
  const sorted = ascending(rows);
  const count = sorted.length;
  const bins = Math.min(BINS_MAX, count);
  let error = 0;
  for (let bin = 0; bin < bins; bin += 1) {
    const end = Math.floor(((bin + 1) * count) / bins);
    const own = sorted.slice(Math.floor((bin * count) / bins), end);
    const gap = mean(own, ({ prediction }) => prediction) - mean(own, ({ label }) => label);
    error += (own.length / count) * Math.abs(gap);
  }
  return error;
}
