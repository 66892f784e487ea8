import { TEXTS_AT_ONCE } from "../../../embedding/src/index.js";
import { expecting, TesseraError } from "../../../../ops/errors/src/index.js";
import { ItemText } from "../../../prompt/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../../ops/units/src/index.js";
import pMap from "p-map";
import { adapterOf, NO_ADAPTERS } from "./named-adapters.js";
import "./pair-tokens.js";
const invalid = expecting('REQUEST_INVALID');
/** Where answers have the name of a template. */ const NAME = 'cross-encoder';
const ACTIVATE = {
    sigmoid: (logit)=>1 / (1 + Math.exp(-logit)),
    tanh: Math.tanh,
    identity: (logit)=>logit
};
/** Scores texts for a query with a classifier of pairs (a cross-encoder). */ export class CrossRelevance {
    parts;
    itemText = ItemText.ofTitle;
    constructor(parts){
        this.parts = parts;
    }
    profile() {
        const { encoder, documentsMax } = this.parts;
        return Object.assign(encoder.rates(), {
            model: encoder.digest,
            template: NAME,
            documentsMax
        });
    }
    async score(request, context) {
        const { encoder, documentsMax, maker } = this.parts;
        const { documents, query, instruction, failures, tooLong } = request;
        if (documents.length < 1 || documents.length > documentsMax) {
            throw invalid('documents', `1..${documentsMax} documents`, documents.length);
        }
        this.checkAdapter(request.adapter ?? '', 'adapter');
        if (instruction !== undefined) throw invalid('instruction', 'none for this model', 'one');
        const endsAtMs = performance.now() + context.budgetUs / MICROSECONDS_PER_MILLISECOND;
        const asked = await maker.queryTokens(query);
        const pairOf = async (document, i)=>{
            try {
                if (document instanceof TesseraError) throw document;
                return await maker.pairOf(asked, document, `documents[${i}]`, tooLong === 'cut');
            } catch (error) {
                return {
                    error: TesseraError.from(error)
                };
            }
        };
        const made = await pMap(documents, pairOf, {
            concurrency: TEXTS_AT_ONCE
        });
        const { pairs, placeOf } = distinct(made);
        const call = {
            signal: context.signal ?? new AbortController().signal,
            endsAtMs
        };
        const read = await Promise.allSettled(encoder.logits(pairs, call));
        const outcomes = made.map((of, i)=>this.outcome(of, read[placeOf[i]]));
        const failed = outcomes.find((of)=>'error' in of);
        if (failures === 'whole' && failed !== undefined && 'error' in failed) throw failed.error;
        return {
            outcomes,
            promptTokens: outcomes.reduce((sum, of)=>sum + ('error' in of ? 0 : of.promptTokens), 0),
            computedTokens: pairs.reduce((sum, { tokens })=>sum + tokens.length, 0),
            modelDigest: encoder.digest,
            template: NAME,
            adapter: ''
        };
    }
    /** Adapters are for language models. */ checkAdapter(name, field) {
        adapterOf(NO_ADAPTERS, name, field);
    }
    outcome(made, read) {
        if ('error' in made) return made;
        if (read?.status !== 'fulfilled') return {
            error: TesseraError.from(read?.reason)
        };
        const logit = read.value[0];
        const score = ACTIVATE[this.parts.activation](logit);
        const { tokens, documentTokens, cutTokens } = made;
        return {
            score,
            promptTokens: tokens.length,
            documentTokens,
            cutTokens
        };
    }
}
/** Of equal pairs the first, and per document the place that answers it. */ function distinct(made) {
    const pairs = [];
    const places = new Map();
    const placeOf = made.map((of)=>{
        if ('error' in of) return -1;
        const key = of.tokens.join();
        const known = places.get(key) ?? pairs.push(of) - 1;
        places.set(key, known);
        return known;
    });
    return {
        pairs,
        placeOf
    };
}

//# sourceMappingURL=cross-relevance.js.map