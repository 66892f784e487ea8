/** Keys of topics, and of how this process shows itself to Kafka and to Redis: secrets in files. */

import { nonEmptyText, oneOf, text } from './schema-fields.js';

export const KAFKA_TOPICS = {
  requestsTopic: nonEmptyText('recall.requests', 'topic that recalls are asked for on'),
  responsesTopic: nonEmptyText('recall.responses', 'topic that recalls are answered on'),
  behavioursTopic: nonEmptyText('behaviours', 'topic of behaviours'),
  sharedTopics: oneOf(
    ['here', 'gateway'],
    'here',
    'who takes the records of requests and behaviours, each of which one process takes: this ' +
      'node, or the gateway before it',
  ),
  changesTopic: nonEmptyText('catalogue.changes', 'topic of changes of the catalogue'),
  announcementsTopic: nonEmptyText(
    'adapter.announcements',
    'topic that versions of adapters are announced on',
  ),
  adapterEventsTopic: text(
    'adapter.events',
    'topic of what was done with adapters; empty: none are written',
  ),
  auditsTopic: text('recall.audits', 'topic of audits of recalls; empty: none are written'),
};

export const KAFKA_SECURITY = {
  tls: oneOf(['off', 'on'], 'off', 'speak TLS with the brokers'),
  caPath: text('', 'PEM file of the authority of their certificates; empty: those of the system'),
  certificatePath: text('', 'PEM file of the certificate that they are shown; empty: none'),
  keyPath: text('', 'PEM file of its private key'),
  saslMechanism: oneOf(
    ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    'none',
    'how user and password are given to the brokers',
  ),
  saslUser: text('', 'user that they know this process as'),
  saslPasswordPath: text('', 'file of its password'),
};

export const REDIS_SECURITY = {
  redisUser: text('', 'user that Redis knows this process as; empty: the default one'),
  redisPasswordPath: text('', 'file of its password; empty: none'),
  redisTls: oneOf(['off', 'on'], 'off', 'speak TLS with Redis'),
  redisCaPath: text('', 'PEM file of the authority of its certificate; empty: those of the system'),
  redisCertificatePath: text('', 'PEM file of the certificate that it is shown; empty: none'),
  redisKeyPath: text('', 'PEM file of its private key'),
};
