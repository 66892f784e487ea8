/** Metrics of topics, and of what is told or recorded behind an answer. */ import { Gauge } from "prom-client";
export const STREAM_METRICS = {
    behaviours: {
        name: 'tessera_behaviours_total',
        meaning: 'behaviours received, by edge (grpc, kafka) and outcome (added, duplicate, outside the ' + 'retention, dead: can never be stored)'
    },
    changeMessages: {
        name: 'tessera_catalogue_change_messages_total',
        meaning: 'messages of catalogue.changes, by outcome (applied, dead: can never be applied)'
    },
    audits: {
        name: 'tessera_recall_audits_total',
        meaning: 'audits of recalls, by outcome (written, failed, dropped: queue to the broker full)'
    },
    followed: {
        name: 'tessera_kv_followed_users_total',
        meaning: 'users with new behaviours whose keys and values were to be extended, by outcome ' + '(appended, failed, dropped: queue full)'
    },
    inspected: {
        name: 'tessera_inspection_records_total',
        meaning: 'recalls selected for recording, by outcome (written, failed, dropped: queue full)'
    },
    facts: {
        name: 'tessera_facts_total',
        meaning: 'facts of recalls and behaviours, by outcome (written, failed: disk, dropped: queue, or ' + 'lost at an end)'
    },
    consoleActions: {
        name: 'tessera_console_actions_total',
        meaning: 'actions in the console, by action (login, erase-user, activate and so on) and code ' + '(OK or a code of docs/operate/errors.md)'
    },
    topicLag: {
        name: 'tessera_topic_lag_records',
        meaning: 'records of a topic not served yet, by topic, as of the last batch; 0 before the first one'
    }
};
export function registerTopicLag(registry, read) {
    new Gauge({
        name: STREAM_METRICS.topicLag.name,
        help: STREAM_METRICS.topicLag.meaning,
        labelNames: [
            'topic'
        ],
        registers: [
            registry
        ],
        collect () {
            for (const { topic, records } of read())this.set({
                topic
            }, records);
        }
    });
}

//# sourceMappingURL=stream-metrics.js.map