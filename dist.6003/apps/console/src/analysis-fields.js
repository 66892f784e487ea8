/** Filters and settings of the questions of the analysis, from their queries. */ import { integerOf, invalid, optionalText } from "./fields.js";
const DAY_MS = 24 * 3_600_000;
const TEXT_LENGTH_MAX = 1024;
const PAIRS_MAX = 16;
const TIME = {
    min: 0,
    max: Number.MAX_SAFE_INTEGER
};
const SOURCES = [
    'served',
    'console',
    'all'
];
/** Members of every question's query. */ export const FILTER_FIELDS = [
    ...[
        'from',
        'to',
        'scene',
        'attribute',
        'adapter',
        'model',
        'source',
        'catalogue'
    ]
];
/** `KEY=VALUE`, once or several times. @throws TesseraError REQUEST_INVALID */ function pairsOf(fields, name) {
    const given = fields[name] ?? [];
    const texts = Array.isArray(given) ? given : [
        given
    ];
    if (texts.length > PAIRS_MAX) throw invalid(name, `at most ${PAIRS_MAX}`, texts.length);
    return texts.map((text)=>{
        const at = typeof text === 'string' ? text.indexOf('=') : -1;
        const key = String(text).slice(0, Math.max(0, at));
        if (at < 1 || key.length > TEXT_LENGTH_MAX || /["\\]/.test(key)) {
            throw invalid(name, 'NAME=VALUE', text);
        }
        return [
            key,
            String(text).slice(at + 1)
        ];
    });
}
/** @throws TesseraError REQUEST_INVALID with the field */ export function filterOf(fields, nowMs) {
    const toMs = integerOf(fields, 'to', {
        ...TIME,
        fallback: nowMs
    });
    const fromMs = integerOf(fields, 'from', {
        ...TIME,
        fallback: toMs - DAY_MS
    });
    if (fromMs >= toMs) throw invalid('from', `a time before ${toMs}`, fromMs);
    const adapter = optionalText(fields, 'adapter', TEXT_LENGTH_MAX);
    const source = SOURCES.find((one)=>one === (fields.source ?? 'served'));
    if (source === undefined) throw invalid('source', SOURCES.join(', '), fields.source);
    return {
        fromMs,
        toMs,
        source,
        catalogue: optionalText(fields, 'catalogue', TEXT_LENGTH_MAX) ?? '',
        adapter: adapter === 'base' ? '' : adapter,
        model: optionalText(fields, 'model', TEXT_LENGTH_MAX),
        scenes: pairsOf(fields, 'scene'),
        attributes: pairsOf(fields, 'attribute')
    };
}
/** Name of an attribute. @throws TesseraError REQUEST_INVALID */ export function attributeOf(fields, name) {
    const value = optionalText(fields, name, TEXT_LENGTH_MAX) ?? '';
    if (/["\\]/.test(value)) throw invalid(name, 'a name without quotation marks', value);
    return value;
}

//# sourceMappingURL=analysis-fields.js.map