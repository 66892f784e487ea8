import { TesseraError } from "../../../ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../ops/units/src/index.js";
/** Lines of changes a second that are written one by one; what is beyond is summed up. */ export const NOTED_LINES_PER_SECOND = 20;
const DETAIL_LENGTH_MAX = 1000;
const NAME_LENGTH_MAX = 128;
/**
 * Changes in the audit log. Actions of administrators stand between two durable lines; changes
 * that come in streams (behaviours, changes of the catalogue, refusals) is one line each, written
 * behind the answer, and above NOTED_LINES_PER_SECOND one line a second for each kind: the log
 * grows with time and not with whoever calls.
 */ export class ChangeAudits {
    parts;
    second = 0;
    lines = 0;
    sums = new Map();
    timer;
    writing = new Set();
    constructor(parts){
        this.parts = parts;
    }
    /**
   * Does it between two lines of the audit log: what cannot be audited is not done, and rejects
   * with STORE_FULL or IO_FAILED. `detailOf` says how it ended.
   */ async audited(change, act, detailOf = ()=>'') {
        await this.parts.log.write(this.entry(change, 'begun'));
        try {
            const result = await act();
            await this.write({
                ...change,
                detail: detailOf(result)
            }, 'OK');
            return result;
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            await this.write({
                ...change,
                detail: message
            }, code);
            throw thrown;
        }
    }
    /** Does it, and notes how it ended behind the answer. */ async noted(change, act, detailOf = ()=>'') {
        try {
            const result = await act();
            this.note({
                ...change,
                detail: detailOf(result)
            }, 'OK');
            return result;
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            this.note({
                ...change,
                detail: message
            }, code);
            throw thrown;
        }
    }
    /** Notes a change that happened or was refused; nobody waits for its line. */ note(change, outcome) {
        const second = Math.floor(this.parts.nowMs() / MILLISECONDS_PER_SECOND);
        if (second !== this.second) {
            this.second = second;
            this.lines = 0;
        }
        this.lines += 1;
        if (this.lines <= NOTED_LINES_PER_SECOND) {
            this.writeBehind(change, outcome);
            return;
        }
        const { action, actor, edge } = change;
        const key = JSON.stringify([
            action,
            actor,
            edge,
            outcome
        ]);
        this.sums.set(key, {
            change,
            outcome,
            calls: (this.sums.get(key)?.calls ?? 0) + 1
        });
        this.timer ??= setTimeout(()=>this.writeSums(), MILLISECONDS_PER_SECOND).unref();
    }
    /** Writes the sums; the log stays open. */ async close() {
        this.writeSums();
        await Promise.all(this.writing);
    }
    writeSums() {
        clearTimeout(this.timer);
        this.timer = undefined;
        const sums = [
            ...this.sums.values()
        ];
        this.sums.clear();
        for (const { change, outcome, calls } of sums){
            const detail = `${calls} calls within a second, the last of them: ${change.detail ?? ''}`;
            this.writeBehind({
                ...change,
                name: '',
                detail
            }, outcome);
        }
    }
    writeBehind(change, outcome) {
        const written = this.write(change, outcome);
        this.writing.add(written);
        void written.finally(()=>this.writing.delete(written));
    }
    /** Never rejects: what has happened has happened. */ async write(change, outcome) {
        const entry = this.entry(change, outcome);
        try {
            await this.parts.log.write(entry);
        } catch (thrown) {
            this.parts.onFailed(TesseraError.from(thrown), entry);
        }
    }
    entry({ action, actor, edge, name, detail = '' }, outcome) {
        return {
            timeMs: this.parts.nowMs(),
            action,
            actor,
            edge,
            outcome,
            digest: '',
            name: name.slice(0, NAME_LENGTH_MAX),
            detail: detail.slice(0, DETAIL_LENGTH_MAX)
        };
    }
}

//# sourceMappingURL=change-audits.js.map