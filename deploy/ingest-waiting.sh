#!/bin/sh
# Ingests the deliveries that wait in a folder, each a folder YYYY-MM-DD, in the order of their days, and moves each to another folder once
# it is published. Stops at the first that fails, because a later day cannot be followed by an earlier one. Removes expired days after that.
# A delivery is moved into the folder, with `mv`, when all its files are complete.
set -eu
[ $# -eq 2 ] || { echo "usage: ingest-waiting.sh <waiting> <ingested>" >&2; exit 2; }
program=$(dirname "$(readlink -f "$0")")/../bin/carquet.cjs
mkdir -p "$1" "$2"
arrived=
for delivery in "$1"/????-??-??; do
  [ -d "$delivery" ] || continue
  node "$program" ingest "$delivery"
  mv "$delivery" "$2/"
  arrived=yes
done
[ -z "$arrived" ] || exec node "$program" vacuum
