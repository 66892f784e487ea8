import { TesseraClient } from "../../libs/edge/client/src/index.js";
import { isErrorCode, TesseraError } from "../../libs/ops/errors/src/index.js";
import { itemTexts } from "./offline-recall.js";
const CALL_MS = 20_000;
const HISTORY_LIMIT = 1000;
const RESULT_COUNT = 5;
/** Codes that a request may be refused with although it is sound. */ const BUSY = {
    embedded: new Set([
        'ENGINE_OVERLOADED'
    ]),
    redis: new Set([
        'ENGINE_OVERLOADED',
        'STORE_UNAVAILABLE'
    ])
};
/** True if all that was sent had the outcome it had to have. */ export async function judge(evidence) {
    const { traffic, topics, model } = evidence;
    const faults = [];
    let again = 0;
    let refused = 0;
    for (const asked of traffic.asked){
        const answers = topics.answers.get(asked.id) ?? [];
        again += Math.max(0, answers.length - 1);
        refused += answers.some(({ refusal })=>refusal !== undefined) ? 1 : 0;
        faults.push(...numberFaults(asked, answers, evidence.crashes));
        for (const answer of answers)faults.push(...await answerFaults(asked, answer, evidence));
    }
    for (const key of traffic.poison){
        const reasons = topics.dead.get(key) ?? [];
        if (!reasons.some((reason)=>reason.startsWith('value: expected'))) {
            faults.push(`${key}: expected a dead letter, got ${JSON.stringify(reasons)}`);
        }
    }
    faults.push(...await storeFaults(evidence));
    const counts = {
        requests: traffic.asked.length,
        answeredAgain: again,
        refused,
        users: model.userIds.length,
        poison: traffic.poison.length
    };
    return {
        faults,
        counts
    };
}
function numberFaults({ id, timeMs }, answers, crashes) {
    const last = answers.at(-1);
    if (last === undefined) return [
        `${id}: expected an answer, got none`
    ];
    if (answers.length === 1) return [];
    const crashed = crashes.some((crash)=>crash.startMs <= last.timeMs && crash.endMs >= timeMs);
    return crashed ? [] : [
        `${id}: ${answers.length} answers although nothing crashed`
    ];
}
/** An erasure is a barrier: a request of the user that was under way ends without an answer. */ function isErasedMeanwhile({ expected, timeMs }, answer, erasures) {
    if (expected.kind !== 'moving' || answer.refusal?.code !== 'CANCELLED') return false;
    return erasures.some(({ userId, startMs, endMs })=>userId === expected.userId && startMs <= answer.timeMs && endMs >= timeMs);
}
async function answerFaults(asked, answer, { store, offline, traffic }) {
    const { id, expected } = asked;
    const { response, refusal } = answer;
    if (isErasedMeanwhile(asked, answer, traffic.erasures)) return [];
    if (refusal !== undefined) {
        const { code, message } = refusal;
        if (!isErrorCode(code)) return [
            `${id}: '${code}' is no code`
        ];
        if (BUSY[store].has(code)) return [];
        if (expected.kind === 'refused' && code === expected.code) return [];
        if (expected.kind === 'moving' && code === 'USER_NOT_FOUND') return [];
        return [
            `${id}: expected ${expected.kind}, got ${code}: ${message}`
        ];
    }
    if (expected.kind === 'refused') return [
        `${id}: expected ${expected.code}, got a response`
    ];
    if (response === undefined) return [
        `${id}: neither response nor refusal`
    ];
    if (expected.kind === 'moving') return [];
    const wanted = expected.kind === 'history' ? await offline.ofHistory(expected.itemIds) : await offline.ofSettled(expected.userId);
    return differences(id, itemTexts(response), wanted);
}
/** Every user's history and recall against those of the model. */ async function storeFaults({ model, offline, service }) {
    const client = new TesseraClient(service.grpcAddress);
    const faults = [];
    for (const userId of model.userIds){
        const kept = model.kept(userId, Date.now());
        const stored = await storedOf(client, userId);
        const here = differences(`history of ${userId}`, stored.map(eventText), kept.map(eventText));
        faults.push(...here);
        const itemIds = kept.map(({ itemId })=>itemId);
        const gone = itemIds.filter((itemId)=>itemId.startsWith('gone'));
        if (here.length > 0 || gone.length === itemIds.length) continue;
        const response = await client.recall({
            userId,
            resultCount: RESULT_COUNT
        }, CALL_MS);
        const wanted = await offline.ofHistory(itemIds);
        faults.push(...differences(`recall for ${userId}`, itemTexts(response), wanted));
        if (response.skippedItems !== gone.length) {
            faults.push(`${userId}: expected ${gone.length} skipped, got ${response.skippedItems}`);
        }
    }
    client.close();
    return faults;
}
async function storedOf(client, userId) {
    try {
        return (await client.history(userId, HISTORY_LIMIT, CALL_MS)).behaviours;
    } catch (thrown) {
        if (TesseraError.from(thrown).code === 'USER_NOT_FOUND') return [];
        throw thrown;
    }
}
const eventText = ({ eventId, itemId, action, timeMs })=>JSON.stringify([
        eventId,
        itemId,
        action,
        timeMs
    ]);
function differences(what, got, wanted) {
    const same = got.length === wanted.length && got.every((text, i)=>text === wanted[i]);
    return same ? [] : [
        `${what}: expected ${wanted.join(' | ')}, got ${got.join(' | ')}`
    ];
}

//# sourceMappingURL=verdict.js.map