import type { Config } from '@tessera/config';
import { type ServedTopics, serveTopics } from '@tessera/kafka';
import type { Log } from '@tessera/telemetry';
import { BEHAVIOURS_PATTERN } from '../../feature/src/index.js';
import {
  ANNOUNCEMENTS_PATTERN,
  CATALOGUE_CHANGES_PATTERN,
  FetchFolder,
  RECALL_REQUESTS_PATTERN,
  RecallTopicSettings,
} from '../../retrieval/src/index.js';

export interface Topics extends ServedTopics {
  readonly settings: RecallTopicSettings;
  readonly fetchFolder: FetchFolder | undefined;
}

/** Undefined where the configuration names no broker. Nothing is connected yet. */
export function topicsOf(
  { kafka, recall, adapters }: Config,
  takesBehaviours: boolean,
  log: Log,
  onServing: () => void,
): Topics | undefined {
  const isFetching = adapters.path !== '' && adapters.fetchPath !== '';
  const fetchFolder = isFetching ? new FetchFolder(adapters.fetchPath) : undefined;
  const { responsesTopic, auditsTopic, adapterEventsTopic } = kafka;
  const topics = {
    [RECALL_REQUESTS_PATTERN]: kafka.requestsTopic,
    [CATALOGUE_CHANGES_PATTERN]: kafka.changesTopic,
    ...(fetchFolder === undefined ? {} : { [ANNOUNCEMENTS_PATTERN]: kafka.announcementsTopic }),
    ...(takesBehaviours ? { [BEHAVIOURS_PATTERN]: kafka.behavioursTopic } : {}),
  };
  const outputTopics = [responsesTopic, auditsTopic, adapterEventsTopic].filter(
    (topic) => topic !== '',
  );
  const served = serveTopics(kafka, { topics, outputTopics, onServing }, log);
  const settings = new RecallTopicSettings(responsesTopic, recall.defaultDeadlineMs, Date.now);
  return served && { ...served, settings, fetchFolder };
}
