/** The JSON of the service's messages over HTTP, where proto does not say it. */ import { protoSchema } from "../../../ops/contracts/src/index.js";
import { HttpJson } from "./http-json.js";
/** Requests and answers of all methods that have a route. */ export const SERVICE_JSON = new HttpJson(protoSchema, {
    required: new Set([
        'ScoreRequest.items',
        'RankRequest.itemIds',
        'RelevanceGate.query',
        'ExplainRequest.request',
        'ExplainRequest.itemId',
        'RecallVersions.model',
        'RecallVersions.catalogue',
        'RecallVersions.promptTemplate',
        'RecallVersions.catalogueSequence',
        'DiversityCap.attribute',
        'DiversityCap.maxItems',
        'FrequencyCap.action',
        'FrequencyCap.maxBehaviours',
        'FrequencyCap.windowSeconds',
        'Upsert.itemId',
        'SetAttributes.itemId',
        'SetPriority.itemId',
        'SetPace.attribute',
        'SetPace.text',
        'SetPace.factor',
        'Valuation.name',
        'PatchTexts.attribute',
        'PatchNumber.attribute',
        'RecallBatchRequest.recalls',
        'AppendRequest.behaviours',
        'Behaviour.userId',
        'Behaviour.eventId',
        'Behaviour.itemId',
        'Behaviour.action',
        'Behaviour.timeMs',
        'HistoryRequest.userId',
        'PutProfileRequest.userId',
        'PutProfileRequest.profile',
        'EraseRequest.userId',
        'InspectRequest.userId',
        'DropUserRequest.userId',
        'DropVersionRequest.version'
    ]),
    hidden: new Set([
        'DropUserRequest.withRecords',
        'AppendRequest.onlyHeld'
    ]),
    ids: new Set([
        'userId',
        'itemId',
        'itemIds',
        'pauseItemId',
        'resumeItemId',
        'removeItemId'
    ]),
    positive: new Set([
        'resultCount',
        'itemsPerSid',
        'widths',
        'rowBudget',
        'deadlineMs',
        'maxItems',
        'maxBehaviours',
        'windowSeconds',
        'limit',
        'position'
    ]),
    verbatim: new Set([
        'RecallRequest.eligibility',
        'RecalledItem.attributes',
        'Upsert.attributes',
        'SetAttributes.attributes',
        'PatchAttributes.set'
    ]),
    bare: {
        ScoreTarget: 'itemId'
    },
    prefixes: {
        'tessera.kv.v1': 'Kv',
        'tessera.catalogue.v1': 'Catalogue',
        'tessera.behaviour.v1': 'Behaviour'
    }
});

//# sourceMappingURL=service-json.js.map