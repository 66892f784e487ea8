import { loadAddon } from "../../../native/ts/index.js";
let loaded;
/** The addon of this process (or worker thread), loaded at its first use. */ export function addon() {
    loaded ??= loadAddon();
    return loaded;
}

//# sourceMappingURL=addon.js.map