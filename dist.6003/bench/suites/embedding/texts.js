import { Random } from "../../models/random.js";
import { TOKENS, wordOf } from "../../models/random-encoder.js";
/** Tokens of a text, the special ones included: lognormal. */ const LENGTH = {
    median: 48,
    spread: 0.8,
    least: 8,
    most: 256
};
/** Of an ad's title. */ export const TITLE = {
    median: 14,
    spread: 0.4,
    least: 6,
    most: 32
};
export function drawTexts(count, seed, lengths = LENGTH) {
    const random = new Random(seed);
    return Array.from({
        length: count
    }, ()=>{
        const length = random.length(lengths);
        const own = Array.from({
            length: length - 2
        }, ()=>TOKENS.first + random.below(TOKENS.count - TOKENS.first));
        return {
            text: own.map(wordOf).join(' '),
            tokens: [
                TOKENS.begin,
                ...own,
                TOKENS.end
            ]
        };
    });
}
/** Places that batches of this size have over the tokens in them, each padded to its longest. */ export function placesOverTokens(lengths, way, batch) {
    const ordered = way === 'sorted' ? [
        ...lengths
    ].sort((a, b)=>b - a) : lengths;
    let [places, tokens] = [
        0,
        0
    ];
    for(let at = 0; at < ordered.length; at += batch){
        const own = ordered.slice(at, at + batch);
        places += own.length * Math.max(...own);
        tokens += own.reduce((sum, length)=>sum + length, 0);
    }
    return places / tokens;
}

//# sourceMappingURL=texts.js.map