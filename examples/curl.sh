#!/bin/sh
# A recall over HTTP: for a user, and for a history that comes with the request. With TESSERA_TOKEN
# in the environment as its holder. Usage: curl.sh [URL [FILE of the authority of an https: URL]]
set -e
url="${1:-http://127.0.0.1:8080}"
authority="$2"
curl() {
  command curl -sS --fail-with-body ${authority:+--cacert "$authority"} \
    ${TESSERA_TOKEN:+-H "authorization: Bearer $TESSERA_TOKEN"} "$@"
  echo
}
# region recall
curl "$url/v1/recall" -H 'content-type: application/json' \
  -d '{"userId": "1", "resultCount": 3, "deadlineMs": 500}'
# endregion recall
curl "$url/v1/recall" -H 'content-type: application/json' \
  -d '{"history": [12, 99, 7], "resultCount": 3, "skipUnknownItems": true}'
