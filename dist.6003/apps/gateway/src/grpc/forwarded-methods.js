import { METHODS } from "../../../../libs/edge/methods/src/index.js";
import { fieldNumber, fieldNumbers, hasField, messageAt, messagesOf, repeatedField } from "./message-fields.js";
import { numberAt, textAt } from "./wire-path.js";
function ownersRouting(request, response, { to, partsAt, partsMax, userAt, failureAt }) {
    const [number = 0, ...inPart] = fieldNumbers(request, `${partsAt}.${userAt}`);
    const outcomes = repeatedField(response);
    const failure = failureAt && {
        number: fieldNumber(response, `${outcomes.name}.${failureAt}`),
        name: failureAt,
        message: messageAt(response, `${outcomes.name}.${failureAt}`)
    };
    const parts = {
        number,
        name: partsAt
    };
    return {
        to,
        parts,
        partsMax,
        userAt: inPart,
        userNamed: userAt,
        outcomes,
        failure: failure || undefined
    };
}
/** Undefined: a gateway does not serve the method. */ function wireRouting(path, routing) {
    if (routing.to === 'node') return undefined;
    const { request, response } = messagesOf(path);
    switch(routing.to){
        case 'user':
            {
                const { to, userAt, nodeAt } = routing;
                return {
                    to,
                    userAt: fieldNumbers(request, userAt),
                    nodeAt: nodeAt === undefined ? undefined : fieldNumbers(request, nodeAt)
                };
            }
        case 'owners':
            return ownersRouting(request, response, routing);
        default:
            return {
                to: routing.to
            };
    }
}
/** Methods that a gateway serves, by path. */ export const FORWARDED = new Map(METHODS.flatMap(({ path, routing })=>{
    const wire = wireRouting(path, routing);
    return wire === undefined ? [] : [
        [
            path,
            wire
        ]
    ];
}));
/** Where requests name the time that they have. */ const DEADLINES = [
    'deadlineMs',
    'request.deadlineMs'
];
/** By path of the method: names, and numbers, of the field with the milliseconds it has. */ const DEADLINE_AT = new Map([
    ...FORWARDED.keys()
].flatMap((path)=>{
    const { request } = messagesOf(path);
    const named = DEADLINES.find((names)=>hasField(request, names));
    return named === undefined ? [] : [
        [
            path,
            {
                named,
                at: fieldNumbers(request, named)
            }
        ]
    ];
}));
/** Undefined: requests of the method name no time. */ export const deadlineNamed = (path)=>DEADLINE_AT.get(path)?.named;
/** Milliseconds that a request gives; Infinity: it names none. */ export function leftMsOf(path, request) {
    const at = DEADLINE_AT.get(path)?.at;
    const within = at && (at.length === 1 ? request : textAt(request, at.slice(0, -1)));
    return within && numberAt(within, at.at(-1)) || Number.POSITIVE_INFINITY;
}

//# sourceMappingURL=forwarded-methods.js.map