/** Wire <-> domain of behaviours. It checks limits that protobuf cannot state. */ import { checkProfile, USER_ID_LENGTH_MAX } from "../../../libs/service/behaviour/src/index.js";
import { enumWords } from "../../../libs/ops/contracts/src/index.js";
import { isBlank, shown, TesseraError } from "../../../libs/ops/errors/src/index.js";
import { invalid, text, texts } from "../../../libs/edge/grpc/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
const HISTORY_LIMIT_MAX = 100_000;
const HISTORY_LIMIT_DEFAULT = 100;
/** @throws TesseraError REQUEST_INVALID */ export function parseBehaviour(wire) {
    if (wire === undefined) throw invalid('behaviour', 'a behaviour', 'none');
    const { userId, eventId, itemId, action, timeMs, scene, requestId, position } = wire;
    for (const [field, value] of Object.entries({
        userId,
        eventId,
        itemId,
        action
    })){
        text(field, value);
    }
    texts('scene', scene);
    if (requestId !== undefined) text('requestId', requestId);
    return {
        userId,
        eventId,
        itemId,
        action,
        timeMs,
        scene,
        requestId,
        position
    };
}
export function parseUserId(userId) {
    if (isBlank(userId)) throw invalid('userId', 'an ID that is not blank', shown(userId));
    if (userId.length <= USER_ID_LENGTH_MAX) return userId;
    throw invalid('userId', `1..${USER_ID_LENGTH_MAX} characters`, userId.length);
}
export function parseLimit(limit) {
    const wanted = limit ?? HISTORY_LIMIT_DEFAULT;
    if (wanted >= 1 && wanted <= HISTORY_LIMIT_MAX) return wanted;
    throw invalid('limit', `1..${HISTORY_LIMIT_MAX}`, wanted);
}
/** A fault of the caller, as of behaviours. */ export function parseProfile(profile) {
    try {
        checkProfile(profile);
    } catch (thrown) {
        const { message, field } = TesseraError.from(thrown);
        throw new TesseraError('REQUEST_INVALID', message, {
            field,
            cause: thrown
        });
    }
    return profile;
}
export const toWireOutcome = (outcome)=>enumWords['tessera.behaviour.v1.AppendOutcome'][outcome];
export function toWireBehaviour(userId, behaviour) {
    const { eventId, itemId, action, time, scene } = behaviour;
    const timeMs = Math.round(time * MILLISECONDS_PER_SECOND);
    return {
        userId,
        eventId,
        itemId,
        action,
        timeMs,
        scene: {
            ...scene
        }
    };
}

//# sourceMappingURL=behaviour.mapper.js.map