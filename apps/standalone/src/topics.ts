import { AnnouncedVersions, S3Store } from '@tessera/adapter';
import { type Config, kafkaSecurity } from '@tessera/config';
import { brokerCondition, type ServedTopics, serveTopics } from '@tessera/kafka';
import type { Conditions } from '@tessera/lifecycle';
import type { Log } from '@tessera/telemetry';
import { BEHAVIOURS_PATTERN } from '../../feature/src/index.js';
import {
  ANNOUNCEMENTS_PATTERN,
  CATALOGUE_CHANGES_PATTERN,
  FetchSource,
  RECALL_REQUESTS_PATTERN,
  RecallTopicSettings,
} from '../../retrieval/src/index.js';

export interface Topics extends ServedTopics {
  readonly settings: RecallTopicSettings;
  readonly fetchSource: FetchSource | undefined;
}

/** Undefined where no announced versions are fetched. */
function fetchSourceOf(adapters: Config['adapters']): FetchSource | undefined {
  const { path, fetchPath, s3Buckets, s3Endpoint, s3Region, s3Addressing } = adapters;
  const buckets = s3Buckets.split(',').filter((bucket) => bucket !== '');
  if (path === '' || (fetchPath === '' && buckets.length === 0)) return undefined;
  const { fetchTimeoutMs, fetchAttempts, versionBytesMax } = adapters;
  const settings = {
    endpoint: s3Endpoint,
    region: s3Region,
    buckets,
    isPathStyle: s3Addressing === 'path',
    timeoutMs: fetchTimeoutMs,
  };
  const store = buckets.length === 0 ? undefined : new S3Store(settings);
  const versions = new AnnouncedVersions({ folder: fetchPath, store, bytesMax: versionBytesMax });
  return new FetchSource(versions, fetchAttempts);
}

/** Undefined where the configuration names no broker. Nothing is connected yet. */
export async function topicsOf(
  { kafka, recall, adapters, catalogue, cluster, node }: Config,
  takesBehaviours: boolean,
  log: Log,
  conditions: Conditions,
): Promise<Topics | undefined> {
  const fetchSource = fetchSourceOf(adapters);
  const { responsesTopic, auditsTopic, adapterEventsTopic } = kafka;
  const takesShared = kafka.sharedTopics === 'here';
  const topics = {
    [CATALOGUE_CHANGES_PATTERN]: kafka.changesTopic,
    ...(takesShared ? { [RECALL_REQUESTS_PATTERN]: kafka.requestsTopic } : {}),
    ...(fetchSource === undefined ? {} : { [ANNOUNCEMENTS_PATTERN]: kafka.announcementsTopic }),
    ...(takesShared && takesBehaviours ? { [BEHAVIOURS_PATTERN]: kafka.behavioursTopic } : {}),
  };
  const outputTopics = [responsesTopic, auditsTopic, adapterEventsTopic].filter(
    (topic) => topic !== '',
  );
  const onServing = () => log.info({}, 'kafka: all topics are served');
  // The nodes of a cluster share them: its log brings what they change to all.
  const folders =
    cluster.log === 'none'
      ? { [kafka.changesTopic]: catalogue.changesPath, [kafka.announcementsTopic]: adapters.path }
      : {};
  const secured = { ...kafka, node: node.name, security: kafkaSecurity(kafka) };
  const wanted = { topics, folders, outputTopics, onServing };
  const served = await serveTopics(secured, wanted, log);
  if (served !== undefined) conditions.add(brokerCondition(served.server));
  const settings = new RecallTopicSettings(responsesTopic, recall, Date.now);
  return served && { ...served, settings, fetchSource };
}
