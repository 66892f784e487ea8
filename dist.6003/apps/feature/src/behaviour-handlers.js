import { service } from "../../../libs/edge/call/src/index.js";
import { BEHAVIOURS_PER_CALL_MAX } from "../../../libs/ops/contracts/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { invalid } from "../../../libs/edge/grpc/src/index.js";
import { parseBehaviour, parseLimit, parseProfile, parseUserId, toWireBehaviour, toWireOutcome } from "./behaviour.mapper.js";
/** Methods on behaviours: append, read, erase. */ export function behaviourHandlers(edge) {
    return service('tessera.behaviour.v1.BehaviourService', {
        Append: async (read, call)=>{
            const events = eventsOf(read(), edge);
            const outcomes = await edge.append(events, call.edge, call.caller.name);
            return {
                outcomes: outcomes.map(toWireOutcome)
            };
        },
        History: async (read, call)=>{
            const message = read();
            const userId = parseUserId(message.userId);
            const limit = parseLimit(message.limit);
            const { behaviours, profile } = await edge.history(userId, limit, call.trace);
            return {
                behaviours: behaviours.map((behaviour)=>toWireBehaviour(userId, behaviour)),
                profile: {
                    ...profile
                }
            };
        },
        PutProfile: async (read, call)=>{
            const { userId, profile } = read();
            await edge.putProfile(parseUserId(userId), parseProfile(profile), call);
            return {};
        },
        Erase: async (read, call)=>{
            const { known } = await edge.erase(parseUserId(read().userId), call);
            return {
                known
            };
        }
    });
}
function eventsOf({ behaviours }, edge) {
    if (behaviours.length > BEHAVIOURS_PER_CALL_MAX) {
        throw invalid('behaviours', `at most ${BEHAVIOURS_PER_CALL_MAX}`, behaviours.length);
    }
    return behaviours.map((wire, index)=>placed(`behaviours[${index}]`, ()=>{
            const event = parseBehaviour(wire);
            edge.check(event);
            return event;
        }));
}
/** A fault of one among many names its place; it is the caller's either way. */ function placed(place, parse) {
    try {
        return parse();
    } catch (thrown) {
        const { message, field } = TesseraError.from(thrown);
        throw new TesseraError('REQUEST_INVALID', `${place}.${message}`, {
            field: `${place}.${field}`,
            cause: thrown
        });
    }
}

//# sourceMappingURL=behaviour-handlers.js.map