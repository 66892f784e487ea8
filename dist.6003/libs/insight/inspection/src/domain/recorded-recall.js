/** A recall as it is recorded for inspection. */ import { readEligibility } from "../../../../service/recall/src/index.js";
/** The request to be asked again. */ export function askedAgain({ eligibility, ...request }) {
    if (eligibility === undefined) return request;
    return {
        ...request,
        eligibility: readEligibility(JSON.parse(eligibility))
    };
}

//# sourceMappingURL=recorded-recall.js.map