package tessera

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	recall "tessera.dev/go/recall/v1"
)

// lowest draws 0: waits are the hints, and 0.8 of the own waits.
func lowest() float64 { return 0 }

func overloaded(hint time.Duration) *Error {
	return &Error{Code: "ENGINE_OVERLOADED", Retryable: true, RetryAfter: hint}
}

func TestWaitsAsTheServiceSaysAndLeavesTimeForAnAnswer(t *testing.T) {
	const ms = time.Millisecond
	for _, one := range []struct {
		failed  *Error
		attempt int
		left    time.Duration
		wait    time.Duration
		may     bool
	}{
		{overloaded(40 * ms), 0, 80 * ms, 40 * ms, true},
		{overloaded(40 * ms), 0, 79 * ms, 0, false},
		{overloaded(0), 0, time.Minute, 16 * ms, true},
		{overloaded(0), 2, time.Minute, 64 * ms, true},
		{overloaded(0), 3, time.Minute, 0, false},
		{&Error{Code: "REQUEST_INVALID"}, 0, time.Minute, 0, false},
		{&Error{Code: "DEADLINE_EXCEEDED", Retryable: true}, 0, time.Minute, 0, false},
	} {
		wait, may := newRetries(lowest).waitAfter(one.failed, one.attempt, one.left)
		if may != one.may || (may && wait != one.wait) {
			t.Errorf("%s, attempt %d: expected %v %v, got %v %v",
				one.failed.Code, one.attempt, one.wait, one.may, wait, may)
		}
	}
}

func TestWaitsVaryUpwardsFromAHintAndBothWaysAroundAnOwnWait(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7)).Float64
	for _, one := range []struct {
		hint          time.Duration
		attempt       int
		least, most   float64
		nearly, about float64
	}{
		{100 * time.Millisecond, 0, 100, 120, 105, 115},
		{0, 1, 32, 48, 34, 46},
	} {
		shortest, longest := time.Hour, time.Duration(0)
		for range 200 {
			wait, _ := newRetries(random).waitAfter(overloaded(one.hint), one.attempt, time.Minute)
			shortest, longest = min(shortest, wait), max(longest, wait)
		}
		low, high := shortest.Seconds()*1000, longest.Seconds()*1000
		if low < one.least || low > one.nearly || high > one.most || high < one.about {
			t.Errorf("hint %v: expected %v..%v ms, got %v..%v", one.hint, one.least, one.most, low, high)
		}
	}
}

func TestLeavesAsMuchTimeAsAnswersTookLately(t *testing.T) {
	own := newRetries(lowest)
	for _, one := range []struct{ took, left int }{{80, 90}, {160, 100}} {
		own.answered(time.Duration(one.took) * time.Millisecond)
		left := time.Duration(one.left) * time.Millisecond
		if _, may := own.waitAfter(overloaded(10*time.Millisecond), 0, left); !may {
			t.Errorf("after %d ms: expected a repeat within %v, got none", one.took, left)
		}
		if _, may := own.waitAfter(overloaded(10*time.Millisecond), 0, left-1); may {
			t.Errorf("after %d ms: expected no repeat within less than %v, got one", one.took, left)
		}
	}
}

// attempts of a call whose first ones the transport refuses; negative where it fails.
func attempts(own *retries, refusals int, deadline time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	made := 0
	_, err := within(ctx, own, func(context.Context) (int, error) {
		made++
		time.Sleep(5 * time.Millisecond)
		if made <= refusals {
			return 0, status.Error(codes.Unavailable, "stream refused")
		}
		return made, nil
	})
	if err != nil {
		return -made
	}
	return made
}

func TestFiveRefusalsEndRepeatsAndElevenSuccessesAllowOneMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := newRetries(lowest)
		for _, one := range []struct{ successes, made int }{{0, -4}, {0, -1}, {10, -1}, {11, -2}} {
			for range one.successes {
				attempts(own, 0, time.Minute)
			}
			if made := attempts(own, 99, time.Minute); made != one.made {
				t.Errorf("after %d successes: expected %d, got %d", one.successes, one.made, made)
			}
		}
	})
}

func TestMakesNoRepeatThatWouldBeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for deadline, made := range map[time.Duration]int{36: -1, 37: -2} {
			if got := attempts(newRetries(lowest), 99, deadline*time.Millisecond); got != made {
				t.Errorf("%d ms: expected %d, got %d", deadline, made, got)
			}
		}
	})
}

func TestGoroutinesShareTheBudget(t *testing.T) {
	own := newRetries(lowest)
	var mutex sync.Mutex
	var group sync.WaitGroup
	repeats := 0
	for range 64 {
		group.Go(func() {
			if _, may := own.waitAfter(overloaded(0), 0, time.Minute); may {
				mutex.Lock()
				repeats++
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	if repeats != 4 {
		t.Errorf("expected 4 repeats of 64 refusals, got %d", repeats)
	}
}

type holding struct {
	recall.UnimplementedRecallServiceServer
	begun chan struct{}
	free  chan struct{}
}

func (own holding) Recall(
	context.Context, *recall.RecallRequest,
) (*recall.RecallResponse, error) {
	own.begun <- struct{}{}
	<-own.free
	return &recall.RecallResponse{}, nil
}

func TestCallsBeyondTheStreamsOfAConnectionWaitUntilTheirDeadline(t *testing.T) {
	const streams = 4
	server := grpc.NewServer(grpc.MaxConcurrentStreams(streams))
	own := holding{begun: make(chan struct{}, 2*streams), free: make(chan struct{})}
	recall.RegisterRecallServiceServer(server, own)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	client, err := New(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ended := make(chan error, streams+1)
	ask := func() {
		_, err := client.Recall(ctx, ofUser("1", 1))
		ended <- err
	}
	for range streams {
		go ask()
	}
	for range streams {
		<-own.begun
	}
	short, cancelShort := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancelShort()
	_, err = client.Recall(short, ofUser("1", 1))
	if failed, ok := err.(*Error); !ok || failed.Code != deadlineExceeded {
		t.Errorf("expected DEADLINE_EXCEEDED, got %v", err)
	}
	go ask()
	close(own.free)
	for range streams + 1 {
		if err := <-ended; err != nil {
			t.Errorf("expected an answer, got %v", err)
		}
	}
}
