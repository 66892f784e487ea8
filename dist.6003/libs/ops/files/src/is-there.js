import { access } from "node:fs/promises";
/** Rejects where nobody can tell, as below a folder that may not be searched. */ export function isThere(path) {
    return access(path).then(()=>true, (error)=>{
        if (error.code === 'ENOENT') return false;
        throw error;
    });
}

//# sourceMappingURL=is-there.js.map