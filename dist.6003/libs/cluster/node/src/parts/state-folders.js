import { ERASE_FILE, STANDING_FILE } from "../standing.js";
const isChangesFile = (path)=>path !== STANDING_FILE && path !== ERASE_FILE && !/(^|\/)lock$|\.tmp/.test(path) && !path.startsWith('fetched/');
const isAdapterFile = (path)=>/^registry(\.copy)?\.json$/.test(path) || path.startsWith('versions/');
/** Versions are made whole and named by their content. */ const isVersionFile = (path)=>path.startsWith('versions/');
const isWeightsFile = (path)=>/^weights(\.copy)?\.json$/.test(path);
/** Folders of this node whose content a cluster log decides. */ export function stateFolders({ catalogue, adapters, weights }) {
    const none = ()=>false;
    const changes = {
        store: 'catalogue-changes',
        path: catalogue.changesPath,
        has: isChangesFile
    };
    const others = [
        {
            store: 'adapters',
            path: adapters.path,
            has: isAdapterFile,
            isFinal: isVersionFile,
            isWhole: true
        },
        {
            store: 'weights',
            path: weights.path,
            has: isWeightsFile,
            isFinal: none,
            isWhole: false
        }
    ];
    const first = {
        ...changes,
        isFinal: none,
        isWhole: true
    };
    return [
        first,
        ...others.filter(({ path })=>path !== '')
    ];
}

//# sourceMappingURL=state-folders.js.map