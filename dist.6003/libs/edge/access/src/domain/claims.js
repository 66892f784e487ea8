/** Claims of an OpenID provider about a person, as roles. */ import { TesseraError } from "../../../../ops/errors/src/index.js";
import { isRole, ROLES } from "./roles.js";
/** The claim of a name; else what lies at its path, as `realm_access.roles`. */ export function claimAt(claims, path) {
    if (Object.hasOwn(claims, path)) return claims[path];
    return path.split('.').reduce((value, name)=>{
        const isGroup = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
        return isGroup ? value[name] : undefined;
    }, claims);
}
/** A claim is one text, several with spaces between, or a list. */ export function rolesOfClaim(claim, roles) {
    const values = Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
    return [
        claim,
        ...values
    ].flatMap((value)=>roles.get(String(value)) ?? []);
}
/**
 * `VALUE=ROLE`, separated by commas.
 * @throws TesseraError CONFIG_INVALID
 */ export function parseClaimRoles(text) {
    const pairs = text.split(',').map((pair)=>{
        const at = pair.lastIndexOf('=');
        const [value, role] = [
            pair.slice(0, at).trim(),
            pair.slice(at + 1).trim()
        ];
        if (at > 0 && value !== '' && isRole(role)) return [
            value,
            role
        ];
        const message = `oidc.roles: expected VALUE=ROLE of ${ROLES.join(', ')}, got '${pair}'`;
        throw new TesseraError('CONFIG_INVALID', message, {
            field: 'oidc.roles'
        });
    });
    return new Map(pairs);
}

//# sourceMappingURL=claims.js.map