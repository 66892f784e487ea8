import type { Config } from '@tessera/config';
import { type ServedTopics, serveTopics } from '@tessera/kafka';
import type { Log } from '@tessera/telemetry';
import { BEHAVIOURS_PATTERN } from '../../feature/src/index.js';
import {
  CATALOGUE_CHANGES_PATTERN,
  RECALL_REQUESTS_PATTERN,
  RecallTopicSettings,
} from '../../retrieval/src/index.js';

export interface Topics extends ServedTopics {
  readonly settings: RecallTopicSettings;
}

/** Undefined where the configuration names no broker. Nothing is connected yet. */
export function topicsOf(
  { kafka, recall }: Config,
  takesBehaviours: boolean,
  log: Log,
  onServing: () => void,
): Topics | undefined {
  const { responsesTopic, auditsTopic, adapterEventsTopic } = kafka;
  const topics = {
    [RECALL_REQUESTS_PATTERN]: kafka.requestsTopic,
    [CATALOGUE_CHANGES_PATTERN]: kafka.changesTopic,
    ...(takesBehaviours ? { [BEHAVIOURS_PATTERN]: kafka.behavioursTopic } : {}),
  };
  const outputTopics = [responsesTopic, auditsTopic, adapterEventsTopic].filter(
    (topic) => topic !== '',
  );
  const served = serveTopics(kafka, { topics, outputTopics, onServing }, log);
  const settings = new RecallTopicSettings(responsesTopic, recall.defaultDeadlineMs, Date.now);
  return served && { ...served, settings };
}
