import { parseJsonBody } from "../../../../libs/edge/hosting/src/index.js";
import { memberOf, numberIn } from "../../../../libs/edge/httpjson/src/index.js";
import { methodAt } from "../../../../libs/edge/methods/src/index.js";
import { CostEstimates, partitionOf } from "../../../../libs/cluster/routing/src/index.js";
import { deadlineNamed } from "../grpc/forwarded-methods.js";
import { checkAnswer } from "../node-failure.js";
import { passedFields, withToken } from "../passed-fields.js";
function valueAt(body, path) {
    let value = body;
    for (const name of path.split('.'))value = memberOf(value, name);
    return value;
}
/** The text at a path of names, `.` between them; an ID may be an integer. */ export function textAt(body, path) {
    const value = valueAt(body, path);
    if (Number.isSafeInteger(value)) return String(value);
    return typeof value === 'string' && value !== '' ? value : undefined;
}
/** Of the user at a path of names; undefined: there is none. */ export function partitionAt(body, path) {
    const user = textAt(body, path);
    return user === undefined ? undefined : partitionOf(user);
}
/** Milliseconds that a body gives; Infinity: it names none, or what the node will refuse. */ function leftMsIn(path, body) {
    const method = methodAt(path);
    const named = method?.http === path ? deadlineNamed(method.path) : 'deadlineMs';
    const leftMs = named === undefined ? undefined : numberIn(valueAt(body, named));
    return typeof leftMs === 'number' && leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
}
/** True for routes of whose bodies something is read: a user, entries or a time. */ function isRead(path) {
    const method = methodAt(path);
    const to = method?.routing.to;
    const isRouted = to === 'user' || to === 'owners' || to === 'split';
    return isRouted || deadlineNamed(method?.path ?? '') !== undefined;
}
export async function hopOf({ connection, deadlineMsMax }, path, { method, headers, body: given }, { raw }) {
    const arrivedMs = Date.now();
    const body = method === 'GET' ? undefined : given;
    const json = body !== undefined && isRead(path) ? await parseJsonBody(body) : undefined;
    const deadlineMs = arrivedMs + Math.min(leftMsIn(path, json), deadlineMsMax);
    const passed = withToken(passedFields((name)=>headers[name]), connection);
    return {
        sent: {
            method,
            path,
            headers: Object.assign({
                'content-type': 'application/json'
            }, passed),
            body
        },
        json,
        deadlineMs,
        isOver: ()=>raw.destroyed || Date.now() >= deadlineMs,
        onCancelled: (act)=>{
            raw.once('close', ()=>{
                if (!raw.writableFinished) act();
            });
        }
    };
}
/** Of a body that names a user. The JSON of other APIs names none. */ export function factsOf({ sent: { path }, json }) {
    const method = methodAt(path);
    const role = method?.role ?? 'answer';
    if (method?.routing.to !== 'user' || method.http !== path) {
        return {
            partition: undefined,
            role,
            node: undefined
        };
    }
    const { userAt, nodeAt } = method.routing;
    const node = nodeAt === undefined ? undefined : textAt(json, nodeAt);
    return {
        partition: partitionAt(json, userAt),
        role,
        node
    };
}
/** A request of the caller's, or of the gateway's own making, to the node that it is for. */ export function askNode(asking, { sent, deadlineMs, isOver, onCancelled }, facts) {
    let end = ()=>undefined;
    onCancelled(()=>end());
    const kind = CostEstimates.kindOf(sent.path, sent.body?.length ?? 0);
    const isChange = methodAt(sent.path)?.routing.to === 'change';
    const asked = {
        ...facts,
        kind,
        edge: 'http',
        deadlineMs,
        isOver,
        isChange
    };
    const onBegun = (ended)=>{
        end = ended;
    };
    return asking.ask(asked, async (link, untilMs)=>checkAnswer(await link.http({
            ...sent,
            deadlineMs: untilMs,
            onBegun
        })));
}

//# sourceMappingURL=http-hop.js.map