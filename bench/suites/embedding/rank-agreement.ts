export type Vectors = readonly ArrayLike<number>[];

/** Places by value, ties in their order. */
function placesOf(values: Float64Array): Float64Array {
  const order = Array.from(values.keys()).sort(
    (a, b) => (values[a] as number) - (values[b] as number) || a - b,
  );
  const places = new Float64Array(values.length);
  for (const [place, at] of order.entries()) places[at] = place;
  return places;
}

/** Spearman's rank correlation of numbers without ties. */
export function spearman(a: Float64Array, b: Float64Array): number {
  const [one, other] = [placesOf(a), placesOf(b)];
  const count = a.length;
  let squares = 0;
  for (const [at, place] of one.entries()) squares += (place - (other[at] as number)) ** 2;
  return 1 - (6 * squares) / (count * (count ** 2 - 1));
}

/** The products of a vector with all others. */
function similarities(vectors: Vectors, own: number): Float64Array {
  const query = vectors[own] as ArrayLike<number>;
  const others = vectors.filter((_, at) => at !== own);
  return Float64Array.from(others, (other) => {
    let product = 0;
    for (let i = 0; i < query.length; i += 1) product += (query[i] as number) * (other[i] ?? 0);
    return product;
  });
}

/**
 * How alike two encoders order texts: of each of the first `queries` texts, the rank correlation of
 * all others by their products with it; the mean of these.
 */
export function rankAgreement(exact: Vectors, ours: Vectors, queries: number): number {
  let sum = 0;
  for (let own = 0; own < queries; own += 1) {
    sum += spearman(similarities(exact, own), similarities(ours, own));
  }
  return sum / queries;
}
