/**
 * As the work settles; rejects where that takes more milliseconds, and the work goes on. An answer
 * that has arrived while this thread was busy is taken, however late the thread reads it: Node
 * runs expired timers before it reads sockets, and a busy caller would call its store away.
 */ export function withinMs(budgetMs, work) {
    let timer;
    let lastTurn;
    const expiry = new Promise((_, reject)=>{
        const expire = ()=>reject(new Error(`no answer within ${budgetMs} ms`));
        timer = setTimeout(()=>{
            lastTurn = setImmediate(expire);
        }, budgetMs);
    });
    return Promise.race([
        work,
        expiry
    ]).finally(()=>{
        clearTimeout(timer);
        clearImmediate(lastTurn);
    });
}

//# sourceMappingURL=within-ms.js.map