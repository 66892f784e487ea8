package tessera

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // Serves the health check of serviceConfig.
	"google.golang.org/grpc/keepalive"
)

const (
	messageBytesMax  = 64 << 20
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
	reconnectFirst   = 100 * time.Millisecond
	reconnectLast    = time.Second
	connectTimeout   = 5 * time.Second
)

// Calls go round all addresses whose health says that they serve.
const serviceConfig = `{"loadBalancingConfig":[{"round_robin":{}}],"healthCheckConfig":{"serviceName":""}}`

// TLS names files in PEM; "": the authorities of the system, and no certificate of the client.
type TLS struct{ CA, Certificate, Key string }

type settings struct {
	tls   *TLS
	token func() (string, error)
}

// Option says how a service is reached.
type Option func(*settings)

// WithTLS calls over TLS.
func WithTLS(files TLS) Option { return func(own *settings) { own.tls = &files } }

// WithToken calls with a token.
func WithToken(token string) Option {
	return func(own *settings) { own.token = func() (string, error) { return token, nil } }
}

// WithTokenFile calls with the token of a file, read for each call, so that one that was replaced is
// used.
func WithTokenFile(path string) Option {
	return func(own *settings) {
		own.token = func() (string, error) {
			text, err := os.ReadFile(path)
			return strings.TrimSpace(string(text)), err
		}
	}
}

func dialOptions(options []Option) ([]grpc.DialOption, error) {
	var own settings
	for _, apply := range options {
		apply(&own)
	}
	transport := insecure.NewCredentials()
	if own.tls != nil {
		config, err := own.tls.config()
		if err != nil {
			return nil, err
		}
		transport = credentials.NewTLS(config)
	}
	dialled := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: keepaliveTime, Timeout: keepaliveTimeout,
		}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: reconnectFirst, Multiplier: 2, Jitter: 0.2, MaxDelay: reconnectLast,
			},
			MinConnectTimeout: connectTimeout,
		}),
	}
	if own.token != nil {
		dialled = append(dialled, grpc.WithPerRPCCredentials(bearer{own.token}))
	}
	return dialled, nil
}

func (files *TLS) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if files.CA != "" {
		text, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: expected a certificate in PEM, got none", files.CA)
		}
	}
	if (files.Certificate == "") != (files.Key == "") {
		return nil, errors.New("tls: expected both Certificate and Key, got one of them")
	}
	if files.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(files.Certificate, files.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

type bearer struct{ token func() (string, error) }

func (own bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := own.token()
	if err != nil || token == "" {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

// The service refuses to listen without TLS beyond its own machine unless that is stated.
func (bearer) RequireTransportSecurity() bool { return false }
