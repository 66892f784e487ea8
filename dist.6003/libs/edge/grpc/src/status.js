import { Metadata } from "@grpc/grpc-js";
import { errorBody, TesseraError } from "../../../ops/errors/src/index.js";
import { errorTrailers } from "./error-trailers.js";
import { STATUS_DETAILS, statusDetails } from "./status-details.js";
/** An error as the status of the one table, with its details as trailers. */ export function grpcStatus(error) {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(errorTrailers(error)))metadata.set(name, value);
    metadata.set(STATUS_DETAILS, statusDetails(error));
    const details = errorBody(error).error.message.toWellFormed();
    return {
        code: error.row.grpc,
        details,
        metadata
    };
}
/** As grpcStatus, of anything thrown; a fault of the service is logged. */ export function loggedStatus(thrown, log) {
    const error = TesseraError.from(thrown);
    if (error.code === 'INTERNAL') log.error({
        err: thrown
    }, 'a gRPC handler failed');
    return grpcStatus(error);
}

//# sourceMappingURL=status.js.map