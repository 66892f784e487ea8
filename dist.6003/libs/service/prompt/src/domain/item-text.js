/** Source of an item's text: its title, or attributes of the catalogue. */ const SLOT = /\{([^{}]+)\}/;
const TITLE = 'title';
/** The text of an item, as a pattern has it: `{title}` and names of attributes in braces. */ export class ItemText {
    static ofTitle = new ItemText(`{${TITLE}}`);
    /** Texts around slots at even places, names of slots at odd ones. */ parts;
    constructor(pattern){
        this.parts = pattern.split(SLOT);
    }
    get slots() {
        return this.parts.filter((_, i)=>i % 2 === 1);
    }
    /** True if an item's attributes have to be known. */ get usesAttributes() {
        return this.slots.some((slot)=>slot !== TITLE);
    }
    /** Slots that the item has nothing for are left empty; '' where that is all of them. */ of({ title, attributes }) {
        const values = this.usesAttributes ? {
            ...JSON.parse(attributes),
            [TITLE]: title
        } : {
            [TITLE]: title
        };
        const filled = this.parts.map((part, i)=>i % 2 === 0 ? part : written(values, part));
        return filled.some((text, i)=>i % 2 === 1 && text !== '') ? filled.join('') : '';
    }
}
function written(values, name) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) return '';
    return Array.isArray(value) ? value.join(', ') : String(value);
}

//# sourceMappingURL=item-text.js.map