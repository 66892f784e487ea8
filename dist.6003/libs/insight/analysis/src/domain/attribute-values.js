/** Values of attributes as eligibility knows them: texts, members of sets, and numbers. */ /** Numbers that an attribute has at most to be told one by one. */ const SINGLE_MAX = 20;
/** Ranges between the ends, about. */ const RANGES = 8;
/** @param low, high between which nine tenths of the numbers lie */ export function boundsOf(distinct, low, high) {
    if (distinct <= SINGLE_MAX || high <= low) return [];
    const least = (high - low) / RANGES;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = power * ([
        1,
        2,
        5
    ].find((factor)=>factor * power >= least) ?? 10);
    const first = Math.floor(low / step) + 1;
    const count = Math.ceil(high / step) - first + 1;
    // As text, so that 3 * 0.1 is 0.3.
    return Array.from({
        length: count
    }, (_, at)=>Number(((first + at) * step).toPrecision(12)));
}
/** Names of the ranges, which `fitsValue` reads again. */ function rangeNames(bounds) {
    const between = bounds.slice(1).map((bound, at)=>`${bounds[at]}..${bound}`);
    return [
        `<${bounds[0]}`,
        ...between,
        `>=${bounds.at(-1)}`
    ];
}
/** The values of an attribute as a list: members of a set, the range of a number, or one text. */ export function valueList(dialect, json, name, bounds) {
    const members = dialect.members(json, name);
    if (bounds.length === 0) return members;
    const number = dialect.numeric(json, name);
    const names = rangeNames(bounds).map((one)=>`[${dialect.text(one)}]`);
    const cases = bounds.map((bound, at)=>`WHEN ${number} < ${bound} THEN ${names[at]}`);
    return `CASE WHEN ${number} IS NULL THEN ${members} ${cases.join(' ')} ELSE ${names.at(-1)} END`;
}
const NUMBER = '-?\\d+(?:\\.\\d+)?(?:e[-+]?\\d+)?';
const RANGE = new RegExp(`^(?:<(${NUMBER})|(${NUMBER})\\.\\.(${NUMBER})|>=(${NUMBER}))$`);
/** True of an item that has the value, or a number in the range that the value names. */ export function fitsValue(dialect, json, name, value) {
    const literal = dialect.text(name);
    const isMember = dialect.has(dialect.members(json, literal), dialect.text(value));
    const [, below, from = '', to = below, least = from] = RANGE.exec(value) ?? [];
    const number = dialect.numeric(json, literal);
    const ends = [
        ...least === '' ? [] : [
            `${number} >= ${least}`
        ],
        ...to === undefined ? [] : [
            `${number} < ${to}`
        ]
    ];
    return ends.length === 0 ? isMember : `(${isMember} OR (${ends.join(' AND ')}))`;
}

//# sourceMappingURL=attribute-values.js.map