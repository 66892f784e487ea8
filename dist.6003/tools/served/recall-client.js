import { ServiceClient } from "../../libs/edge/client/src/index.js";
const REPLY_BYTES_MAX = 64 << 20;
/** A gRPC client of RecallService that repeats nothing. */ export class RecallClient {
    client;
    constructor(address){
        const channel = {
            'grpc.max_receive_message_length': REPLY_BYTES_MAX
        };
        this.client = new ServiceClient('tessera.recall.v1.RecallService', address, {
            channel
        });
    }
    /** Rejects with the service's own words and the code of the error table. */ recall(question, deadlineMs) {
        return this.client.call('Recall', question, {
            deadline: Date.now() + deadlineMs
        });
    }
    close() {
        this.client.close();
    }
}

//# sourceMappingURL=recall-client.js.map