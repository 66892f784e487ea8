/** The order in which prompts share the most, and what each shares with those before it. */ /**
 * By their tokens: then what a prompt has in common with any prompt before it, it has in common
 * with its neighbour, so that nothing is computed twice as long as neighbours run beside or behind
 * each other.
 */ export function trieOrder(prompts) {
    const order = prompts.map((_, i)=>i);
    const [first = NONE] = prompts;
    // The prefix that all share, a long query for one, is compared once.
    const from = prompts.reduce((least, of)=>commonLength(first, of, 0, least), first.length);
    order.sort((a, b)=>compare(prompts[a] ?? NONE, prompts[b] ?? NONE, from) || a - b);
    const asked = [];
    const shared = [];
    const placeOf = new Array(prompts.length);
    for (const i of order){
        const prompt = prompts[i] ?? NONE;
        const before = prompts[asked.at(-1) ?? -1] ?? NONE;
        const common = asked.length === 0 ? 0 : commonLength(before, prompt, from);
        if (asked.length === 0 || common < prompt.length || before.length > common) {
            asked.push(i);
            shared.push(common);
        }
        placeOf[i] = asked.length - 1;
    }
    return {
        asked,
        shared,
        placeOf
    };
}
const NONE = new Int32Array();
/** First tokens in common, of which `from` are known to be, and no more than `end`. */ function commonLength(a, b, from, end = a.length) {
    const most = Math.min(a.length, b.length, end);
    let length = from;
    while(length < most && a[length] === b[length])length += 1;
    return length;
}
function compare(a, b, from) {
    const common = commonLength(a, b, from);
    return (a[common] ?? -1) - (b[common] ?? -1);
}

//# sourceMappingURL=trie-order.js.map