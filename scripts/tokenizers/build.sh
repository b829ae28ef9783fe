#!/bin/sh
# build.sh brings libtokenizers.a, HuggingFace's tokenizers library, into the
# user's cache, and does nothing where it is there. scripts/env finds it.
set -eu
cd "$(dirname "$0")/../.."
case $(scripts/env sh -c 'echo "$GOFLAGS"') in
*-tags=hf*) exit 0 ;;
esac
exec go run ./scripts/tokenizers
