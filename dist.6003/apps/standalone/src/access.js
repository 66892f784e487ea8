import { join } from "node:path";
import { OidcLogin, parseClaimRoles } from "../../../libs/edge/access/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { ProcessAccess } from "../../../libs/edge/hosting/src/index.js";
function auditPathOf({ access, adapters, weights, inspection }, { adapters: kept }) {
    if (access.auditPath !== '') return access.auditPath;
    const folders = [
        kept === undefined ? '' : adapters.path,
        weights.path,
        inspection.path
    ];
    const folder = folders.find((one)=>one !== '');
    // Without any folder nothing is kept that could be changed.
    return folder === undefined ? '' : join(folder, 'audit.jsonl');
}
/** Rejects with CONFIG_INVALID. */ async function oidcOf({ oidc, login, console }) {
    const { publicUrl } = login;
    if (publicUrl !== '' && !/^https?:\/\/[^/?#]+(\/[^?#]*)?$/.test(publicUrl)) {
        const message = `login.publicUrl: expected http(s)://HOST or HOST/PATH, got ${publicUrl}`;
        throw new TesseraError('CONFIG_INVALID', message, {
            field: 'login.publicUrl'
        });
    }
    if (console.pages === 'off' || oidc.issuer === '') return undefined;
    return OidcLogin.open({
        ...oidc,
        roles: parseClaimRoles(oidc.roles)
    });
}
/**
 * Rejects with CONFIG_INVALID for a bad file of tokens or open doors, IO_FAILED for a log that
 * cannot be had.
 */ export async function openAccess(config, operations, log) {
    const oidc = await oidcOf(config);
    return {
        process: await ProcessAccess.open(config, auditPathOf(config, operations), log),
        oidc
    };
}

//# sourceMappingURL=access.js.map