/** Roles of people in the console, each of which may do what those before it may. */ /** read: look, try, compare, take notes; operate: erase users; admin: change what is served. */ export const ROLES = [
    'read',
    'operate',
    'admin'
];
const place = (role)=>ROLES.indexOf(role);
export function isRole(text) {
    return ROLES.includes(text);
}
/** True if a role may do what another one may. */ export function reaches(role, wanted) {
    return place(role) >= place(wanted);
}
/** The highest of several; undefined: none. */ export function highestRole(roles) {
    return [
        ...roles
    ].sort((a, b)=>place(b) - place(a))[0];
}
/** A scope of the name of a role gives it. A scope of gRPC alone, such as `push`, gives none. */ export function roleOf(scopes) {
    return highestRole(scopes.filter(isRole));
}

//# sourceMappingURL=roles.js.map