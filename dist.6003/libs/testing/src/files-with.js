import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
/** Paths below the folder of the files that have the bytes, names of files and folders included. */ export function filesWith(folder, bytes) {
    const wanted = Buffer.from(bytes);
    return readdirSync(folder, {
        recursive: true,
        encoding: 'utf8'
    }).filter((path)=>hasBytes(folder, path, wanted)).sort();
}
function hasBytes(folder, path, wanted) {
    if (Buffer.from(path).includes(wanted)) return true;
    try {
        const whole = join(folder, path);
        return statSync(whole).isFile() && readFileSync(whole).includes(wanted);
    } catch (thrown) {
        // It went meanwhile.
        if (thrown.code === 'ENOENT') return false;
        throw thrown;
    }
}

//# sourceMappingURL=files-with.js.map