import { seeded, untilNextUs } from "./seeded.js";
/** Block numbers of a user: no two users have one in common. */ const BLOCKS_PER_USER = 1 << 16;
/** Users by rank: the first comes most often. */ function zipfUser(users, exponent) {
    const sums = new Float64Array(users);
    let sum = 0;
    for(let rank = 0; rank < users; rank += 1){
        sum += (rank + 1) ** -exponent;
        sums[rank] = sum;
    }
    return (random)=>{
        const wanted = random * sum;
        let [low, high] = [
            0,
            users - 1
        ];
        while(low < high){
            const middle = low + high >>> 1;
            if (sums[middle] < wanted) low = middle + 1;
            else high = middle;
        }
        return low;
    };
}
/** Times of one kind; `rateAt` never exceeds `most`. */ function times(random, most, rateAt, endUs) {
    const found = [];
    if (most === 0) return found;
    for(let us = untilNextUs(random, most); us < endUs; us += untilNextUs(random, most)){
        if (random() * most < rateAt(us)) found.push(us);
    }
    return found;
}
export function drawnUsers(drawn) {
    const { recallsPerSecond, appendsPerSecond, flood, blockTokens, historyTokens } = drawn;
    const endUs = drawn.seconds * 1e6;
    const random = seeded(drawn.seed);
    const isFlood = (us)=>us >= endUs / 3 && us < 2 * endUs / 3;
    const appendRate = (us)=>appendsPerSecond * (isFlood(us) ? flood : 1);
    const recalls = times(random, recallsPerSecond, ()=>recallsPerSecond, endUs);
    const appends = times(random, appendsPerSecond * Math.max(1, flood), appendRate, endUs);
    const moments = [
        ...recalls.map((atUs)=>({
                atUs,
                kind: 'recall'
            })),
        ...appends.map((atUs)=>({
                atUs,
                kind: 'append'
            }))
    ].sort((a, b)=>a.atUs - b.atUs);
    const userAt = zipfUser(drawn.users, drawn.zipf);
    const tokensOf = new Map();
    const arrivals = moments.map(({ atUs, kind })=>{
        const user = userAt(random());
        const before = tokensOf.get(user) ?? historyTokens;
        const grown = Math.min(2 * historyTokens, before + drawn.appendTokens);
        const tokens = kind === 'append' ? grown : before;
        tokensOf.set(user, tokens);
        const blocks = Array.from({
            length: Math.floor(tokens / blockTokens)
        }, (_, at)=>user * BLOCKS_PER_USER + at);
        const isRecall = kind === 'recall';
        const promptTokens = tokens + (isRecall ? drawn.sceneTokens : 0);
        return {
            atUs,
            kind,
            user: `user-${user}`,
            promptTokens,
            steps: isRecall ? drawn.steps : 0,
            blocks
        };
    });
    return {
        name: `${drawn.users} drawn users`,
        arrivals,
        blockTokens
    };
}

//# sourceMappingURL=drawn-users.js.map