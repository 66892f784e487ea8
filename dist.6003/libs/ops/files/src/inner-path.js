const SEGMENT = /^[^/\\\0]+$/;
/**
 * True if a path that was read from a file leads to something below the folder that it counts from:
 * names alone, none of them `.` or `..`.
 */ export function isInnerPath(path) {
    const segments = path.split('/');
    return segments.every((name)=>SEGMENT.test(name) && name !== '.' && name !== '..');
}

//# sourceMappingURL=inner-path.js.map