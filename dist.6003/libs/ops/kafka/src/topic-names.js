const TOPICS = {
    /** Recalls that callers ask for. */ requestsTopic: 'recall.requests',
    /** Answers of these recalls. */ responsesTopic: 'recall.responses',
    /** Audits of recalls. */ auditsTopic: 'recall.audits',
    behavioursTopic: 'behaviours',
    /** Changes of the catalogue. */ changesTopic: 'catalogue.changes',
    /** Versions of adapters that trainers announce. */ announcementsTopic: 'adapter.announcements',
    /** Events in the life of adapter versions. */ adapterEventsTopic: 'adapter.events'
};
/** The names behind the prefix (`kafka.topicPrefix`) that separates services of one broker. */ export function topicNames(prefix = '') {
    const entries = Object.entries(TOPICS).map(([role, name])=>[
            role,
            prefix + name
        ]);
    return Object.fromEntries(entries);
}

//# sourceMappingURL=topic-names.js.map