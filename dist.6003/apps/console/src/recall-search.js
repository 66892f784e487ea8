import { fieldsOf, integerOf, invalid, optionalText } from "./fields.js";
const TEXT_LENGTH_MAX = 1024;
const LIST_MAX = 500;
const TEXTS = [
    'userId',
    'requestId',
    'itemId',
    'code',
    'adapter',
    'set'
];
const NUMBERS = [
    'fromMs',
    'beforeMs',
    'change',
    'minUs',
    'maxUs'
];
const ORDERS = {
    time: 'time DESC',
    slowest: 'total_us DESC',
    fastest: 'total_us'
};
const SCENE = /^([\w.-]{1,128})=(.{0,1024})$/s;
/** Of a query. @throws TesseraError REQUEST_INVALID with the field */ export function searchOf(query) {
    const names = [
        ...TEXTS,
        ...NUMBERS,
        'scene',
        'order',
        'offset',
        'limit'
    ];
    const fields = fieldsOf(query, names);
    const texts = TEXTS.map((name)=>[
            name,
            optionalText(fields, name, TEXT_LENGTH_MAX)
        ]);
    const bounds = {
        min: 0,
        max: Number.MAX_SAFE_INTEGER
    };
    const numbers = NUMBERS.map((name)=>[
            name,
            fields[name] === undefined ? undefined : integerOf(fields, name, bounds)
        ]);
    const given = [
        ...texts,
        ...numbers,
        [
            'scene',
            sceneOf(fields)
        ]
    ].filter(([, value])=>value !== undefined);
    const rest = {
        order: orderOf(fields),
        offset: integerOf(fields, 'offset', {
            min: 0,
            max: LIST_MAX,
            fallback: 0
        }),
        limit: integerOf(fields, 'limit', {
            min: 1,
            max: LIST_MAX,
            fallback: 50
        })
    };
    return Object.assign(rest, Object.fromEntries(given));
}
function sceneOf(fields) {
    const text = optionalText(fields, 'scene', TEXT_LENGTH_MAX);
    if (text === undefined) return undefined;
    const [, key, value] = SCENE.exec(text) ?? [];
    if (key === undefined || value === undefined) throw invalid('scene', 'KEY=VALUE', text);
    return [
        key,
        value
    ];
}
function orderOf({ order = 'time' }) {
    if (typeof order === 'string' && Object.hasOwn(ORDERS, order)) {
        return order;
    }
    throw invalid('order', `one of ${Object.keys(ORDERS).join(', ')}`, order);
}
/** True if it asks for what the store's own list cannot tell apart. */ export function isDeep({ adapter, scene, change, minUs, maxUs, order }) {
    const wanted = [
        adapter,
        scene,
        change,
        minUs,
        maxUs
    ];
    return order !== 'time' || wanted.some((value)=>value !== undefined);
}
const quoted = (text)=>`'${text.replaceAll("'", "''").replaceAll('\0', '')}'`;
const timeOf = (ms)=>`make_timestamp(${ms}::BIGINT * 1000)`;
/** The IDs that fit, as one SELECT over the table of recorded recalls. */ export function searchSql(search) {
    const { userId, requestId, itemId, code, adapter, scene, fromMs, beforeMs } = search;
    const { change, minUs, maxUs, order, offset, limit } = search;
    const when = (value, condition)=>value === undefined ? [] : [
            condition()
        ];
    const digest = quoted(adapter === 'base' ? '' : adapter ?? '');
    const conditions = [
        ...when(fromMs, ()=>`time >= ${timeOf(fromMs)}`),
        ...when(beforeMs, ()=>`time < ${timeOf(beforeMs)}`),
        ...when(userId, ()=>`user_id = ${quoted(userId)}`),
        ...when(requestId, ()=>`request_id = ${quoted(requestId)}`),
        ...when(code, ()=>`code = ${quoted(code)}`),
        ...when(adapter, ()=>`(adapter = ${digest} OR (adapter_name = ${digest} AND adapter <> ''))`),
        ...when(change, ()=>`catalogue_sequence = ${change}`),
        ...when(minUs, ()=>`total_us >= ${minUs}`),
        ...when(maxUs, ()=>`total_us <= ${maxUs}`),
        ...when(itemId, ()=>`id IN (SELECT recall FROM items WHERE item_id = ${quoted(itemId)})`),
        ...when(scene, ()=>{
            const [key, value] = scene;
            const path = quoted(`$.request.scene."${key}"`);
            return `json_extract_string(detail, ${path}) = ${quoted(value)}`;
        })
    ];
    const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    const ends = `ORDER BY ${ORDERS[order]} NULLS LAST, id LIMIT ${limit} OFFSET ${offset}`;
    return `SELECT id FROM recalls${where} ${ends}`;
}

//# sourceMappingURL=recall-search.js.map