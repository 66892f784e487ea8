/** Vectors as little-endian bytes, whatever the machine's own order. */ const F32_BYTES = 4;
const F16_BYTES = 2;
/** All vectors end to end. */ export function bytesOf(vectors, type) {
    const size = type === 'f32' ? F32_BYTES : F16_BYTES;
    const count = vectors.reduce((sum, vector)=>sum + vector.length, 0);
    const bytes = Buffer.allocUnsafe(count * size);
    let at = 0;
    for (const vector of vectors){
        for (const number of vector){
            if (type === 'f32') bytes.writeFloatLE(number, at);
            else bytes.writeUInt16LE(halfOf(number), at);
            at += size;
        }
    }
    return bytes;
}
const SINGLE = new Float32Array(1);
const SINGLE_BITS = new Uint32Array(SINGLE.buffer);
const HALF_INFINITY = 0x7c00;
const HALF_MANTISSA_BITS = 10;
const SINGLE_MANTISSA_BITS = 23;
const DROPPED_BITS = SINGLE_MANTISSA_BITS - HALF_MANTISSA_BITS;
/** Exponent of F32 minus that of half precision, in their biased forms. */ const EXPONENT_SHIFT = 112;
const HALF_EXPONENT_MAX = 31;
const SMALLEST_EXPONENT = -HALF_MANTISSA_BITS;
/** The mantissa without its last bits, rounded to the nearest, ties to even. */ function rounded(mantissa, bits) {
    const half = 2 ** (bits - 1);
    const kept = mantissa >>> bits;
    const rest = mantissa & 2 * half - 1;
    return kept + (rest > half || rest === half && kept % 2 === 1 ? 1 : 0);
}
/** Bits of the nearest number in half precision. */ export function halfOf(number) {
    SINGLE[0] = number;
    const bits = SINGLE_BITS[0];
    const sign = bits >>> 16 & 0x8000;
    const exponent = (bits >>> SINGLE_MANTISSA_BITS & 0xff) - EXPONENT_SHIFT;
    const mantissa = bits & 0x7fffff;
    if (exponent >= HALF_EXPONENT_MAX) {
        const isNan = Number.isNaN(number);
        return sign | HALF_INFINITY | (isNan ? 1 : 0);
    }
    if (exponent > 0) {
        // A carry out of the mantissa is the next exponent, and out of the last one infinity.
        return sign | (exponent << HALF_MANTISSA_BITS) + rounded(mantissa, DROPPED_BITS);
    }
    if (exponent < SMALLEST_EXPONENT) return sign;
    return sign | rounded(mantissa | 0x800000, DROPPED_BITS + 1 - exponent);
}

//# sourceMappingURL=number-bytes.js.map