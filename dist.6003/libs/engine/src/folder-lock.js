import { addon } from "./addon.js";
import { callNative } from "./native-error.js";
/**
 * One process at a time, by a lock of the kernel on a file, which is made where it is missing and
 * stays: it is free as soon as its process has ended, however that ended.
 * @returns what gives it back
 * @throws TesseraError STORE_INVALID where another process has it or it cannot be written
 */ export function lockFile(path) {
    const lock = callNative(()=>addon().folderLock(path));
    return ()=>callNative(()=>addon().folderUnlock(lock));
}

//# sourceMappingURL=folder-lock.js.map