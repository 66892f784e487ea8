import { TesseraError } from "../../../../ops/errors/src/index.js";
/** The id that stands for "the vocabulary has no token for this code". */ export const NO_TOKEN = -1;
/** Token text of a code under a pattern. */ export function levelTokenText(pattern, code) {
    return pattern.replace('{code}', ()=>String(code));
}
/**
 * Token ids of a catalogue's codes in the model's vocabulary. A vocabulary may lack single codes
 * (trainers add only the tokens that occur in the index); a whole level without tokens is refused.
 * @param levelSizes codes per level of the catalogue
 * @throws TesseraError PROMPT_TEMPLATE_INVALID or TOKENIZER_INVALID
 */ export function levelTokens(template, tokenizer, levelSizes) {
    if (levelSizes.length > template.levels.length) {
        throw new TesseraError('PROMPT_TEMPLATE_INVALID', `prompt.json: levels: expected ${levelSizes.length} levels as the catalogue has, ` + `got ${template.levels.length}`, {
            field: 'levels'
        });
    }
    const levels = levelSizes.map((size, level)=>{
        const form = template.levels[level];
        const ids = Int32Array.from({
            length: size
        }, (_, code)=>tokenOf(form, code, tokenizer));
        if (ids.every((id)=>id === NO_TOKEN)) refuseLevel(form, level, size);
        return ids;
    });
    return {
        levels,
        terminal: template.answerTerminal.map((text, i)=>terminalToken(text, i, tokenizer))
    };
}
function tokenOf(form, code, tokenizer) {
    switch(form.kind){
        case 'pattern':
            return tokenizer.tokenId(levelTokenText(form.pattern, code)) ?? NO_TOKEN;
        case 'base':
            return form.base + code;
        case 'ids':
            return form.ids[code] ?? NO_TOKEN;
    }
}
function refuseLevel(form, level, size) {
    const form_ = form.kind === 'pattern' ? `of the form ${form.pattern}` : 'of the level';
    throw new TesseraError('TOKENIZER_INVALID', `prompt.json: levels[${level}]: expected tokens ${form_} for the codes 0..${size - 1}, ` + 'got none in the vocabulary', {
        field: `levels[${level}]`
    });
}
function terminalToken(text, index, tokenizer) {
    const ids = tokenizer.encode(text);
    if (ids.length === 1) return ids[0];
    throw new TesseraError('PROMPT_TEMPLATE_INVALID', `prompt.json: answer.terminal[${index}]: expected the text of exactly one token, ` + `got ${JSON.stringify(text)}, which is ${ids.length}`, {
        field: `answer.terminal[${index}]`
    });
}

//# sourceMappingURL=level-tokens.js.map