/** Kind of the entries that erase a user: tombstones. */ export const ERASE = 'erase';
/** Of the body of an entry. */ export function erasedUser(body) {
    return String(body?.userId ?? '');
}

//# sourceMappingURL=erasure.js.map