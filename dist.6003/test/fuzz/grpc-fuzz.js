/** Messages by the grammar of the protos, with hostile values, to every method over gRPC. */ import * as grpc from "@grpc/grpc-js";
import { protoSchema } from "../../libs/ops/contracts/src/index.js";
import protobuf from "protobufjs";
const CALL_MS = 60_000;
const DEPTH_MAX = 5;
/** A chain of messages inside each other, for those that can hold themselves. */ const DEEP = 400;
const MESSAGES_MAX = 4;
const INTEGERS = /^(u|s)?(int|fixed)(32|64)$/;
/** Statuses that name no fault of the service, though no code of Tessera's comes with them. */ const UNTYPED = new Set([
    grpc.status.OK,
    grpc.status.CANCELLED,
    grpc.status.UNIMPLEMENTED
]);
/** Refused by gRPC itself, before the message is read. */ const TOO_LARGE = /^Received message larger than max/;
const isRecursive = (type, seen = new Set())=>seen.has(type) || type.fieldsArray.some(({ resolvedType })=>resolvedType instanceof protobuf.Type && isRecursive(resolvedType, new Set([
            ...seen,
            type
        ])));
export class GrpcFuzz {
    values;
    targets;
    client;
    constructor(address, values){
        this.values = values;
        this.client = new grpc.Client(address, grpc.credentials.createInsecure(), {
            'grpc.max_receive_message_length': -1
        });
        const root = protobuf.Root.fromJSON(protoSchema);
        root.resolveAll();
        this.targets = servicesOf(root).flatMap((service)=>service.methodsArray.map((method)=>({
                    path: `/${service.fullName.slice(1)}/${method.name}`,
                    type: method.resolvedRequestType,
                    asksMany: method.requestStream === true,
                    answersMany: method.responseStream === true
                })));
    }
    /** Sends one; the fault in words where the service did other than answer or refuse by a code. */ async send() {
        const target = this.values.one(this.targets);
        const count = target.asksMany ? this.values.random.below(MESSAGES_MAX) : 1;
        const messages = Array.from({
            length: count
        }, ()=>this.encoded(target.type));
        const error = await this.called(target, messages);
        if (error === undefined || UNTYPED.has(error.code)) return undefined;
        if (TOO_LARGE.test(error.details)) return undefined;
        const code = error.metadata.get('tessera-code')[0]?.toString();
        const isFault = code === undefined || code === 'INTERNAL' || error.code === grpc.status.UNKNOWN;
        if (!isFault) return undefined;
        const shown = messages.map((message)=>message.toString('base64').slice(0, 400)).join(' ');
        return `${target.path}: ${error.code} ${code} ${error.details.slice(0, 200)}: ${shown}`;
    }
    close() {
        this.client.close();
    }
    encoded(type) {
        const message = type.encode(this.message(type, 0)).finish();
        const bytes = Buffer.from(message);
        return this.values.chance(12) ? this.values.damaged(bytes) : bytes;
    }
    message(type, depth) {
        const { values } = this;
        if (depth === 1 && values.chance(40) && isRecursive(type)) return this.deep(type);
        const made = {};
        for (const field of type.fieldsArray){
            if (values.chance(2) || depth > DEPTH_MAX) continue;
            made[field.name] = this.field(field.resolve(), depth);
        }
        // Of a oneof the last on the wire counts; most callers set one.
        for (const { fieldsArray } of type.oneofsArray){
            const [kept] = fieldsArray.filter(({ name })=>name in made);
            if (values.chance(10)) continue;
            for (const { name } of fieldsArray)if (name !== kept?.name) delete made[name];
        }
        return made;
    }
    /** The first field that leads back to the message, again and again. */ deep(type) {
        const field = type.fieldsArray.find(({ resolvedType })=>resolvedType === type);
        const made = this.message(type, DEPTH_MAX);
        if (field === undefined) return made;
        return Array.from({
            length: DEEP
        }).reduce((inner)=>({
                [field.name]: field.repeated ? [
                    inner
                ] : inner
            }), made);
    }
    field(field, depth) {
        if (field.map) {
            const entries = Array.from({
                length: this.values.count()
            }, (_, at)=>[
                    `${this.values.text()}${at}`,
                    this.value(field, depth)
                ]);
            return Object.fromEntries(entries);
        }
        if (!field.repeated) return this.value(field, depth);
        const count = depth > 2 ? 1 : this.values.count();
        return Array.from({
            length: count
        }, ()=>this.value(field, depth));
    }
    value({ type, resolvedType }, depth) {
        const { values } = this;
        if (resolvedType instanceof protobuf.Enum) return values.random.below(10);
        if (resolvedType instanceof protobuf.Type) return this.message(resolvedType, depth + 1);
        if (type === 'string') return values.text();
        if (type === 'bytes') return values.bytes();
        if (type === 'bool') return values.chance(2);
        if (INTEGERS.test(type)) return Math.trunc(values.number());
        return values.double();
    }
    called(target, messages) {
        return new Promise((resolve)=>{
            const bytes = (value)=>value;
            const options = {
                deadline: Date.now() + CALL_MS
            };
            const done = (error)=>resolve(error ?? undefined);
            const { path, asksMany, answersMany } = target;
            const method = [
                path,
                bytes,
                bytes
            ];
            const none = new grpc.Metadata();
            const [first = Buffer.alloc(0)] = messages;
            if (!asksMany && !answersMany) {
                this.client.makeUnaryRequest(...method, first, none, options, done);
                return;
            }
            const call = asksMany ? answersMany ? this.client.makeBidiStreamRequest(...method, none, options) : this.client.makeClientStreamRequest(...method, none, options, done) : this.client.makeServerStreamRequest(...method, first, none, options);
            call.on('error', (error)=>done(error));
            if ('read' in call) {
                call.on('data', ()=>undefined);
                call.on('end', ()=>done(null));
            }
            if ('write' in call) {
                for (const message of messages)call.write(message);
                call.end();
            }
        });
    }
}
function servicesOf(space) {
    return space.nestedArray.flatMap((one)=>{
        if (one instanceof protobuf.Service) return [
            one
        ];
        return one instanceof protobuf.Namespace ? servicesOf(one) : [];
    });
}

//# sourceMappingURL=grpc-fuzz.js.map