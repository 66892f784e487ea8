import { createHash } from "node:crypto";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { gapText, planHistory } from "./history-plan.js";
import { levelTokens, levelTokenText, NO_TOKEN } from "./level-tokens.js";
import { slotText } from "./slot-value.js";
import { TextTokens } from "./text-tokens.js";
/**
 * A template bound to a tokenizer and to the level sizes of a catalogue. Level tokens are written
 * by their ids; the text between them goes through the tokenizer once and is cached.
 */ export class CompiledTemplate {
    template;
    tokenizer;
    levelTokens;
    /** SHA-256 over template and tokenizer, hexadecimal: equal digests give equal tokens. */ digest;
    /** SHA-256 over how codes are written: equal digests give equal tokens to equal SIDs. */ codebookDigest;
    text;
    leadingText;
    /** Made when it is needed first. */ levelIds;
    /** @throws TesseraError PROMPT_TEMPLATE_INVALID or TOKENIZER_INVALID */ constructor(template, tokenizer, levelSizes){
        this.template = template;
        this.tokenizer = tokenizer;
        this.levelTokens = levelTokens(template, tokenizer, levelSizes);
        const isReserved = (token)=>this.isReserved(token);
        this.text = new TextTokens(tokenizer, this.anchorText(), isReserved);
        const parts = `${template.digest} ${tokenizer.digest}`;
        this.digest = createHash('sha256').update(parts).digest('hex');
        const codebook = `${JSON.stringify(template.levels)} ${tokenizer.digest}`;
        this.codebookDigest = createHash('sha256').update(codebook).digest('hex');
        this.leadingText = leadingText(template);
    }
    /** True where every code of the SID has a token. */ canWrite(sid) {
        return sid.every((code, level)=>this.tokenOf(level, code) !== NO_TOKEN);
    }
    /**
   * The prompt's tokens. Where they would exceed the limit, the oldest items of the history are
   * dropped in the smallest multiple of trimStep that makes the prompt fit.
   * @param tokensMax what model and engine take; the template's own maxPromptTokens holds as well
   * @throws TesseraError REQUEST_INVALID naming the slot, or where no item of the history fits
   */ render(input, tokensMax) {
        const limit = Math.min(tokensMax, this.template.promptTokensMax);
        const plan = planHistory(this.template, input.history);
        const count = plan.used.length;
        const step = this.template.trimStep;
        const render = (steps)=>this.tokensOf(this.pieces(input, plan, steps * step));
        let { tokens, keepTokens, shown } = render(0);
        let steps = 0;
        if (tokens.length > limit) {
            steps = this.stepsThatFit(render, Math.ceil(count / step), limit);
            ({ tokens, keepTokens, shown } = render(steps));
        }
        if (tokens.length > limit || count > 0 && steps * step >= count) {
            refuseLength(tokens.length, limit, count);
        }
        const historyItems = count - steps * step;
        const leading = this.text.encode(this.leadingText, {
            left: false,
            right: false
        });
        const prefixTokens = commonLength(leading, tokens);
        return {
            prefixTokens,
            keepTokens: Math.max(keepTokens, prefixTokens),
            tokens: Int32Array.from(tokens),
            historyItems,
            trimmedItems: plan.matchedCount - historyItems,
            shown
        };
    }
    /** Smallest count of steps that fits, or stepsMax. Dropping more never makes a prompt longer. */ stepsThatFit(render, stepsMax, limit) {
        let low = Math.min(1, stepsMax);
        let high = stepsMax;
        while(low < high){
            const middle = low + high >> 1;
            if (render(middle).tokens.length <= limit) high = middle;
            else low = middle + 1;
        }
        return low;
    }
    pieces(input, plan, dropped) {
        const oldest = dropped < plan.used.length ? plan.used[dropped] ?? 0 : input.history.length;
        const pieces = [];
        const places = [];
        let sceneAt;
        for (const segment of this.template.segments){
            if (segment.kind === 'scene') sceneAt ??= pieces.length;
            if (segment.kind === 'text') {
                pieces.push(segment.text);
            } else if (segment.kind === 'history') {
                const indices = plan.shown.get(segment)?.filter((index)=>index >= oldest) ?? [];
                const items = indices.map((index)=>input.history[index]);
                for (const index of indices)places.push(index);
                pieces.push(...this.historyPieces(segment, items));
            } else {
                pieces.push(...this.valuePieces(segment, input));
            }
        }
        pieces.push(this.template.answerPrefix);
        return {
            pieces,
            sceneAt: sceneAt ?? pieces.length,
            places
        };
    }
    valuePieces(segment, input) {
        const text = slotText(segment, input[segment.kind], this.tokenizer);
        return text === undefined ? [] : [
            segment.before,
            text,
            segment.after
        ];
    }
    historyPieces(segment, items) {
        if (items.length === 0) return [];
        const { itemPrefix, itemSuffix } = this.template;
        const pieces = [
            segment.before
        ];
        items.forEach((item, index)=>{
            const before = items[index - 1];
            if (before !== undefined) {
                pieces.push(segment.separator, gapText(segment.timeGaps ?? [], before, item));
            }
            pieces.push(actionText(segment, item.action));
            pieces.push(affixText(itemPrefix, item.domain), item.sid, affixText(itemSuffix, item.domain));
        });
        pieces.push(segment.after);
        return pieces;
    }
    tokensOf({ pieces, sceneAt, places }) {
        const tokens = [];
        const shown = [];
        let text = '';
        let values = [];
        let left = false;
        let keepTokens = 0;
        pieces.forEach((piece, index)=>{
            if (typeof piece === 'string') {
                text += piece;
                return;
            }
            if ('text' in piece) {
                const { field, text: value } = piece;
                values.push({
                    field,
                    text: value,
                    start: text.length,
                    end: text.length + value.length
                });
                text += value;
                return;
            }
            for (const id of this.text.encode(text, {
                left,
                right: true
            }, values))tokens.push(id);
            values = [];
            piece.forEach((code, level)=>{
                tokens.push(this.tokenOf(level, code));
            });
            text = '';
            left = true;
            if (index < sceneAt) keepTokens = tokens.length;
            shown.push({
                place: places[shown.length] ?? 0,
                endToken: tokens.length
            });
        });
        for (const id of this.text.encode(text, {
            left,
            right: false
        }, values))tokens.push(id);
        return {
            tokens,
            keepTokens,
            shown
        };
    }
    /** Tokens that control the model, write a code or end an answer: no value may make them. */ isReserved({ special, id }) {
        this.levelIds ??= new Set(this.levelTokens.levels.flatMap((ids)=>[
                ...ids
            ]));
        return special || this.levelIds.has(id) || this.levelTokens.terminal.includes(id);
    }
    tokenOf(level, code) {
        return this.levelTokens.levels[level]?.[code] ?? NO_TOKEN;
    }
    /** Text of some token of the first level, '' where levels are written by ids. */ anchorText() {
        const form = this.template.levels[0];
        const code = this.levelTokens.levels[0]?.findIndex((id)=>id !== NO_TOKEN) ?? -1;
        return form?.kind === 'pattern' && code >= 0 ? levelTokenText(form.pattern, code) : '';
    }
}
/** Text segments that stand before every slot. */ function leadingText({ segments }) {
    const slot = segments.findIndex((segment)=>segment.kind !== 'text');
    const texts = slot === -1 ? segments : segments.slice(0, slot);
    return texts.map((segment)=>segment.kind === 'text' ? segment.text : '').join('');
}
function commonLength(a, b) {
    let length = 0;
    while(length < a.length && length < b.length && a[length] === b[length])length += 1;
    return length;
}
function actionText({ actionTexts }, action) {
    return actionTexts?.get(action) ?? actionTexts?.get('*') ?? '';
}
function affixText(affix, domain) {
    return typeof affix === 'string' ? affix : affix.get(domain) ?? '';
}
function refuseLength(length, limit, items) {
    const what = items > 0 ? 'with at least one item of the history' : 'without a history';
    throw new TesseraError('REQUEST_INVALID', `prompt: expected at most ${limit} tokens ${what}, got ${length} without any item`, {
        field: 'prompt'
    });
}

//# sourceMappingURL=compiled-template.js.map