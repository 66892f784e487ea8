export {
  etcdSecurity,
  followsLog,
  type IdentityFiles,
  type KafkaSecurity,
  kafkaSecurity,
  redisIdentity,
  redisPrefix,
  redisSecurity,
  type StoreSecurity,
  securityOf,
} from './broker-security.js';
export { checkKeyFiles, readSecret, readTls, type TlsFiles, type TlsPaths } from './key-files.js';
export {
  type ConfigSources,
  describeConfig,
  type LoadedConfig,
  loadConfig,
  servesOwnDemo,
  tokenOfEnvironment,
} from './load-config.js';
export { dataRoot, repositoryRoot } from './repository-root.js';
export { CONFIG_KEYS, CONFIG_LIMITS, type Config, type ConfigKey } from './schema.js';
export { FLAG_LINES, parseStartFlags, type StartFlags } from './start-flags.js';
export { watchedSecret } from './watched-secret.js';
export { type CertificateEnd, WatchedTls } from './watched-tls.js';
