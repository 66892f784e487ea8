import { TesseraError } from "../../../../ops/errors/src/index.js";
/** Others that wait at most: beyond them nobody is let in within any time. */ const WAITING_MAX = 200;
const RETRY_MS = 1000;
/** Places for work: people who wait come in their order, but for those who have their share. */ export class Slots {
    rules;
    taken = [];
    waiting = [];
    constructor(rules){
        this.rules = rules;
    }
    /**
   * Resolves with the way to give the place back. Rejects with OPERATION_BUSY, or CANCELLED once
   * the signal is aborted.
   */ async take(asker, signal) {
        const { waitMs } = this.rules;
        if (this.waiting.length >= WAITING_MAX) throw this.busy();
        let enter = ()=>{};
        let reject = (_error)=>{};
        const promise = new Promise((resolve, refuse)=>{
            [enter, reject] = [
                resolve,
                refuse
            ];
        });
        const one = {
            asker,
            enter
        };
        const giveUp = (error)=>{
            this.waiting = this.waiting.filter((other)=>other !== one);
            reject(error);
        };
        const late = setTimeout(()=>giveUp(this.busy()), waitMs);
        const gone = ()=>giveUp(new TesseraError('CANCELLED', 'sql: the caller went away'));
        signal?.addEventListener('abort', gone, {
            once: true
        });
        if (signal?.aborted === true) gone();
        else this.waiting.push(one);
        this.letIn();
        try {
            await promise;
        } finally{
            clearTimeout(late);
            signal?.removeEventListener('abort', gone);
        }
        return ()=>{
            const at = this.taken.indexOf(asker);
            if (at >= 0) this.taken.splice(at, 1);
            this.letIn();
        };
    }
    letIn() {
        const { countMax, ownMax } = this.rules;
        const hasShare = ({ asker })=>this.taken.filter((other)=>other === asker).length >= ownMax;
        while(this.taken.length < countMax){
            const next = this.waiting.find((one)=>!hasShare(one));
            if (next === undefined) return;
            this.waiting = this.waiting.filter((one)=>one !== next);
            this.taken.push(next.asker);
            next.enter();
        }
    }
    busy() {
        const { countMax, waitMs } = this.rules;
        const message = `sql: expected one of ${countMax} places within ${waitMs} ms, got none; ` + `${this.waiting.length} wait`;
        return new TesseraError('OPERATION_BUSY', message, {
            field: 'sql',
            retryAfterMs: RETRY_MS
        });
    }
}

//# sourceMappingURL=slots.js.map