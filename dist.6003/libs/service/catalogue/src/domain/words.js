/**
 * Words of a text, by the rule that the trainer has too (trainer/semantic_ids/words.py): the text
 * is normalised (NFKC) and put in lower case; a word is a run of letters, numbers and marks, and
 * scripts that are written without spaces give pairs of neighbours instead.
 */ /** First and last code points of scripts without spaces between words. */ const UNSPACED = [
    [
        0x0e00,
        0x0eff
    ],
    [
        0x1780,
        0x17ff
    ],
    [
        0x2e80,
        0x9fff
    ],
    [
        0xf900,
        0xfaff
    ],
    [
        0x20000,
        0x3ffff
    ]
];
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
function isSpaced(letter) {
    const point = letter.codePointAt(0) ?? 0;
    return !UNSPACED.some(([first, last])=>first <= point && point <= last);
}
/**
 * Stands for a word that is not known, such as a new brand's name: its runs of three characters,
 * its ends marked. Begins with `~`, as no word does; none of scripts without spaces.
 */ export function partsOf(word) {
    const letters = [
        ...word
    ];
    if (!letters.every(isSpaced)) return [];
    const marked = [
        '^',
        ...letters,
        '$'
    ];
    return letters.map((_, i)=>`~${marked.slice(i, i + 3).join('')}`);
}
/** In the order of the text, repeated where they are. */ export function wordsOf(text) {
    const found = [];
    for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(RUN)){
        let part = [];
        let spaced = true;
        const close = ()=>{
            if (spaced || part.length === 1) found.push(part.join(''));
            else for(let i = 0; i + 1 < part.length; i++)found.push(`${part[i]}${part[i + 1]}`);
            part = [];
        };
        for (const letter of run){
            const here = isSpaced(letter);
            if (part.length > 0 && here !== spaced) close();
            spaced = here;
            part.push(letter);
        }
        close();
    }
    return found;
}

//# sourceMappingURL=words.js.map