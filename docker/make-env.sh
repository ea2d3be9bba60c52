#!/bin/sh
# Writes the file .env with new secrets, for `docker compose` and for Kubernetes: ./make-env.sh [FILE]
set -eu
umask 077
file=${1:-$(dirname "$0")/.env}

secret() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

set -C # a file that is there is not written over, not even one that comes at this moment
if ! {
    cat <<EOF
# Made by make-env.sh. Whoever can read this file is master of the cluster and of its records.
POSTGRES_PASSWORD=$(secret)
MLFLOW_AUTH_ADMIN_PASSWORD=$(secret)
MLFLOW_FLASK_SERVER_SECRET_KEY=$(secret)
RAY_AUTH_TOKEN=$(secret)
EOF
} 2>/dev/null >"$file"; then
    echo "$file must be a new file in a folder that can be written; it was left as it is." >&2
    exit 2
fi
echo "$file: new secrets, readable for you alone."
