import { createHash } from "node:crypto";
import { bytesOf } from "../../libs/service/embedding/src/index.js";
import { isWritten, VectorFile } from "./vector-file.js";
/** Texts of a request: enough for full passes, and few enough that a stop loses little. */ const REQUEST_TEXTS = 256;
const SECOND_MS = 1000;
const NO_FACTS = {
    digest: '',
    tokensDigest: '',
    dimension: 0
};
/**
 * The vectors of texts into a file of NumPy, and beside it what made them, as `trainer sids
 * --encoder` takes it. A text of white space gets zeros. A run that was stopped is gone on with.
 */ export async function embedFile(models, texts, path, onProgress) {
    const [{ digest, tokensDigest, dimension } = NO_FACTS] = models.facts;
    const { computeType } = models;
    const mark = createHash('sha256').update(JSON.stringify([
        digest,
        tokensDigest,
        computeType,
        texts
    ])).digest('hex');
    const emptyTexts = texts.filter(isEmpty).length;
    const facts = {
        texts: texts.length,
        dimension,
        emptyTexts,
        modelDigest: digest
    };
    if (await isWritten(path, mark)) {
        return Object.assign(facts, {
            truncated: 0,
            resumed: texts.length
        });
    }
    const file = await VectorFile.open(path, {
        rows: texts.length,
        dimension
    }, mark);
    const resumed = file.rows;
    let truncated = 0;
    const beganMs = performance.now();
    try {
        while(file.rows < texts.length){
            const part = texts.slice(file.rows, file.rows + REQUEST_TEXTS);
            const made = await vectorsOf(models, part, dimension);
            truncated += made.truncated;
            await file.append(bytesOf(made.vectors, 'f32'), part.length);
            const seconds = (performance.now() - beganMs) / SECOND_MS;
            const rate = `${((file.rows - resumed) / seconds).toFixed(0)} texts/s`;
            onProgress('texts embedded', file.rows, texts.length, rate);
        }
    } catch (error) {
        await file.close();
        throw error;
    }
    await file.finish({
        version: 1,
        kind: 'encoder',
        model_digest: digest,
        tokens_digest: tokensDigest,
        compute_type: computeType
    });
    return Object.assign(facts, {
        truncated,
        resumed
    });
}
const isEmpty = (text)=>text.trim() === '';
async function vectorsOf(models, texts, dimension) {
    const given = texts.filter((text)=>!isEmpty(text));
    if (given.length === 0) {
        return {
            vectors: texts.map(()=>new Float32Array(dimension)),
            truncated: 0
        };
    }
    const answer = await models.embed({
        model: '',
        texts: given,
        dimensions: undefined
    });
    let next = 0;
    const vectors = texts.map((text)=>isEmpty(text) ? new Float32Array(dimension) : answer.vectors[next++]);
    return {
        vectors,
        truncated: answer.truncated
    };
}

//# sourceMappingURL=embed-file.js.map