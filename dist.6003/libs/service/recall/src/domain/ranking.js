/** How heads rank items (docs/integrate/ranking.md), of a recall or as a caller names them. */ import { ranksApart } from "../../../adapter/src/index.js";
import { EVERY_ITEM } from "../../../../engine/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { invalid } from "./check-request.js";
import { AppraisedItems, appliedValuation, formulaOf, valuationUse } from "./value.js";
const FUNCTIONS = {
    identity: (x)=>x,
    log: (x)=>x > 0 ? Math.log(x) : Number.NaN,
    log1p: (x)=>x > -1 ? Math.log1p(x) : Number.NaN,
    clamp: (x, { min, max })=>Math.min(Math.max(x, min), max)
};
/** The version whose heads rank the items of a request, and by what they go. */ export class Ranker {
    adapter;
    item;
    rank;
    valuations;
    formula;
    asked;
    /**
   * @throws TesseraError ADAPTER_NOT_FOUND where no version ranks, REQUEST_INVALID with the path of
   *   the member at fault
   */ static of(rank, context, { valuations }) {
        const { ranker, adapter } = context;
        if (ranker === undefined) {
            const message = `rank.adapter: expected a version with heads that serves, got none`;
            throw new TesseraError('ADAPTER_NOT_FOUND', message, {
                field: 'rank.adapter'
            });
        }
        const { item, engine, name, digest } = ranker;
        const got = `'${name}' ${digest.slice(0, 16)}`;
        if (item === undefined) {
            throw invalid('rank.adapter', 'a version with heads', `${got}, which has none`);
        }
        if (!ranksApart(engine) && digest !== adapter?.digest) {
            const own = adapter === undefined ? 'the base model' : adapter.digest.slice(0, 16);
            const expected = `the adapter of the request (${own}), an activated one, or heads alone`;
            throw invalid('rank.adapter', expected, got);
        }
        const use = valuationUse(rank.valuation, valuations, 'rank.valuation');
        const formula = rank.valuation && formulaOf(rank.valuation, valuations, 'rank.valuation');
        const stranger = formula?.headTerms?.find(({ head })=>!engine.heads.includes(head))?.head;
        if (stranger !== undefined) {
            const expected = `a valuation of the heads of ${got} (${engine.heads.join(', ')})`;
            throw invalid('rank.valuation.name', expected, `one of '${stranger}'`);
        }
        const asked = use && {
            ...EVERY_ITEM,
            valuation: {
                ...use,
                weights: use.weights.filter(({ term })=>isOf(formula, term))
            }
        };
        return new Ranker(ranker, item, rank, valuations, formula, asked);
    }
    constructor(adapter, item, rank, valuations, formula, /** Undefined: items go by the first head. */ asked){
        this.adapter = adapter;
        this.item = item;
        this.rank = rank;
        this.valuations = valuations;
        this.formula = formula;
        this.asked = asked;
    }
    /** True if an item's place depends on its score. */ get weighsScores() {
        return (this.rank.valuation?.scoreWeight ?? this.formula?.scoreWeight ?? 0) !== 0;
    }
    /** @param suffixes of items, where they have their own */ asEngine(suffixes) {
        const { prefix, suffix = [] } = this.item;
        const { engine: adapter } = this.adapter;
        return {
            adapter,
            prefix,
            suffixes: suffixes ?? (suffix.length === 0 ? [] : [
                suffix
            ])
        };
    }
    /** The attributes' part of the valuation, of a version of the catalogue by its number. */ async appraise(catalogue, sequence, itemIds) {
        const { asked: request } = this;
        if (request === undefined) return undefined;
        const newest = await catalogue.reach(request);
        const reach = newest.sequence === sequence ? newest : (await catalogue.judge({
            request,
            itemId: '',
            sequence
        })).reach;
        return new AppraisedItems(catalogue.appraise(reach, itemIds), itemIds);
    }
    /**
   * What heads say of items, in the same order.
   * @param heads of each item, item by item
   */ place(items, heads, appraised) {
        const names = this.adapter.engine.heads;
        return items.map((item, index)=>{
            const own = heads.subarray(index * names.length, (index + 1) * names.length);
            const said = new Map(names.map((name, at)=>[
                    name,
                    own[at] ?? Number.NaN
                ]));
            const ranking = {
                heads: Object.fromEntries(said)
            };
            if (this.asked === undefined) return {
                item,
                ranking,
                key: own[0] ?? Number.NaN
            };
            const value = this.valueOf(item, said, appraised);
            if (value === undefined) return {
                item,
                ranking,
                key: Number.NaN
            };
            return {
                item,
                ranking: {
                    ...ranking,
                    value
                },
                key: value.value
            };
        });
    }
    /**
   * Best first, ties as they were; without those that the valuation excludes and those below its
   * floor.
   */ order(placed) {
        return placed.filter(({ key })=>key >= this.floor).sort((a, b)=>b.key - a.key);
    }
    /** Of values. */ get floor() {
        const { floor = this.formula?.floor } = this.rank.valuation ?? {};
        return Math.fround(floor ?? Number.NEGATIVE_INFINITY);
    }
    /** @param leftOut of the ranked items */ applied(items, leftOut) {
        const { digest, name, engine } = this.adapter;
        const { valuation } = this.rank;
        return {
            adapter: digest,
            adapterName: name,
            items,
            leftOut,
            heads: engine.heads,
            ...valuation && {
                valuation: appliedValuation(valuation, this.valuations, Number.NaN)
            }
        };
    }
    /** Undefined: excluded. Heads' terms are added in double precision, rounded once. */ valueOf({ itemId, score }, heads, appraised) {
        const base = appraised?.valueOf(itemId, score ?? 0);
        if (base === undefined) return undefined;
        const { valuation } = this.rank;
        const terms = new Map(Object.entries(base.terms));
        let sum = 0;
        for (const term of this.formula?.headTerms ?? []){
            const weight = valuation?.weights[term.name] ?? term.weight;
            const own = weight * FUNCTIONS[term.function](heads.get(term.head) ?? Number.NaN, term);
            terms.set(term.name, own);
            sum += own;
        }
        const value = Math.fround(base.value + sum);
        if (!Number.isFinite(value)) return undefined;
        return {
            value,
            terms: Object.fromEntries(terms),
            pace: base.pace
        };
    }
}
const isOf = (formula, term)=>formula?.terms.some(({ name })=>name === term) === true;

//# sourceMappingURL=ranking.js.map