import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { ItemText } from "../../libs/service/prompt/src/index.js";
import { relevanceProfile } from "../../libs/testing/src/index.js";
const PROFILE = relevanceProfile({
    documentsMax: 20
});
/** Scores a text by its own characters, refuses `faulty`, and waits while it is held. */ export class FakeRelevance {
    /** Texts of each call. */ seen = [];
    /** Calls that wait. */ held = 0;
    released = Promise.resolve();
    resolve = ()=>undefined;
    get opened() {
        const relevance = {
            itemText: ItemText.ofTitle,
            checkAdapter: (name, field)=>checkAdapter(name, field),
            profile: ()=>PROFILE,
            score: (request)=>this.score(request)
        };
        const nothing = async ()=>undefined;
        return {
            relevance,
            description: 'fake',
            notes: [],
            drain: nothing,
            close: nothing
        };
    }
    hold() {
        this.released = new Promise((resolve)=>{
            this.resolve = resolve;
        });
    }
    release() {
        this.resolve();
    }
    async score(request) {
        const { query, documents, failures, adapter = '' } = request;
        checkAdapter(adapter, 'adapter');
        if (query === '') throw invalid('query', 'a text that is not empty', 'none');
        if (documents.length < 1 || documents.length > PROFILE.documentsMax) {
            throw invalid('documents', '1..20 documents', String(documents.length));
        }
        this.seen.push(documents.flatMap((of)=>typeof of === 'string' ? of : []));
        this.held += 1;
        await this.released;
        this.held -= 1;
        const outcomes = documents.map((of, i)=>{
            if (of instanceof TesseraError) return {
                error: of
            };
            if (of === 'faulty') return {
                error: invalid(`documents[${i}]`, 'another text', of)
            };
            const sum = [
                ...Buffer.from(of)
            ].reduce((all, byte)=>(all * 31 + byte) % 9973, 7);
            const { length: promptTokens } = of;
            return {
                score: sum / 9973,
                promptTokens,
                documentTokens: promptTokens,
                cutTokens: 0
            };
        });
        const failed = outcomes.find((of)=>'error' in of);
        if (failures === 'whole' && failed !== undefined && 'error' in failed) throw failed.error;
        const tokens = outcomes.reduce((all, of)=>all + ('error' in of ? 0 : of.promptTokens), 0);
        const { model: modelDigest, template } = PROFILE;
        const versions = {
            modelDigest,
            template,
            adapter
        };
        return {
            outcomes,
            promptTokens: tokens,
            computedTokens: tokens,
            ...versions
        };
    }
}
/** Knows `fits`, which changes no score. */ function checkAdapter(name, field) {
    if (name === '' || name === 'fits') return;
    const message = `${field}: expected one of fits, base, got '${name}'`;
    throw new TesseraError('ADAPTER_NOT_FOUND', message, {
        field
    });
}
function invalid(field, expected, got) {
    return new TesseraError('REQUEST_INVALID', `${field}: expected ${expected}, got ${got}`, {
        field
    });
}

//# sourceMappingURL=fake-relevance.js.map