import { TesseraError } from "../../../../ops/errors/src/index.js";
/** @throws TesseraError PROMPT_TEMPLATE_INVALID for a label without tokens, and for two alike */ export function labelPaths(labels, tokenizer) {
    const stops = [
        {
            prefix: [],
            tokens: []
        }
    ];
    const stopOf = (prefix)=>{
        const known = stops.findIndex((stop)=>stop.prefix.join() === prefix.join());
        return known >= 0 ? known : stops.push({
            prefix,
            tokens: []
        }) - 1;
    };
    const all = labels.map((label, i)=>tokensOf(label, i, tokenizer));
    const placed = all.map((tokens)=>tokens.map((token, i)=>{
            const stop = stopOf(tokens.slice(0, i));
            const read = stops[stop]?.tokens ?? [];
            const known = read.indexOf(token);
            return {
                stop,
                token: known >= 0 ? known : read.push(token) - 1
            };
        }));
    for (const [i, tokens] of all.entries()){
        const same = all.findIndex((other)=>other.join() === tokens.join());
        if (same < i) throw refusal(i, `other tokens than those of labels[${same}]`);
    }
    return {
        stops: stops.map(({ prefix, tokens })=>({
                prefix,
                tokens: Int32Array.from(tokens)
            })),
        labels: placed,
        areLong: stops.length > 1
    };
}
function tokensOf({ text }, i, tokenizer) {
    const whole = tokenizer.tokenId(text);
    const tokens = whole === undefined ? encoded(text, tokenizer) : [
        whole
    ];
    if (tokens.length === 0) throw refusal(i, 'a text that the tokenizer has tokens for');
    return tokens;
}
/** Empty where a part of the text has no token. */ function encoded(text, tokenizer) {
    try {
        return tokenizer.encode(text);
    } catch  {
        return [];
    }
}
function refusal(label, expected) {
    const field = `labels[${label}].text`;
    return new TesseraError('PROMPT_TEMPLATE_INVALID', `relevance.json: ${field}: expected ${expected}`, {
        field
    });
}

//# sourceMappingURL=label-paths.js.map