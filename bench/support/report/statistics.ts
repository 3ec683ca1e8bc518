/** Summaries of repeated measurements: medians and quartiles. Means are not used, because measurements have outliers. */

export interface Spread {
  readonly median: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
  readonly count: number;
}

/** @throws RangeError for no values */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('no values to describe');
  return {
    median: quantile(values, 0.5),
    lowerQuartile: quantile(values, 0.25),
    upperQuartile: quantile(values, 0.75),
    count: values.length,
  };
}

/** The value below which the share of the values lies, interpolated between neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** For each round the ratio of one contender's value to the other's, so that a drift between rounds does not matter. */
export function ratiosOf(values: readonly number[], others: readonly number[]): number[] {
  const rounds = Math.min(values.length, others.length);
  return Array.from({ length: rounds }, (_, round) => (values[round] ?? 0) / (others[round] ?? 1));
}
