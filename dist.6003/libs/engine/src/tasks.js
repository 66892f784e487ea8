import { addon } from "./addon.js";
import { callNative } from "./native-error.js";
/** Before the first call of the process that takes time: opening a catalogue is one. */ export function configureTasks(limits) {
    callNative(()=>addon().tasksConfigure(limits));
}
/** Calls into the engine's library that have threads of their own. */ export function taskDepths() {
    return callNative(()=>addon().tasksDepths());
}

//# sourceMappingURL=tasks.js.map