package tessera

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	recall "tessera.dev/go/recall/v1"
)

// ownAuthority is a certificate for localhost that vouches for itself, and its file.
func ownAuthority(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	bytes, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bytes})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{bytes}, PrivateKey: key}, path
}

func TestFaultsOfTLSAreNotRepeated(t *testing.T) {
	own, path := ownAuthority(t)
	_, other := ownAuthority(t)
	pool := x509.NewCertPool()
	leaf, _ := x509.ParseCertificate(own.Certificate[0])
	pool.AddCert(leaf)
	asks := credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{own},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
	})
	server := grpc.NewServer(grpc.Creds(asks))
	recall.RegisterRecallServiceServer(server, recall.UnimplementedRecallServiceServer{})
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for name, authority := range map[string]string{"no certificate": path, "another CA": other} {
		client, err := New("localhost:"+port, WithTLS(TLS{CA: authority}))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		began := time.Now()
		err = refusalByTLS(ctx, client)
		failed, ok := err.(*Error)
		if !ok || failed.Code != "UNAUTHENTICATED" || failed.Retryable {
			t.Errorf("%s: expected UNAUTHENTICATED for good, got %v", name, err)
		}
		if time.Since(began) > 30*time.Second {
			t.Errorf("%s: expected a refusal at once, took %v", name, time.Since(began))
		}
		cancel()
		_ = client.Close()
	}
}

// refusalByTLS asks until the server's alert is what the client reads. In TLS 1.3 the client writes
// before the server has judged its certificate: where the connection ends first, nobody is told why.
func refusalByTLS(ctx context.Context, client *Client) error {
	for {
		_, err := client.Recall(ctx, &recall.RecallRequest{})
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) && isCutOff(err) {
			continue
		}
		return err
	}
}

func isCutOff(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "broken pipe") ||
		strings.Contains(err.Error(), "connection reset"))
}
