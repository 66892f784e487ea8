import { expecting } from "../../../ops/errors/src/index.js";
import { checkDimensions, shorten } from "./domain/shorten.js";
import { EmbeddingModel } from "./embedding-model.js";
const invalid = expecting('REQUEST_INVALID');
/** Classes of sentence-transformers whose folders give a vector of a text. */ const VECTOR_TYPES = [
    'SentenceTransformer',
    'CrossEncoder'
];
function checkModelType(path, type = 'SentenceTransformer') {
    if (VECTOR_TYPES.includes(type)) return;
    const field = `${path}: config_sentence_transformers.json: model_type`;
    throw expecting('MODEL_INVALID')(field, `one of ${VECTOR_TYPES.join(', ')}`, type);
}
/** The models of texts of this process, by name; there may be none. */ export class EmbeddingModels {
    models;
    limits;
    computeType;
    constructor(models, limits, /** Of the products of all models. */ computeType){
        this.models = models;
        this.limits = limits;
        this.computeType = computeType;
    }
    /** @throws TesseraError MODEL_*, TOKENIZER_INVALID, ENGINE_OVERLOADED */ static async open({ specs, computeType, limits }) {
        const models = [];
        try {
            for (const { name, path } of specs){
                const opened = await EmbeddingModel.open({
                    modelPath: path,
                    computeType
                }, limits);
                const { model, info, tokensDigest, folder } = opened;
                checkModelType(path, folder.sentence.modelType);
                models.push({
                    name,
                    digest: info.digest,
                    tokensDigest,
                    model,
                    notes: folder.notes
                });
            }
        } catch (error) {
            for (const { model } of models)model.close();
            throw error;
        }
        return new EmbeddingModels(models, limits, computeType);
    }
    static ofNone() {
        return new EmbeddingModels([], {
            requestTextsMax: 0,
            textBytesMax: 0
        }, 'f32');
    }
    /** The models by name: what their vectors are known by, and how many numbers these have. */ get facts() {
        return this.models.map(({ name, digest, tokensDigest, model: { dimension } })=>({
                name,
                digest,
                tokensDigest,
                dimension
            }));
    }
    /** Lines for people: prompts that models have, and what other libraries would do otherwise. */ get notes() {
        return this.models.flatMap(({ name, model: { prompts }, notes })=>[
                ...prompts.note === undefined ? [] : [
                    prompts.note
                ],
                ...notes
            ].map((line)=>`embedding model ${name}: ${line}`));
    }
    states() {
        return this.models.map(({ name, model })=>Object.assign({
                model: name,
                depth: model.depth
            }, model.counts));
    }
    /** Microseconds until the model with the shortest queue begins a text that comes now. */ backlogUs() {
        const waits = this.models.map(({ model })=>model.rates().backlogUs);
        return waits.length === 0 ? 0 : Math.min(...waits);
    }
    /**
   * A vector per text, in their order.
   * @throws TesseraError REQUEST_INVALID with the field; ENGINE_OVERLOADED; CANCELLED;
   * DEADLINE_EXCEEDED; MODEL_NOT_FINITE
   */ async embed(request, call) {
        this.named(request.model);
        this.checkCount(request.texts);
        for (const [index, text] of request.texts.entries()){
            const failure = this.failureOf(text, index);
            if (failure !== undefined) throw failure.error;
        }
        return this.embedChecked(request, call);
    }
    /** Of texts that can have vectors; there may be none. */ async embedChecked(request, call) {
        const { name, digest, model } = this.named(request.model);
        const { texts, dimensions } = request;
        checkDimensions(dimensions, model.dimension);
        const prompt = model.prompts.textOf(request.promptName);
        const { vectors, tokens, truncated } = await model.embed(prompt === '' ? texts : texts.map((text)=>prompt + text), call);
        return {
            model: name,
            modelDigest: digest,
            dimensions: dimensions ?? model.dimension,
            vectors: vectors.map((vector)=>shorten(vector, dimensions, model.isNormalised)),
            tokens,
            truncated
        };
    }
    /**
   * The same, where a text that can have no vector fails for itself.
   * @throws TesseraError as embed(), but for such texts
   */ async embedEach(request, call) {
        const { texts } = request;
        this.named(request.model);
        this.checkCount(texts);
        const failures = texts.flatMap((text, index)=>this.failureOf(text, index) ?? []);
        const failed = new Set(failures.map(({ index })=>index));
        const left = texts.filter((_, index)=>!failed.has(index));
        const answer = await this.embedChecked(Object.assign({}, request, {
            texts: left
        }), call);
        const made = answer.vectors[Symbol.iterator]();
        const vectors = texts.map((_, index)=>failed.has(index) ? undefined : made.next().value);
        return Object.assign({}, answer, {
            vectors,
            failures
        });
    }
    close() {
        for (const { model } of this.models)model.close();
    }
    named(name) {
        const found = name === '' ? this.models[0] : this.models.find((model)=>model.name === name);
        if (found !== undefined) return found;
        const names = this.models.map((model)=>model.name).join(', ');
        const expected = names === '' ? 'none: embedding.models names no model' : `one of ${names}`;
        throw invalid('model', expected, name);
    }
    checkCount({ length }) {
        const { requestTextsMax } = this.limits;
        if (length >= 1 && length <= requestTextsMax) return;
        throw invalid('texts', `1..${requestTextsMax} texts`, length);
    }
    failureOf(text, index) {
        const problem = this.problemOf(text);
        if (problem === undefined) return undefined;
        return {
            index,
            error: invalid(`texts[${index}]`, problem.expected, problem.got)
        };
    }
    /** Why a text cannot become a vector; undefined where it can. */ problemOf(text) {
        if (text.trim() === '') return {
            expected: 'a text that is not empty',
            got: text
        };
        const { textBytesMax } = this.limits;
        const bytes = Buffer.byteLength(text);
        return bytes > textBytesMax ? {
            expected: `at most ${textBytesMax} bytes`,
            got: bytes
        } : undefined;
    }
}
/** Of a process without models: every request is refused. */ export const NO_MODELS = EmbeddingModels.ofNone();

//# sourceMappingURL=embedding-models.js.map