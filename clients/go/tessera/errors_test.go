package tessera

import (
	"errors"
	"math"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

func packed(t *testing.T, delay *durationpb.Duration) []*anypb.Any {
	t.Helper()
	info, err := anypb.New(&errdetails.ErrorInfo{
		Reason: "ENGINE_OVERLOADED", Metadata: map[string]string{"retryable": "true"},
	})
	if err != nil {
		t.Fatal(err)
	}
	retry, err := anypb.New(&errdetails.RetryInfo{RetryDelay: delay})
	if err != nil {
		t.Fatal(err)
	}
	return []*anypb.Any{info, retry}
}

func TestHintsArePositiveTimes(t *testing.T) {
	for want, delay := range map[time.Duration]*durationpb.Duration{
		40 * time.Millisecond: {Nanos: 40_000_000},
		0:                     {Seconds: -5},
		hintMax:               {Seconds: math.MaxInt64, Nanos: math.MaxInt32},
	} {
		said := &spb.Status{Code: int32(codes.ResourceExhausted), Details: packed(t, delay)}
		failed := errorOf(status.ErrorProto(said))
		if failed.Code != "ENGINE_OVERLOADED" || !failed.Retryable || failed.RetryAfter != want {
			t.Errorf("%v: expected a hint of %v, got %v", delay, want, failed.RetryAfter)
		}
	}
}

func TestDetailsThatCannotBeReadLeaveWhatTheStatusSays(t *testing.T) {
	whole := packed(t, nil)[0]
	for cut := range whole.GetValue() {
		broken := &anypb.Any{TypeUrl: whole.GetTypeUrl(), Value: whole.GetValue()[:cut]}
		said := &spb.Status{Code: int32(codes.Unavailable), Details: []*anypb.Any{nil, broken}}
		failed := errorOf(status.ErrorProto(said))
		if failed.Code != "ENGINE_UNAVAILABLE" && failed.Code != "ENGINE_OVERLOADED" {
			t.Errorf("%d bytes: expected a code, got %v", cut, failed)
		}
	}
	if failed := errorOf(errors.New("no status")); failed.Code != "INTERNAL" || failed.Retryable {
		t.Errorf("expected INTERNAL, got %v", failed)
	}
}
