/** The order in which a process stops, as data. */ /** A step for each thing to close, in this order: one that hangs takes no other's time. */ export function closing(budgetMs, closes) {
    return Object.entries(closes).flatMap(([what, act])=>act === undefined ? [] : [
            {
                name: `${what} close`,
                budgetMs,
                act
            }
        ]);
}
async function runStep(step) {
    const started = performance.now();
    let timer;
    const expiry = new Promise((resolve)=>{
        timer = setTimeout(()=>resolve('out of time'), step.budgetMs);
    });
    let error;
    const work = Promise.resolve().then(()=>step.act(step.budgetMs)).then(()=>'done', (thrown)=>{
        error = thrown;
        return 'failed';
    });
    const outcome = await Promise.race([
        work,
        expiry
    ]);
    clearTimeout(timer);
    const milliseconds = performance.now() - started;
    const report = {
        name: step.name,
        milliseconds,
        outcome
    };
    return error === undefined ? report : {
        ...report,
        error
    };
}
/**
 * Runs the steps once, in order, whatever becomes of each; later calls get the first one's result.
 */ export class Drain {
    steps;
    onStep;
    running;
    constructor(steps, onStep){
        this.steps = steps;
        this.onStep = onStep;
    }
    run() {
        this.running ??= this.runAll();
        return this.running;
    }
    async runAll() {
        const reports = [];
        for (const step of this.steps){
            const report = await runStep(step);
            reports.push(report);
            this.onStep(report);
        }
        return reports;
    }
}

//# sourceMappingURL=drain.js.map