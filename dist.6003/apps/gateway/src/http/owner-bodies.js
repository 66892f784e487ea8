import { errorBody, TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { methodAt } from "../../../../libs/edge/methods/src/index.js";
import { FORWARDED } from "../grpc/forwarded-methods.js";
import { askParts, ownerParts } from "../owner-parts.js";
import { askNode, partitionAt } from "./http-hop.js";
/** An entry of the answer that says why there is no other. */ function failedAs({ failure }) {
    if (failure === undefined) return undefined;
    return (error)=>({
            [failure.name]: {
                field: '',
                ...errorBody(error).error
            }
        });
}
/**
 * A body with entries of several users, as askByOwner does over gRPC. Undefined: it is not to be
 * cut, and one node answers it in its own words.
 */ export async function askOwners(asking, hop) {
    const method = methodAt(hop.sent.path);
    const routing = method && FORWARDED.get(method.path);
    if (method === undefined || routing?.to !== 'owners') return undefined;
    const asked = Object(hop.json);
    const entries = asked[routing.parts.name];
    if (!Array.isArray(entries) || entries.length > routing.partsMax) return undefined;
    const partitions = entries.map((entry)=>partitionAt(entry, routing.userNamed));
    const { role } = method;
    const owned = ownerParts(asking.cluster, partitions, role);
    const [only] = owned;
    if (only === undefined) return undefined;
    const facts = {
        role,
        node: undefined
    };
    if (owned.length === 1) return askNode(asking, hop, {
        ...facts,
        partition: only.partition
    });
    const answered = await askParts(owned, {
        ask: async ({ partition, places })=>{
            const own = {
                [routing.parts.name]: places.map((place)=>entries[place])
            };
            const body = Buffer.from(JSON.stringify({
                ...asked,
                ...own
            }));
            const part = {
                ...hop,
                sent: {
                    ...hop.sent,
                    body
                }
            };
            const answer = await askNode(asking, part, {
                ...facts,
                partition
            });
            return entriesOf(answer.body, routing, places.length);
        },
        failed: failedAs(routing)
    });
    const merged = Buffer.from(JSON.stringify({
        [routing.outcomes.name]: answered
    }));
    return {
        status: 200,
        headers: {},
        body: merged
    };
}
function entriesOf(body, { outcomes }, count) {
    const entries = JSON.parse(body.toString())[outcomes.name];
    if (Array.isArray(entries) && entries.length === count) return entries;
    const message = `${outcomes.name}: expected ${count} of a node, got another number`;
    throw new TesseraError('INTERNAL', message);
}

//# sourceMappingURL=owner-bodies.js.map