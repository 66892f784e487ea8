/** Of a node that scores texts and has nothing to do. */ export function relevanceProfile(changes = {}) {
    const profile = {
        model: 'fake',
        template: 'fake',
        documentsMax: 100,
        tokenUs: 100,
        backlogUs: 0
    };
    return Object.assign(profile, changes);
}

//# sourceMappingURL=relevance-profile.js.map