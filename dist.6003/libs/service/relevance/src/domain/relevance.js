import { expecting, TesseraError } from "../../../../ops/errors/src/index.js";
import { inSlices } from "../../../../ops/turns/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../../ops/units/src/index.js";
import { labelPaths } from "./label-paths.js";
import { adapterOf, NO_ADAPTERS } from "./named-adapters.js";
import { PairPrompts } from "./pair-prompts.js";
import { pairRequests } from "./pair-requests.js";
import { readsVocabulary, relevanceScore } from "./relevance-score.js";
import { trieOrder } from "./trie-order.js";
const invalid = expecting('REQUEST_INVALID');
/** @throws TesseraError CANCELLED or DEADLINE_EXCEEDED where the caller no longer waits */ function checkWaiting({ signal, endsMs }) {
    if (signal?.aborted === true) throw new TesseraError('CANCELLED', 'the request was cancelled');
    if (performance.now() < endsMs) return;
    const message = 'the deadline passed while the documents were made into tokens';
    throw new TesseraError('DEADLINE_EXCEEDED', message);
}
const NO_TOKENS = new Int32Array();
/** Tokens that are written down for the engine in one turn of the event loop. */ const GROUP_TOKENS = 1 << 16;
/** Neighbours together, about so many tokens in each. */ function groups(pairs) {
    const all = [];
    let left = 0;
    for (const pair of pairs){
        if (left <= 0) {
            all.push([]);
            left = GROUP_TOKENS;
        }
        all.at(-1)?.push(pair);
        left -= pair.tokens.length;
    }
    return all;
}
/** Scores texts for a query with a language model. Holds nothing of a call. */ export class Relevance {
    parts;
    paths;
    pairs;
    adapters;
    /** @throws TesseraError PROMPT_TEMPLATE_INVALID where template and tokenizer do not fit */ constructor(parts){
        this.parts = parts;
        const { engine, template, tokenizer, limits, adapters = NO_ADAPTERS } = parts;
        this.adapters = adapters;
        this.paths = labelPaths(template.labels, tokenizer);
        const { maxPositions, vocabSize } = engine.model;
        const most = Math.min(limits.promptTokensMax, maxPositions);
        const labelTokens = Math.max(...this.paths.stops.map(({ prefix })=>prefix.length));
        const tokensMax = Math.min(template.tokensMax, most - labelTokens);
        this.pairs = new PairPrompts(template, tokenizer, tokensMax);
        const label = this.paths.stops.flatMap(({ tokens })=>[
                ...tokens
            ]).find((t)=>t >= vocabSize);
        if (label === undefined) return;
        throw new TesseraError('TOKENIZER_INVALID', `tokenizer: expected tokens below ${vocabSize} for the labels, got ${label}`, {
            field: 'tokenizer'
        });
    }
    get itemText() {
        return this.parts.template.itemText;
    }
    checkAdapter(name, field) {
        adapterOf(this.adapters, name, field);
    }
    profile() {
        const { engine, template, limits } = this.parts;
        const { tokenUs, backlogUs } = engine.stats();
        const { documentsMax } = limits;
        return {
            model: engine.model.digest,
            template: template.name,
            documentsMax,
            tokenUs,
            backlogUs
        };
    }
    async score(request, context) {
        const { documents, query, instruction } = request;
        const { documentsMax } = this.parts.limits;
        if (documents.length < 1 || documents.length > documentsMax) {
            throw invalid('documents', `1..${documentsMax} documents`, documents.length);
        }
        const adapter = adapterOf(this.adapters, request.adapter ?? '', 'adapter');
        const endsMs = performance.now() + context.budgetUs / MICROSECONDS_PER_MILLISECOND;
        const asked = await this.pairs.ofQuery(query, instruction);
        const waiting = {
            signal: context.signal,
            endsMs
        };
        const prompted = await this.prompt(asked, request, waiting);
        const prompts = prompted.map((of)=>'error' in of ? NO_TOKENS : of.tokens);
        const order = trieOrder(prompts);
        const { headTokens } = asked;
        const work = {
            ...this.workOf(request),
            headTokens,
            adapter
        };
        const read = await this.readAll(prompts, order, work, waiting);
        const outcomes = prompted.map((of, i)=>this.outcome(of, read[order.placeOf[i]]));
        const failed = outcomes.find((outcome)=>'error' in outcome);
        if (request.failures === 'whole' && failed !== undefined && 'error' in failed) {
            throw failed.error;
        }
        return {
            ...this.answer(outcomes, read),
            adapter: adapter?.digest ?? ''
        };
    }
    prompt(prompts, { documents, tooLong }, waiting) {
        return inSlices(documents, async (document, i)=>{
            try {
                checkWaiting(waiting);
                if (document instanceof TesseraError) throw document;
                return await prompts.of(document, `documents[${i}]`, tooLong === 'cut');
            } catch (error) {
                return {
                    error: TesseraError.from(error)
                };
            }
        });
    }
    /** Per place of the order. Prompts are submitted so many at a time, neighbours together. */ async readAll(prompts, { asked, shared }, common, { signal, endsMs }) {
        const { engine, limits } = this.parts;
        const { stops } = this.paths;
        const read = [];
        const atOnce = Math.max(1, Math.floor(limits.requestsAtOnce / stops.length));
        for(let first = 0; first < asked.length; first += atOnce){
            const budgetUs = (endsMs - performance.now()) * MICROSECONDS_PER_MILLISECOND;
            const work = {
                ...common,
                budgetUs
            };
            const part = asked.slice(first, first + atOnce).map((i)=>prompts[i] ?? NO_TOKENS);
            const pairs = part.map((tokens, i)=>({
                    tokens,
                    sibling: i === 0 ? 0 : shared[first + i] ?? 0
                }));
            const submitted = await inSlices(groups(pairs), (group)=>{
                const written = group.flatMap((pair)=>pair.tokens.length === 0 ? [] : pairRequests(pair, stops, work));
                return {
                    ended: Promise.allSettled(engine.relevance(written, signal))
                };
            });
            const ended = (await Promise.all(submitted.map((group)=>group.ended))).flat();
            for (const tokens of part){
                if (tokens.length === 0) read.push(undefined);
                else read.push(promptRead(tokens.length, stops, ended.splice(0, stops.length)));
            }
        }
        return read;
    }
    /** Common work of all requests of a call. */ workOf({ priority }) {
        const scoreNorm = readsVocabulary(this.parts.template, this.paths) ? 'full' : 'allowed';
        return {
            scoreNorm,
            priority
        };
    }
    outcome(prompted, read) {
        if ('error' in prompted) return prompted;
        if (read === undefined || read instanceof TesseraError) {
            return {
                error: read ?? new TesseraError('INTERNAL', 'relevance: expected logits, got none')
            };
        }
        const { template } = this.parts;
        return {
            score: relevanceScore(template, this.paths, read.logits),
            promptTokens: prompted.tokens.length,
            documentTokens: prompted.documentTokens,
            cutTokens: prompted.cutTokens
        };
    }
    answer(outcomes, read) {
        const all = read.flatMap((of)=>of === undefined || of instanceof TesseraError ? [] : of);
        return {
            outcomes,
            promptTokens: outcomes.reduce((sum, of)=>sum + ('error' in of ? 0 : of.promptTokens), 0),
            computedTokens: all.reduce((sum, { computedTokens })=>sum + computedTokens, 0),
            modelDigest: all[0]?.modelDigest ?? this.parts.engine.model.digest,
            template: this.parts.template.name
        };
    }
}
/** Of a prompt of so many tokens, from what became of its stops. */ function promptRead(promptTokens, stops, ended) {
    const logits = [];
    let computedTokens = 0;
    let modelDigest = '';
    for (const [i, one] of ended.entries()){
        if (one.status === 'rejected') return TesseraError.from(one.reason);
        const { value } = one;
        logits.push(value.logits);
        computedTokens += promptTokens + (stops[i]?.prefix.length ?? 0) - value.reusedTokens;
        modelDigest = value.modelDigest;
    }
    return {
        logits,
        computedTokens,
        modelDigest
    };
}

//# sourceMappingURL=relevance.js.map