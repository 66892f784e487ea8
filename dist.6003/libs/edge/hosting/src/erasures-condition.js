/** Erasures that wait are a condition of whoever has promised them. */ export function erasuresCondition(pendingCount) {
    return {
        name: 'erasures',
        kind: 'store',
        isNeeded: false,
        read: ()=>{
            const count = pendingCount();
            if (count === 0) return {
                state: 'ok',
                reason: ''
            };
            const reason = `${count} erasures do not hold everywhere yet: see the log for what is away`;
            return {
                state: 'degraded',
                reason
            };
        }
    };
}

//# sourceMappingURL=erasures-condition.js.map