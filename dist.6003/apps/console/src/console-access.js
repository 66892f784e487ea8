import { hostOfHeader, isLoopback } from "../../../libs/edge/access/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/** Port: who may use the console, and as what. */ export class ConsoleAccess {
}
/**
 * Anybody on this machine may do everything. The host that is asked for must be this machine by
 * name as well: a page from elsewhere may have a name that leads here.
 */ export class LoopbackAccess extends ConsoleAccess {
    async visitor({ host }) {
        const name = hostOfHeader(host);
        if (name !== undefined && isLoopback(name)) return {
            name: 'local',
            role: 'admin'
        };
        const message = `host: expected a name of this machine, got ${host.slice(0, 80)}`;
        throw new TesseraError('PERMISSION_DENIED', message, {
            field: 'host'
        });
    }
}

//# sourceMappingURL=console-access.js.map