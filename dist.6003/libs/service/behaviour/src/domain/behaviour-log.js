import { BehaviourStore } from "./behaviour-store.js";
/**
 * Port: behaviours that arrive while others read. The contents are a function of the events that
 * were ever appended (see Retention): repetition does not count, so events may be delivered more
 * than once, and their order only among those of one time. Of one user the history is in the order
 * of time; those of one time are in the order in which they first arrived, and so are limits. Safe
 * to call concurrently; rejects with STORE_UNAVAILABLE, STORE_FULL, STORE_CORRUPT or IO_FAILED.
 */ export class BehaviourLog extends BehaviourStore {
}

//# sourceMappingURL=behaviour-log.js.map