import { askedAgain } from "../../../libs/insight/inspection/src/index.js";
/** Names the model without an adapter, in place of one's name or digest. */ export const BASE = 'base';
/** The request with the history and the profile that its answer saw, in place of its user. */ export function replayOf(request, { history, profile }) {
    const { userId: _user, ...rest } = askedAgain(request);
    const itemIds = history.map(({ itemId })=>itemId);
    return {
        ...rest,
        profile,
        history: itemIds,
        skipUnknownItems: true
    };
}

//# sourceMappingURL=replay.js.map