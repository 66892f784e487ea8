/** Users as the configuration names them, separated by commas. */ export function parseWatchedUsers(text) {
    const names = text.split(',').map((name)=>name.trim());
    return new Set(names.filter((name)=>name !== ''));
}
/**
 * Why a recall is recorded; undefined: it is not.
 * @param draw evenly distributed in [0, 1)
 */ export function reasonToRecord(recall, { percent, users }, draw) {
    if (recall.isAskedFor) return 'request';
    if (recall.userId !== undefined && users.has(recall.userId)) return 'user';
    return draw * 100 < percent ? 'share' : undefined;
}

//# sourceMappingURL=sampling.js.map