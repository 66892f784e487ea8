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
import { Injectable } from "@nestjs/common";
import { ChangeBatch, parseChangeLine } from "../../../libs/service/catalogue/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { ConsoleParts } from "./console-parts.js";
/** Files that are on their way at a time. */ const IMPORTS_MAX = 4;
/** One that nothing has come for since is given up where another wants its place. */ const IDLE_MS = 60_000;
export class Imports {
    parts;
    open = new Map();
    constructor(parts){
        this.parts = parts;
    }
    /** @throws TesseraError STORE_FULL where too many are on their way */ begin() {
        const now = this.parts.nowMs();
        if (this.open.size >= IMPORTS_MAX) {
            const idle = [
                ...this.open
            ].find(([, { touchedMs }])=>now - touchedMs > IDLE_MS);
            if (idle === undefined) {
                const message = `imports: expected at most ${IMPORTS_MAX} at a time, got another`;
                throw new TesseraError('STORE_FULL', message, {
                    field: 'imports'
                });
            }
            this.open.delete(idle[0]);
        }
        const id = randomUUID();
        const batch = new ChangeBatch();
        this.open.set(id, {
            batch,
            lines: [],
            lineCount: 0,
            touchedMs: now
        });
        return id;
    }
    /**
   * @param text whole lines
   * @throws TesseraError CATALOGUE_INVALID naming line and member: then the import is given up
   */ add(id, text) {
        const wanted = this.of(id);
        const changes = [];
        try {
            for (const line of text.replace(/\n$/, '').split('\n')){
                wanted.lineCount += 1;
                if (line.trim() === '') continue;
                changes.push(parseChangeLine(line, wanted.lineCount));
                wanted.lines.push(wanted.lineCount);
            }
            wanted.batch.add(changes);
        } catch (thrown) {
            this.drop(id);
            throw thrown;
        }
        wanted.touchedMs = this.parts.nowMs();
        return {
            lineCount: wanted.lineCount,
            changeCount: wanted.batch.changeCount
        };
    }
    /** Rejects with CATALOGUE_INVALID or ITEM_NOT_FOUND naming line and member, and IO_FAILED. */ async apply(id, source) {
        const { batch, lines, lineCount } = this.of(id);
        this.drop(id);
        const { changeCount } = batch;
        if (changeCount === 0) {
            const message = 'lines: expected at least one change, got none';
            throw new TesseraError('CATALOGUE_INVALID', message, {
                field: 'lines'
            });
        }
        const changes = this.parts.runtime.operations.changesOf('');
        const { sequence } = await changes.applyBatch(batch, source).catch((thrown)=>{
            throw withLine(TesseraError.from(thrown), lines);
        });
        return {
            lineCount,
            changeCount,
            sequence
        };
    }
    drop(id) {
        return this.open.delete(id);
    }
    of(id) {
        const found = this.open.get(id);
        if (found !== undefined) return found;
        const message = `import: expected the ID of one on its way, got '${id.slice(0, 80)}'`;
        throw new TesseraError('ROUTE_NOT_FOUND', message, {
            field: 'import'
        });
    }
}
Imports = _ts_decorate([
    Injectable(),
    _ts_metadata("design:type", Function),
    _ts_metadata("design:paramtypes", [
        typeof ConsoleParts === "undefined" ? Object : ConsoleParts
    ])
], Imports);
/** The catalogue counts the changes of the batch; who wrote the file counts its lines. */ function withLine(error, lines) {
    const [, index, member = ''] = /^changes\[(\d+)\](.*)$/.exec(error.field ?? '') ?? [];
    const line = index === undefined ? undefined : lines[Number(index)];
    if (line === undefined) return error;
    const reason = error.message.replace(/^changes\[\d+\]/, '');
    const message = `line ${line}${reason}`;
    return new TesseraError(error.code, message, {
        field: `lines[${line}]${member}`,
        cause: error
    });
}

//# sourceMappingURL=imports.js.map