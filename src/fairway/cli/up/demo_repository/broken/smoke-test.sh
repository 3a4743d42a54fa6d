#!/bin/sh
echo "checking the shop ..."
echo "nobody answers at the counter" >&2
exit 1
