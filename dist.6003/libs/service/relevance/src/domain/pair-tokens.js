import { beginningTokens } from "../../../embedding/src/index.js";
import { expecting } from "../../../../ops/errors/src/index.js";
import { DOCUMENT_BYTES_MAX, lookedAt, tooLong } from "./pair-prompts.js";
const invalid = expecting('REQUEST_INVALID');
const PROBE = 'a';
/** Bytes of a text for each token that a pair may have: more than any text that is read has. */ const TOKEN_BYTES_MAX = 16;
/**
 * Pairs to tokens, as the tokenizer writes them. Of one that is too long the document's last tokens
 * are left out and never the query's: `only_second` of transformers.
 */ export class PairTokenMaker {
    tokenizer;
    tokensMax;
    form;
    special;
    constructor(tokenizer, tokensMax, form){
        this.tokenizer = tokenizer;
        this.tokensMax = tokensMax;
        this.form = form;
        this.special = new Set([
            ...form.before,
            ...form.between,
            ...form.behind
        ]);
    }
    /**
   * @param tokensMax of a pair
   * @throws TesseraError TOKENIZER_INVALID
   */ static async of(tokenizer, tokensMax) {
        const own = await tokenizer.encode(PROBE);
        const { ids, segments } = await tokenizer.encodePair(PROBE, PROBE);
        const placeOf = (from)=>ids.findIndex((_, at)=>at >= from && own.every((token, i)=>ids[at + i] === token));
        const first = placeOf(0);
        const second = placeOf(first + own.length);
        return new PairTokenMaker(tokenizer, tokensMax, {
            before: ids.slice(0, first),
            between: ids.slice(first + own.length, second),
            behind: ids.slice(second + own.length),
            hasSegments: segments[second] === 1
        });
    }
    /** Tokens of every pair beside those of its texts. */ get fixedTokens() {
        const { before, between, behind } = this.form;
        return before.length + between.length + behind.length;
    }
    /** True if each pair ends with the token. */ isLast(token) {
        return this.form.behind.at(-1) === token && token !== undefined;
    }
    /** @throws TesseraError REQUEST_INVALID naming `query` */ async queryTokens(query) {
        if (query.trim() === '') throw invalid('query', 'a text that is not empty', 'none');
        const most = this.tokensMax - this.fixedTokens - 1;
        const [bytes, bytesMax] = [
            Buffer.byteLength(query),
            most * TOKEN_BYTES_MAX
        ];
        if (bytes > bytesMax) throw invalid('query', `at most ${bytesMax} bytes`, bytes);
        const tokens = await this.tokensOf('query', query, most);
        if (tokens.length > most) throw invalid('query', `at most ${most} tokens`, 'more');
        return tokens;
    }
    /** @throws TesseraError REQUEST_INVALID naming `field` */ async pairOf(query, document, field, cuts) {
        const { before, between, behind, hasSegments } = this.form;
        const room = this.tokensMax - this.fixedTokens - query.length;
        const bytesMax = Math.min(DOCUMENT_BYTES_MAX, this.tokensMax * TOKEN_BYTES_MAX);
        const all = await this.tokensOf(field, lookedAt(document, field, cuts, bytesMax), room);
        const cutTokens = Math.max(0, all.length - room);
        if (cutTokens > 0 && !cuts) {
            throw tooLong(field, `${room} tokens beside the query`, 'more');
        }
        const own = all.slice(0, room);
        const first = [
            ...before,
            ...query,
            ...between
        ];
        const tokens = [
            ...first,
            ...own,
            ...behind
        ];
        const secondFrom = hasSegments ? first.length : tokens.length;
        return {
            tokens,
            secondFrom,
            documentTokens: own.length,
            cutTokens,
            isTruncated: cutTokens > 0
        };
    }
    /** A text must not end its segment: the special tokens are the template's. */ async tokensOf(field, text, room) {
        const tokens = await beginningTokens(this.tokenizer, text, room);
        if (!tokens.some((token)=>this.special.has(token))) return tokens;
        throw invalid(field, 'a text without the special tokens of the model', 'one of them');
    }
}

//# sourceMappingURL=pair-tokens.js.map