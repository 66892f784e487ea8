import { FILE_SYSTEM } from "../../../ops/files/src/index.js";
/** The free bytes above the reserve of each folder's disk, at each scrape. */ export function watchDisks(folders, { disk }, metrics) {
    const kept = Object.entries(folders).filter(([, folder])=>folder !== '');
    metrics.showDisks(async ()=>{
        const found = await Promise.all(kept.map(async ([key, folder])=>{
            const free = await FILE_SYSTEM.freeBytes(folder).catch(()=>undefined);
            return free === undefined ? [] : [
                {
                    key,
                    spareBytes: free - disk.reserveBytes
                }
            ];
        }));
        return found.flat();
    });
}

//# sourceMappingURL=spare-disk.js.map