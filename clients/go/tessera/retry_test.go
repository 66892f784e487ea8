package tessera

import (
	"testing"
	"time"
)

func TestWaitsAsTheServiceSays(t *testing.T) {
	hinted := &Error{Code: "ENGINE_OVERLOADED", Retryable: true, RetryAfter: 40 * time.Millisecond}
	plain := &Error{Code: "ENGINE_UNAVAILABLE", Retryable: true}
	for _, one := range []struct {
		failed  *Error
		attempt int
		left    time.Duration
		wait    time.Duration
		may     bool
	}{
		{hinted, 0, time.Second, 40 * time.Millisecond, true},
		{hinted, 0, 30 * time.Millisecond, 40 * time.Millisecond, false},
		{plain, 0, time.Second, 20 * time.Millisecond, true},
		{plain, 2, time.Second, 80 * time.Millisecond, true},
		{plain, 3, time.Second, 0, false},
		{&Error{Code: "REQUEST_INVALID"}, 0, time.Second, 0, false},
		{&Error{Code: "DEADLINE_EXCEEDED", Retryable: true}, 0, time.Second, 0, false},
	} {
		wait, may := waitBeforeRetry(one.failed, one.attempt, one.left)
		if may != one.may || (may && wait != one.wait) {
			t.Errorf("%s, attempt %d: expected %v %v, got %v %v",
				one.failed.Code, one.attempt, one.wait, one.may, wait, may)
		}
	}
}
