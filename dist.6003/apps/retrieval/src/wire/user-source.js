/** Fields of whom a prompt is made, which several requests have. */ import { enumWords } from "../../../../libs/ops/contracts/src/index.js";
import { invalid, text, texts } from "../../../../libs/edge/grpc/src/index.js";
/** Of a field whose 0 says that the caller did not say. */ export function wordOf([field, type], words, number) {
    if (number === 0) return undefined;
    for(const word in words)if (words[word] === number) return word;
    throw invalid(field, `a value of ${type}`, number);
}
/** Undefined: the caller named none. @throws TesseraError REQUEST_INVALID */ export function priorityOf(priority) {
    return wordOf([
        'priority',
        'Priority'
    ], enumWords['tessera.recall.v1.Priority'], priority);
}
/** Checks that protobuf's decoder found UTF-8, which it does not check itself. */ export function checkUserTexts(message) {
    text('requestId', message.requestId);
    text('catalogue', message.catalogue);
    text('adapter', message.adapter);
    if (message.userId !== undefined) text('userId', message.userId);
    for (const [index, id] of message.history?.itemIds.entries() ?? [])text(`history[${index}]`, id);
    texts('profile', message.profile);
    texts('scene', message.scene);
}
export function userSource(message) {
    const { requestId, catalogue, adapter, userId, history, profile, scene } = message;
    const norms = enumWords['tessera.recall.v1.ScoreNorm'];
    const scoreNorm = wordOf([
        'scoreNorm',
        'ScoreNorm'
    ], norms, message.scoreNorm);
    const priority = priorityOf(message.priority);
    return {
        requestId,
        ...catalogue !== '' && {
            catalogue
        },
        ...adapter !== '' && {
            adapter
        },
        ...userId !== undefined && {
            userId
        },
        // The decoder gives null for a message that is not there.
        ...history && {
            history: history.itemIds
        },
        profile,
        scene,
        ...scoreNorm && {
            scoreNorm
        },
        ...priority && {
            priority
        },
        skipUnknownItems: !message.refuseUnknownItems,
        ...message.requireHistory && {
            requiresHistory: true
        }
    };
}

//# sourceMappingURL=user-source.js.map