#!/bin/sh
# A good version greets.
set -eu
grep -q Hello greeting.txt
echo "the greeting is: $(cat greeting.txt)"
