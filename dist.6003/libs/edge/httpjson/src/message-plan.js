/** The JSON form of a message, by its descriptor and the decisions of the edge. */ import { enumWords } from "../../../ops/contracts/src/index.js";
import protobuf from "protobufjs";
/** Least and largest integer of a type; those of 64 bits end where a number is no longer exact. */ const RANGES = {
    uint32: [
        0,
        2 ** 32 - 1
    ],
    uint64: [
        0,
        Number.MAX_SAFE_INTEGER
    ],
    int64: [
        Number.MIN_SAFE_INTEGER,
        Number.MAX_SAFE_INTEGER
    ]
};
const KINDS = {
    string: 'text',
    bool: 'flag',
    uint32: 'integer',
    uint64: 'integer',
    int64: 'integer',
    double: 'number',
    float: 'number'
};
/** The list of a message that has nothing but one. */ function soleList({ resolvedType, repeated }) {
    if (repeated || !(resolvedType instanceof protobuf.Type)) return undefined;
    const [first, ...others] = resolvedType.fieldsArray;
    return first?.repeated && others.length === 0 ? first : undefined;
}
/** The name that a field has in the proto file. */ export const inProto = (name)=>name.replace(/[A-Z]/g, (letter)=>`_${letter.toLowerCase()}`);
/** Plans are made when they are first asked for, and kept. */ export class MessagePlans {
    form;
    root;
    plans = new Map();
    constructor(schema, form){
        this.form = form;
        this.root = protobuf.Root.fromJSON(schema);
        this.root.resolveAll();
    }
    /** Of an rpc, `package.Service.Method`. */ rpc(name) {
        const at = name.lastIndexOf('.');
        const service = this.root.lookupService(name.slice(0, at));
        const method = service.methods[name.slice(at + 1)];
        if (method === undefined) throw new Error(`expected an rpc of the schema, got ${name}`);
        const { requestType, responseType, comment } = method;
        return {
            request: service.lookupType(requestType),
            response: service.lookupType(responseType),
            comment: comment ?? ''
        };
    }
    of(type) {
        const known = this.plans.get(type);
        if (known !== undefined) return known;
        const { hidden, bare } = this.form;
        const shown = type.fieldsArray.filter(({ name })=>!hidden.has(`${type.name}.${name}`));
        const fields = new Map(shown.map((field)=>[
                field.name,
                this.field(type, field)
            ]));
        const bareName = bare[type.name] ?? '';
        const spelled = new Map([
            ...fields
        ].flatMap(([name, field])=>[
                [
                    name,
                    field
                ],
                [
                    inProto(name),
                    field
                ]
            ]));
        const plan = {
            name: type.name,
            fields,
            spelled,
            bare: fields.get(bareName)
        };
        fields.delete(bareName);
        this.plans.set(type, plan);
        return plan;
    }
    field(owner, field) {
        const { name, map, repeated, comment } = field;
        const list = soleList(field);
        const content = list ?? field;
        const { resolvedType } = content;
        const kind = this.kind(`${owner.name}.${name}`, content);
        return {
            name,
            kind,
            isRequired: this.form.required.has(`${owner.name}.${name}`),
            isOptional: field.partOf !== null || field.resolvedType instanceof protobuf.Type && !repeated,
            isAnswered: field.partOf === null && kind !== 'verbatim',
            isPositive: this.form.positive.has(name),
            range: RANGES[content.type] ?? [
                0,
                0
            ],
            isList: repeated || list !== undefined,
            isMap: map,
            listIn: list?.name ?? '',
            listOf: list === undefined ? undefined : field.resolvedType,
            words: kind === 'word' ? wordsOf(resolvedType) : {},
            protoWords: kind === 'word' ? resolvedType.values : {},
            message: kind === 'message' ? resolvedType : undefined,
            comment: comment ?? ''
        };
    }
    kind(path, { name, type, resolvedType }) {
        const { verbatim, ids } = this.form;
        if (verbatim.has(path)) return 'verbatim';
        if (resolvedType instanceof protobuf.Enum) return 'word';
        if (resolvedType instanceof protobuf.Type) return 'message';
        if (type === 'string' && ids.has(name)) return 'id';
        const kind = KINDS[type];
        if (kind === undefined) throw new Error(`${path}: a ${type} has no form in JSON`);
        return kind;
    }
}
function wordsOf(type) {
    const words = enumWords;
    return words[type.fullName.slice(1)] ?? {};
}

//# sourceMappingURL=message-plan.js.map