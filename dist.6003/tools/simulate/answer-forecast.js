/** Answers whose times say how long the next ones take. */ const KNOWN_ANSWERS = 256;
/**
 * When an answer that is admitted now would get one of the places of nodes that answer: places
 * under way become free as answers of their age have ended so far, and prompts that are complete
 * before take one each for as long as an answer lasts in the mean. Both are known from the last
 * answers alone.
 */ export class AnswerForecast {
    foreseen = new Set();
    last = [];
    /** An answer is admitted whose prompt is complete then. @returns its account */ admit(readyUs) {
        const answer = {
            beginsUs: readyUs,
            hasBegun: false
        };
        this.foreseen.add(answer);
        return {
            begin: (nowUs)=>{
                answer.beginsUs = nowUs;
                answer.hasBegun = true;
            },
            end: (nowUs)=>{
                this.foreseen.delete(answer);
                this.last.push(nowUs - answer.beginsUs);
                if (this.last.length > KNOWN_ANSWERS) this.last.shift();
            },
            drop: ()=>{
                this.foreseen.delete(answer);
            }
        };
    }
    /** When an answer begins whose prompt is complete at `readyUs`, with so many places in all. */ beginOf(readyUs, places, nowUs) {
        if (places === 0) return Number.POSITIVE_INFINITY;
        const ready = [];
        const frees = [];
        for (const { beginsUs, hasBegun } of this.foreseen){
            if (hasBegun) frees.push(nowUs + this.leftUs(nowUs - beginsUs));
            else if (beginsUs <= readyUs) ready.push(Math.max(beginsUs, nowUs));
        }
        while(frees.length < places)frees.push(nowUs);
        frees.sort((a, b)=>a - b);
        const meanUs = this.leftUs(0);
        for (const atUs of ready.sort((a, b)=>a - b)){
            insert(frees, Math.max(atUs, frees.shift()) + meanUs);
        }
        // More answers than places: of a node that has died since.
        return Math.max(readyUs, frees[Math.max(0, frees.length - places)]);
    }
    /** Microseconds that an answer of an age still lasts; 0 before any has ended. */ leftUs(ageUs) {
        let [sum, count] = [
            0,
            0
        ];
        for (const us of this.last){
            if (us <= ageUs) continue;
            sum += us - ageUs;
            count += 1;
        }
        return count === 0 ? 0 : sum / count;
    }
}
/** Into numbers in ascending order. */ function insert(sorted, value) {
    const at = sorted.findLastIndex((one)=>one <= value);
    sorted.splice(at + 1, 0, value);
}

//# sourceMappingURL=answer-forecast.js.map