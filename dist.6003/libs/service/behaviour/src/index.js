export { checkBehaviourEvent, checkProfile } from "./domain/behaviour-event.js";
export { BehaviourLog } from "./domain/behaviour-log.js";
export { BehaviourStore } from "./domain/behaviour-store.js";
export { parseClickActions } from "./domain/click-actions.js";
export { hasLines, parseSequenceLines } from "./domain/parse-sequences.js";
export { parseUsers, USER_ID_LENGTH_MAX } from "./domain/parse-users.js";
export { Popularity } from "./domain/popularity.js";
export { parseRetention } from "./domain/retention.js";
export { behaviourFolders } from "./kept-behaviours.js";
export { behaviourOptions, openBehaviours, usersOfFile } from "./open-behaviours.js";
export { EmbeddedBehaviourLog } from "./outside/embedded-behaviour-log.js";
export { MemoryBehaviourStore } from "./outside/memory-behaviour-store.js";
export { RedisBehaviourLog } from "./outside/redis-behaviour-log.js";
export { noticeOfForeignSeed } from "./outside/seed-mark.js";
export { loadBehaviourStore, readUsersText } from "./outside/users-file.js";
export { rebuildPopularity } from "./rebuild-popularity.js";

//# sourceMappingURL=index.js.map