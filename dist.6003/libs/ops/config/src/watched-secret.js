import { statSync } from "node:fs";
import { readSecret } from "./key-files.js";
/** Identity of a file: another file of its name, as a link that leads elsewhere, differs. */ export function markOf(path) {
    try {
        const { ino, dev, size, mtimeMs, ctimeMs } = statSync(path);
        return [
            ino,
            dev,
            size,
            mtimeMs,
            ctimeMs
        ].join(' ');
    } catch  {
        return 'absent';
    }
}
/**
 * The secret of a file, '' where none is named. The file is read again where it has changed; while
 * it cannot be read, the secret is the last that could. A question costs microseconds.
 * @throws TesseraError CONFIG_INVALID for a file that holds no secret
 */ export function watchedSecret(field, path) {
    let secret = readSecret(field, path);
    if (path === '') return ()=>secret;
    let mark = markOf(path);
    return ()=>{
        const now = markOf(path);
        if (now === mark) return secret;
        try {
            secret = readSecret(field, path);
            mark = now;
        } catch  {
        // The next question reads again.
        }
        return secret;
    };
}

//# sourceMappingURL=watched-secret.js.map