import { createReadStream } from "node:fs";
import { join } from "node:path";
import { filesFound, hashOf } from "../../libs/service/adapter/src/index.js";
import { ServiceClient, tokenHeaders } from "../../libs/edge/client/src/index.js";
/** Well below the smallest limit of a message. */ const CHUNK_BYTES = 1 << 18;
/** Services of this client, by package. */ const SERVICES = {
    adapter: 'tessera.adapter.v1.AdapterService',
    weights: 'tessera.weights.v1.WeightsService'
};
/** A gRPC client of adapters or of whole weights, as a caller in another process would make one. */ export class AdapterClient {
    // Both have methods of the callers' choice.
    client;
    /** @param token '' for none */ constructor(address, token = '', credentials, of = 'adapter'){
        const headers = ()=>tokenHeaders({
                token
            });
        const options = {
            headers,
            enums: 'names',
            ...credentials && {
                credentials
            }
        };
        this.client = new ServiceClient(SERVICES[of], address, options);
    }
    /** Rejects with the service's own words and the code of the error table. */ call(method, message, deadlineMs) {
        const options = {
            deadline: Date.now() + deadlineMs
        };
        return this.client.call(method, message, options);
    }
    /** Parts of a push as they are. Rejects as call(). */ pushParts(parts, deadlineMs) {
        const options = {
            deadline: Date.now() + deadlineMs
        };
        return this.client.send('Push', parts, options);
    }
    /** A version's folder. Rejects as call(), with ADAPTER_NOT_FOUND where a file is missing. */ async pushFolder(folder, { name, baseModel, remark = '' }, deadlineMs, onProgress = ()=>undefined) {
        const files = await filesFound((file)=>hashOf(join(folder, file)));
        const total = files.reduce((sum, { bytes })=>sum + bytes, 0);
        const parts = async function*() {
            yield {
                header: {
                    name,
                    baseModel,
                    files,
                    remark
                }
            };
            let sent = 0;
            for (const file of files){
                const content = createReadStream(join(folder, file.name), {
                    highWaterMark: CHUNK_BYTES
                });
                for await (const data of content){
                    yield {
                        chunk: {
                            data
                        }
                    };
                    sent += data.length;
                    onProgress(sent, total);
                }
            }
            yield {
                end: {}
            };
        };
        return this.pushParts(parts(), deadlineMs);
    }
    close() {
        this.client.close();
    }
}

//# sourceMappingURL=adapter-client.js.map