import { Conditions } from "./conditions.js";
/** How often a change of a condition is looked for on behalf of the listeners. */ const CONDITIONS_POLL_MS = 1000;
/**
 * True if this process takes requests: its own state, and none of the conditions that it needs is
 * down. Health checks read it or listen to it.
 */ export class Readiness {
    conditions;
    current = 'starting';
    why = '';
    wasReady = false;
    listeners = [];
    constructor(conditions = new Conditions()){
        this.conditions = conditions;
    }
    get state() {
        return this.current;
    }
    /** Why the process is not ready though it has started; '' where it is. */ get reason() {
        if (this.why !== '') return this.why;
        return this.conditions.blocking().map(({ name, reason })=>`${name}: ${reason}`).join('; ');
    }
    /** The state, and why where there is a reason. */ get description() {
        return this.current === 'failed' ? `failed: ${this.why}` : this.current;
    }
    get ready() {
        return this.current === 'ready' && this.conditions.blocking().length === 0;
    }
    /**
   * A process that is no longer ready still takes calls: until the engine is drained, since
   * balancers learn late, and while a dependency is down that not every request needs.
   */ get takesCalls() {
        return this.current === 'ready' || this.current === 'draining';
    }
    set(state) {
        this.current = state;
        this.tellListeners();
    }
    /** Tells the listeners when a condition has changed whether the process is ready. Never keeps the
   * process alive; the returned function ends it. */ watchConditions() {
        const timer = setInterval(()=>{
            if (this.ready !== this.wasReady) this.tellListeners();
        }, CONDITIONS_POLL_MS);
        timer.unref();
        return ()=>clearInterval(timer);
    }
    /** Ready, unless the end has begun. */ started() {
        if (this.current === 'starting') this.set('ready');
    }
    /** Nothing can be served any more, until the process is started anew. */ fail(reason) {
        if (this.why === '') this.why = reason;
        if (this.current !== 'draining') this.set('failed');
    }
    onChange(listener) {
        this.listeners.push(listener);
    }
    tellListeners() {
        this.wasReady = this.ready;
        for (const listener of this.listeners)listener(this.current);
    }
}

//# sourceMappingURL=readiness.js.map