import { Readable } from "node:stream";
import * as grpc from "@grpc/grpc-js";
import * as protoLoader from "@grpc/proto-loader";
import { protoSchema } from "../../../ops/contracts/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
/** One service of the schema, called once and as it is: no repetitions, errors of gRPC itself. */ export class ServiceClient {
    stub;
    headers;
    /** `address`: host:port. Nothing is connected before the first call. */ constructor(name, address, { credentials, headers, enums = 'numbers', channel = {} } = {}){
        const schema = protoSchema;
        const shape = {
            defaults: true,
            longs: Number,
            enums: enums === 'names' ? String : Number
        };
        const service = protoLoader.fromJSON(schema, shape)[name];
        if (service === undefined || 'format' in service) {
            throw new TesseraError('INTERNAL', `expected a service of the schema, got ${name}`);
        }
        const Service = grpc.makeGenericClientConstructor(service, name);
        this.stub = new Service(address, credentials ?? grpc.credentials.createInsecure(), channel);
        this.headers = headers ?? (()=>({}));
    }
    /** Rejects with the service's own words; `tessera-code` of the metadata is the code. */ call(method, request, options = {}) {
        return new Promise((resolve, reject)=>{
            this.begin(method, request, options, (error, answer)=>error ? reject(error) : resolve(answer));
        });
    }
    /** As call(), with what cancels it. */ begin(method, request, options, done) {
        const words = [
            request,
            this.metadata(),
            options,
            done
        ];
        return this.stub[method]?.(...words);
    }
    /** Messages to a method that answers their stream once. Rejects as call(). */ send(method, requests, options = {}) {
        return new Promise((resolve, reject)=>{
            const source = Readable.from(requests);
            const done = (error, answer)=>{
                source.destroy();
                if (error) reject(error);
                else resolve(answer);
            };
            const call = this.stub[method]?.(this.metadata(), options, done);
            // The answer says what is wrong.
            call.on('error', ()=>undefined);
            source.on('error', reject).pipe(call);
        });
    }
    /** Answers of a method that streams them. */ stream(method, request, options = {}) {
        return this.stub[method]?.(request, this.metadata(), options);
    }
    /** Of a method whose messages and answers are streams. */ converse(method) {
        return this.stub[method]?.(this.metadata());
    }
    close() {
        this.stub.close();
    }
    metadata() {
        const metadata = new grpc.Metadata();
        for (const [name, value] of Object.entries(this.headers()))metadata.set(name, value);
        return metadata;
    }
}

//# sourceMappingURL=service-client.js.map