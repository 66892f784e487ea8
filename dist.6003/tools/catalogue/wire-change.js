import { wirePredicate } from "./wire-predicate.js";
/** A change in the words of the wire. */ export function wireChange(change) {
    const { op, itemId } = change;
    switch(op){
        case 'upsert':
            return {
                upsert: change
            };
        case 'pause':
        case 'resume':
        case 'remove':
            return change.predicate === undefined ? {
                [`${op}ItemId`]: itemId
            } : {
                [`${op}Matching`]: wirePredicate(change.predicate)
            };
        case 'set_attributes':
            return {
                setAttributes: change
            };
        case 'set_priority':
            return {
                setPriority: change
            };
        case 'set_pace':
            return {
                setPace: change.pace
            };
        case 'patch_attributes':
            {
                const { predicate, patch } = change;
                const items = predicate === undefined ? {
                    itemId
                } : {
                    matching: wirePredicate(predicate)
                };
                return {
                    patchAttributes: {
                        ...items,
                        ...patch
                    }
                };
            }
    }
}

//# sourceMappingURL=wire-change.js.map