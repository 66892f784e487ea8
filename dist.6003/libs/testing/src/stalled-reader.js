import { EventEmitter } from "node:events";
/** A client of a stream over gRPC that takes nothing until the test emits `drain`. */ export class StalledReader extends EventEmitter {
    writableNeedDrain = true;
    cancelled = false;
}

//# sourceMappingURL=stalled-reader.js.map