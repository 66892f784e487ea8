const LINE_INTERVAL_MS = 1000;
const PERCENT = 100;
/** Prints a stage when it begins, at most one line per second while it runs, and its seconds. */ export class ProgressLines {
    write;
    now;
    stage = '';
    stageStarted = 0;
    lastLine = 0;
    constructor(write, now = ()=>performance.now()){
        this.write = write;
        this.now = now;
    }
    listener = (stage, done, total)=>{
        if (stage !== this.stage) this.begin(stage);
        else if (this.now() - this.lastLine >= LINE_INTERVAL_MS) this.line(done, total);
    };
    /** Ends the stage that runs. */ end() {
        if (this.stage === '') return;
        const seconds = (this.now() - this.stageStarted) / 1000;
        this.write(`  ${this.stage}: ${seconds.toFixed(1)} s`);
        this.stage = '';
    }
    begin(stage) {
        this.end();
        this.stage = stage;
        this.stageStarted = this.now();
        this.lastLine = this.stageStarted;
        this.write(`  ${stage} ...`);
    }
    line(done, total) {
        this.lastLine = this.now();
        const share = total > 0 ? `${Math.floor(done / total * PERCENT)} %` : String(done);
        this.write(`  ${this.stage}: ${share}`);
    }
}

//# sourceMappingURL=progress.js.map