package tessera

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const deadlineExceeded = "DEADLINE_EXCEEDED"

// hintMax, a day, is longer than any deadline, and short enough to be multiplied.
const hintMax = 24 * time.Hour

// Error is a call that failed.
type Error struct {
	// Code is a row of docs/operate/errors.md.
	Code    string
	Message string
	// Field is the path of the field at fault, as the proto files spell it; "" for none.
	Field string
	// RetryAfter is when a retry may succeed; 0: no hint.
	RetryAfter time.Duration
	// Retryable tells whether the same call may succeed later.
	Retryable bool
	// Status is what gRPC says.
	Status *status.Status
}

func (failed *Error) Error() string { return fmt.Sprintf("%s: %s", failed.Code, failed.Message) }

// Unwrap gives the error of gRPC.
func (failed *Error) Unwrap() error { return failed.Status.Err() }

// Statuses of gRPC itself, where the service said nothing.
var ofTransport = map[codes.Code]string{
	codes.Unavailable:      "ENGINE_UNAVAILABLE",
	codes.DeadlineExceeded: deadlineExceeded,
	codes.Canceled:         "CANCELLED",
	codes.Unimplemented:    "ROUTE_NOT_FOUND",
}

// errorOf reads google.rpc's details of a failed call.
func errorOf(err error) *Error {
	said := status.Convert(err)
	failed := &Error{Message: said.Message(), Status: said}
	for _, detail := range said.Details() {
		switch one := detail.(type) {
		case *errdetails.ErrorInfo:
			failed.Code = one.GetReason()
			failed.Retryable = one.GetMetadata()["retryable"] == "true"
		case *errdetails.BadRequest:
			if violations := one.GetFieldViolations(); len(violations) > 0 {
				failed.Field = violations[0].GetField()
			}
		case *errdetails.RetryInfo:
			failed.RetryAfter = min(max(0, one.GetRetryDelay().AsDuration()), hintMax)
		}
	}
	if failed.Code == "" {
		failed.Code = ofTransport[said.Code()]
		failed.Retryable = said.Code() == codes.Unavailable
		if failed.Retryable && isOfTLS(failed.Message) {
			failed.Code, failed.Retryable = "UNAUTHENTICATED", false
		}
	}
	if failed.Code == "" {
		failed.Code = "INTERNAL"
	}
	return failed
}

// isOfTLS tells a handshake that can never succeed (a certificate that is missing, an authority that
// is not known) from a service that is away: gRPC has one status for both, and crypto/tls's words.
func isOfTLS(message string) bool {
	return strings.Contains(message, "tls: ") || strings.Contains(message, "x509: ")
}
