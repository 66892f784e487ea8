function _ts_decorate(decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") {
        r = Reflect.decorate(decorators, target, key, desc);
    } else {
        for(var i = decorators.length - 1; i >= 0; i--){
            if (d = decorators[i]) {
                r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
            }
        }
    }
    return c > 3 && r && Object.defineProperty(target, key, r), r;
}
function _ts_metadata(metadataKey, metadataValue) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") {
        return Reflect.metadata(metadataKey, metadataValue);
    }
}
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { Injectable } from "@nestjs/common";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MILLISECONDS_PER_MINUTE, MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { ConsoleParts } from "./console-parts.js";
import { Recorded } from "./recorded.js";
/** Exports on their way, or waiting to be fetched. */ const JOBS_MAX = 2;
/** A file is kept for so long. */ const KEPT_MS = 10 * MILLISECONDS_PER_MINUTE;
export class ExportJobs {
    parts;
    recorded;
    jobs = new Map();
    constructor(parts, recorded){
        this.parts = parts;
        this.recorded = recorded;
    }
    /** @throws TesseraError OPERATION_BUSY where there are too many: the oldest that ended goes */ begin(sql, format, asker) {
        const { store } = this.recorded;
        if (this.jobs.size >= JOBS_MAX) {
            const ended = [
                ...this.jobs
            ].find(([, { state }])=>state !== 'running');
            if (ended === undefined) {
                const message = `exports: expected at most ${JOBS_MAX} at a time, got another`;
                throw new TesseraError('OPERATION_BUSY', message, {
                    field: 'exports'
                });
            }
            void this.remove(ended[0]);
        }
        const id = randomUUID();
        const ending = new AbortController();
        const beganMs = this.parts.nowMs();
        const nothing = {
            file: undefined,
            bytes: 0,
            endedMs: 0,
            message: ''
        };
        const job = {
            format,
            beganMs,
            ending,
            state: 'running',
            ...nothing
        };
        this.jobs.set(id, job);
        const { exportRowsMax: rowsMax, exportSeconds } = this.parts.limits;
        const limits = {
            rowsMax,
            timeoutMs: exportSeconds * MILLISECONDS_PER_SECOND,
            asker
        };
        void this.finish(id, job, store.exportTo(sql, format, limits, ending.signal));
        return this.shown(id, job);
    }
    /** @throws TesseraError ROUTE_NOT_FOUND where there is none of the ID */ state(id) {
        return this.shown(id, this.of(id));
    }
    /** @throws TesseraError OPERATION_BUSY while it is on its way */ file(id) {
        const { file, format, message, state } = this.of(id);
        if (file !== undefined) return {
            file,
            format
        };
        const code = state === 'running' ? 'OPERATION_BUSY' : 'STORE_UNAVAILABLE';
        const reason = message || 'expected an export that has ended, got one on its way';
        throw new TesseraError(code, `exports: ${reason}`, {
            field: 'exports'
        });
    }
    /** Ends it, and removes its file. False: there was none. */ async remove(id) {
        const job = this.jobs.get(id);
        if (job === undefined) return false;
        this.jobs.delete(id);
        job.ending.abort();
        await job.file?.release();
        return true;
    }
    of(id) {
        const job = this.jobs.get(id);
        if (job !== undefined) return job;
        const message = `exports: expected the ID of one that is kept, got '${id.slice(0, 80)}'`;
        throw new TesseraError('ROUTE_NOT_FOUND', message, {
            field: 'exports'
        });
    }
    async finish(id, job, exported) {
        try {
            const file = await exported;
            const { size } = await stat(file.path);
            if (!this.jobs.has(id)) {
                await file.release();
                return;
            }
            Object.assign(job, {
                file,
                bytes: size,
                state: 'done'
            });
            // One whose data was erased is nobody's any more.
            file.ended.addEventListener('abort', ()=>void this.remove(id), {
                once: true
            });
        } catch (thrown) {
            Object.assign(job, {
                state: 'failed',
                message: TesseraError.from(thrown).message
            });
        }
        job.endedMs = this.parts.nowMs();
        setTimeout(()=>void this.remove(id), KEPT_MS).unref();
    }
    shown(id, { state, format, bytes, beganMs, endedMs, message }) {
        const milliseconds = (endedMs || this.parts.nowMs()) - beganMs;
        return {
            id,
            state,
            format,
            bytes,
            milliseconds,
            message
        };
    }
}
ExportJobs = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts,
        typeof Recorded === "undefined" ? Object : Recorded
    ])
], ExportJobs);

//# sourceMappingURL=export-jobs.js.map