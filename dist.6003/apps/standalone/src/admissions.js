import { EdgeAdmission } from "../../../libs/edge/admission/src/index.js";
import { TEXT_LIMITS } from "../../../libs/service/embedding/src/index.js";
import { engineLimits } from "../../../libs/engine/src/index.js";
import { QUEUE_DOCUMENTS_MAX } from "../../../libs/service/relevance/src/index.js";
const NO_WAIT = {
    waitUs: 0,
    turnUs: 0
};
/** Admission of each queue of work. */ export function admissionsOf(parts) {
    const { config, facts, relevance, embedding } = parts;
    const onRefused = ()=>parts.onRefused('ENGINE_OVERLOADED');
    const admission = (inFlightMax, forecast)=>new EdgeAdmission({
            forecast,
            inFlightMax,
            onRefused
        });
    const backlog = (readUs)=>()=>({
                waitUs: readUs(),
                turnUs: 0
            });
    return {
        decoder: admission(engineLimits(config.engine).queueCapacity, (cls)=>facts.forecast().classes[cls] ?? NO_WAIT),
        ...relevance && {
            relevance: admission(QUEUE_DOCUMENTS_MAX, backlog(()=>relevance.profile().backlogUs))
        },
        ...embedding && {
            embedding: admission(TEXT_LIMITS.queueTextsMax, backlog(()=>embedding.backlogUs()))
        }
    };
}

//# sourceMappingURL=admissions.js.map