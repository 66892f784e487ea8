package tessera

import (
	"context"
	"sync"
	"time"
)

const (
	attemptsMax = 4
	firstWait   = 20 * time.Millisecond
	// Callers that were refused together come back apart: waits differ by up to this share.
	jitter = 0.2
	// The budget of gRFC A6 (retryThrottling): repeats only while more than half its tokens are left.
	tokensMax  = 10
	tokenRatio = 0.1
	// Share of the newest answer in the smoothed time of answers, that of RFC 6298 for round trips.
	answerWeight = 0.125
)

// retries are the repeats of one client's calls, which share one budget.
type retries struct {
	mutex  sync.Mutex
	tokens float64
	// answer is the smoothed time of answers; negative before the first.
	answer time.Duration
	// random draws from [0, 1), on any goroutine.
	random func() float64
}

func newRetries(random func() float64) *retries {
	return &retries{tokens: tokensMax, answer: -1, random: random}
}

// waitAfter is how long to wait before the next attempt, after a failure that takes a token where it
// is retryable. False: a repeat would not help, exceeds the budget, or leaves too little time for an
// answer (as much as answers took lately; before the first one, as much as the wait).
func (own *retries) waitAfter(
	failed *Error, attempt int, left time.Duration,
) (time.Duration, bool) {
	if !failed.Retryable || failed.Code == deadlineExceeded {
		return 0, false
	}
	own.mutex.Lock()
	own.tokens = max(0, own.tokens-1)
	tokens, needed := own.tokens, own.answer
	own.mutex.Unlock()
	if attempt+1 >= attemptsMax || tokens <= tokensMax/2.0 {
		return 0, false
	}
	drawn := jitter * own.random()
	wait := times(firstWait<<attempt, 1-jitter+2*drawn)
	if failed.RetryAfter > 0 {
		wait = times(failed.RetryAfter, 1+drawn)
	}
	if needed < 0 {
		needed = wait
	}
	return wait, wait+needed <= left
}

// answered counts a success.
func (own *retries) answered(took time.Duration) {
	own.mutex.Lock()
	defer own.mutex.Unlock()
	own.tokens = min(tokensMax, own.tokens+tokenRatio)
	if own.answer < 0 {
		own.answer = took
	}
	own.answer += times(took-own.answer, answerWeight)
}

func times(duration time.Duration, factor float64) time.Duration {
	return time.Duration(float64(duration) * factor)
}

// within calls until an attempt succeeds or waitAfter allows no other. Errors are of type *Error.
func within[Answer any](
	ctx context.Context, own *retries, call func(context.Context) (Answer, error),
) (Answer, error) {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DefaultDeadline)
		defer cancel()
	}
	until, _ := ctx.Deadline()
	for attempt := 0; ; attempt++ {
		began := time.Now()
		answer, err := call(ctx)
		if err == nil {
			own.answered(time.Since(began))
			return answer, nil
		}
		failed := errorOf(err)
		wait, may := own.waitAfter(failed, attempt, time.Until(until))
		if !may {
			return answer, failed
		}
		select {
		case <-ctx.Done():
			return answer, failed
		case <-time.After(wait):
		}
	}
}
