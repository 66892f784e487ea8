export { securityOf } from "../../config/src/index.js";
export { keyKeeping } from "./kept-keys.js";
export { parseRedisNodes } from "./redis-address.js";
export { mastersOf, RedisLink } from "./redis-link.js";

//# sourceMappingURL=index.js.map