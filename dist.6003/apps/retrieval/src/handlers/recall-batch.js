import { RECALLS_PER_CALL_MAX } from "../../../../libs/ops/contracts/src/index.js";
import { errorBody, TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { invalid, protoPath } from "../../../../libs/edge/grpc/src/index.js";
import { inSlices } from "../../../../libs/ops/turns/src/index.js";
import { toWireResponse } from "../wire/recall.mapper.js";
/**
 * Recalls of one call, all under way at once: each is admitted, counted and refused as one of its
 * own. Rejects where none of them can be begun, so that a gateway asks another node.
 */ export async function recallBatch(edge, { recalls, deadlineMs }, parse, call) {
    edge.checkReadiness(call);
    const count = recalls.length;
    if (count < 1 || count > RECALLS_PER_CALL_MAX) {
        throw invalid('recalls', `1..${RECALLS_PER_CALL_MAX} recalls`, count);
    }
    call.limit(deadlineMs);
    const begun = await inSlices(recalls, (recall)=>{
        const part = call.part();
        const answer = part.during(()=>edge.recall(()=>parse(recall), part));
        return {
            outcome: outcomeOf(answer, call.edge === 'grpc' ? protoPath : asIs)
        };
    });
    return {
        outcomes: await Promise.all(begun.map(({ outcome })=>outcome))
    };
}
const asIs = (path)=>path;
/** @param spell makes the path of a field, as JSON spells it, that of the edge */ async function outcomeOf(answer, spell) {
    try {
        return {
            answer: toWireResponse(await answer)
        };
    } catch (thrown) {
        const { field = '', ...refusal } = errorBody(TesseraError.from(thrown)).error;
        return {
            failure: {
                field: spell(field),
                ...refusal
            }
        };
    }
}

//# sourceMappingURL=recall-batch.js.map