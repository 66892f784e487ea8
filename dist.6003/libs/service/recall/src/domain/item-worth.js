import { AppraisedItems, appliedValuation, itemValue } from "./value.js";
/** The reach of a recall by value, without a floor: items below it have values as well. */ export function withoutFloor(asked) {
    const { valuation } = asked;
    if (valuation === undefined) return asked;
    return {
        ...asked,
        valuation: {
            ...valuation,
            floor: Number.NEGATIVE_INFINITY
        }
    };
}
/** One item in a recall by value, as it is explained. */ export class ItemWorth {
    itemId;
    formula;
    terms;
    appraised;
    excludedItems;
    /** Undefined where the recall goes by score. */ static async of(catalogue, { valuation }, reach, itemId) {
        if (valuation === undefined) return undefined;
        const { valuations } = catalogue;
        const { terms = [] } = valuations.find(({ name })=>name === valuation.name) ?? {};
        return new ItemWorth(itemId, appliedValuation(valuation, valuations, Number.NaN), terms, new AppraisedItems(catalogue.appraise(reach, [
            itemId
        ]), [
            itemId
        ]), await catalogue.excludedItems(reach));
    }
    constructor(itemId, formula, terms, appraised, /** Live and eligible items that the valuation excludes. */ excludedItems){
        this.itemId = itemId;
        this.formula = formula;
        this.terms = terms;
        this.appraised = appraised;
        this.excludedItems = excludedItems;
    }
    /** The attribute for whose sake the valuation excludes the item; undefined: it does not. */ get exclusion() {
        return this.terms[this.appraised.termWithout()]?.attribute;
    }
    /** Undefined where the answer does not have the item. */ valueIn({ items, itemTerms }) {
        const names = this.terms.map(({ name })=>name);
        const at = items.findIndex(({ itemId })=>itemId === this.itemId);
        const item = items[at];
        return item && itemValue(names, itemTerms.subarray(at * names.length), item);
    }
    /** The floor that keeps an item of this value out; undefined: none does. */ floorAbove({ value }) {
        const { floor } = this.formula;
        return floor !== undefined && value < Math.fround(floor) ? floor : undefined;
    }
}

//# sourceMappingURL=item-worth.js.map