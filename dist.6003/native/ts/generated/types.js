// Generated from native/abi by tools/generate.mjs. Do not edit.
/** Of the descriptions that this was written from; the addon must be built from the same. */ export const ABI_DIGEST = '1f48dd838c4d2eb9';
/** Changes of an item (docs/concepts/live-catalogue.md). */ export const CHANGE_OPS = [
    'upsert',
    'pause',
    'resume',
    'remove',
    'set_attributes',
    'set_priority',
    'patch_attributes',
    'set_pace'
];
/** Types of an attribute (docs/concepts/eligibility.md). */ export const DECLARED_TYPES = [
    'text',
    'set',
    'number',
    'untyped'
];
/** Functions of an attribute in a term. */ export const TERM_FUNCTIONS = [
    'identity',
    'log',
    'log1p',
    'clamp'
];
/** Kinds of request, by the code of their task. */ export const REQUEST_KINDS = [
    'recall',
    'score',
    'append',
    'relevance',
    'rank'
];
/** Class of a request: the more urgent goes first where requests compete. */ export const PRIORITIES = [
    'high',
    'normal',
    'low'
];
export const SCORE_NORMS = [
    'full',
    'level',
    'allowed'
];
/** How much of the search that was asked for an answer has seen. */ export const COMPLETENESS = [
    'whole',
    'narrowed',
    'cut'
];
/** Why a drawn item has no propensity: a beam, caps, a search that was not certified. */ export const PROPENSITIES = [
    'known',
    'beam',
    'capped',
    'stopped'
];
/** w8a8: the linear layers in INT8, the rest as in bf16 (docs/operate/quantisation.md). */ export const COMPUTE_TYPES = [
    'f32',
    'bf16',
    'w8a8'
];
/** w8a8-static: w8a8 with measured scales (docs/operate/quantisation.md). */ export const TEXT_COMPUTE_TYPES = [
    'f32',
    'bf16',
    'w8a8',
    'w8a8-static'
];
export const CHANGE_SYNCS = [
    'commit',
    'never'
];
/** Why the others were not accepted. */ export const SUBMIT_REASONS = [
    'none',
    'queue-full',
    'draining'
];
/** The fate of a watched item. */ export const VERDICTS = [
    'returned',
    'pruned',
    'behind-sid-cap',
    'behind-results',
    'not-eligible',
    'not-live',
    'not-in-catalogue',
    'behind-diversity-cap',
    'open',
    'no-value',
    'below-floor'
];
/** Well; reads work, writes are refused; nothing works. */ export const STORE_HEALTHS = [
    'ok',
    'degraded',
    'down'
];
/** Condition of a clause (docs/concepts/eligibility.md). */ export const CLAUSE_KINDS = [
    'all',
    'any',
    'not',
    'in',
    'contains',
    'range'
];
export const STORE_DIRECTIONS = [
    'ascending',
    'descending'
];
/** The end of the process, or of the machine: what a write survives once it has returned. */ export const STORE_DURABILITIES = [
    'process',
    'machine'
];
/** Of what a request may say about its items; both sides check them. */ export const REACH_LIMITS = {
    clauseDepth: 16,
    clauses: 256,
    values: 4096,
    predicateTextBytes: 262144,
    listItems: 65536,
    frequencyCaps: 8,
    countedItems: 1048576,
    diversityCaps: 4,
    policyTextBytes: 4096,
    valuations: 8,
    terms: 8
};
/** Bits of a row of a tree; neither of the first two: rejected. */ export const TREE_OUTCOMES = {
    goesOn: 1,
    endsHere: 2,
    atLeast: 4,
    provedOut: 8
};
/** Placeholders for an absent value. */ export const NOTHING = {
    row: 0xffffffff,
    code: 0xffffffff,
    item: 0xffffffff,
    adapter: 0xffffffff,
    binding: 0xffffffff
};
export const TREE_SLOTS = [
    'step',
    'parent',
    'code',
    'outcome',
    'items'
];

//# sourceMappingURL=types.js.map