import { LEVEL_CODES, LEVELS, VOCABULARY } from "../../models/model-shape.js";
/** Decode passes: the first level is selected from the prompt's last row. */ const DECODE_PASSES = LEVELS - 1;
export function layerParameters(shape) {
    const { hidden, headDim, inner } = shape;
    const attention = hidden * headDim * 2 * (shape.heads + shape.kvHeads);
    return shape.layers * (attention + 3 * hidden * inner);
}
export function kvNumbersPerPosition({ layers, kvHeads, headDim }) {
    return 2 * layers * kvHeads * headDim;
}
/** Operations of scores and weighted values for one row that sees so many positions. */ function attentionOperations({ layers, heads, headDim }, positions) {
    return 4 * layers * heads * headDim * positions;
}
/** A prompt computed from its first token; what it writes is read again by later rows. */ export function prefillWork(shape, tokens, format) {
    const parameters = layerParameters(shape);
    return {
        operations: 2 * parameters * tokens,
        attentionOperations: attentionOperations(shape, tokens * (tokens + 1) / 2),
        bytes: parameters * format.weightBytes + kvNumbersPerPosition(shape) * tokens * format.kvBytes
    };
}
/** One step of `users` requests with `width` beams each over prompts of that length. */ export function stepWork(shape, { users, width, promptTokens }, format) {
    const parameters = layerParameters(shape);
    const rows = users * width;
    const positions = kvNumbersPerPosition(shape) * promptTokens * users;
    return {
        operations: 2 * parameters * rows,
        attentionOperations: attentionOperations(shape, promptTokens * rows),
        bytes: parameters * format.weightBytes + positions * format.kvBytes
    };
}
/** Logits of a level's codes; where scores are over the whole vocabulary, of all of it. */ export function headWork(shape, { rows, isFull }, format) {
    const weights = (isFull ? VOCABULARY : LEVEL_CODES) * shape.hidden;
    return {
        operations: 2 * weights * rows,
        attentionOperations: 0,
        bytes: weights * format.headBytes
    };
}
/** The larger of computing and reading, as if they overlapped without loss. Seconds. */ export function floorSeconds(work, peaks) {
    const compute = work.operations / peaks.operations + work.attentionOperations / peaks.attentionOperations;
    return Math.max(compute, work.bytes / peaks.bandwidth);
}
/** A prompt, its beams' steps, and the head over the whole vocabulary for all of them. */ export function recallFloors({ shape, format }, { promptTokens, width }, peaks) {
    const step = stepWork(shape, {
        users: 1,
        width,
        promptTokens
    }, format);
    const heads = [
        1,
        ...Array(DECODE_PASSES).fill(width)
    ].map((rows)=>floorSeconds(headWork(shape, {
            rows,
            isFull: true
        }, format), peaks));
    return {
        prefill: 1000 * floorSeconds(prefillWork(shape, promptTokens, format), peaks),
        decode: 1000 * DECODE_PASSES * floorSeconds(step, peaks),
        head: 1000 * heads.reduce((sum, seconds)=>sum + seconds, 0)
    };
}

//# sourceMappingURL=floor.js.map