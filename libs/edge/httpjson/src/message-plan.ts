/** The JSON form of a message, by its descriptor and the decisions of the edge. */

import { enumWords } from '@tessera/contracts';
import protobuf from 'protobufjs';

/** Decisions that the proto files do not have. Fields are named `Message.field`. */
export interface JsonForm {
  /** A body is refused without them. */
  readonly required: ReadonlySet<string>;
  /** Fields of calls between processes; HTTP does not have them. */
  readonly hidden: ReadonlySet<string>;
  /** Names of text fields that are also taken as integers. */
  readonly ids: ReadonlySet<string>;
  /** Names of numbers that are at least 1; what takes them checks it. */
  readonly positive: ReadonlySet<string>;
  /** A JSON object that is passed on as it is: its form is not that of its message. */
  readonly verbatim: ReadonlySet<string>;
  /** Member of a message that stands for the message, in place of an object with it. */
  readonly bare: Readonly<Record<string, string>>;
  /** The prefix of a package's messages in the OpenAPI document. */
  readonly prefixes: Readonly<Record<string, string>>;
}

export type FieldKind =
  | 'text'
  | 'id'
  | 'flag'
  | 'integer'
  | 'number'
  | 'word'
  | 'message'
  | 'verbatim';

export interface FieldPlan {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  /** Left out of requests rather than its default. */
  readonly isOptional: boolean;
  /** Every answer has it: only what is `optional` or one of several may be left out. */
  readonly isAnswered: boolean;
  readonly isPositive: boolean;
  /** Range of an integer. */
  readonly range: readonly [least: number, most: number];
  readonly isList: boolean;
  readonly isMap: boolean;
  /** Name of the one list of the message that the JSON writes as that list; '' for none. */
  readonly listIn: string;
  /** The message that has this list; undefined: the list is the field itself. */
  readonly listOf: protobuf.Type | undefined;
  /** Numbers on the wire, by word. */
  readonly words: Readonly<Record<string, number>>;
  /** Numbers by the names in the proto file, which its own JSON writes. */
  readonly protoWords: Readonly<Record<string, number>>;
  /** Type of a message. */
  readonly message: protobuf.Type | undefined;
  readonly comment: string;
}

export interface MessagePlan {
  /** Without its package. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** These and `bare`, by each spelling that a body may have: `userId` and `user_id`. */
  readonly spelled: ReadonlyMap<string, FieldPlan>;
  /** Fields of which a body has at most one, of each oneof of several. */
  readonly exclusive: readonly (readonly FieldPlan[])[];
  /** The member that a value that is no object stands for. */
  readonly bare: FieldPlan | undefined;
}

/** Least and largest integer of a type; those of 64 bits end where a number is no longer exact. */
const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, Number.MAX_SAFE_INTEGER],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

const KINDS: Readonly<Record<string, FieldKind>> = {
  string: 'text',
  bool: 'flag',
  uint32: 'integer',
  uint64: 'integer',
  int64: 'integer',
  double: 'number',
  float: 'number',
};

/** The list of a message that has nothing but one. */
function soleList({ resolvedType, repeated }: protobuf.Field): protobuf.Field | undefined {
  if (repeated || !(resolvedType instanceof protobuf.Type)) return undefined;
  const [first, ...others] = resolvedType.fieldsArray;
  return first?.repeated && others.length === 0 ? first : undefined;
}

/** The name that a field has in the proto file. */
export const inProto = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Plans are made when they are first asked for, and kept. */
export class MessagePlans {
  private readonly root: protobuf.Root;
  private readonly plans = new Map<protobuf.Type, MessagePlan>();

  constructor(
    schema: object,
    readonly form: JsonForm,
  ) {
    this.root = protobuf.Root.fromJSON(schema as protobuf.INamespace);
    this.root.resolveAll();
  }

  /** Plan of an rpc, `package.Service.Method`. */
  rpc(name: string) {
    const at = name.lastIndexOf('.');
    const service = this.root.lookupService(name.slice(0, at));
    const method = service.methods[name.slice(at + 1)];
    if (method === undefined) throw new Error(`expected an rpc of the schema, got ${name}`);
    const { requestType, responseType, comment } = method;
    return {
      request: service.lookupType(requestType),
      response: service.lookupType(responseType),
      comment: comment ?? '',
    };
  }

  of(type: protobuf.Type): MessagePlan {
    const known = this.plans.get(type);
    if (known !== undefined) return known;
    const { hidden, bare } = this.form;
    const shown = type.fieldsArray.filter(({ name }) => !hidden.has(`${type.name}.${name}`));
    const fields = new Map(shown.map((field) => [field.name, this.field(type, field)]));
    const bareName = bare[type.name] ?? '';
    const spelled = new Map(
      [...fields].flatMap(([name, field]) => [
        [name, field],
        [inProto(name), field],
      ]),
    );
    const exclusive = type.oneofsArray
      .map(({ oneof }) => oneof.flatMap((name) => fields.get(name) ?? []))
      // An `optional` field is a oneof of its own in proto3.
      .filter(({ length }) => length > 1);
    const plan = { name: type.name, fields, spelled, exclusive, bare: fields.get(bareName) };
    fields.delete(bareName);
    this.plans.set(type, plan);
    return plan;
  }

  private field(owner: protobuf.Type, field: protobuf.Field): FieldPlan {
    const { name, map, repeated, comment } = field;
    const list = soleList(field);
    const content = list ?? field;
    const { resolvedType } = content;
    const kind = this.kind(`${owner.name}.${name}`, content);
    return {
      name,
      kind,
      isRequired: this.form.required.has(`${owner.name}.${name}`),
      isOptional:
        field.partOf !== null || (field.resolvedType instanceof protobuf.Type && !repeated),
      isAnswered: field.partOf === null && kind !== 'verbatim',
      isPositive: this.form.positive.has(name),
      range: RANGES[content.type] ?? [0, 0],
      isList: repeated || list !== undefined,
      isMap: map,
      listIn: list?.name ?? '',
      listOf: list === undefined ? undefined : (field.resolvedType as protobuf.Type),
      words: kind === 'word' ? wordsOf(resolvedType as protobuf.Enum) : {},
      protoWords: kind === 'word' ? (resolvedType as protobuf.Enum).values : {},
      message: kind === 'message' ? (resolvedType as protobuf.Type) : undefined,
      comment: comment ?? '',
    };
  }

  private kind(path: string, { name, type, resolvedType }: protobuf.Field): FieldKind {
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

function wordsOf(type: protobuf.Enum): Readonly<Record<string, number>> {
  const words: Readonly<Record<string, Readonly<Record<string, number>>>> = enumWords;
  return words[type.fullName.slice(1)] ?? {};
}
