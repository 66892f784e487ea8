/**
 * Keys that an operator decides on for every installation; all other keys are advanced: rarely set,
 * each for a reason. docs/operate/configuration.md lists these first.
 */
export const OPERATOR_KEYS: ReadonlySet<string> = new Set([
  ...['http.host', 'http.port', 'http.certificatePath', 'http.keyPath'],
  ...['grpc.host', 'grpc.port', 'grpc.certificatePath', 'grpc.keyPath'],
  ...['model.path', 'model.computeType'],
  ...['catalogue.path', 'catalogue.cachePath', 'catalogue.changesPath'],
  ...['node.name', 'cluster.name', 'cluster.nodes', 'cluster.etcd'],
  ...['cluster.logStore'],
  ...['behaviours.store', 'behaviours.path', 'behaviours.redis', 'behaviours.remote'],
  ...['behaviours.retention', 'kafka.brokers'],
  ...['engine.threadCount', 'engine.kvBytesMax'],
  ...['kv.deviceBytes', 'kv.hostBytes', 'kv.diskBytes', 'kv.path'],
  ...['recall.defaultDeadlineMs', 'recall.deadlineMsMax'],
  ...['relevance.path', 'embedding.models', 'disk.reserveBytes'],
  ...['adapters.path', 'adapters.bytesMax', 'adapters.diskBytes'],
  ...['access.tokensPath', 'inspection.path'],
  ...['shutdown.delayMs', 'shutdown.drainMs', 'log.level'],
]);
