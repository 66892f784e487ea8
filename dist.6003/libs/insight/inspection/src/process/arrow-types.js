const WORDS_128 = 4;
const DECIMAL_WIDTH_MAX = 38;
const DECIMAL_BITS = 128;
const same = (type)=>({
        built: type,
        shown: type,
        value: (value)=>value
    });
/** A value of the database that holds one whole number in a field. */ const whole = (built, shown, field)=>({
        built,
        shown,
        value: (value)=>value[field]
    });
/** Two's complement in 128 bits, the low word first. */ function words(value) {
    const found = new Uint32Array(WORDS_128);
    for (const index of found.keys())found[index] = Number(value >> BigInt(32 * index) & 0xffffffffn);
    return found;
}
const SCALARS = {
    BOOLEAN: ({ Bool })=>same(new Bool()),
    TINYINT: ({ Int8 })=>same(new Int8()),
    SMALLINT: ({ Int16 })=>same(new Int16()),
    INTEGER: ({ Int32 })=>same(new Int32()),
    BIGINT: ({ Int64 })=>same(new Int64()),
    UTINYINT: ({ Uint8 })=>same(new Uint8()),
    USMALLINT: ({ Uint16 })=>same(new Uint16()),
    UINTEGER: ({ Uint32 })=>same(new Uint32()),
    UBIGINT: ({ Uint64 })=>same(new Uint64()),
    FLOAT: ({ Float32 })=>same(new Float32()),
    DOUBLE: ({ Float64 })=>same(new Float64()),
    BLOB: ({ Binary })=>whole(new Binary(), new Binary(), 'bytes'),
    DATE: ({ Int32, DateDay })=>whole(new Int32(), new DateDay(), 'days'),
    TIME: ({ Int64, TimeMicrosecond })=>whole(new Int64(), new TimeMicrosecond(), 'micros'),
    TIMESTAMP: ({ Int64, TimestampMicrosecond: Time })=>whole(new Int64(), new Time(), 'micros'),
    TIMESTAMP_S: ({ Int64, TimestampSecond: Time })=>whole(new Int64(), new Time(), 'seconds'),
    TIMESTAMP_MS: ({ Int64, TimestampMillisecond: Time })=>whole(new Int64(), new Time(), 'millis'),
    TIMESTAMP_NS: ({ Int64, TimestampNanosecond: Time })=>whole(new Int64(), new Time(), 'nanos'),
    TIMESTAMP_TZ: ({ Int64, TimestampMicrosecond: Time })=>whole(new Int64(), new Time('UTC'), 'micros'),
    DECIMAL: ({ Decimal }, type)=>{
        const { width, scale } = type;
        const shown = new Decimal(scale, width, DECIMAL_BITS);
        const value = (one)=>words(one.value);
        return {
            built: shown,
            shown,
            value
        };
    },
    // As DuckDB's own Arrow does: the sum of whole numbers is one, and a text would not add up.
    HUGEINT: ({ Decimal })=>{
        const shown = new Decimal(0, DECIMAL_WIDTH_MAX, DECIMAL_BITS);
        return {
            built: shown,
            shown,
            value: (value)=>words(value)
        };
    }
};
/**
 * Form of a type. Types that Arrow has no equal of (UUID, INTERVAL, BIT, UNION ...) become the text
 * that the database writes for them.
 */ export function formOf(arrow, names, type) {
    const of = (inner)=>formOf(arrow, names, inner);
    switch(type.typeId){
        case names.LIST:
        case names.ARRAY:
            return listOf(arrow, of(type.valueType));
        case names.STRUCT:
            {
                const { entryNames, entryTypes } = type;
                return structOf(arrow, entryNames, entryTypes.map(of));
            }
        case names.MAP:
            {
                const { keyType, valueType } = type;
                return mapOf(arrow, of(keyType), of(valueType));
            }
        default:
            return scalarOf(arrow, names, type);
    }
}
function scalarOf(arrow, names, type) {
    const text = new arrow.Utf8();
    const scalar = SCALARS[names[type.typeId]];
    return scalar?.(arrow, type) ?? {
        built: text,
        shown: text,
        value: String
    };
}
const orNull = ({ value }, one)=>one === null ? null : value(one);
function listOf({ Field, List }, item) {
    const of = (type)=>new List(new Field('item', type, true));
    const value = (list)=>list.items.map((one)=>orNull(item, one));
    return {
        built: of(item.built),
        shown: of(item.shown),
        value
    };
}
function structOf({ Field, Struct }, names, forms) {
    const of = (kind)=>new Struct(forms.map((form, index)=>new Field(names[index] ?? '', form[kind], true)));
    const value = (struct)=>{
        const { entries } = struct;
        return forms.map((form, index)=>orNull(form, entries[names[index] ?? ''] ?? null));
    };
    return {
        built: of('built'),
        shown: of('shown'),
        value
    };
}
function mapOf({ Field, Map_, Struct }, key, item) {
    const of = (keyType, itemType)=>{
        const fields = [
            new Field('key', keyType, false),
            new Field('value', itemType, true)
        ];
        const entries = new Struct([
            ...fields
        ]);
        return new Map_(new Field('entries', entries, false));
    };
    const value = (map)=>new Map(map.entries.map((one)=>[
                key.value(one.key),
                orNull(item, one.value)
            ]));
    return {
        built: of(key.built, item.built),
        shown: of(key.shown, item.shown),
        value
    };
}

//# sourceMappingURL=arrow-types.js.map