/** How soon jobs could end at best: in one queue, or with all that comes foreseen. */ /** Microseconds from arrival to end of whole jobs that wait together for the next free server. */ export function centralQueue(jobs, servers, order) {
    const freeAtUs = new Array(servers).fill(0);
    const latencies = [];
    const waiting = [];
    let next = 0;
    while(latencies.length < jobs.length){
        const server = freeAtUs.indexOf(Math.min(...freeAtUs));
        const coming = jobs[next];
        const idleUs = waiting.length > 0 ? 0 : coming?.atUs ?? 0;
        const nowUs = Math.max(freeAtUs[server], idleUs);
        while(next < jobs.length && jobs[next].atUs <= nowUs){
            waiting.push(jobs[next++]);
        }
        if (order === 'shortest') waiting.sort((a, b)=>a.us - b.us);
        const job = waiting.shift();
        freeAtUs[server] = nowUs + job.us;
        latencies.push(nowUs + job.us - job.atUs);
    }
    return latencies;
}
/** Steps by which the bound is halved down: to a millionth of where it begins. */ const BISECTIONS = 20;
/**
 * Microseconds that a quantile of latencies is not below on one server, whoever schedules, be it
 * with knowledge of all that will come. Jobs that may be late are put behind all others; the rest
 * runs as it came, which is best where deadlines come in the order of arrivals.
 */ export function quantileBoundUs(jobs, share) {
    const lateMost = jobs.length - Math.ceil(share * jobs.length);
    let low = 0;
    let high = Math.max(...centralQueue(jobs, 1, 'first-come'));
    for(let step = 0; step < BISECTIONS; step += 1){
        const middle = (low + high) / 2;
        if (leastLate(jobs, middle) <= lateMost) high = middle;
        else low = middle;
    }
    return low;
}
/**
 * Fewest jobs that end later than so long after they came (H. Kise, T. Ibaraki, H. Mine, "A
 * solvable case of the one-machine scheduling problem with ready and due times", 1978): where a job
 * would be late, the one goes without which the others end soonest.
 */ export function leastLate(jobs, withinUs) {
    /** Jobs one right behind the other, the last of all that are not late. */ let busy = [];
    let endUs = 0;
    let late = 0;
    for (const job of jobs){
        if (job.atUs >= endUs) busy = [];
        const begunUs = Math.max(job.atUs, endUs);
        busy.push(job);
        if (begunUs + job.us <= job.atUs + withinUs) {
            endUs = begunUs + job.us;
            continue;
        }
        late += 1;
        const ends = busy.map((_, at)=>endWithout(busy, at));
        const best = ends.indexOf(Math.min(...ends));
        endUs = best === busy.length - 1 ? endUs : ends[best];
        busy.splice(best, 1);
    }
    return late;
}
function endWithout(jobs, without) {
    let endUs = 0;
    for (const [at, { atUs, us }] of jobs.entries()){
        if (at !== without) endUs = Math.max(endUs, atUs) + us;
    }
    return endUs;
}

//# sourceMappingURL=ideal-schedule.js.map