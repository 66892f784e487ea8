/** Eligibility and item policy of a request, as the engine takes them. */ import { clauseJson, FormReader, readClause } from "../../../catalogue/src/index.js";
import { NO_ELIGIBILITY, NO_POLICY, REACH_LIMITS } from "../../../../engine/src/index.js";
import { invalid } from "./check-request.js";
import { valuationUse } from "./value.js";
/** True unless it takes all live items of the newest version in their own order, by score. */ export function asksForReach({ eligibility, itemPolicy, valuation }) {
    return eligibility !== undefined || itemPolicy !== undefined || valuation !== undefined;
}
/**
 * The engine checks the same and what needs the items.
 * @throws TesseraError REQUEST_INVALID with the path of the member at fault
 */ export function reachRequestOf(request, { valuations }) {
    const { eligibility = NO_ELIGIBILITY, itemPolicy = NO_POLICY } = request;
    const valuation = valuationUse(request.valuation, valuations);
    checkEligibility(eligibility);
    checkItemPolicy(itemPolicy);
    return {
        eligibility: {
            ...eligibility,
            caps: []
        },
        itemPolicy,
        valuation
    };
}
/** The same, without what is had often enough. */ export function withCaps(asked, caps) {
    return {
        ...asked,
        eligibility: {
            ...asked.eligibility,
            caps
        }
    };
}
function checkEligibility({ predicate, allowed = [], denied, seen }) {
    const lists = {
        allowed,
        denied,
        seen
    };
    for (const [name, list] of Object.entries(lists)){
        const { listItems } = REACH_LIMITS;
        if (list.length <= listItems) continue;
        throw invalid(`eligibility.${name}`, `at most ${listItems} items`, list.length);
    }
    if (predicate !== undefined) new PredicateCheck().check(predicate, 'eligibility.predicate', 1);
}
let PredicateCheck = class PredicateCheck {
    clauses = 0;
    values = 0;
    textBytes = 0;
    check(clause, path, depth) {
        const { kind, clauses } = clause;
        atMost(path, REACH_LIMITS.clauseDepth, 'clauses deep', depth);
        this.clauses += 1;
        atMost(path, REACH_LIMITS.clauses, 'clauses', this.clauses);
        this.checkTexts(clause, path);
        clauses.forEach((below, index)=>{
            this.check(below, kind === 'not' ? `${path}.not` : `${path}.${kind}[${index}]`, depth + 1);
        });
    }
    checkTexts({ attribute, values }, path) {
        this.values += values.length;
        atMost(path, REACH_LIMITS.values, 'values', this.values);
        for (const text of [
            attribute,
            ...values
        ])this.textBytes += Buffer.byteLength(text);
        atMost(path, REACH_LIMITS.predicateTextBytes, 'bytes of texts', this.textBytes);
    }
};
function atMost(path, max, what, count) {
    if (count > max) throw invalid(path, `at most ${max} ${what}`, count);
}
function checkItemPolicy({ orderBy, diversity }) {
    atMost('itemPolicy.diversity', REACH_LIMITS.diversityCaps, 'caps', diversity.length);
    const attributes = diversity.map(({ attribute })=>attribute);
    diversity.forEach(({ attribute, maxItems }, index)=>{
        const at = `itemPolicy.diversity[${index}]`;
        if (maxItems < 1) throw invalid(`${at}.maxItems`, 'at least 1', maxItems);
        const first = attributes.indexOf(attribute);
        if (first < index) {
            const another = `another attribute than that of cap ${first}`;
            throw invalid(`${at}.attribute`, another, `'${attribute}'`);
        }
    });
    const bytes = [
        orderBy,
        ...attributes
    ].reduce((sum, name)=>sum + Buffer.byteLength(name), 0);
    atMost('itemPolicy', REACH_LIMITS.policyTextBytes, 'bytes of names', bytes);
}
/** Of no item: the version is asked for, not what became of one. */ const NO_ITEM_ID = '';
/**
 * A version of the catalogue with what a request may get of it and by what. Rejects with
 * CATALOGUE_NOT_FOUND where it is not kept, and with REQUEST_INVALID.
 */ export async function pinVersion(catalogue, request, sequence) {
    const asked = {
        request: reachRequestOf(request, catalogue),
        itemId: NO_ITEM_ID,
        sequence
    };
    return (await catalogue.judge(asked)).reach;
}
/** Caps of items of a SID and of items that share a value, as an export of found paths has them. */ export class CapCount {
    policy;
    itemsPerSid;
    /** Items that a diversity cap kept out. */ leftOut = 0;
    taken = new Map();
    /** @param itemsPerSid 0: no cap */ constructor(policy, itemsPerSid){
        this.policy = policy;
        this.itemsPerSid = itemsPerSid;
    }
    get isEmpty() {
        return this.policy.diversity.length === 0 && this.itemsPerSid === 0;
    }
    /** Counts the item, unless a cap keeps it out. */ take({ sid, attributes }) {
        const ofSid = `sid ${sid.join()}`;
        if (this.itemsPerSid > 0 && this.countOf(ofSid) >= this.itemsPerSid) return false;
        const values = JSON.parse(attributes);
        const capped = this.policy.diversity.flatMap(({ attribute, maxItems })=>{
            const value = values[attribute];
            const isText = typeof value === 'string' || typeof value === 'boolean';
            return isText ? [
                {
                    key: JSON.stringify([
                        attribute,
                        String(value)
                    ]),
                    maxItems
                }
            ] : [];
        });
        if (capped.some(({ key, maxItems })=>this.countOf(key) >= maxItems)) {
            this.leftOut += 1;
            return false;
        }
        for (const key of [
            ofSid,
            ...capped.map((each)=>each.key)
        ]){
            this.taken.set(key, this.countOf(key) + 1);
        }
        return true;
    }
    countOf(key) {
        return this.taken.get(key) ?? 0;
    }
}
const reader = new FormReader('REQUEST_INVALID');
const MEMBERS = [
    'predicate',
    'allowed',
    'denied',
    'seen'
];
/** @throws TesseraError REQUEST_INVALID with the path of the member at fault */ export function readEligibility(value) {
    const json = reader.object('eligibility', value);
    const stranger = Object.keys(json).find((name)=>!MEMBERS.includes(name));
    if (stranger !== undefined) {
        reader.refuse(`eligibility.${stranger}`, MEMBERS.join(', '), `'${stranger}'`);
    }
    const list = (name)=>json[name] === undefined ? undefined : reader.texts(`eligibility.${name}`, json[name], 'an item ID');
    const { predicate } = json;
    return {
        predicate: predicate === undefined ? undefined : readClause(reader, 'eligibility.predicate', predicate),
        allowed: list('allowed'),
        denied: list('denied') ?? [],
        seen: list('seen') ?? []
    };
}
/** As records keep it. */ export function eligibilityText({ predicate, allowed, denied, seen }) {
    return JSON.stringify({
        ...predicate && {
            predicate: clauseJson(predicate)
        },
        ...allowed && {
            allowed
        },
        ...denied.length > 0 && {
            denied
        },
        ...seen.length > 0 && {
            seen
        }
    });
}

//# sourceMappingURL=reach-request.js.map