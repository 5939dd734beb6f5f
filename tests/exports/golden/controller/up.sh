#!/bin/sh
set -e
ip -batch ip.batch
tc -batch tc.batch
