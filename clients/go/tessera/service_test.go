package tessera

import (
	"context"
	"os"
	"testing"
	"time"

	behaviour "tessera.dev/go/behaviour/v1"
	embedding "tessera.dev/go/embedding/v1"
	recall "tessera.dev/go/recall/v1"
	relevance "tessera.dev/go/relevance/v1"
)

// Against a service that runs at TESSERA_ADDRESS.
func served(t *testing.T) (*Client, context.Context) {
	address := os.Getenv("TESSERA_ADDRESS")
	if address == "" {
		t.Skip("TESSERA_ADDRESS names no service")
	}
	client, err := New(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(func() { cancel(); client.Close() })
	return client, ctx
}

func ofUser(id string, count uint32) *recall.RecallRequest {
	source := &recall.RecallRequest_UserId{UserId: id}
	return &recall.RecallRequest{Source: source, ResultCount: &count}
}

func TestRecallsAUser(t *testing.T) {
	client, ctx := served(t)
	if !client.Serving(ctx) {
		t.Fatal("expected a service that serves, got another")
	}
	answer, err := client.Recall(ctx, ofUser("1", 5))
	if err != nil || len(answer.GetItems()) != 5 {
		t.Fatalf("expected 5 items, got %v %v", answer, err)
	}
}

func TestNamesTheFieldAtFault(t *testing.T) {
	client, ctx := served(t)
	_, err := client.Recall(ctx, ofUser("1", 1_000_000))
	failed, ok := err.(*Error)
	if !ok || failed.Code != "REQUEST_INVALID" || failed.Field != "result_count" || failed.Retryable {
		t.Fatalf("expected REQUEST_INVALID of result_count, got %#v", err)
	}
}

func TestEmbedsAndJudgesTexts(t *testing.T) {
	client, ctx := served(t)
	made, err := client.Embed(ctx, &embedding.EmbedRequest{Texts: []string{"hand cream", "lip balm"}})
	if err != nil || len(made.GetVectors()) != 2*4*int(made.GetDimensions()) {
		t.Fatalf("expected two vectors of F32, got %v %v", made, err)
	}
	texts := []*relevance.Document{
		{Content: &relevance.Document_Text{Text: "hand cream"}},
		{Content: &relevance.Document_Text{Text: "lip balm"}},
	}
	request := &relevance.RelevanceServiceScoreRequest{Query: "cream", Documents: texts}
	judged, err := client.Relevance(ctx, request)
	if err != nil || len(judged.GetDocuments()) != 2 || judged.GetDocuments()[1].Score == nil {
		t.Fatalf("expected two scores, got %v %v", judged, err)
	}
	request.Adapter = "fits"
	adapted, err := client.Relevance(ctx, request)
	if err != nil || adapted.GetVersions().GetAdapter() == "" ||
		adapted.GetDocuments()[1].GetScore() == judged.GetDocuments()[1].GetScore() {
		t.Fatalf("expected scores of an adapter, got %v %v", adapted, err)
	}
	request.Adapter = "other"
	_, err = client.Relevance(ctx, request)
	if failed, ok := err.(*Error); !ok || failed.Code != "ADAPTER_NOT_FOUND" {
		t.Fatalf("expected ADAPTER_NOT_FOUND, got %v", err)
	}
}

func TestWritesReadsAndErasesAUser(t *testing.T) {
	client, ctx := served(t)
	click := &behaviour.Behaviour{
		UserId: "of-go", EventId: "a", ItemId: "75", Action: "click", TimeMs: time.Now().UnixMilli(),
	}
	outcomes, err := client.Append(ctx, []*behaviour.Behaviour{click})
	if err != nil || outcomes[0] != behaviour.AppendOutcome_APPEND_OUTCOME_ADDED {
		t.Fatalf("expected it added, got %v %v", outcomes, err)
	}
	history, err := client.History(ctx, &behaviour.HistoryRequest{UserId: "of-go"})
	if err != nil || len(history.GetBehaviours()) != 1 {
		t.Fatalf("expected one behaviour, got %v %v", history, err)
	}
	if known, err := client.Erase(ctx, "of-go"); err != nil || !known {
		t.Fatalf("expected a known user, got %v %v", known, err)
	}
}

func TestFallsBackWhereNobodyListens(t *testing.T) {
	client, err := New("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	answer, err := client.RecallOr(ctx, ofUser("1", 1), func(failed *Error) *recall.RecallResponse {
		return &recall.RecallResponse{Fallback: failed.Code}
	})
	if err != nil || answer.GetFallback() == "" {
		t.Fatalf("expected the fallback, got %v %v", answer, err)
	}
}
