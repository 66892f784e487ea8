/** 1 - the Jaccard index of two lists of items; 0 where both are empty. */ export function jaccardDistance(left, right) {
    const [a, b] = [
        new Set(left),
        new Set(right)
    ];
    const all = new Set([
        ...a,
        ...b
    ]).size;
    const common = [
        ...a
    ].filter((id)=>b.has(id)).length;
    return all === 0 ? 0 : 1 - common / all;
}
/**
 * Shapley values of players in a game: the mean over all orders of what each adds when it joins.
 * @param worth of a coalition, given as a sorted list
 */ export function shapleyValues(players, worth) {
    const values = new Map();
    const factorial = (n)=>n <= 1 ? 1 : n * factorial(n - 1);
    const orders = factorial(players.length);
    for (const player of players){
        const others = players.filter((other)=>other !== player);
        let value = 0;
        for(let mask = 0; mask < 2 ** others.length; mask++){
            const before = others.filter((_, bit)=>(mask >> bit) % 2 === 1);
            const weight = factorial(before.length) * factorial(others.length - before.length) / orders;
            const joined = players.filter((one)=>one === player || before.includes(one));
            value += weight * (worth(joined) - worth(before));
        }
        values.set(player, value);
    }
    return values;
}

//# sourceMappingURL=shapley.js.map