const INTERVAL_MS = 200;
const PLAIN_INTERVAL_MS = 5000;
/**
 * One line of progress on the standard error: rewritten in place on a terminal, a new line every
 * few seconds elsewhere.
 */ export class ProgressLine {
    stage = '';
    last = 0;
    shown = false;
    interval = process.stderr.isTTY ? INTERVAL_MS : PLAIN_INTERVAL_MS;
    update = (stage, done, total, note = '')=>{
        const now = performance.now();
        if (stage !== this.stage) {
            this.stage = stage;
            this.last = now;
            return;
        }
        if (now - this.last < this.interval) return;
        this.last = now;
        const share = total > 0 ? ` ${Math.floor(100 * done / total)} %` : '';
        const text = `${stage}: ${done} of ${total}${share}${note === '' ? '' : `, ${note}`}`;
        if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
        else process.stderr.write(`${text}\n`);
        this.shown = true;
    };
    /** Clears the line, so that what follows starts at its place. */ end() {
        if (this.shown && process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
    }
}

//# sourceMappingURL=progress.js.map