import { quantile } from "../../result.js";
/** Rows up to which a layer's time is that of reading weights. */ const READING_ROWS_MAX = 16;
const READING_BAR = 0.75;
/** Rows whose padding has a bar: a request of the relevance model. */ const PADDING_ROWS = 576;
const PADDING_BAR = 1.15;
const IDLE_BAR_PERCENT = 10;
/** Up to these rows a layer takes 0.9 of the fastest peer's time at most, then all of it. */ const FEW_ROWS_MAX = 64;
const PEER_BARS = {
    few: 0.9,
    many: 1
};
const LAYER = /^experts\/(BF16|INT8)\/(uniform|Zipf)\/(\d+)\/\d+t$/;
const TIMED = /^(BF16|INT8)\/([^/]+)\/(uniform|Zipf)\/(\d+)$/;
/** The way of `experts_bench --turns`. */ const OWN_WAY = 'tessera';
/** One result for all of a name: their median. */ export function medians(results) {
    const named = new Map();
    for (const result of results){
        named.set(result.name, [
            ...named.get(result.name) ?? [],
            result
        ]);
    }
    return [
        ...named.values()
    ].flatMap((rounds)=>{
        const value = quantile(rounds.map((round)=>round.value), 0.5);
        return rounds.slice(0, 1).map((result)=>({
                ...result,
                value
            }));
    });
}
/**
 * The rows of one shape: what `experts_bench` has printed, and the turns with peers, where names
 * are TYPE/WAY/ROUTING/ROWS. Every ratio of times is ours over the other's, the median over turns
 * of the ratio in each: a shared machine's memory is twice as fast in one minute as in another.
 */ export function shapeRows(shape, own, turns) {
    const byName = new Map(own.map(({ name, value })=>[
            name,
            value
        ]));
    const layers = own.flatMap(layerOf);
    const rows = [
        ...layers.flatMap((layer)=>layerRows(layer, byName)),
        ...peerRows(turns)
    ];
    return rows.map((row)=>({
            ...row,
            name: `${shape}: ${row.name}`
        }));
}
function layerOf(result) {
    const match = LAYER.exec(result.name);
    if (match === null) return [];
    const [, type = '', routing = '', rows] = match;
    return [
        {
            ...result,
            type,
            routing,
            rows: Number(rows)
        }
    ];
}
function layerRows(layer, byName) {
    const { name, value, unit, routing, rows } = layer;
    const of = (what)=>byName.get(`${name}/${what}`) ?? Number.NaN;
    const isReading = rows <= READING_ROWS_MAX;
    const floor = isReading ? {
        value: of('of_reading'),
        to: 'reading the chosen weights'
    } : {
        value: of('of_computing'),
        to: 'computing'
    };
    const dense = byName.get(name.replace(`/${routing}/`, '/dense/')) ?? Number.NaN;
    const isLong = rows > FEW_ROWS_MAX;
    return [
        {
            name,
            value,
            unit,
            ratio: floor,
            bar: isReading ? READING_BAR : null
        },
        {
            name,
            value,
            unit,
            ratio: {
                value: value / dense,
                to: 'dense, as active'
            },
            bar: null
        },
        {
            name: `${name}, places over rows`,
            value: of('padding'),
            unit: 'ratio',
            bar: rows === PADDING_ROWS ? PADDING_BAR : null,
            bound: 'at-most'
        },
        {
            name: `${name}, threads idle`,
            value: 100 * of('idle'),
            unit: '%',
            bar: routing === 'Zipf' && isLong ? IDLE_BAR_PERCENT : null,
            bound: 'at-most'
        }
    ];
}
const cellOf = ({ type, routing, rows })=>`experts/${type}/${routing}/${rows}`;
const peerOf = ({ way })=>way.split(' ')[0];
const ratioOf = ({ ratios })=>quantile(ratios, 0.5);
/** Against the fastest way of each peer in a cell; the bar is for the fastest of all. */ function peerRows(turns) {
    const all = contests(turns);
    return [
        ...new Set(all.map(cellOf))
    ].flatMap((cell)=>{
        const ways = all.filter((contest)=>cellOf(contest) === cell).sort((a, b)=>ratioOf(b) - ratioOf(a));
        const peers = ways.map(peerOf);
        const fastest = ways.filter((way, at)=>peers.indexOf(peerOf(way)) === at);
        const bar = (ways[0]?.rows ?? 0) <= FEW_ROWS_MAX ? PEER_BARS.few : PEER_BARS.many;
        return fastest.map((contest, place)=>({
                name: `${cell}, by turns`,
                value: quantile(contest.us, 0.5),
                unit: 'us',
                ratio: {
                    value: ratioOf(contest),
                    to: contest.way
                },
                bar: place === 0 ? bar : null,
                bound: 'at-most'
            }));
    });
}
function contests(turns) {
    const found = new Map();
    for (const { own, peer } of turns){
        for (const { name, value } of peer){
            const [, type = '', way = '', routing = '', rows] = TIMED.exec(name) ?? [];
            const same = `${type}/${OWN_WAY}/${routing}/${rows}`;
            const us = own.find((result)=>result.name === same)?.value;
            if (us === undefined) continue;
            const known = found.get(name) ?? {
                type,
                way,
                routing,
                rows: Number(rows),
                us: [],
                ratios: []
            };
            found.set(name, known);
            known.us.push(us);
            known.ratios.push(us / value);
        }
    }
    return [
        ...found.values()
    ];
}

//# sourceMappingURL=layer-rows.js.map