import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
/** A folder of the test's own, with the files written: texts as they are, other values as JSON. */ export function temporaryFolder(files) {
    const path = mkdtempSync(join(tmpdir(), 'tessera-'));
    for (const [name, content] of Object.entries(files)){
        const target = join(path, name);
        mkdirSync(dirname(target), {
            recursive: true
        });
        const raw = typeof content === 'string' || content instanceof Uint8Array;
        writeFileSync(target, raw ? content : JSON.stringify(content));
    }
    return {
        path,
        remove: ()=>rmSync(path, {
                recursive: true,
                force: true
            })
    };
}

//# sourceMappingURL=temporary-folder.js.map