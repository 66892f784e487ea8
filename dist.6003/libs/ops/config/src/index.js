export { etcdSecurity, kafkaSecurity, redisIdentity, redisPrefix, redisSecurity, securityOf } from "./broker-security.js";
export { noticeOfEarlierStores } from "./earlier-stores.js";
export { checkKeyFiles, readSecret, readTls } from "./key-files.js";
export { describeConfig, loadConfig, tokenOfEnvironment } from "./load-config.js";
export { repositoryRoot } from "./repository-root.js";
export { CONFIG_KEYS, CONFIG_LIMITS } from "./schema.js";
export { FLAG_LINES, parseStartFlags } from "./start-flags.js";
export { watchedSecret } from "./watched-secret.js";
export { WatchedTls } from "./watched-tls.js";

//# sourceMappingURL=index.js.map