/** A scope for each kind of access, and the roles that include several. */ /**
 * `read`, `operate` and `admin` are the roles of the console; over gRPC and HTTP they include the
 * scopes of what they may do there.
 */ export const SCOPES = [
    'recall',
    'embed',
    'behaviour:write',
    'behaviour:read',
    'behaviour:erase',
    'catalogue:read',
    'catalogue:write',
    'kv',
    'push',
    'activate',
    'adapter:read',
    'weights:read',
    'weights:write',
    'metrics',
    'reflection',
    'read',
    'operate',
    'admin'
];
/** Scopes that come with another one. */ const INCLUDED = {
    'catalogue:write': [
        'catalogue:read'
    ],
    activate: [
        'weights:write'
    ],
    read: [
        'adapter:read',
        'weights:read',
        'catalogue:read',
        'metrics',
        'reflection'
    ],
    operate: [
        'read',
        'behaviour:erase',
        'kv'
    ],
    admin: [
        'operate',
        'activate',
        'catalogue:write'
    ]
};
/** The scopes that are granted and all that come with them. */ export function reachOf(granted) {
    const reach = new Set();
    const add = (scope)=>{
        if (reach.has(scope)) return;
        reach.add(scope);
        for (const included of INCLUDED[scope] ?? [])add(included);
    };
    for (const scope of granted)add(scope);
    return reach;
}
export const EVERY_SCOPE = new Set(SCOPES);

//# sourceMappingURL=scopes.js.map