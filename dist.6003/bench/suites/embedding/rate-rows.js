import { quantile } from "../../result.js";
const MS_PER_SECOND = 1000;
/** Of our rate: over the fastest peer that batches texts as they come, and the fastest of all. */ const BARS = {
    padded: 1.5,
    best: 1.2
};
const COSINE_BAR = 0.99999;
const rateOf = ({ milliseconds }, texts)=>MS_PER_SECOND * texts / quantile(milliseconds, 0.5);
/** Texts a second, ours over each peer of the same precision. */ export function rateRows(prefix, texts, all) {
    return all.filter(({ way })=>way === undefined).flatMap((own)=>{
        const name = `${prefix}: ${own.name}`;
        const row = {
            name,
            value: rateOf(own, texts),
            unit: 'texts/s'
        };
        const peers = all.filter(({ precision, way })=>way !== undefined && precision === own.precision).sort((a, b)=>rateOf(b, texts) - rateOf(a, texts));
        if (peers.length === 0) return [
            {
                ...row,
                bar: null
            }
        ];
        const padded = peers.find(({ way })=>way === 'padded');
        return peers.map((peer, place)=>{
            const ratio = {
                value: row.value / rateOf(peer, texts),
                to: `${peer.name} ${peer.way}`
            };
            const bar = peer === padded ? BARS.padded : place === 0 ? BARS.best : null;
            return {
                ...row,
                ratio,
                bar
            };
        });
    });
}
/** Gain of a narrower type: our own times over those of the wider one. */ export function typeRows(prefix, all) {
    const own = all.filter(({ way })=>way === undefined);
    return own.slice(1).flatMap((narrow, at)=>{
        const wide = own[at];
        if (wide === undefined) return [];
        const value = quantile(narrow.milliseconds, 0.5);
        const ratio = {
            value: value / quantile(wide.milliseconds, 0.5),
            to: wide.name
        };
        return [
            {
                name: `${prefix}: ${narrow.name}, time`,
                value,
                unit: 'ms',
                ratio,
                bar: null
            }
        ];
    });
}
/** Of the vectors of a text, the farthest apart; 0 where one side has not all of them. */ export function lowestCosine(one, other) {
    if (one.length !== other.length) return 0;
    return Math.min(...one.map((vector, at)=>cosine(vector, other[at] ?? [])));
}
function cosine(a, b) {
    let [product, aa, bb] = [
        0,
        0,
        0
    ];
    for(let i = 0; i < a.length; i += 1){
        product += a[i] * (b[i] ?? 0);
        aa += a[i] ** 2;
        bb += (b[i] ?? 0) ** 2;
    }
    return product / Math.sqrt(aa * bb);
}
/** Everybody's vectors beside those of one that computes in F32. */ export function cosineRow(prefix, { name, precision, way }, value) {
    const of = way === undefined ? name : `${name} ${way}`;
    const bar = way === undefined && precision === 'f32' ? COSINE_BAR : null;
    return {
        name: `${prefix}: ${of}, lowest cosine`,
        value,
        unit: '',
        bar
    };
}

//# sourceMappingURL=rate-rows.js.map