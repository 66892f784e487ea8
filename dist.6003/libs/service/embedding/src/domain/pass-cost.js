/** Cost of the passes of a model: predicted from its work, corrected by measured passes. */ /** Multiplications per microsecond before the first pass was timed. */ const FIRST_RATE = 10_000;
/** Of a new measurement in the rate. */ const NEWEST_SHARE = 0.25;
export class PassCost {
    work;
    rate = FIRST_RATE;
    constructor(work){
        this.work = work;
    }
    /** Multiplications of a text. */ workOf(tokens) {
        return tokens * (this.work.row + tokens * this.work.pair);
    }
    predictUs(work) {
        return work / this.rate;
    }
    /** A pass of this work took so long. */ note(work, computeUs) {
        if (computeUs <= 0) return;
        this.rate += NEWEST_SHARE * (work / computeUs - this.rate);
    }
}

//# sourceMappingURL=pass-cost.js.map