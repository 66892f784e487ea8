import { behavioursAway, isOfBehaviours } from "../behaviours-link.js";
import { withToken } from "../passed-fields.js";
import { FORWARDED } from "./forwarded-methods.js";
import { checkLog, keyed, StreamedChanges } from "./one-change.js";
import { OneNodeCalls } from "./one-node.js";
import { askByOwner } from "./owner-calls.js";
import { scoreInParts } from "./score-parts.js";
/** Calls over gRPC, each to the nodes that it is for. */ export class GatewayCalls {
    parts;
    one;
    streamed;
    constructor(parts){
        this.parts = parts;
        const { asking, connection } = parts;
        this.one = new OneNodeCalls(asking, connection);
        this.streamed = new StreamedChanges(asking.cluster, connection);
    }
    async unary(path, call) {
        const { one, parts } = this;
        if (parts.behaviours !== undefined && isOfBehaviours(path)) {
            return this.askBehaviours(parts.behaviours, path, call);
        }
        switch(FORWARDED.get(path)?.to){
            case 'change':
                checkLog(parts.asking.cluster);
                return one.unary(path, withKey(call));
            case 'split':
                return scoreInParts(parts.split, parts.connection, path, call) ?? one.unary(path, call);
            case 'owners':
                return askByOwner(one, parts.asking.cluster, path, call);
            default:
                return one.unary(path, call);
        }
    }
    send(path, call) {
        return this.streamed.send(path, call);
    }
    stream(path, call) {
        return this.one.stream(path, call);
    }
    converse(path, call) {
        return this.streamed.converse(path, call);
    }
    async askBehaviours(link, path, call) {
        const fields = withToken(call.fields, this.parts.connection);
        const cancelled = (cancel)=>call.onCancelled(cancel);
        try {
            return await link.unary(path, call.request, fields, call.deadlineMs, cancelled);
        } catch (thrown) {
            throw behavioursAway(thrown);
        }
    }
}
/** The call as it is, with a key where its caller gave none. */ function withKey(call) {
    return Object.create(call, {
        fields: {
            value: keyed(call.fields)
        }
    });
}

//# sourceMappingURL=gateway-calls.js.map