// Asks which ads to show a user: go run ./examples/recall [ADDRESS] [USER]
// ADDRESS is TESSERA_ADDRESS where it is left out, else 127.0.0.1:50051.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	recall "tessera.dev/go/recall/v1"
	"tessera.dev/go/tessera"
)

// popular is what a page shows where there is no answer in time.
func popular(failed *tessera.Error) *recall.RecallResponse {
	items := []*recall.RecalledItem{{ItemId: "1"}, {ItemId: "2"}, {ItemId: "3"}}
	return &recall.RecallResponse{Items: items, Fallback: failed.Code}
}

// address of the service where no argument names it.
func address() string {
	if named := os.Getenv("TESSERA_ADDRESS"); named != "" {
		return named
	}
	return "127.0.0.1:50051"
}

func argument(index int, otherwise string) string {
	if index < len(os.Args) {
		return os.Args[index]
	}
	return otherwise
}

func main() {
	// #region recall
	client, err := tessera.New(argument(1, address()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	first, connected := context.WithTimeout(context.Background(), 30*time.Second)
	client.Serving(first) // Connects, before a page waits.
	connected()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	count := uint32(3)
	request := &recall.RecallRequest{
		Source:      &recall.RecallRequest_UserId{UserId: argument(2, "1")},
		ResultCount: &count,
	}
	var failure *tessera.Error
	answer, err := client.RecallOr(ctx, request, func(failed *tessera.Error) *recall.RecallResponse {
		failure = failed
		return popular(failed)
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range answer.GetItems() {
		fmt.Printf("%s\t%.3f\t%s\n", item.GetItemId(), item.GetScore(), item.GetTitle())
	}
	// #endregion recall
	if failure != nil {
		log.Fatalf("fallback: no answer: %v", failure)
	}
}
