import { TesseraError } from "../../../ops/errors/src/index.js";
import { checkScope } from "./domain/grants.js";
/** Of callers of what is open on purpose. */ const UNASKED = {
    name: ''
};
/** Lets callers of one edge in as the access table says, before anything is parsed. */ export class EdgeGuard {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /**
   * The caller. A rule that asks for a role of the console is left to the console.
   * @throws TesseraError UNAUTHENTICATED, PERMISSION_DENIED, CONFIG_INVALID
   */ enter(rule, credentials) {
        const { control, host } = this.parts;
        let actor = '';
        try {
            if (rule === undefined) throw unlisted();
            const { need } = rule;
            if (need === 'open' || 'role' in need) return UNASKED;
            const holder = control.identify(credentials, host);
            actor = holder.name;
            checkScope(holder, need.scope);
            return holder;
        } catch (thrown) {
            throw this.refused(rule?.action, actor, TesseraError.from(thrown));
        }
    }
    /** Counts a refusal, and audits it where a change was refused. */ refused(action, actor, error) {
        const { edge, changes, onRefused } = this.parts;
        onRefused(edge, error.code);
        if (action !== undefined) {
            changes.note({
                action,
                actor,
                edge,
                name: '',
                detail: error.message
            }, error.code);
        }
        return error;
    }
}
function unlisted() {
    const message = 'access: expected a method or route of the access table, got another';
    return new TesseraError('PERMISSION_DENIED', message);
}

//# sourceMappingURL=edge-guard.js.map