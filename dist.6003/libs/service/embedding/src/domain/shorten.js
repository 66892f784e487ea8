import { expecting } from "../../../../ops/errors/src/index.js";
const invalid = expecting('REQUEST_INVALID');
/** Divided by its length, which is summed in double precision; a vector of zeros stays one. */ export function normalise(vector) {
    let squares = 0;
    for (const number of vector)squares += number * number;
    const length = Math.sqrt(squares);
    return length === 0 ? vector : vector.map((number)=>number / length);
}
/**
 * The first numbers of a vector (Kusupati et al. 2022, arXiv:2205.13147), of length 1 again where
 * the model's vectors have it.
 * @param dimensions undefined: all
 */ export function shorten(vector, dimensions, isNormalised) {
    if (dimensions === undefined || dimensions === vector.length) return vector;
    const first = vector.slice(0, dimensions);
    return isNormalised ? normalise(first) : first;
}
/** @throws TesseraError REQUEST_INVALID */ export function checkDimensions(dimensions, whole) {
    if (dimensions === undefined) return;
    if (Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= whole) return;
    throw invalid('dimensions', `an integer of 1..${whole}`, dimensions);
}

//# sourceMappingURL=shorten.js.map