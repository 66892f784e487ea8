import { EmbeddedBehaviourLog } from "./outside/embedded-behaviour-log.js";
/** The folder that behaviours are kept in, as it fares; none where they are kept elsewhere. */ export function behaviourFolders(log) {
    if (!(log instanceof EmbeddedBehaviourLog)) return [];
    const refresh = async ()=>{
        if (log.condition().state !== 'ok') await log.recover();
    };
    return [
        {
            name: 'behaviours',
            condition: ()=>log.condition(),
            refresh
        }
    ];
}

//# sourceMappingURL=kept-behaviours.js.map