// Package tessera asks a Tessera service over gRPC: recalls, scores, behaviours, changes of the
// catalogue, and texts as vectors or by their relevance. Messages are in the packages of the proto files (tessera.dev/go/recall/v1 and others),
// which go generate writes.
package tessera

//go:generate buf generate ../../../proto --template ../buf.gen.yaml

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	behaviour "tessera.dev/go/behaviour/v1"
	catalogue "tessera.dev/go/catalogue/v1"
	embedding "tessera.dev/go/embedding/v1"
	ranking "tessera.dev/go/ranking/v1"
	recall "tessera.dev/go/recall/v1"
	relevance "tessera.dev/go/relevance/v1"
	score "tessera.dev/go/score/v1"
)

// DefaultDeadline is that of a call whose context has none.
const DefaultDeadline = 500 * time.Millisecond

// Client is one connection to a service, or to several of one name. Goroutines may share it.
//
// Every call ends at the deadline of its context, repeats included: what the service refuses for now
// is asked again when the service says that it may succeed, as long as the deadline and the client's
// budget of repeats allow. Errors are of type *Error.
type Client struct {
	connection *grpc.ClientConn
	retries    *retries
	recalls    recall.RecallServiceClient
	scores     score.ScoreServiceClient
	rankings   ranking.RankingServiceClient
	behaviours behaviour.BehaviourServiceClient
	catalogues catalogue.CatalogueServiceClient
	embeddings embedding.EmbeddingServiceClient
	relevances relevance.RelevanceServiceClient
	health     grpc_health_v1.HealthClient
}

// New makes a client of host:port, or of a target with several addresses (dns:///ads:50051). Nothing
// is connected before the first call.
func New(address string, options ...Option) (*Client, error) {
	dialled, err := dialOptions(options)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(address, dialled...)
	if err != nil {
		return nil, err
	}
	return &Client{
		connection: connection,
		retries:    newRetries(rand.Float64),
		recalls:    recall.NewRecallServiceClient(connection),
		scores:     score.NewScoreServiceClient(connection),
		rankings:   ranking.NewRankingServiceClient(connection),
		behaviours: behaviour.NewBehaviourServiceClient(connection),
		catalogues: catalogue.NewCatalogueServiceClient(connection),
		embeddings: embedding.NewEmbeddingServiceClient(connection),
		relevances: relevance.NewRelevanceServiceClient(connection),
		health:     grpc_health_v1.NewHealthClient(connection),
	}, nil
}

// Close ends the connection; calls under way fail.
func (client *Client) Close() error { return client.connection.Close() }

// Recall answers which live items fit a user.
func (client *Client) Recall(
	ctx context.Context, request *recall.RecallRequest,
) (*recall.RecallResponse, error) {
	return within(ctx, client.retries, func(ctx context.Context) (*recall.RecallResponse, error) {
		return client.recalls.Recall(ctx, request)
	})
}

// RecallOr answers what fallback makes of the error where a recall fails for now (overload, deadline,
// no connection). A fault of the request is returned all the same.
func (client *Client) RecallOr(
	ctx context.Context, request *recall.RecallRequest,
	fallback func(*Error) *recall.RecallResponse,
) (*recall.RecallResponse, error) {
	answer, err := client.Recall(ctx, request)
	if failed, ok := err.(*Error); ok && (failed.Retryable || failed.Code == deadlineExceeded) {
		return fallback(failed), nil
	}
	return answer, err
}

// Score answers the log-probabilities of items for a user, in their order.
func (client *Client) Score(
	ctx context.Context, request *score.ScoreRequest,
) (*score.ScoreResponse, error) {
	return within(ctx, client.retries, func(ctx context.Context) (*score.ScoreResponse, error) {
		return client.scores.Score(ctx, request)
	})
}

// Rank answers what heads say of items for a user, best first.
func (client *Client) Rank(
	ctx context.Context, request *ranking.RankRequest,
) (*ranking.RankResponse, error) {
	return within(ctx, client.retries, func(ctx context.Context) (*ranking.RankResponse, error) {
		return client.rankings.Rank(ctx, request)
	})
}

// Embed makes vectors of texts: little-endian numbers in the order of the texts.
func (client *Client) Embed(
	ctx context.Context, request *embedding.EmbedRequest,
) (*embedding.EmbedResponse, error) {
	return within(ctx, client.retries, func(ctx context.Context) (*embedding.EmbedResponse, error) {
		return client.embeddings.Embed(ctx, request)
	})
}

// Relevance says how well documents fit a query, in their order, by the model with the request's
// adapter or alone.
func (client *Client) Relevance(
	ctx context.Context, request *relevance.RelevanceServiceScoreRequest,
) (*relevance.RelevanceServiceScoreResponse, error) {
	type answer = *relevance.RelevanceServiceScoreResponse
	return within(ctx, client.retries, func(ctx context.Context) (answer, error) {
		return client.relevances.Score(ctx, request)
	})
}

// Append writes behaviours; an event ID counts once, so that a repeat is harmless.
func (client *Client) Append(
	ctx context.Context, behaviours []*behaviour.Behaviour,
) ([]behaviour.AppendOutcome, error) {
	request := &behaviour.AppendRequest{Behaviours: behaviours}
	type response = *behaviour.AppendResponse
	answer, err := within(ctx, client.retries, func(ctx context.Context) (response, error) {
		return client.behaviours.Append(ctx, request)
	})
	return answer.GetOutcomes(), err
}

// History answers the newest behaviours of a user, oldest first, and the profile.
func (client *Client) History(
	ctx context.Context, request *behaviour.HistoryRequest,
) (*behaviour.HistoryResponse, error) {
	return within(ctx, client.retries, func(ctx context.Context) (*behaviour.HistoryResponse, error) {
		return client.behaviours.History(ctx, request)
	})
}

// Erase erases a user everywhere and answers whether the service knew the user.
func (client *Client) Erase(ctx context.Context, userID string) (bool, error) {
	request := &behaviour.EraseRequest{UserId: userID}
	type response = *behaviour.EraseResponse
	answer, err := within(ctx, client.retries, func(ctx context.Context) (response, error) {
		return client.behaviours.Erase(ctx, request)
	})
	return answer.GetKnown(), err
}

// Apply applies changes of a catalogue ("": the first), all or none. The answer has the sequence number,
// by which versions.catalogue_sequence of a recall says whether it knows them, and how many items each
// change by a predicate matched.
func (client *Client) Apply(
	ctx context.Context, name string, changes []*catalogue.Change,
) (*catalogue.ApplyResponse, error) {
	request := &catalogue.ApplyRequest{Catalogue: name, Changes: changes}
	return within(ctx, client.retries, func(ctx context.Context) (*catalogue.ApplyResponse, error) {
		return client.catalogues.Apply(ctx, request)
	})
}

// Serving tells whether the service is there and ready (grpc.health.v1).
func (client *Client) Serving(ctx context.Context) bool {
	type response = grpc_health_v1.HealthCheckResponse
	answer, err := within(ctx, client.retries, func(ctx context.Context) (*response, error) {
		return client.health.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	})
	return err == nil && answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING
}
