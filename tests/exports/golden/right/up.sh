#!/bin/sh
set -e
ip -batch ip.batch
bridge -batch bridge.batch
tc -batch tc.batch
