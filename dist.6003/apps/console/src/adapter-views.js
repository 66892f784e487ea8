import { fileBytes } from "../../../libs/service/adapter/src/index.js";
/** Actions of the audit log that versions of adapters have gone through. */ const ADAPTER_ACTIONS = new Set([
    ...[
        'push',
        'activate',
        'rollback',
        'pin',
        'unpin',
        'delete',
        'lost',
        'waits'
    ]
]);
export function adapterView(adapters, version) {
    const { files, baseModel: _, activation: _activation, ...rest } = version;
    const report = adapters.watchOf(version);
    return {
        ...rest,
        fileBytes: fileBytes(files),
        ...report !== undefined && {
            report
        }
    };
}
/** The canaries of this moment. */ export function canaryViews(adapters) {
    const versions = adapters?.list('') ?? [];
    return versions.filter(({ state })=>state === 'canary').flatMap((version)=>{
        const { name, digest, share, changedMs } = version;
        const report = adapters?.watchOf(version);
        return [
            {
                name,
                digest,
                share,
                changedMs,
                ...report !== undefined && {
                    report
                }
            }
        ];
    });
}
/** How an action on an adapter ended; not that it was begun. */ export function isAdapterChange({ action, outcome }) {
    return ADAPTER_ACTIONS.has(action) && outcome !== 'begun';
}
export function adapterChange(entry) {
    const { timeMs, action, actor, role = '', name, digest, outcome, detail } = entry;
    return {
        timeMs,
        action,
        actor,
        role,
        name,
        digest,
        outcome,
        detail
    };
}

//# sourceMappingURL=adapter-views.js.map