import { PLAIN, ServiceClient } from "../../libs/edge/client/src/index.js";
import { grpcOptions } from "./connection.js";
const SERVICE = 'tessera.catalogue.v1.CatalogueService';
/** A gRPC client of CatalogueService, as a caller in another process would make one. */ export class CatalogueClient {
    catalogue;
    client;
    /** @param catalogue name of the catalogue that calls are about, '' for the first */ constructor(address, catalogue = '', connection = PLAIN){
        this.catalogue = catalogue;
        const { credentials, headers } = grpcOptions(connection);
        this.client = new ServiceClient(SERVICE, address, {
            credentials,
            headers: ()=>headers
        });
    }
    /** Rejects with the service's own words and the code of the error table. */ call(method, message, deadlineMs) {
        const options = {
            deadline: Date.now() + deadlineMs
        };
        const request = {
            catalogue: this.catalogue,
            ...message
        };
        return this.client.call(method, request, options);
    }
    /** Messages to a method that answers their stream once. Rejects as call(). */ send(method, messages, deadlineMs) {
        const named = async function*(catalogue) {
            for await (const message of messages)yield {
                catalogue,
                ...message
            };
        };
        const options = {
            deadline: Date.now() + deadlineMs
        };
        return this.client.send(method, named(this.catalogue), options);
    }
    /** Rejects as call(). */ stream(method, message, deadlineMs) {
        const options = {
            deadline: Date.now() + deadlineMs
        };
        const request = {
            catalogue: this.catalogue,
            ...message
        };
        return this.client.stream(method, request, options);
    }
    close() {
        this.client.close();
    }
}

//# sourceMappingURL=catalogue-client.js.map