export interface TimedValue {
  readonly time: number;
  readonly value: number | null;
}

/**
 * The lowest and the highest value of each stretch of a line, in the order of time: a picture of so
 * many stretches looks as one of all values.
 */
export function extremesOf(line: readonly TimedValue[], stretches: number): readonly TimedValue[] {
  const length = Math.ceil(line.length / stretches);
  if (length <= 2) return line;
  return Array.from({ length: Math.ceil(line.length / length) }, (_, at) => {
    const own = line.slice(at * length, (at + 1) * length);
    const known = own.filter(({ value }) => value !== null);
    const by = (a: TimedValue, b: TimedValue) => (a.value ?? 0) - (b.value ?? 0);
    const [low, high] = [known.toSorted(by)[0], known.toSorted(by).at(-1)];
    if (low === undefined || high === undefined) return own.slice(0, 1);
    return low === high ? [low] : [low, high].sort((a, b) => a.time - b.time);
  }).flat();
}
