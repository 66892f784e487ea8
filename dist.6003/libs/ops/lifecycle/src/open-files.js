import { expecting } from "../../errors/src/index.js";
/** Libraries, logs and listeners of a process that serves nobody yet. */ export const OPEN_FILES_MIN = 64;
/**
 * Why a process cannot start with so few files; undefined where it can.
 * @param limits `/proc/self/limits`
 */ export function faultOfOpenFiles(limits) {
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    if (soft === undefined || Number(soft) >= OPEN_FILES_MIN) return undefined;
    const expected = `a limit of at least ${OPEN_FILES_MIN} open files, one more per connection`;
    return expecting('CONFIG_INVALID')('ulimit -n', expected, Number(soft));
}

//# sourceMappingURL=open-files.js.map