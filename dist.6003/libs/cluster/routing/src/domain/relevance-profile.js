const NUMBERS = [
    'documentsMax',
    'tokenUs',
    'backlogUs'
];
const TEXTS = [
    'model',
    'template'
];
/** Undefined: the node scores no texts, or says so in another way than this version does. */ export function parseRelevanceProfile(value) {
    if (typeof value !== 'object' || value === null) return undefined;
    const given = value;
    const isNumber = (name)=>Number.isFinite(given[name]) && Number(given[name]) >= 0;
    const isWhole = NUMBERS.every(isNumber) && TEXTS.every((name)=>typeof given[name] === 'string');
    return isWhole ? value : undefined;
}

//# sourceMappingURL=relevance-profile.js.map