import { AnnouncedVersions, FETCH_TIMEOUT_MS, S3Store, VERSION_BYTES_MAX } from '@tessera/adapter';
import { type Config, followsLog } from '@tessera/config';
import {
  brokerCondition,
  type ServedTopics,
  serveTopics,
  topicNames,
  topicSettings,
} from '@tessera/kafka';
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

/** Attempts at a store that does not answer, until the announcement is a dead letter: minutes. */
const FETCH_ATTEMPTS = 10;

/** Undefined where no announced versions are fetched. */
function fetchSourceOf({ adapters, buckets: place }: Config): FetchSource | undefined {
  const { path, fetchPath, s3Buckets } = adapters;
  const buckets = s3Buckets.split(',').filter((bucket) => bucket !== '');
  if (path === '' || (fetchPath === '' && buckets.length === 0)) return undefined;
  const settings = { ...place, buckets, timeoutMs: FETCH_TIMEOUT_MS };
  const store = buckets.length === 0 ? undefined : new S3Store(settings);
  const versions = new AnnouncedVersions({ folder: fetchPath, store, bytesMax: VERSION_BYTES_MAX });
  return new FetchSource(versions, FETCH_ATTEMPTS);
}

/** Undefined where the configuration names no broker. Nothing is connected yet. */
export async function topicsOf(
  config: Config,
  takesBehaviours: boolean,
  log: Log,
  conditions: Conditions,
): Promise<Topics | undefined> {
  const { kafka, recall, adapters, catalogue } = config;
  const fetchSource = fetchSourceOf(config);
  const names = topicNames(kafka.topicPrefix);
  const { responsesTopic, auditsTopic, adapterEventsTopic } = names;
  const takesShared = kafka.sharedTopics === 'here';
  const topics = {
    [CATALOGUE_CHANGES_PATTERN]: names.changesTopic,
    ...(takesShared ? { [RECALL_REQUESTS_PATTERN]: names.requestsTopic } : {}),
    ...(fetchSource === undefined ? {} : { [ANNOUNCEMENTS_PATTERN]: names.announcementsTopic }),
    ...(takesShared && takesBehaviours ? { [BEHAVIOURS_PATTERN]: names.behavioursTopic } : {}),
  };
  const outputTopics = [responsesTopic, adapterEventsTopic, auditsTopic];
  const onServing = () => log.info({}, 'kafka: all topics are served');
  // The nodes of a cluster share them: its log brings what they change to all.
  const folders = followsLog(config)
    ? {}
    : { [names.changesTopic]: catalogue.changesPath, [names.announcementsTopic]: adapters.path };
  const wanted = { topics, folders, outputTopics, onServing };
  const served = await serveTopics(topicSettings(config), wanted, log);
  if (served !== undefined) conditions.add(brokerCondition(served.server));
  const settings = new RecallTopicSettings(responsesTopic, recall, Date.now);
  return served && { ...served, settings, fetchSource };
}
