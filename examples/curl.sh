#!/bin/sh
# A recall over HTTP: for a user, and for a history that comes with the request. With TESSERA_TOKEN
# in the environment as its holder. Usage: curl.sh [URL [FILE of the authority of an https: URL]]
set -e
url="${1:-http://127.0.0.1:8080}"
ask() {
  curl -sS --fail-with-body "$url/v1/recall" -H 'content-type: application/json' -d "$1" \
    ${TESSERA_TOKEN:+-H "authorization: Bearer $TESSERA_TOKEN"} ${2:+--cacert "$2"}
  echo
}
ask '{"userId": "1", "resultCount": 3, "deadlineMs": 500}' "$2"
ask '{"history": [12, 99, 7], "resultCount": 3, "skipUnknownItems": true}' "$2"
