import { append } from "./append.js";
import { explain } from "./explain.js";
import { Preparation, RequestScopes } from "./preparation.js";
import { rank } from "./rank.js";
import { recall } from "./recall.js";
import { score } from "./score.js";
/** The requests that one catalogue answers; each is a file of its own beside this one. */ export class UseCases {
    preparation;
    scopes = new RequestScopes();
    constructor(parts){
        this.preparation = new Preparation(parts);
    }
    recall(request, context) {
        return this.scopes.run((scope)=>recall(this.preparation, request, {
                ...context,
                scope
            }));
    }
    score(request, context) {
        return this.scopes.run((scope)=>score(this.preparation, request, {
                ...context,
                scope
            }));
    }
    rank(request, context) {
        return this.scopes.run((scope)=>rank(this.preparation, request, {
                ...context,
                scope
            }));
    }
    explain(request, context) {
        return this.scopes.run((scope)=>explain(this.preparation, request, {
                ...context,
                scope
            }));
    }
    append(request, context) {
        return this.scopes.run((scope)=>append(this.preparation, request, {
                ...context,
                scope
            }));
    }
    /** Requests that have not ended. */ get underway() {
        return this.scopes.open;
    }
    /** The prompts of the user's recalls can be explained no more. */ forget(userId) {
        this.preparation.remembered.forget(userId);
    }
}

//# sourceMappingURL=use-cases.js.map