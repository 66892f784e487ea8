/**
 * Parts of the service that the classes of priority get while all of them ask for more: high,
 * normal, low. The engine's queue has the same weights (native/src/scheduler/fair_share.h).
 */ const CLASS_WEIGHTS = [
    4,
    2,
    1
];
export const CLASS_COUNT = CLASS_WEIGHTS.length;
/**
 * The part of `capacity` that each class may take, when so much is asked for in each: weighted
 * max-min fairness (Bertsekas and Gallager, Data Networks, 6.5.2). The others get what one
 * class leaves; a class is always sure of its weight's part. Rates in any one unit.
 */ export function classShares(offered, capacity) {
    const asking = CLASS_WEIGHTS.map((weight, cls)=>(offered[cls] ?? 0) > 0 ? weight : 0);
    const weightSum = asking.reduce((sum, weight)=>sum + weight, 0);
    const granted = maxMin(offered, capacity);
    return CLASS_WEIGHTS.map((weight, cls)=>{
        const others = weightSum - (asking[cls] ?? 0);
        return Math.max((granted[cls] ?? 0) / capacity, weight / (weight + others));
    });
}
function maxMin(offered, capacity) {
    const granted = CLASS_WEIGHTS.map(()=>0);
    const open = new Set(CLASS_WEIGHTS.keys());
    let left = capacity;
    while(open.size > 0){
        const weightSum = [
            ...open
        ].reduce((sum, cls)=>sum + (CLASS_WEIGHTS[cls] ?? 0), 0);
        const part = (cls)=>left * (CLASS_WEIGHTS[cls] ?? 0) / weightSum;
        const modest = [
            ...open
        ].filter((cls)=>(offered[cls] ?? 0) <= part(cls));
        if (modest.length === 0) {
            for (const cls of open)granted[cls] = part(cls);
            return granted;
        }
        for (const cls of modest){
            granted[cls] = offered[cls] ?? 0;
            open.delete(cls);
        }
        left = capacity - granted.reduce((sum, rate)=>sum + rate, 0);
    }
    return granted;
}

//# sourceMappingURL=class-shares.js.map