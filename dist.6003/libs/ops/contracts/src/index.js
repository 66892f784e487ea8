export { BEHAVIOURS_PER_CALL_MAX, RECALLS_PER_CALL_MAX } from "./entries-max.js";
export { protoDescriptors } from "./generated/proto-descriptors.js";
export { enumWords, protoSchema } from "./generated/proto-schema.js";
export { protobufPackage as adapterEventsPackage } from "./generated/tessera/adapter/events/v1/adapter_event.js";
export { protobufPackage as behaviourEventsPackage } from "./generated/tessera/behaviour/events/v1/behaviour_event.js";
export { AppendOutcome as WireAppendOutcome } from "./generated/tessera/behaviour/v1/behaviour.js";
export { protobufPackage as catalogueEventsPackage } from "./generated/tessera/catalogue/events/v1/catalogue_event.js";
export { NumberType as WireNumberType } from "./generated/tessera/embedding/v1/embedding.js";
export { protobufPackage as recallEventsPackage } from "./generated/tessera/recall/events/v1/recall_event.js";
export { protobufPackage as recallPackage } from "./generated/tessera/recall/v1/recall.js";
export { LOAD_TRAILER } from "./load-trailer.js";
export { markOf, positionOf } from "./log-position.js";
export { WAIT_FOR } from "./submission.js";

//# sourceMappingURL=index.js.map