import { TesseraError } from "../../ops/errors/src/index.js";
import { NOTHING } from "../../../native/ts/index.js";
import { addon } from "./addon.js";
import { awaitNative, callNative } from "./native-error.js";
/** Adapters of an engine, by what callers hold of them. */ export class NativeAdapters {
    handle;
    slots = new WeakMap();
    constructor(handle){
        this.handle = handle;
    }
    async load(folder, limits) {
        const loaded = await awaitNative(()=>addon().engineLoadAdapter(this.handle, folder, limits));
        const { slot, ...adapter } = loaded;
        this.slots.set(adapter, slot);
        return adapter;
    }
    release(adapter) {
        const slot = this.slotOf(adapter);
        this.slots.delete(adapter);
        callNative(()=>addon().engineReleaseAdapter(this.handle, slot));
    }
    succeed(adapter, predecessor) {
        const [slot, before] = [
            this.slotOf(adapter),
            this.slotOf(predecessor)
        ];
        callNative(()=>addon().engineSucceedAdapter(this.handle, slot, before));
    }
    arena() {
        return callNative(()=>addon().engineAdapterArena(this.handle));
    }
    /** Throws INTERNAL for an adapter that this engine did not load, or that was released. */ slotOf(adapter) {
        if (adapter === undefined) return NOTHING.adapter;
        const slot = this.slots.get(adapter);
        if (slot !== undefined) return slot;
        throw new TesseraError('INTERNAL', 'adapter: expected one that this engine has loaded');
    }
}

//# sourceMappingURL=native-adapters.js.map