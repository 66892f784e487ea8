/** Keys of topics, and of the identity of this process in Kafka and Redis: secrets in files. */ import { oneOf, text } from "./schema-fields.js";
export const KAFKA_TOPICS = {
    topicPrefix: text('', 'prefix of the names of all topics, e.g. ads.'),
    sharedTopics: oneOf([
        'here',
        'gateway'
    ], 'here', 'consumer of recall requests and behaviours: this node, or the gateway before it')
};
export const KAFKA_SECURITY = {
    tls: oneOf([
        'off',
        'on'
    ], 'off', 'TLS with the brokers, using the files of peer.*'),
    saslMechanism: oneOf([
        'none',
        'plain',
        'scram-sha-256',
        'scram-sha-512'
    ], 'none', 'SASL mechanism of the login with the brokers'),
    saslUser: text('', 'user of the login'),
    saslPasswordPath: text('', 'file of the password')
};
export const REDIS_SECURITY = {
    redisUser: text('', 'user of the login with Redis; empty: the default user'),
    redisPasswordPath: text('', 'file of the password; empty: none')
};

//# sourceMappingURL=schema-brokers.js.map